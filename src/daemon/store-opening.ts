/** Opens the store that the configuration names, and tells in the log what it does and finds. */
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

/** As the daemon was given them. */
interface Wishes {
  checkWith?: readonly string[];
  stopped?: AbortSignal;
  /** The clock of this host, and the one that it is corrected to where others share the database. */
  hostClock: () => number;
  clusterClock: ClusterClock | null;
}

export interface Opened {
  /** Where others share the database, it may not be there yet: then all is refused until `patiently` has done its work. */
  store: Store;
  /** Does what a start does with the database, and waits for it where it is away. */
  patiently: Patiently;
  /** Whether it is not there yet. */
  isLate: boolean;
}

/**
 * @throws OpeningStopped where `stopped` is heard before the store is open
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
 * A start that takes longer goes on while the daemon listens and answers 503. An everyday one keeps those waiting who come
 * meanwhile, at the socket of a service manager, and then answers them well. In milliseconds.
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
 * Two daemons would take what the other one remembers of the primary for their own, and the file of the keys too. Without
 * a database in the directory, that it cannot be locked is no reason to take no check-ins.
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

/** The client of PostgreSQL is loaded only where it is needed. */
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
    // Nobody waits for it any more.
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
  /** Called when a store was given up that was never opened. */
  unlock: () => void;
  /** Check-ins are refused since then, in milliseconds since the epoch. */
  since: number;
}

/** The store itself where it opens soon, else one that refuses all until it is open. */
async function openedSoon({ patience, open, unlock, since }: Opening): Promise<Opened> {
  let begun: Promise<{ value: Store } | null> | null = patience.attempt(open);
  // Whoever waits for it later is told what it throws.
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
