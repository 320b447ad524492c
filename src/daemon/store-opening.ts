/** Opens the store that the configuration names, and tells in the log what it does and finds. */
import type { Logger } from 'pino';
import type { StorePlace } from '../config/store-place.ts';
import type { CheckOutcome } from '../store/sqlite/background-check.ts';
import { prepareDataDir } from '../store/sqlite/connection.ts';
import { openStoreUnlessStopped, type SqliteOptions } from '../store/sqlite/sqlite-store.ts';
import type { Store } from '../store/store.ts';
import { tellOfWindow } from '../sweep/window-line.ts';
import { openingTeller } from './opening.ts';
import type { Foundation } from './parts.ts';

type Given = Omit<Foundation, 'store'>;

/** As the daemon was given them. */
interface Wishes {
  checkWith?: readonly string[];
  stopped?: AbortSignal;
}

/**
 * @throws OpeningStopped where `stopped` is heard before the store is open
 * @throws Error that says in words why it cannot be opened
 */
export function openStoreOf(given: Given, options: Wishes): Promise<Store> {
  const { store: place } = given.config;
  return place === null ? openInDirectory(given, options) : openShared(given, place);
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

/** The client of PostgreSQL is loaded only where it is needed. */
async function openShared(given: Given, { address, shown }: StorePlace): Promise<Store> {
  const { config, logger, clock, metrics, inForce, version } = given;
  const { openStoreOnPostgres } = await import('../store/postgres/open.ts');
  prepareDataDir(config.dataDir);
  const store = await openStoreOnPostgres({
    address,
    dataDir: config.dataDir,
    clock,
    version,
    onCommit: (commit) => metrics.committed(commit),
    checkInsKept: () => inForce.checkInsKept,
    warn: (words) => logger.warn(words),
    onWait: () => logger.info(WAITING),
    onMigrated: (migrated) => logger.info(migrated, 'the database was upgraded'),
    onBlind: (window) => tellOfWindow(logger, window),
  });
  logger.warn({ store: shown, node: store.node?.id }, 'the data are in PostgreSQL, which is a preview');
  return store;
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
