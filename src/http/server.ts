/** Builds the HTTP server. It does not listen yet, so tests can serve it on any port. */
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { Socket } from 'node:net';
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import { OWN_ANSWER } from '../api/own-answer.ts';
import { NotFound, SnitchError } from '../core/errors.ts';
import { SECOND } from '../text/durations.ts';
import { RepeatedFailure } from '../text/repeated-failure.ts';
import { type AcknowledgePageContext, acknowledgePage } from './acknowledge/acknowledge.ts';
import { refuseForeignForms, refuseForeignPages, signOfForeignPage } from './browser.ts';
import { createByName } from './check-in/by-name.ts';
import { createCheckInHandler } from './check-in/check-in.ts';
import { createPathReader, type PathReader, type ServedRoute } from './check-in/target.ts';
import { connectionLimit, shareConnections } from './connections.ts';
import { actorOf, createAuthenticator } from './endpoint/auth.ts';
import { answerError, refuseConnection } from './endpoint/errors.ts';
import { Lists } from './endpoint/lists.ts';
import { METHODS, makeRoutable, restoreMethod } from './endpoint/methods.ts';
import { headersOf, type RateLimiter } from './endpoint/rate-limit.ts';
import type { ApiContext, RouteContext } from './endpoint/route-context.ts';
import { type MetricsContext, metricsRoutes } from './metrics/metrics.ts';
import { openApiRoutes } from './openapi/openapi.ts';
import { badgePictures } from './public/badges/badges.ts';
import type { QuickAnswer } from './public/copy.ts';
import { type StatusPageContext, statusPages } from './public/status-page/status-page.ts';
import { readAgain } from './raw-target.ts';
import { acknowledgeRoutes } from './resources/acknowledge.ts';
import { activityRoutes } from './resources/activity.ts';
import { alertRoutes } from './resources/alerts.ts';
import { apiKeyRoutes, keysOfCaseRoutes } from './resources/api-keys.ts';
import { audienceRoutes } from './resources/audience.ts';
import { badgeRoutes } from './resources/badges.ts';
import { caseRoutes } from './resources/case.ts';
import { casesRoutes } from './resources/cases.ts';
import { channelRoutes } from './resources/channels.ts';
import { checkInRoutes } from './resources/check-ins.ts';
import { deliveryRoutes } from './resources/deliveries.ts';
import { explanationRoutes } from './resources/explanation.ts';
import { healthRoutes } from './resources/health.ts';
import { importRoutes } from './resources/imports.ts';
import { mailCheckRoutes } from './resources/mail-check.ts';
import { maintenanceRoutes } from './resources/maintenance.ts';
import { snitchMetricsRoutes } from './resources/metrics.ts';
import { nodeRoutes } from './resources/nodes.ts';
import { ownershipRoutes } from './resources/ownership.ts';
import { pauseRoutes } from './resources/pause.ts';
import { scheduleCheckRoutes } from './resources/schedule-check.ts';
import { silenceRoutes } from './resources/silences.ts';
import { snitchRoutes } from './resources/snitches.ts';
import { statusPageRoutes } from './resources/status-page.ts';
import { tagRoutes } from './resources/tags.ts';
import { webhookRoutes } from './resources/webhooks.ts';
import { streamRoutes } from './stream/stream.ts';

export interface ServerOptions
  extends RouteContext,
    MetricsContext,
    Pick<AcknowledgePageContext, 'links'>,
    Pick<StatusPageContext, 'sessionKey'> {
  limiter: RateLimiter;
  /** The path of check-in addresses, without a slash at the end. */
  checkInPath: string;
  logger: FastifyBaseLogger;
  /** The server keeps this set up to date with the open connections. */
  connections?: Set<Socket>;
  /** How many connections may be open at the same time; as many as the process can hold when absent. */
  maxConnections?: number;
}

/** A request's head must arrive within 5 s, and all of it within 10 s; both are checked every second. */
const LIMITS = {
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  connectionsCheckingInterval: 1_000,
  keepAliveTimeout: 65_000,
  maxHeaderSize: 16 * 1024,
};

/**
 * Bodies are checked by schemas of our own. The framework would load two compilers for its kind unless given others.
 */
const WITHOUT_SCHEMAS = { buildValidator: refuseSchemas, buildSerializer: refuseSchemas };

function refuseSchemas(): never {
  throw new Error('a route was given a schema of the framework');
}

export function buildServer(options: ServerOptions): FastifyInstance {
  const routes: ServedRoute[] = [];
  const quick: QuickAnswer[] = [];
  const readPath = createPathReader(options.checkInPath, () => routes);
  const connections: Connections = { waits: () => false };
  const app: FastifyInstance = Fastify({
    loggerInstance: options.logger,
    logController: new LogController({ disableRequestLogging: true }),
    requestIdHeader: false,
    schemaController: { compilersFactory: WITHOUT_SCHEMAS },
    genReqId: newRequestId,
    // A path that is too long is refused together with its head, so the router needs no stricter limit of its own.
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: LIMITS.maxHeaderSize },
    exposeHeadRoutes: false,
    rewriteUrl: ({ url = '/' }) => readablePath(url),
    serverFactory: (handler) => serve({ ...options, quick }, connections, readPath, handler),
    clientErrorHandler: (error, socket) => {
      // It must not be answered before an earlier request.
      const isRead = !connections.waits(socket) && readAgain(error, socket, app.server, readPath);
      if (!isRead) refuseConnection(error, socket);
    },
  });
  // The framework reads no body for any method: handlers read the bodies they need, after the checks that come first.
  for (const method of METHODS) app.addHttpMethod(method, { overrideExisting: true });
  app.addHook('onRoute', ({ url, config }) => void routes.push({ url, besideTokens: config?.besideTokens }));
  app.decorateRequest('caller', null);
  app.decorate('refusals', repeated(options.logger, 'answered 503'));
  app.setErrorHandler(answerError);
  app.setNotFoundHandler(async ({ url }) => {
    throw new NotFound(url === '/' ? NO_PAGES : 'There is nothing at this path.');
  });
  // Before anything looks at the method.
  app.addHook('onRequest', async ({ raw, routeOptions }) => {
    restoreMethod(raw);
    if (!routeOptions.config.anySite) refuseForeignPages(raw, options.addresses().baseUrl);
  });
  healthRoutes(app, options);
  metricsRoutes(app, options);
  openApiRoutes(app, options);
  const forPeople = {
    ...options,
    refuseForeignForms: (raw: IncomingMessage) => refuseForeignForms(raw, options.addresses().baseUrl),
  };
  acknowledgePage(app, forPeople);
  quick.push(statusPages(app, forPeople), badgePictures(app, options));
  app.register(async (api) => apiRoutes(api, options), { prefix: '/v1' });
  return app;
}

/** For whoever opens the address of the server in a browser. */
const NO_PAGES =
  'This is Snitch. It has no pages here: `snitch dashboard` shows everything in a terminal, and its API is below /v1, as /openapi.json describes it.';

/** Every resource below `/v1`. */
const API_ROUTES: readonly ((api: FastifyInstance, context: ApiContext) => void)[] = [
  snitchRoutes,
  tagRoutes,
  pauseRoutes,
  acknowledgeRoutes,
  explanationRoutes,
  checkInRoutes,
  alertRoutes,
  activityRoutes,
  deliveryRoutes,
  caseRoutes,
  audienceRoutes,
  webhookRoutes,
  channelRoutes,
  silenceRoutes,
  badgeRoutes,
  statusPageRoutes,
  apiKeyRoutes,
  streamRoutes,
  snitchMetricsRoutes,
  importRoutes,
  ownershipRoutes,
  casesRoutes,
  keysOfCaseRoutes,
  maintenanceRoutes,
  nodeRoutes,
  mailCheckRoutes,
  scheduleCheckRoutes,
];

async function apiRoutes(api: FastifyInstance, serverOptions: ServerOptions): Promise<void> {
  const { store, clock } = serverOptions;
  const by: ApiContext['by'] = (request, at = clock()) => store.by(actorOf(request), at);
  const options = { ...serverOptions, lists: new Lists(store), by };
  const authenticate = createAuthenticator(options);
  api.addHook('onRequest', async (request, reply) => {
    request.caller = await authenticate(request);
    const standing = options.limiter.standing([request.caller.apiKey.id], performance.now());
    if (standing) reply.headers(headersOf(standing));
  });
  api.setNotFoundHandler(async () => {
    throw new NotFound('There is nothing at this path.');
  });
  for (const add of API_ROUTES) add(api, options);
}

/** What is known of the connections once there is a server. */
interface Connections {
  /** Whether a request is waiting for its answer. */
  waits: (socket: Socket) => boolean;
}

type RequestListener = Parameters<typeof createServer>[1];

/** The most log lines a minute about refused check-ins, and about refused requests; the rest are counted. */
const REFUSED_LINES = 10;

function repeated(logger: FastifyBaseLogger, message: string): RepeatedFailure {
  return new RepeatedFailure({ logger, message, monotonic: () => performance.now(), first: REFUSED_LINES });
}

function serve(
  options: ServerOptions & { quick: readonly QuickAnswer[] },
  connections: Connections,
  readPath: PathReader,
  handler: NonNullable<RequestListener>,
): Server {
  const { metrics, logger } = options;
  const refused = repeated(logger, 'a check-in was not stored');
  const handleCheckIn = createCheckInHandler({
    store: options.store,
    clock: options.clock,
    onAnswer: (answer, begunAt) => {
      metrics.answered[answer].inc();
      if (begunAt !== undefined) metrics.checkInTimes.observe(performance.now() - begunAt);
    },
    readPath,
    byName: createByName({
      ...options,
      isForeign: (request) => signOfForeignPage(request, options.addresses().baseUrl) !== null,
    }),
    sourceOf: options.sourceOf,
    newRequestId,
    onError: (error, requestId) => {
      const fields = { err: error, request_id: requestId };
      // Anything but a refusal is a defect, and must always be logged.
      if (error instanceof SnitchError) refused.failed(fields, 'warn');
      else logger.error(fields, 'a check-in was not stored');
    },
  });
  // Clients read the server's clock from this header, and base the times they show on it.
  const differs = () => Math.abs(options.store.node?.clockAheadMs() ?? 0) > SECOND;
  const server = createServer(LIMITS, (request, response) => {
    // A stopping server still answers what is in flight, but accepts no further request on the same connection.
    if (!server.listening) response.setHeader('connection', 'close');
    if (differs()) response.setHeader('date', new Date(options.clock()).toUTCString());
    const others = () => {
      if (options.quick.some((answer) => answer(request, response))) return;
      response.setHeader(...OWN_ANSWER);
      makeRoutable(request);
      handler(request, response);
    };
    if (!handleCheckIn(request, response, others)) others();
  });
  const open = options.connections ?? new Set();
  connections.waits = shareConnections(server, options.maxConnections ?? connectionLimit(), open);
  return server;
}

/**
 * Nothing is served at a path that cannot be decoded. It is replaced by one that can be, so it is refused like any
 * other unknown path, after the key is checked.
 */
function readablePath(url: string): string {
  const end = url.indexOf('?');
  const path = end < 0 ? url : url.slice(0, end);
  try {
    decodeURIComponent(path);
    return url;
  } catch {
    return path.startsWith('/v1/') ? '/v1/undecodable-path' : '/undecodable-path';
  }
}

function newRequestId(): string {
  return randomUUID();
}
