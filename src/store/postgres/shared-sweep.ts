/** Sweeps as one node among several: never while some node may still have a blind window to open. */
import { setTimeout as sleep } from 'node:timers/promises';
import { applyDue } from '../operations/sweeping/due.ts';
import type { DueResult, LookCursor } from '../sweep.ts';
import type { Transaction } from '../transaction.ts';
import { LostRace } from './faults.ts';
import { MAY_SWEEP } from './nodes/signs.ts';
import type { PostgresRunner } from './postgres-runner.ts';

/** A set costs a few round trips however large it is, and blocks nobody: the database works alongside this process. */
const AT_ONCE = 200;

/**
 * A sweep that takes longer than this, and twice as long as the one before it, probably waited for a lock, and
 * check-ins did too. In milliseconds.
 */
const HELD_UP_AFTER = 500;

/** Within this time every living node reports what it refused, in milliseconds. */
const MOMENT = 1_000;

const NOTHING_DUE: DueResult = { changed: 0, inVain: false, next: null, failures: [] };

interface Due {
  now: number;
  after: LookCursor | null;
  limit: number;
}

/** Nothing was decided: check-ins may have been refused meanwhile, and will be reported in a moment. */
class WasHeldUp extends Error {}

export interface SharedSweepOptions {
  readonly node: string;
  readonly runner: Pick<PostgresRunner, 'refused' | 'writeInBackground'>;
  /** See `Liveness.lastSign`. */
  readonly lastSign: () => number;
  /** How long all nodes may be silent without a blind window, in milliseconds. */
  readonly signLasts: number;
}

export class SharedSweep {
  readonly #options: SharedSweepOptions;
  #patience = HELD_UP_AFTER;

  constructor(options: SharedSweepOptions) {
    this.#options = options;
  }

  /** A sweep that waited is repeated a moment later, however long that takes: a slow server must not delay alerts. */
  async applyDue(due: Due): Promise<DueResult> {
    try {
      return await this.#attempt(due, this.#patience);
    } catch (error) {
      if (!(error instanceof WasHeldUp)) throw error;
      await sleep(MOMENT);
      return this.#attempt(due, Number.POSITIVE_INFINITY);
    }
  }

  #attempt(due: Due, patience: number): Promise<DueResult> {
    return this.#options.runner.writeInBackground(async (tx) => {
      const began = performance.now();
      const result = await applyWhereAllowed(this.#options, tx, due, began + patience);
      this.#patience = Math.max(HELD_UP_AFTER, 2 * (performance.now() - began));
      return result;
    });
  }
}

/**
 * Asks again after deciding: if somebody had locked a table, the sweep waited, and so did check-ins that were refused
 * meanwhile.
 *
 * @param until by `performance.now()`
 * @throws LostRace, so that it is run again, if sweeping is no longer allowed; WasHeldUp if something was decided after
 * `until`
 */
async function applyWhereAllowed(
  options: SharedSweepOptions,
  tx: Transaction,
  { now, after, limit }: Due,
  until: number,
): Promise<DueResult> {
  if (!(await maySweep(options, tx))) return NOTHING_DUE;
  const result = await applyDue(tx, now, after, Math.max(limit, AT_ONCE));
  if (result.changed === 0) return result;
  // The decisions may be sent only now, ahead of this query, and wait until then.
  const mayStill = await maySweep(options, tx);
  if (performance.now() > until) throw new WasHeldUp();
  if (!mayStill) throw new LostRace(new Error('check-ins were refused while the sweep waited'));
  return result;
}

/** Asked in the sweep's own transaction: a node that stood still until a moment ago must not accuse anybody. */
async function maySweep(
  { node, runner, signLasts, lastSign }: SharedSweepOptions,
  tx: Transaction,
): Promise<boolean> {
  const row = await tx.get<{ may: number }>(MAY_SWEEP, node, signLasts, signLasts, lastSign());
  // This node itself may have refused a check-in while it waited for the answer.
  return row?.may === 1 && runner.refused === null;
}
