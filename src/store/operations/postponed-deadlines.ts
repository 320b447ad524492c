/**
 * Postpones the deadlines of many snitches at once. A blind window can affect a million of them, most of which were due
 * at the same time and move to the same time: those are written in one statement.
 */
import { type BlindWindow, couldPostpone, postpone } from '../../core/blind-window.ts';
import { isMinuteInterval } from '../../core/interval.ts';
import { ANY_RUN } from '../../core/judgement/rules.ts';
import { NOTHING_LEARNED } from '../../core/late-runs.ts';
import type { SnitchState } from '../../core/snitch.ts';
import type { Awaitable, Transaction } from '../transaction.ts';
import { learnedFor } from './learned.ts';
import { heldIn } from './needs/held-text.ts';
import { usualRuntimeOf } from './open-run.ts';
import { unpackLearned } from './packed/learned.ts';
import { getRules, getStateById, isLookedAt, ruleOf, type StateRow, saveState, toState } from './states.ts';

/** What the postponement of a deadline depends on. With a million rows, each further column costs. */
export type AwaitedRow = Pick<
  StateRow,
  | 'id'
  | 'token'
  | 'case_id'
  | 'interval'
  | 'alert_type'
  | 'status'
  | 'last_check_in_at'
  | 'due_at'
  | 'look_at'
  | 'postponed'
  | 'moved_from'
  | 'schedule'
  | 'timezone'
  | 'grace'
  | 'runs'
  | 'needs'
> & { first_check_ins: Uint8Array | null };

/** All snitches in the order of their numbers, after the number `after`. */
export function listAwaited(tx: Transaction, after: number, limit: number): Awaitable<AwaitedRow[]> {
  return tx.allHeld<AwaitedRow>(
    `SELECT s.id, n.token, s.case_id, s.interval, s.alert_type, s.status, s.last_check_in_at, s.due_at, s.look_at,
       s.postponed, s.moved_from, s.schedule, s.timezone, s.grace, s.runs, s.needs, s.first_check_ins
     FROM snitch_states AS s CROSS JOIN snitches AS n ON n.id = s.id
     WHERE s.id > +? ORDER BY s.id LIMIT +?`,
    after,
    limit,
  );
}

/** Snitches whose deadlines move from one common instant to another. */
interface Moved {
  ids: number[];
  dueBefore: number | null;
  deadline: Deadline;
  /** Whether the sweep looks at them early enough anyway. */
  staysInPlace: boolean;
}

type Deadline = Pick<SnitchState, 'dueAt' | 'postponed' | 'movedFrom'>;

/** @param window the one that postpones, with its number */
export async function postponeAll(
  tx: Transaction,
  window: BlindWindow & { id: number },
  rows: readonly AwaitedRow[],
  now: number,
): Promise<void> {
  const moved = new Map<string, Moved>();
  for (const row of rows) {
    if (row.runs !== null || heldIn(row.needs) !== null) {
      await postponeOne(tx, window, row.id);
      continue;
    }
    const deadline = await postponed(tx, window, row);
    if (deadline === null) continue;
    const { id, case_id: caseId, token, due_at: dueBefore } = row;
    // A deadline that moves on is looked at when the earlier one was due, and then again at its own time.
    const staysInPlace = isLookedAt(row, deadline.dueAt) && row.look_at !== null && row.look_at > now;
    const key = `${dueBefore} ${deadline.dueAt} ${deadline.postponed} ${deadline.movedFrom} ${staysInPlace}`;
    const alike = moved.get(key);
    if (alike) alike.ids.push(id);
    else moved.set(key, { ids: [id], dueBefore, deadline, staysInPlace });
    tx.announce({ kind: 'snitch', caseId, token });
  }
  for (const alike of moved.values()) await save(tx, window.id, alike);
}

/** For a snitch with a held alert, or with open runs, whose fate depends on how long earlier runs took. */
async function postponeOne(tx: Transaction, window: BlindWindow & { id: number }, id: number): Promise<void> {
  const row = await getStateById(tx, id);
  if (!row) return;
  const before = toState(row);
  const context = { calendar: tx.calendar, rules: await getRules(tx, row.case_id) };
  if (!couldPostpone(before, window, context)) return;
  const known = { ...(await learnedFor(tx, row)), usualRuntime: await usualRuntimeOf(tx, row) };
  const after = postpone(before, window, { ...context, ...known });
  if (!after) return;
  await saveState(tx, row, after);
  await keepPostponement(tx, window.id, row, after.dueAt);
}

/** Records that the window postponed the deadline of `row`, for the notice and for whoever asks why. */
export async function keepPostponement(
  tx: Transaction,
  windowId: number,
  { id, case_id: caseId, due_at: dueBefore }: Pick<StateRow, 'id' | 'case_id' | 'due_at'>,
  dueAt: number | null,
): Promise<void> {
  await tx.run(
    `INSERT INTO postponements (window_id, case_id, snitch_id, due_before, due_at) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (window_id, case_id, snitch_id) DO UPDATE SET due_at = excluded.due_at`,
    windowId,
    caseId,
    id,
    dueBefore,
    dueAt,
  );
}

async function postponed(tx: Transaction, window: BlindWindow, row: AwaitedRow): Promise<Deadline | null> {
  const before = stateOf(row);
  const context = { calendar: tx.calendar, rules: await getRules(tx, row.case_id) };
  if (!couldPostpone(before, window, context)) return null;
  const learned = isMinuteInterval(row.interval) ? NOTHING_LEARNED : unpackLearned(row.first_check_ins);
  return postpone(before, window, { ...context, ...learned });
}

/**
 * The state as far as a postponement needs it. A pause has no deadline that a window could postpone; when the job was
 * last healthy, and what its runs must look like, makes no difference.
 */
function stateOf(row: AwaitedRow): SnitchState {
  return {
    interval: row.interval,
    alertType: row.alert_type,
    schedule: ruleOf(row),
    timezone: row.timezone,
    grace: row.grace,
    status: row.status,
    checkedInAt: null,
    lastCheckInAt: row.last_check_in_at,
    dueAt: row.due_at,
    pause: null,
    postponed: row.postponed,
    movedFrom: row.moved_from,
    reason: null,
    errorsInRow: 0,
    maxRuntime: null,
    runs: null,
    acknowledged: null,
    held: null,
    ...ANY_RUN,
  };
}

async function save(
  tx: Transaction,
  windowId: number,
  { ids, dueBefore, deadline, staysInPlace }: Moved,
): Promise<void> {
  const { dueAt, postponed: count, movedFrom } = deadline;
  const all = filledUp(ids);
  const among = `id IN (${all.map(() => '?').join(', ')})`;
  await tx.run(
    `INSERT INTO postponements (window_id, case_id, snitch_id, due_before, due_at)
     SELECT ?, case_id, id, ?, ? FROM snitch_states WHERE ${among}
     ON CONFLICT (window_id, case_id, snitch_id) DO UPDATE SET due_at = excluded.due_at`,
    windowId,
    dueBefore,
    dueAt,
    ...all,
  );
  const values = staysInPlace ? [] : [dueAt];
  await tx.run(
    `UPDATE snitch_states SET due_at = ?, postponed = ?, moved_from = ?${staysInPlace ? '' : ', look_at = ?'}
     WHERE ${among}`,
    dueAt,
    count,
    movedFrom,
    ...values,
    ...all,
  );
}

/**
 * Repeats the last number until the length is a power of two, so that there are few different statements to prepare.
 */
function filledUp(ids: readonly number[]): number[] {
  const count = 2 ** Math.ceil(Math.log2(ids.length));
  return Array.from({ length: count }, (_, index) => ids[Math.min(index, ids.length - 1)] ?? 0);
}
