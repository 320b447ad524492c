import { FARTHEST_ATTEMPT, nearEnough, setAnew } from '../../core/clock-ahead.ts';
import { QUIET_AFTER } from '../../core/flapping.ts';
import { nominalLength } from '../../core/interval.ts';
import { knownUntil } from '../../core/late-runs.ts';
import type { Transaction } from '../transaction.ts';
import { isolate } from './isolation.ts';
import { learnedFor, saveLearned } from './learned.ts';
import { contextFor, getRules, listStates, type StateRow, saveState, toState } from './states.ts';

/** Snitches that one call looks at; nearly all of them need no more than the look. */
const SLICE = 500;

/** How long a claim still has that was made while the clock ran ahead: its sender is at work. */
const LEASE_LEFT = 120_000;

/**
 * Sets anew what was set while the clock ran ahead, a slice a call: it may begin at the front at any time, and finds
 * nothing where the clock was right.
 *
 * @returns the snitch to go on after, or null at the end
 */
export async function setAnewSlice(tx: Transaction, now: number, after: number): Promise<number | null> {
  if (after === 0) {
    await shortenWindows(tx, now);
    await bringDeliveriesNear(tx, now);
    await bringFlapsNear(tx, now);
  }
  const rows = await listStates(tx, after, SLICE);
  for (const row of rows) {
    // A row that contradicts itself is reported by the sweep, when it is due.
    if (mayBeAhead(row, now)) await isolate(tx, () => setAnewOne(tx, row, now));
  }
  return rows.length === SLICE ? (rows.at(-1)?.id ?? null) : null;
}

/** A quick look, so that the savepoint and the history are for the few that need them. */
function mayBeAhead(
  { interval, schedule, due_at: due, last_check_in_at: last, paused_at: paused, runs }: StateRow,
  now: number,
) {
  // The interval beside a schedule is only shown, and may be much longer than what is between two runs.
  const isByInterval = schedule === null;
  const near = isByInterval ? nearEnough(interval, now) : now;
  const farthest = isByInterval ? now + nominalLength(interval) : now;
  // When a snitch with open runs is due itself, only its state says.
  return runs !== null || (due ?? 0) > near || (last ?? 0) > farthest || (paused ?? 0) > now;
}

async function setAnewOne(tx: Transaction, row: StateRow, now: number): Promise<void> {
  const rules = await getRules(tx, row.case_id);
  const before = toState(row);
  const context = { calendar: tx.calendar, rules, firstCheckIns: [] };
  if (!setAnew(before, now, context)) return;
  const farthest = now + nominalLength(row.interval);
  await saveLearned(tx, row, knownUntil(await learnedFor(tx, row), farthest));
  const state = setAnew(before, now, await contextFor(tx, row, rules, now));
  if (state) await saveState(tx, row, state);
}

/** No window can end later than now. */
async function shortenWindows(tx: Transaction, now: number): Promise<void> {
  await tx.run(
    `UPDATE blind_windows SET ended_at = CASE WHEN started_at > ? THEN started_at ELSE ? END
     WHERE ended_at > ? AND ended_at > started_at`,
    now,
    now,
    now,
  );
}

async function bringDeliveriesNear(tx: Transaction, now: number): Promise<void> {
  const moved = await tx.run(
    `UPDATE deliveries SET next_attempt_at = CASE WHEN leased = 1 THEN ? ELSE ? END
     WHERE state = 'pending' AND next_attempt_at > ?`,
    now + LEASE_LEFT,
    now,
    now + FARTHEST_ATTEMPT,
  );
  if (moved > 0) tx.announce({ kind: 'deliveries' });
}

/** A change that was counted instead of told happened now at the latest, and is told when that is long enough ago. */
async function bringFlapsNear(tx: Transaction, now: number): Promise<void> {
  await tx.run(
    `UPDATE flapping SET since = CASE WHEN since > ? THEN ? ELSE since END, changed_at = ?, settle_at = ?
     WHERE settle_at > ?`,
    now,
    now,
    now,
    now + QUIET_AFTER,
    now + QUIET_AFTER,
  );
}
