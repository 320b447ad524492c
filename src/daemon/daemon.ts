/** The composition root: starts the parts in order, and stops them in the order that loses nothing. */
import type { Socket } from 'node:net';
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import { StoreUnavailable } from '../core/errors.ts';
import { logAlarms } from '../delivery/alert-log.ts';
import { createDeliverer } from '../delivery/deliverer.ts';
import { checkMail } from '../delivery/smtp/mail-check.ts';
import { closeConnections, drain } from '../http/drain.ts';
import { RateLimiter } from '../http/endpoint/rate-limit.ts';
import type { Addresses } from '../http/endpoint/route-context.ts';
import { Metrics } from '../http/metrics/metrics.ts';
import { buildServer } from '../http/server.ts';
import { createProxyTest, createSourceReader } from '../http/source.ts';
import type { Migrated } from '../store/sqlite/migrate.ts';
import { openStore } from '../store/sqlite/sqlite-store.ts';
import type { Commit, Store } from '../store/store.ts';
import { Retention } from '../sweep/retention.ts';
import { Sweeper } from '../sweep/sweeper.ts';
import { nameOfHeldSocket } from '../system/held-socket.ts';
import { type ServiceManager, serviceManager } from '../system/service-manager.ts';
import { concernOf, DataDirOpen } from './data-directory.ts';
import { completeFirstStart, credentialsPath, updateUrl } from './first-start.ts';
import { listen } from './listen.ts';
import { SignsOfLife } from './signs-of-life.ts';

export { checkMail } from '../delivery/smtp/mail-check.ts';

export interface Daemon {
  /** Where it listens. */
  url: string;
  /** Applies what can change while it runs. */
  reload(config: Config): Promise<void>;
  /** Answers what is in flight, hands back what is not sent, and closes the store. */
  stop(): Promise<void>;
  /** Whether `stop` is saving what would otherwise be lost, and may take as long as that takes. */
  isSaving(): boolean;
  /** Resolves with the reason when it can no longer be trusted and the process must end. */
  failed: Promise<Error>;
}

/** How long clients that have not sent their request yet are waited for when the daemon stops, in milliseconds. */
const DRAIN_WITHIN = 3_000;

/** How long requests in flight may take to end when the daemon stops, in milliseconds. */
const CLOSE_WITHIN = 4_000;

export interface DaemonOptions {
  /** The wall clock; tests give their own. */
  clock?: () => number;
  /** The version of this program, for the user agent of webhooks. */
  version?: string;
  /** Who started it; nobody that wants to be told, when absent. */
  manager?: ServiceManager;
}

export async function startDaemon(
  config: Config,
  logger: Logger,
  { clock = Date.now, version = '0', manager = serviceManager({}) }: DaemonOptions = {},
): Promise<Daemon> {
  checkDataDirectory(config, logger);
  manager.status('Opening the database');
  const metrics = new Metrics(version);
  const onCommit = (commit: Commit) => metrics.committed(commit);
  const onMigrated = (migrated: Migrated) =>
    logger.info(migrated, 'the database was upgraded; the copy is what it was before');
  const report = (message: string, details: object) => logger.error(details, message);
  const kept = { checkIns: config.retention.checkIns };
  const store = openStore({
    dataDir: config.dataDir,
    clock,
    onCommit,
    onMigrated,
    report,
    checkInsKept: () => kept.checkIns,
  });
  const foundation = { config, logger, store, clock, metrics, version, manager, kept };
  let parts: Parts | null = null;
  try {
    parts = createParts(foundation);
    return await begin(parts, foundation);
  } catch (error) {
    parts?.signsOfLife.stop();
    await parts?.app.close();
    parts?.app.server.close();
    await store.close();
    throw error;
  }
}

/** @throws DataDirOpen */
function checkDataDirectory({ dataDir, warnings }: Config, logger: Logger): void {
  for (const warning of warnings) logger.warn(warning);
  const concern = concernOf(dataDir);
  if (concern?.refused) throw new DataDirOpen(`${concern.message}: ${concern.remedy}`);
  if (concern) logger.warn({ data_dir: dataDir, remedy: concern.remedy }, concern.message);
}

async function begin(parts: Parts, foundation: Foundation): Promise<Daemon> {
  const { config, logger, store, manager } = foundation;
  if (store.lost) await store.openBlindWindow(store.lost);
  await parts.sweeper.wake(parts.heldSocket);
  // Jobs wait for an answer: what the time away did to deadlines is worked through behind this, before the first sweep.
  const { url, baseUrl } = await listen(parts.app, config, { socket: manager.socket, logger });
  parts.sweeper.listens();
  parts.setAddresses(addressesOf(config, baseUrl));
  await tellOfCredentials(foundation, url);
  await releaseLeases(foundation);
  if (!config.smtp) logger.warn('email is off: set smtp.url and smtp.from to send it');
  parts.deliverer.start();
  parts.sweeper.start();
  parts.retention.start();
  parts.signsOfLife.give(config.watchdog);
  const details = { pid: process.pid, base_url: parts.addresses().baseUrl, data_dir: config.dataDir };
  logger.info({ url, ...details }, 'listening');
  manager.ready();
  return {
    url,
    reload: (changed) => parts.reload(changed),
    stop: () => stop(parts, foundation),
    isSaving: () => store.isSaving(),
    failed: store.failed,
  };
}

/** A disk that is full now keeps nobody from being answered: what was claimed is then due when its lease ends. */
async function releaseLeases({ store, clock, logger }: Foundation): Promise<void> {
  try {
    await store.releaseLeases(clock());
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    logger.warn({ err: error }, 'deliveries that were claimed before wait for the end of their leases');
  }
}

async function tellOfCredentials({ config, logger, store, clock }: Foundation, url: string): Promise<void> {
  const isFirst = await completeFirstStart(store, { ...config, url }, clock());
  const file = credentialsPath(config.dataDir);
  const problem = isFirst ? null : await updateUrl(file, url);
  if (problem) logger.warn({ file, problem }, 'commands on this host cannot use the file of the API keys');
  else logger.info({ file }, isFirst ? 'first start: the API keys are in this file' : 'credentials');
}

type Parts = ReturnType<typeof createParts>;

interface Foundation extends Required<DaemonOptions> {
  config: Config;
  logger: Logger;
  store: Store;
  metrics: Metrics;
  /** How many check-ins of each snitch the store keeps. */
  kept: { checkIns: number };
}

function createParts({ config, logger, store, clock, metrics, version, manager, kept }: Foundation) {
  let metricsArePublic = config.metrics.public;
  let smtp = config.smtp;
  let addresses: Addresses = { baseUrl: '', checkInBase: '' };
  let sourceOf = createSourceReader(config.trustedProxies);
  let isProxied = createProxyTest(config.trustedProxies);
  const limiter = new RateLimiter(config.rateLimit);
  const sweeper = new Sweeper({ store, clock, monotonic: () => performance.now(), logger });
  const endAlertLog = logAlarms(store, logger);
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
  const signsOfLife = new SignsOfLife({
    store,
    manager,
    logger,
    userAgent: `Snitch/${version.split('.')[0]}`,
    problems: () => problems(store, sweeper, deliverer),
    stalls: () => stalls(store, sweeper, deliverer),
  });
  const connections = new Set<Socket>();
  const app = buildServer({
    store,
    connections,
    clock,
    limiter,
    // Below a warning the HTTP library only repeats what this file says already.
    logger: logger.child({}, { level: 'warn' }),
    addresses: () => addresses,
    sourceOf: (request) => sourceOf(request),
    isProxied: (request) => isProxied(request),
    checkInPath: checkInPath(config),
    readiness: () => problems(store, sweeper, deliverer),
    metrics,
    metricsArePublic: () => metricsArePublic,
    checkMail: async (recipient) => smtp && checkMail(smtp, recipient, clock()),
    sendsEmail: () => smtp !== null,
  });
  return {
    app,
    connections,
    sweeper,
    deliverer,
    retention,
    signsOfLife,
    // Asked now: at the stop the descriptor is closed.
    heldSocket: nameOfHeldSocket(manager.socket),
    endAlertLog,
    addresses: () => addresses,
    setAddresses: (found: Addresses) => {
      addresses = found;
    },
    reload: async (changed: Config) => {
      // The only part that can refuse comes first, so that a bad setting changes nothing.
      deliverer.reconfigure({ smtp: changed.smtp, webhooks: changed.webhooks });
      smtp = changed.smtp;
      logger.level = changed.log.level;
      limiter.configure(changed.rateLimit);
      retention.configure(changed.retention);
      kept.checkIns = changed.retention.checkIns;
      signsOfLife.give(changed.watchdog);
      sourceOf = createSourceReader(changed.trustedProxies);
      isProxied = createProxyTest(changed.trustedProxies);
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
  // Where the file was is for the log to say: this is read without a key.
  const place = store.misplaced() === null ? null : 'a file of the database was deleted, moved or replaced';
  return [storeProblem, place, ...progress(sweeper, deliverer)].filter((problem) => problem !== null);
}

function progress(sweeper: Sweeper, deliverer: Parts['deliverer']): (string | null)[] {
  return [sweeper.problem(), deliverer.problem()];
}

/**
 * What a restart may help against. A store that refuses to write answers, and takes check-ins again by itself when the
 * disk has room; the others fail with it. Ended and started again, it could not even say that it refuses. Nor may a watchdog kill one
 * whose file was deleted: only an orderly stop saves what is in it.
 */
function stalls(store: Store, sweeper: Sweeper, deliverer: Parts['deliverer']): string[] {
  const found = store.health().failingSince === null ? progress(sweeper, deliverer) : [sweeper.stall()];
  return found.filter((problem) => problem !== null);
}

/** What a reload leaves as it was, by the name of the setting. */
export const FIXED_SETTINGS: Readonly<Record<string, (config: Config) => unknown>> = {
  listen: ({ listen }) => listen,
  base_url: ({ baseUrl }) => baseUrl,
  check_in_base: ({ checkInBase }) => checkInBase,
  data_dir: ({ dataDir }) => dataDir,
  admin_key_from: ({ adminKey }) => adminKey,
  'log.format': ({ log }) => log.format,
};

function needRestart(before: Config, after: Config): string[] {
  return Object.entries(FIXED_SETTINGS)
    .filter(([, valueIn]) => JSON.stringify(valueIn(before)) !== JSON.stringify(valueIn(after)))
    .map(([name]) => name);
}

function checkInPath({ baseUrl, checkInBase }: Config): string {
  const base = checkInBase ?? `${baseUrl ?? 'http://localhost'}/c`;
  return new URL(base).pathname.replace(/\/+$/, '');
}

function addressesOf(config: Config, derived: string): Addresses {
  const baseUrl = (config.baseUrl ?? derived).replace(/\/+$/, '');
  return { baseUrl, checkInBase: (config.checkInBase ?? `${baseUrl}/c`).replace(/\/+$/, '') };
}

async function stop(parts: Parts, { store, clock, manager, logger }: Foundation): Promise<void> {
  manager.stopping();
  parts.signsOfLife.stop();
  // Who comes from now on may find nobody, and must not be accused by a sweep meanwhile.
  await parts.sweeper.halt();
  const heardUntil = clock();
  let answered = true;
  const late = setTimeout(() => {
    answered = false;
    parts.app.server.closeAllConnections();
  }, CLOSE_WITHIN);
  await drain(parts.app.server, parts.connections, DRAIN_WITHIN);
  await parts.app.close();
  await closeConnections(parts.app.server, parts.connections);
  clearTimeout(late);
  const socket = answered ? parts.heldSocket : null;
  await parts.sweeper.stop(heardUntil, socket === null ? undefined : { socket });
  parts.endAlertLog();
  await parts.deliverer.stop();
  await parts.retention.stop();
  await store.close();
  logger.info('stopped');
}
