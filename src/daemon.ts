/** The composition root: starts the parts in order, and stops them in the order that loses nothing. */
import { lstatSync, unlinkSync } from 'node:fs';
import { createConnection } from 'node:net';
import { hostname } from 'node:os';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Config } from './config.ts';
import { createDeliverer } from './delivery/deliverer.ts';
import { completeFirstStart, credentialsPath, updateUrl } from './first-start.ts';
import { Metrics } from './http/metrics.ts';
import { RateLimiter } from './http/rate-limit.ts';
import { type Addresses, buildServer } from './http/server.ts';
import { createSourceReader } from './http/source.ts';
import { openStore } from './store/sqlite/sqlite-store.ts';
import type { Commit, Store } from './store/store.ts';
import { Retention } from './sweep/retention.ts';
import { Sweeper } from './sweep/sweeper.ts';

export { checkMail } from './delivery/mail-check.ts';

export interface Daemon {
  /** Where it listens. */
  url: string;
  /** Applies what can change while it runs. */
  reload(config: Config): Promise<void>;
  /** Answers what is in flight, hands back what is not sent, and closes the store. */
  stop(): Promise<void>;
  /** Resolves with the reason when it can no longer be trusted and the process must end. */
  failed: Promise<Error>;
}

/** How long requests in flight may take to end when the daemon stops, in milliseconds. */
const CLOSE_WITHIN = 4_000;

export interface DaemonOptions {
  /** The wall clock; tests give their own. */
  clock?: () => number;
  /** The version of this program, for the user agent of webhooks. */
  version?: string;
}

export async function startDaemon(
  config: Config,
  logger: Logger,
  { clock = Date.now, version = '0' }: DaemonOptions = {},
): Promise<Daemon> {
  const metrics = new Metrics();
  const onCommit = (commit: Commit) => metrics.committed(commit);
  const store = openStore({ dataDir: config.dataDir, clock, onCommit });
  const parts = createParts({ config, logger, store, clock, metrics, version });
  try {
    await parts.sweeper.wake();
    await store.releaseLeases(clock());
    const listening = await listen(parts.app, config, logger);
    parts.setAddresses(addressesOf(config, listening));
    const { baseUrl } = parts.addresses();
    const isFirst = await completeFirstStart(store, config.dataDir, listening, clock());
    const file = credentialsPath(config.dataDir);
    const problem = isFirst ? null : updateUrl(file, listening);
    if (problem) logger.warn({ file, problem }, 'commands on this host cannot use the file of the API keys');
    else logger.info({ file }, isFirst ? 'first start: the API keys are in this file' : 'credentials');
    if (!config.smtp) logger.warn('email is off: set smtp.url and smtp.from to send it');
    parts.deliverer.start();
    parts.sweeper.start();
    parts.retention.start();
    const { pid } = process;
    logger.info({ url: listening, pid, base_url: baseUrl, data_dir: config.dataDir }, 'listening');
    return {
      url: listening,
      reload: async (changed) => parts.reload(changed),
      stop: () => stop(parts, store, logger),
      failed: store.failed,
    };
  } catch (error) {
    await parts.app.close();
    await store.close();
    throw error;
  }
}

type Parts = ReturnType<typeof createParts>;

interface Foundation extends Required<DaemonOptions> {
  config: Config;
  logger: Logger;
  store: Store;
  metrics: Metrics;
}

function createParts({ config, logger, store, clock, metrics, version }: Foundation) {
  let metricsArePublic = config.metrics.public;
  let addresses: Addresses = { baseUrl: '', checkInBase: '' };
  let sourceOf = createSourceReader(config.trustedProxies);
  const limiter = new RateLimiter(config.rateLimit);
  const sweeper = new Sweeper({ store, clock, monotonic: () => performance.now(), logger });
  const deliverer = createDeliverer({
    store,
    clock,
    random: Math.random,
    smtp: config.smtp,
    webhooks: config.webhooks,
    logger,
    version,
    observe: ({ channel, result }) => metrics.deliveries.inc({ channel, result }),
  });
  const retention = new Retention({ store, clock, logger, settings: config.retention });
  const app = buildServer({
    store,
    clock,
    limiter,
    // Below a warning the HTTP library only repeats what this file says already.
    logger: logger.child({}, { level: 'warn' }),
    addresses: () => addresses,
    sourceOf: (request) => sourceOf(request),
    checkInPath: checkInPath(config),
    readiness: () => problems(store, sweeper, deliverer),
    metrics,
    metricsArePublic: () => metricsArePublic,
  });
  return {
    app,
    sweeper,
    deliverer,
    retention,
    addresses: () => addresses,
    setAddresses: (found: Addresses) => {
      addresses = found;
    },
    reload: (changed: Config) => {
      // The only part that can refuse comes first, so that a bad setting changes nothing.
      deliverer.reconfigure({ smtp: changed.smtp, webhooks: changed.webhooks });
      logger.level = changed.log.level;
      limiter.configure(changed.rateLimit);
      retention.configure(changed.retention);
      sourceOf = createSourceReader(changed.trustedProxies);
      metricsArePublic = changed.metrics.public;
      for (const setting of needRestart(config, changed)) {
        logger.warn({ setting }, 'this setting changes only with a restart');
      }
      logger.info('the configuration was read again');
    },
  };
}

function problems(store: Store, sweeper: Sweeper, deliverer: Parts['deliverer']): string[] {
  const { failingSince } = store.health();
  const storeProblem =
    failingSince === null ? null : `the store cannot write since ${new Date(failingSince).toISOString()}`;
  return [storeProblem, sweeper.problem(), deliverer.problem()].filter((problem) => problem !== null);
}

function needRestart(before: Config, after: Config): string[] {
  const fixed = {
    listen: [before.listen, after.listen],
    base_url: [before.baseUrl, after.baseUrl],
    check_in_base: [before.checkInBase, after.checkInBase],
    data_dir: [before.dataDir, after.dataDir],
    'log.format': [before.log.format, after.log.format],
  };
  const differs = ([one, other]: unknown[]) => JSON.stringify(one) !== JSON.stringify(other);
  return Object.entries(fixed)
    .filter(([, pair]) => differs(pair))
    .map(([name]) => name);
}

function checkInPath({ baseUrl, checkInBase }: Config): string {
  const base = checkInBase ?? `${baseUrl ?? 'http://localhost'}/c`;
  return new URL(base).pathname.replace(/\/+$/, '');
}

function addressesOf(config: Config, listening: string): Addresses {
  const derived = config.listen.kind === 'unix' ? 'http://localhost' : listening;
  const baseUrl = (config.baseUrl ?? derived).replace(/\/+$/, '');
  return { baseUrl, checkInBase: (config.checkInBase ?? `${baseUrl}/c`).replace(/\/+$/, '') };
}

/** Listens, and answers with the address that clients on this host can use. */
async function listen(app: FastifyInstance, { listen, baseUrl }: Config, logger: Logger): Promise<string> {
  if (listen.kind === 'unix') {
    await removeStaleSocket(listen.path);
    await app.listen({ path: listen.path });
    return `unix:${listen.path}`;
  }
  await app.listen({ host: listen.host, port: listen.port });
  const address = app.server.address();
  const port = typeof address === 'object' && address ? address.port : listen.port;
  const wildcard = listen.host === '0.0.0.0' || listen.host === '::';
  if (wildcard && baseUrl === null) {
    logger.warn('set base_url: the check-in addresses name this host as it calls itself');
  }
  const host = wildcard ? hostname() : listen.host;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/**
 * A socket that nobody answers on was left by a daemon that was killed. Anything else at the path is somebody's, put
 * there by a mistake in the configuration, and stays.
 */
async function removeStaleSocket(path: string): Promise<void> {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found) return;
  if (!found.isSocket()) throw new Error(`cannot listen on ${path}: it exists and is not a socket`);
  const refused = await new Promise<boolean>((resolve) => {
    const probe = createConnection(path, () => resolve(false));
    probe.on('error', ({ code }: NodeJS.ErrnoException) => resolve(code === 'ECONNREFUSED'));
    probe.unref();
  });
  if (refused) unlinkSync(path);
}

async function stop(parts: Parts, store: Store, logger: Logger): Promise<void> {
  const late = setTimeout(() => parts.app.server.closeAllConnections(), CLOSE_WITHIN);
  await parts.app.close();
  clearTimeout(late);
  await parts.sweeper.stop();
  await parts.deliverer.stop();
  await parts.retention.stop();
  await store.close();
  logger.info('stopped');
}
