import { FARTHEST_ATTEMPT } from '../../core/backoff.ts';
import { LITTLE_AHEAD, nearEnough, nearEnoughByRun, setAnew } from '../../core/clock-ahead.ts';
import { StoreUnavailable } from '../../core/errors.ts';
import { QUIET_AFTER } from '../../core/flapping.ts';
import { knownUntil } from '../../core/late-runs.ts';
import type { Awaitable, Transaction } from '../transaction.ts';
import { isolate } from './isolation.ts';
import { learnedFor, saveLearned } from './learned.ts';
import { bringKeptBackNear, lookAnew } from './silences/alarms.ts';
import { contextFor, getRules, getStateById, ruleOf, type StateRow, saveState, toState } from './states.ts';

/** Snitches that one call examines; for nearly all of them a short look is enough. */
const SLICE = 1_000;

/** How long a claim made while the clock ran ahead remains valid, in milliseconds: its sender is still working. */
const LEASE_LEFT = 120_000;

/**
 * Corrects what was set while the clock ran ahead, one slice per call. It can start from the beginning at any time, and
 * changes nothing if the clock was right.
 *
 * @returns the snitch to continue after, or null at the end
 */
export async function setAnewSlice(tx: Transaction, now: number, after: number): Promise<number | null> {
  await tx.lock('blind windows');
  if (after === 0) {
    await shortenWindows(tx, now);
    await bringDeliveriesNear(tx, now);
    await bringFlapsNear(tx, now);
    await bringKeptBackNear(tx, now);
  }
  const looked = await look(tx, after);
  for (const row of looked) {
    if (row.look_at !== null && row.due_at !== null && row.look_at > row.due_at) await lookAnew(tx, row.id);
    const isNear = row.schedule === null ? isNearByInterval(row, now) : await isNearBySchedule(tx, row, now);
    // Only the whole state of a snitch with open runs says when the snitch itself is due. The sweep reports a row that
    // contradicts itself, when it is due.
    if (!isNear || row.runs !== null) await isolate(tx, () => setAnewOne(tx, row.id, now));
  }
  return looked.length === SLICE ? (looked.at(-1)?.id ?? null) : null;
}

/** The few columns that show it: there may be a million rows, and hardly ever is one of them ahead. */
type LookedRow = Pick<
  StateRow,
  | 'id'
  | 'case_id'
  | 'interval'
  | 'due_at'
  | 'look_at'
  | 'last_check_in_at'
  | 'paused_at'
  | 'schedule'
  | 'timezone'
  | 'grace'
  | 'runs'
>;

function look(tx: Transaction, after: number): Awaitable<LookedRow[]> {
  return tx.all<LookedRow>(
    `SELECT id, case_id, interval, due_at, look_at, last_check_in_at, paused_at, schedule, timezone, grace, runs
     FROM snitch_states WHERE id > +? ORDER BY id LIMIT +?`,
    after,
    SLICE,
  );
}

/** A quick check, so that only the few that need them cost a savepoint and the history. */
function isNearByInterval(row: LookedRow, now: number): boolean {
  const { interval, due_at: due, last_check_in_at: last, paused_at: paused } = row;
  const isHeardByNow = (last ?? 0) <= now + LITTLE_AHEAD;
  return (due ?? 0) <= nearEnough(interval, now) && isHeardByNow && (paused ?? 0) <= now;
}

/** The same for a schedule: the interval is then only shown, and may be much longer than the time between two runs. */
async function isNearBySchedule(tx: Transaction, row: LookedRow, now: number): Promise<boolean> {
  const { due_at: due, last_check_in_at: last, paused_at: paused } = row;
  if ((last ?? 0) > now + LITTLE_AHEAD || (paused ?? 0) > now) return false;
  if ((due ?? 0) <= now) return true;
  try {
    const { timezone } = await getRules(tx, row.case_id);
    const job = { schedule: ruleOf(row), timezone: row.timezone, grace: row.grace };
    return (due ?? 0) <= nearEnoughByRun(job, timezone, now);
  } catch (error) {
    if (error instanceof StoreUnavailable) throw error;
    return false;
  }
}

async function setAnewOne(tx: Transaction, id: number, now: number): Promise<void> {
  const row = await getStateById(tx, id);
  if (!row) return;
  const rules = await getRules(tx, row.case_id);
  const before = toState(row);
  const context = { calendar: tx.calendar, rules, firstCheckIns: [] };
  if (!setAnew(before, now, context)) return;
  await saveLearned(tx, row, knownUntil(await learnedFor(tx, row), now + LITTLE_AHEAD));
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
    `UPDATE deliveries SET next_attempt_at = CASE WHEN leased = 1 THEN CAST(? AS BIGINT) ELSE CAST(? AS BIGINT) END
     WHERE state = 'pending' AND next_attempt_at > ?`,
    now + LEASE_LEFT,
    now,
    now + FARTHEST_ATTEMPT,
  );
  if (moved > 0) tx.announce({ kind: 'deliveries' });
}

/** A change that was counted, not alerted, happened now at the latest, and is reported once that is long enough ago. */
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
