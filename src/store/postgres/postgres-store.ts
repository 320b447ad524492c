/** The store on PostgreSQL, 15 or later. */
import { Calendar } from '../../core/interval.ts';
import type { Change } from '../change.ts';
import { methodsOf } from '../methods/methods.ts';
import { nextDeliveryAt } from '../operations/claims.ts';
import type { Commit, Store } from '../store.ts';
import type { Transaction } from '../transaction.ts';
import { CheckInSets } from './check-in-sets.ts';
import { LostClaims } from './lost-claims.ts';
import { migrate } from './migrate.ts';
import {
  claimAsNode,
  databaseAhead,
  type LeaseClock,
  nextDueByEither,
  releaseLeasesOf,
} from './node-claims.ts';
import { PostgresRunner } from './postgres-runner.ts';
import type { Pool } from './session.ts';
import { Settlements } from './settlements.ts';

export interface PostgresOptions {
  /** Its connections are the store's, which ends it with itself: twelve at least, or calls wait for each other. */
  pool: Pool;
  clock: () => number;
  /** Who claims deliveries: another one after each start, where several are on one database. */
  node?: string;
  /** Whose clock leases are measured with; its own where it is absent. */
  leaseClock?: LeaseClock;
  /** Asked before each claim: whether what another node leased may be claimed when that lease is over. */
  mayTakeOver?: () => boolean;
  /** How long a connection and each statement may take, in milliseconds. */
  deadline?: number;
  /** Told of every commit, for the metrics. */
  onCommit?: (commit: Commit) => void;
  /** Told of what this store has committed, and of nothing else that its listeners hear. */
  onCommitted?: (changes: readonly Change[]) => void;
  /** The newest check-ins of a snitch that are kept; all where absent, but for what the pruning takes. */
  checkInsKept?: () => number;
}

/** In milliseconds: longer than a failover to a standby takes that is promoted at once, and shorter than clients wait. */
export const DEADLINE = 8_000;

/**
 * Opens what is in the database, and brings it to the schema of this program first.
 *
 * @throws NewerSchema where the database is of a newer program, and whatever connecting throws
 */
export async function openPostgresStore(options: PostgresOptions): Promise<Store> {
  const client = await options.pool.connect();
  try {
    await migrate(client);
  } finally {
    client.release();
  }
  return storeOn(options).store;
}

export interface StoreOnPool {
  store: Store;
  runner: PostgresRunner;
  /** Tells the listeners of this process what another node has committed. */
  announce: (changes: readonly Change[]) => void;
}

/** A store on a database that has the schema of this program already. */
export function storeOn(options: PostgresOptions): StoreOnPool {
  const { pool, deadline = DEADLINE, checkInsKept = () => Number.MAX_SAFE_INTEGER } = options;
  const { announce, onChange } = listeners();
  const calendar = new Calendar();
  const { onCommitted = () => {} } = options;
  const committed = (changes: readonly Change[]) => {
    announce(changes);
    onCommitted(changes);
  };
  const running = { ...options, deadline, checkInsKept, calendar, announce: committed };
  const runner = new PostgresRunner(running);
  const sets = new CheckInSets(running, runner);
  const store: Store = {
    ...methodsOf(runner),
    ...claimsOf(runner, options),
    applyCheckIn: (checkIn) => sets.apply(checkIn),
    health: () => ({ failingSince: runner.failingSince, commits: runner.commits, syncs: runner.commits }),
    // What follows is about files: the server looks after its own.
    misplaced: () => null,
    isSaving: () => false,
    lost: null,
    check: () => {},
    checking: () => null,
    node: null,
    onChange,
    failed: new Promise(() => {}),
    close: async () => {
      await runner.drain();
      await pool.end();
    },
  };
  return { store, runner, announce };
}

/** A program that has the database alone is the same node after a restart. */
const ALONE = 'alone';

function claimsOf(
  runner: PostgresRunner,
  { node = ALONE, leaseClock: clock = 'own', mayTakeOver = () => true, clock: now }: PostgresOptions,
): Pick<Store, 'claimDeliveries' | 'settleDelivery' | 'releaseLeases' | 'nextDeliveryAt'> {
  const lost = new LostClaims(node);
  const isShared = clock === 'database';
  const behind = (tx: Transaction) => (isShared ? databaseAhead(tx, now()) : Promise.resolve(0));
  const settlements = new Settlements({ runner, behind });
  return {
    claimDeliveries: (request) =>
      lost.claim(
        (operation) => runner.writeInBackground(operation),
        request,
        (tx) => claimAsNode(tx, { node, clock, mayTakeOver: mayTakeOver() }, request),
      ),
    settleDelivery: (id, fence, settlement) => settlements.settle(id, fence, settlement),
    releaseLeases: (at) => runner.writeInBackground((tx) => releaseLeasesOf(tx, [node], at)),
    nextDeliveryAt: () => runner.read((tx) => (isShared ? nextDueByEither(tx, now()) : nextDeliveryAt(tx))),
  };
}

/** Whoever waits for changes, and how they are told. */
function listeners(): { announce(changes: readonly Change[]): void; onChange: Store['onChange'] } {
  const all: ((change: Change) => void)[] = [];
  return {
    announce: (changes) => {
      for (const change of changes) for (const listener of all) listener(change);
    },
    onChange: (listener) => void all.push(listener),
  };
}
