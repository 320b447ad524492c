/** Makes the parts of the daemon and connects them. None of them runs yet. */
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import type { Alert } from '../core/alert.ts';
import { logAlarms } from '../delivery/alert-log.ts';
import { createDeliverer, type Deliverer } from '../delivery/deliverer.ts';
import { urlRefusal } from '../delivery/http/address-guard.ts';
import { checkMail } from '../delivery/smtp/mail-check.ts';
import { RateLimiter } from '../http/endpoint/rate-limit.ts';
import type { Metrics } from '../http/metrics/metrics.ts';
import { buildServer } from '../http/server.ts';
import type { Store } from '../store/store.ts';
import { Retention } from '../sweep/retention.ts';
import { Sweeper } from '../sweep/sweeper.ts';
import { nameOfHeldSocket } from '../system/held-socket.ts';
import { giveBackFreeMemory } from '../system/memory.ts';
import type { ServiceManager } from '../system/service-manager.ts';
import { checkInPath } from './addresses.ts';
import { type SignedLinks, signedLinks } from './alarm-links.ts';
import { hostFigures } from './host-figures.ts';
import type { InForce } from './in-force.ts';
import type { Patiently } from './patience.ts';
import {
  isOnlyStarting,
  problems,
  progress,
  type Start,
  stalls,
  type Workers,
  warnings,
} from './progress.ts';
import { SignsOfLife } from './signs-of-life.ts';

/** What the parts are built on. */
export interface Foundation {
  /** The configuration at the start. */
  config: Config;
  inForce: InForce;
  logger: Logger;
  store: Store;
  patiently: Patiently;
  /** Whether the database is not there yet: until it is, requests are refused instead of waiting. */
  isLate: boolean;
  metrics: Metrics;
  manager: ServiceManager;
  /** The wall clock; if several nodes share a database, corrected to the database's clock. */
  clock: () => number;
  /** The version of this program, for the user agent of webhooks. */
  version: string;
}

export interface Parts {
  app: FastifyInstance;
  /** The open connections. */
  connections: ReadonlySet<Socket>;
  limiter: RateLimiter;
  sweeper: Sweeper;
  deliverer: Deliverer;
  retention: Retention;
  signsOfLife: SignsOfLife;
  start: Start;
  endAlertLog: () => void;
  /** The socket that the service manager holds for the daemon; null if it holds none. */
  heldSocket: string | null;
}

/** @throws Error that names a setting that cannot be used */
export function createParts(foundation: Foundation): Parts {
  const { config, inForce, logger, store, clock, metrics, version, manager } = foundation;
  const limiter = new RateLimiter(config.rateLimit);
  const sweeper = createSweeper(foundation);
  const endAlertLog = logAlarms(store, logger);
  const links = signedLinks(() => inForce.linkKey);
  const deliverer = createDeliverer({
    store,
    clock,
    heldSince: () => store.node?.heldSince() ?? Number.NEGATIVE_INFINITY,
    random: Math.random,
    smtp: config.smtp,
    webhooks: config.webhooks,
    commands: config.commands,
    logger,
    version,
    linkOf: (alert) => linkTo(links, alert, foundation),
    observe: ({ channel, result }) => metrics.deliveries.inc({ channel, result }),
  });
  const retention = new Retention({ store, clock, logger, settings: config.retention });
  const start: Start = { isOver: false };
  const workers = { store, sweeper, deliverer, start };
  const signsOfLife = new SignsOfLife({
    store,
    manager,
    logger,
    userAgent: `Snitch/${version.split('.')[0]}`,
    problems: () => problems(workers),
    progress: () => progress(workers),
    stalls: () => stalls(workers),
  });
  const connections = new Set<Socket>();
  const app = createServer(foundation, workers, { connections, limiter, links });
  // This is read now, because the descriptor is closed when the daemon stops.
  const heldSocket = nameOfHeldSocket(manager.socket);
  return {
    app,
    connections,
    limiter,
    sweeper,
    deliverer,
    retention,
    signsOfLife,
    start,
    endAlertLog,
    heldSocket,
  };
}

/** Null if it is not configured where people reach this server: a link to another address would lead nowhere. */
function linkTo(links: SignedLinks, alert: Alert, { inForce: { publicUrl } }: Foundation) {
  const url = publicUrl === null ? null : links.urlOf(alert, publicUrl);
  return url === null ? null : { url, words: 'Acknowledge' };
}

function createSweeper({ store, clock, logger }: Foundation): Sweeper {
  const monotonic = () => performance.now();
  return new Sweeper({ store, clock, monotonic, logger, afterLongWork: giveBackFreeMemory });
}

interface ServerParts {
  connections: Set<Socket>;
  limiter: RateLimiter;
  links: SignedLinks;
}

function createServer(
  foundation: Foundation,
  workers: Workers & { sweeper: Sweeper },
  parts: ServerParts,
): FastifyInstance {
  const { config, inForce, logger, store, clock, metrics } = foundation;
  return buildServer({
    ...parts,
    store,
    clock,
    metrics,
    readiness: () => ({
      problems: problems(workers),
      progress: progress(workers),
      warnings: warnings(workers),
      isStarting: isOnlyStarting(workers),
    }),
    hostFigures: () => hostFigures(workers.sweeper, config.dataDir, store.node),
    // Below warnings, the HTTP library only repeats what is already logged.
    logger: logger.child({}, { level: 'warn' }),
    checkInPath: checkInPath(config),
    addresses: () => inForce.addresses,
    sessionKey: () => inForce.linkKey,
    sourceOf: (request) => inForce.sourceOf(request),
    isProxied: (request) => inForce.isProxied(request),
    metricsArePublic: () => inForce.metricsArePublic,
    checkMail: async (recipient) => inForce.smtp && checkMail(inForce.smtp, recipient, clock()),
    sendsEmail: () => inForce.smtp !== null,
    commands: () => Object.keys(inForce.commands),
    refusalOf: (url) => urlRefusal(url, inForce.allowPrivate),
    version: foundation.version,
  });
}
