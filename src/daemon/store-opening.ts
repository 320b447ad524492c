/** Opens the store that the configuration names, and logs what it does and finds. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { StorePlace } from '../config/store-place.ts';
import type { ClusterClock } from '../store/cluster-clock.ts';
import { lateStore } from '../store/late-store.ts';
import type { OpenOptions } from '../store/postgres/open.ts';
import type { CheckOutcome } from '../store/sqlite/background-check.ts';
import { DatabaseUnusable, prepareDataDir } from '../store/sqlite/connection.ts';
import { lockDataDir } from '../store/sqlite/lock.ts';
import { openStoreUnlessStopped, type SqliteOptions } from '../store/sqlite/sqlite-store.ts';
import type { Store } from '../store/store.ts';
import { tellOfWindow } from '../sweep/window-line.ts';
import { openingTeller } from './opening.ts';
import type { Foundation } from './parts.ts';
import { Patience, type Patiently } from './patience.ts';

type Given = Omit<Foundation, 'store' | 'patiently' | 'isLate'>;

/** Options, as given to the daemon. */
interface Wishes {
  checkWith?: readonly string[];
  stopped?: AbortSignal;
  /** The clock of this host, and its correction if others share the database. */
  hostClock: () => number;
  clusterClock: ClusterClock | null;
}

export interface Opened {
  /**
   * If others share the database, it may not be there yet: then everything is refused until
   * `patiently` has done its work.
   */
  store: Store;
  /** Does a start's work on the database, waiting for the database if it is away. */
  patiently: Patiently;
  /** Whether the database is not there yet. */
  isLate: boolean;
}

/**
 * @throws OpeningStopped if `stopped` is aborted before the store is open
 * @throws Error that says in words why it cannot be opened
 */
export async function openStoreOf(given: Given, options: Wishes): Promise<Opened> {
  const { store: place } = given.config;
  if (place !== null) return openShared(given, place, options);
  return { store: await openInDirectory(given, options), patiently: (work) => work(), isLate: false };
}

function openInDirectory(
  given: Given,
  { checkWith, stopped = new AbortController().signal }: Wishes,
): Promise<Store> {
  const { config, logger, clock, metrics, inForce } = given;
  const options = {
    dataDir: config.dataDir,
    clock,
    onCommit: (commit) => metrics.committed(commit),
    onMigrated: (migrated) =>
      logger.info(migrated, 'the database was upgraded; the copy is what it was before'),
    onOpening: openingTeller(given, () => performance.now()),
    checkWith,
    onCheck: (check) => tellOfCheck(check, logger),
    report: (message, details) => logger.error(details, message),
    checkInsKept: () => inForce.checkInsKept,
  } satisfies SqliteOptions;
  return openStoreUnlessStopped(options, stopped);
}

const WAITING =
  'another program has the database to itself, a node that brings it up to date or `snitch move`, and is waited for';

const WAITING_AT_FIRST =
  'another node is at this step of its start, which one does at a time, and is waited for; one that stands still loses its turn after ten seconds';

/**
 * A start that takes longer goes on while the daemon listens and answers 503. During a normal start, clients wait at
 * the service manager's socket and are then answered properly. In milliseconds.
 */
const LISTENS_AFTER = 2_000;

async function openShared(given: Given, place: StorePlace, wishes: Wishes): Promise<Opened> {
  const unlock = takeDirectory(given);
  try {
    return await openSharedIn(given, place, wishes, unlock);
  } catch (error) {
    unlock();
    throw error;
  }
}

/**
 * Two daemons in one directory would mistake each other's notes about the primary, and the file with the keys, for
 * their own. But since the database is not in the directory, failing to lock it is no reason to refuse check-ins.
 *
 * @throws DataDirLocked when another daemon has it
 */
function takeDirectory({ config: { dataDir }, logger }: Given): () => void {
  prepareDataDir(dataDir);
  try {
    return lockDataDir(dataDir);
  } catch (error) {
    if (!(error instanceof DatabaseUnusable)) throw error;
    const { message: reason } = error;
    logger.warn(
      { reason },
      'the data directory cannot be locked, so nothing keeps a second daemon from using it',
    );
    return () => {};
  }
}

/** The PostgreSQL client is loaded only when it is needed. */
async function openSharedIn(
  given: Given,
  place: StorePlace,
  wishes: Wishes,
  unlock: () => void,
): Promise<Opened> {
  const { logger, manager, clock } = given;
  const { stopped = new AbortController().signal } = wishes;
  const { openStoreOnPostgres } = await import('../store/postgres/open.ts');
  const { reasonToWait } = await import('../store/postgres/passing.ts');
  const { MIGRATIONS } = await import('../store/postgres/migrate.ts');
  const monotonic = () => performance.now();
  const patience = new Patience({ logger, manager, stopped, reasonToWait, monotonic });
  const id = randomUUID();
  const onWait: OpenOptions['onWait'] = (what, holder) =>
    patience.waitsFor(what === MIGRATIONS ? WAITING : WAITING_AT_FIRST, holder);
  const open = async () => {
    const store = await openStoreOnPostgres({ ...sharedOptions(given, place, wishes), id, onWait });
    // Nobody is waiting for it any more.
    if (stopped.aborted) await store.close();
    const details = { store: place.shown, node: store.node?.id };
    logger.info(details, 'the data are in PostgreSQL');
    return { ...store, close: () => store.close().finally(unlock) };
  };
  return openedSoon({ patience, open, unlock, since: clock() });
}

interface Opening {
  patience: Patience;
  open: () => Promise<Store>;
  /** Called when a store that was never opened is given up. */
  unlock: () => void;
  /** Since when check-ins have been refused, in milliseconds since the epoch. */
  since: number;
}

/** The store itself if it opens soon, else one that refuses everything until it is open. */
async function openedSoon({ patience, open, unlock, since }: Opening): Promise<Opened> {
  let begun: Promise<{ value: Store } | null> | null = patience.attempt(open);
  // Whoever waits for it later gets its error.
  begun.catch(() => undefined);
  const soon = new AbortController();
  const first = await Promise.race([begun, sleep(LISTENS_AFTER, null, { signal: soon.signal })]).finally(() =>
    soon.abort(),
  );
  if (first) return { store: first.value, patiently: (work) => patience.until(work), isLate: false };
  const problem = () => patience.reason ?? 'the database is being opened';
  const giveUp = () => {
    const under = begun ?? Promise.resolve(null);
    void under.then((opened) => opened?.value.close()).then(unlock, unlock);
  };
  const late = lateStore(problem, since, giveUp);
  let isOpen = false;
  const openLate = async () => {
    if (isOpen) return;
    const under = begun;
    begun = null;
    await late.open((await under)?.value ?? (await open()));
    isOpen = true;
  };
  return {
    store: late.store,
    patiently: (work) => patience.until(() => openLate().then(work)),
    isLate: true,
  };
}

function sharedOptions(
  given: Given,
  { address }: StorePlace,
  { hostClock: clock, clusterClock }: Wishes,
): OpenOptions {
  const { config, logger, metrics, inForce, version } = given;
  return {
    address,
    dataDir: config.dataDir,
    clock,
    ...(clusterClock && { clusterClock }),
    version,
    onCommit: (commit) => metrics.committed(commit),
    checkInsKept: () => inForce.checkInsKept,
    warn: (words) => logger.warn(words),
    onMigrated: (migrated) => logger.info(migrated, 'the database was upgraded'),
    onBlind: (window) => tellOfWindow(logger, window),
    onFreed: (nodes) => logger.info({ nodes }, 'what silent nodes were about to send is free'),
  };
}

/** Damage ends the daemon, which then says so. */
function tellOfCheck(check: { kind: 'began' } | CheckOutcome, logger: Logger): void {
  if (check.kind === 'began') logger.info('the database is being checked, behind everything else');
  if (check.kind === 'well')
    logger.info({ duration_ms: check.durationMs }, 'the database was checked, and is whole');
  if (check.kind === 'undone') {
    const { reason } = check;
    logger.warn(
      { reason },
      'the database could not be checked while the daemon works; a restart tries it again',
    );
  }
}
