/** The store on PostgreSQL, 15 or later. */

import { Calendar } from '../../core/interval.ts';
import type { Change } from '../change.ts';
import { inWords } from '../failure-words.ts';
import { listeners } from '../methods/listeners.ts';
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
  /** The store owns the pool and closes it. It needs twelve connections at least, or calls wait for each other. */
  pool: Pool;
  clock: () => number;
  /** The claimant of deliveries: a new name after each start, if several programs share a database. */
  node?: string;
  /** The clock that measures leases; this program's own if absent. */
  leaseClock?: LeaseClock;
  /** Asked before each claim: whether a delivery that another node leased may be claimed when that lease ends. */
  mayTakeOver?: () => boolean;
  /** How long a connection and each statement may take, in milliseconds. */
  deadline?: number;
  /** Called after every commit, for the metrics. */
  onCommit?: (commit: Commit) => void;
  /** Called only with what this store has committed, not with changes that it announces for other nodes. */
  onCommitted?: (changes: readonly Change[]) => void;
  /** How many of a snitch's newest check-ins are kept; if absent, pruning alone limits them. */
  checkInsKept?: () => number;
}

/** In milliseconds: longer than a failover to a standby that is promoted at once, and shorter than clients wait. */
export const DEADLINE = 8_000;

/**
 * Brings the database to the schema of this program and opens it.
 *
 * @throws NewerSchema if the database belongs to a newer program, and whatever connecting throws
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

/** A store on a database that already has the schema of this program. */
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
    health: () => ({
      failingSince: runner.failingSince,
      ...inWords(runner.failure),
      commits: runner.commits,
      syncs: runner.commits,
    }),
    // The following methods are about files: the server looks after its own.
    misplaced: () => null,
    isContested: () => false,
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

/** A program that has the database to itself is the same node after a restart. */
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
