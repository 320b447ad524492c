/** Starts the daemon: opens the store, makes the parts, and starts them one after the other. */
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import { StoreUnavailable } from '../core/errors.ts';
import { Metrics } from '../http/metrics/metrics.ts';
import { ClusterClock } from '../store/cluster-clock.ts';
import type { ClusterNode } from '../store/node.ts';
import { isInContainer } from '../system/container.ts';
import { type ServiceManager, serviceManager } from '../system/service-manager.ts';
import { addressesOf } from './addresses.ts';
import { linkKey } from './alarm-links.ts';
import { warnOfConfig, warnOfEmail } from './config-warnings.ts';
import { concernOf, DataDirOpen } from './data-directory.ts';
import { concernOfPlace } from './data-place.ts';
import {
  completeFirstStart,
  credentialsPath,
  type FirstStart,
  knowsKeysIn,
  updateUrl,
} from './first-start.ts';
import { inForceAtFirst } from './in-force.ts';
import { concernOfLeftDatabase } from './left-database.ts';
import { listen } from './listen.ts';
import { createParts, type Foundation, type Parts } from './parts.ts';
import { reload } from './reload.ts';
import { stop } from './stop.ts';
import { openStoreOf } from './store-opening.ts';

export interface Daemon {
  /** The address that it listens on. */
  url: string;
  /** Applies the settings that can change while it runs. */
  reload(config: Config): Promise<void>;
  /** Answers requests in flight, releases deliveries that are not sent, and closes the store. */
  stop(): Promise<void>;
  /** Whether `stop` is saving what would otherwise be lost, and must not be cut short. */
  isSaving(): boolean;
  /** Resolves with the reason when the daemon can no longer be trusted, and the process must end. */
  failed: Promise<Error>;
}

type Opening = Omit<Foundation, 'inForce' | 'metrics' | 'store' | 'patiently' | 'isLate'>;

export interface DaemonOptions {
  /** The wall clock; tests pass their own. */
  clock?: () => number;
  /** The version of this program, for the user agent of webhooks. */
  version?: string;
  /** The service manager to report to; none when absent. */
  manager?: ServiceManager;
  /** See `SqliteOptions.checkWith`. */
  checkWith?: readonly string[];
  /** Ends a start whose database takes long to open; after that, use `stop`. */
  stopped?: AbortSignal;
}

/**
 * @throws OpeningStopped if `stopped` is aborted before the store is open
 * @throws Error that says in words why the configuration cannot be used, or the store cannot be opened
 */
export async function startDaemon(
  config: Config,
  logger: Logger,
  options: DaemonOptions = {},
): Promise<Daemon> {
  const { clock = Date.now, version = '0', manager = serviceManager({}) } = options;
  warnOfConfig(config, logger);
  checkDataDirectory(config, logger);
  manager.status('Opening the database');
  const foundation = await layFoundation({ config, logger, clock, version, manager }, options);
  let parts: Parts | null = null;
  try {
    parts = createParts(foundation);
    return await begin(parts, foundation);
  } catch (error) {
    parts?.signsOfLife.stop();
    // It may have been listening for a while: clients that still ask whether it is ready must not keep it open.
    parts?.app.server.closeAllConnections();
    await parts?.app.close();
    parts?.app.server.close();
    await foundation.store.close();
    throw error;
  }
}

/** @throws DataDirOpen */
function checkDataDirectory({ dataDir, store }: Config, logger: Logger): void {
  const concern = concernOf(dataDir);
  if (concern?.refused) throw new DataDirOpen(`${concern.message}: ${concern.remedy}`);
  // If the database is not in it, its place matters little.
  const ofDatabase = store === null ? [concernOfPlace(dataDir), concernOfLeftDatabase(dataDir)] : [];
  for (const one of [concern, ...ofDatabase])
    if (one) logger.warn({ data_dir: dataDir, remedy: one.remedy }, one.message);
}

/** Opens the store, and upgrades it if an older version wrote it. */
async function layFoundation(own: Opening, options: DaemonOptions): Promise<Foundation> {
  const clusterClock = own.config.store === null ? null : new ClusterClock({ own: own.clock });
  const given = { ...own, clock: clusterClock?.now ?? own.clock };
  const inForce = inForceAtFirst(given.config);
  const metrics = new Metrics(given.version);
  const opened = await openStoreOf(
    { ...given, inForce, metrics },
    { ...options, hostClock: own.clock, clusterClock },
  );
  return { ...given, ...opened, inForce, metrics };
}

/** Starts the parts one after the other. `stop` ends them. */
async function begin(parts: Parts, foundation: Foundation): Promise<Daemon> {
  const { config, inForce, logger, store, manager, isLate } = foundation;
  if (store.lost) await store.openBlindWindow(store.lost);
  await parts.sweeper.wake(parts.heldSocket);
  // Jobs wait for an answer, so the daemon listens first, and works out what its absence means for deadlines later,
  // but before the first sweep.
  const { url, baseUrl } = await listen(parts.app, config, { socket: manager.socket, logger });
  parts.sweeper.listens();
  inForce.addresses = addressesOf(config, baseUrl);
  await foundation.patiently(() =>
    beginOnStore(foundation, { url, heldSocket: isLate ? null : parts.heldSocket }),
  );
  warnOfEmail(config, logger);
  parts.deliverer.start();
  parts.sweeper.start();
  parts.retention.start();
  parts.start.isOver = true;
  parts.signsOfLife.give(config.watchdog);
  const details = { pid: process.pid, base_url: inForce.addresses.baseUrl, data_dir: config.dataDir };
  logger.info({ url, ...details }, 'listening');
  manager.ready();
  store.check();
  return {
    url,
    reload: async (changed) => reload(parts, foundation, changed),
    stop: () => stop(parts, foundation),
    isSaving: () => store.isSaving(),
    failed: store.failed,
  };
}

/** Can be repeated if a part of it failed. */
async function beginOnStore(
  foundation: Foundation,
  { url, heldSocket }: { url: string; heldSocket: string | null },
): Promise<void> {
  const { node } = foundation.store;
  await node?.begin(heldSocket);
  // If several nodes begin at the same time on an empty database, one makes the key and the credentials.
  const alone: ClusterNode['alone'] = node?.alone ?? ((_, work) => work(async () => {}));
  await alone('first start', async (confirm) => {
    await provideLinkKey(foundation, confirm);
    await tellOfCredentials(foundation, { url, confirm });
  });
  await releaseLeases(foundation);
}

async function provideLinkKey(
  { inForce, store, logger }: Foundation,
  confirm: () => Promise<void>,
): Promise<void> {
  inForce.linkKey = await linkKey(store, confirm);
  if (inForce.linkKey !== null) return;
  logger.warn(
    'alerts have no links to acknowledge them until a restart: the key for that could not be stored',
  );
}

async function tellOfCredentials(
  { config, logger, store, clock }: Foundation,
  { url, confirm }: Required<Pick<FirstStart, 'url' | 'confirm'>>,
): Promise<void> {
  const isFirst = await completeFirstStart(store, { ...config, url, confirm }, clock());
  const file = credentialsPath(config.dataDir);
  const problem = isFirst ? null : await updateUrl(file, url);
  if (problem === 'it does not exist' && store.node) {
    const made =
      'the API keys were made at the first start on this database, by another node or an earlier one';
    logger.info(
      { file },
      `${made}; commands on this host need a copy of the credentials.yaml that it wrote, or a key in SNITCH_API_KEY`,
    );
  } else if (problem)
    logger.warn({ file, problem }, 'commands on this host cannot use the file of the API keys');
  else if (!isFirst && store.node && !(await knowsKeysIn(store, file)))
    logger.warn(
      { file },
      'this database knows none of the API keys in the file: they were deleted, or are those of another one, such as a database in the data directory. Commands on this host need a copy of the credentials.yaml of the node that made the keys, or a key that `snitch key create` made where commands work',
    );
  else if (isFirst) logger.info({ file, ...howToUse() }, 'first start: the API keys are in this file');
  else logger.info({ file }, 'credentials');
}

/** In a container there may be no shell to read the file with. */
function howToUse(): { how?: string } {
  if (!isInContainer()) return {};
  return {
    how: 'commands in this container find it: `podman exec CONTAINER snitch list` (or docker, or kubectl exec POD --); for people and hosts elsewhere, `podman exec CONTAINER snitch key create NAME` prints a key of their own',
  };
}

/**
 * Releases the deliveries that an earlier run had claimed. If the disk is full, the daemon starts all the same, and
 * the deliveries are due when their leases end.
 */
async function releaseLeases({ store, clock, logger }: Foundation): Promise<void> {
  try {
    await store.releaseLeases(clock());
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    logger.warn({ err: error }, 'deliveries that were claimed before wait for the end of their leases');
  }
}
