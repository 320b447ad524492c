/** Triggers from people, from the sweep and from changed rules: read the row, ask the state machine, write. */
import type { Act } from '../../core/activity/activity.ts';
import { isAlike } from '../../core/activity/changes.ts';
import { Invalid } from '../../core/errors.ts';
import { followsCaseZone } from '../../core/job-schedule.ts';
import { apart } from '../../core/runs.ts';
import type { CaseRules, PauseUntil, SnitchState } from '../../core/snitch.ts';
import { type Trigger, transition } from '../../core/transition.ts';
import { PENDING_CANNOT_PAUSE } from '../../core/validation.ts';
import type { DueResult, LookCursor } from '../sweep.ts';
import type { Transaction } from '../transaction.ts';
import { namedBy, recordOf, untilOf } from './activity/of-snitches.ts';
import { insertAlert } from './alerts.ts';
import { settleFlaps } from './flapping.ts';
import { isolate } from './isolation.ts';
import { openRunOf } from './open-run.ts';
import {
  contextFor,
  getRules,
  getState,
  getStateById,
  type StateRow,
  saveState,
  tokenOf,
  toState,
} from './states.ts';

export async function pauseSnitch(
  tx: Transaction,
  act: Act,
  caseId: string,
  token: string,
  until: PauseUntil,
  now: number,
): Promise<boolean> {
  const row = await getState(tx, token);
  if (row?.case_id !== caseId) return false;
  if (row.status === 'pending') throw new Invalid([PENDING_CANNOT_PAUSE]);
  const before = toState(row).pause;
  await apply(tx, row, { kind: 'pause', until }, await getRules(tx, caseId), now);
  if (before && isAlike(before.until, until)) return true;
  await recordOf(tx, act, caseId, 'snitch.paused', await namedBy(tx, token), { until: untilOf(until) });
  return true;
}

export async function unpauseSnitch(
  tx: Transaction,
  act: Act,
  caseId: string,
  token: string,
  now: number,
): Promise<boolean> {
  const row = await getState(tx, token);
  if (row?.case_id !== caseId) return false;
  if (await apply(tx, row, { kind: 'unpause' }, await getRules(tx, caseId), now)) {
    await recordOf(tx, act, caseId, 'snitch.unpaused', await namedBy(tx, token));
  }
  return true;
}

/** True when the trigger changed something. */
async function apply(
  tx: Transaction,
  row: StateRow,
  trigger: Trigger,
  rules: CaseRules,
  now: number,
): Promise<boolean> {
  const before = toState(row);
  const context = await contextFor(tx, row, rules, now);
  const { snitch, alert } = transition(before, trigger, context);
  if (snitch === before) return false;
  let threadId = row.thread_id;
  if (alert) {
    const cause =
      trigger.kind === 'due' ? { deadlineAt: row.due_at, startedAt: hangingSince(snitch, trigger) } : {};
    threadId = await insertAlert(tx, row, alert, snitch, { at: now, ...cause });
  }
  await saveState(tx, row, snitch, { threadId });
  return true;
}

/** When the run began that has not ended: the one that overran, where one did. */
function hangingSince(
  { reason }: SnitchState,
  { startedAt }: Extract<Trigger, { kind: 'due' }>,
): number | undefined {
  return reason?.kind === 'overran' && reason.endedAt === undefined ? reason.startedAt : startedAt;
}

/** Rows of the index that one call looks through: reading one costs about a microsecond. */
const LOOKED_THROUGH = 2_000;

/**
 * Applies what is due at `now`, at most `limit` snitches, in the order in which the sweep looks at them. A second sweep
 * at the same time finds nothing left to do, because the state machine looks at each row again in the transaction that
 * changes it. A row that cannot be applied is passed over and reported.
 */
export async function applyDue(
  tx: Transaction,
  now: number,
  after: LookCursor | null,
  limit: number,
): Promise<DueResult> {
  const looked = await tx.all<LookRow>(
    `SELECT id, look_at, due_at FROM snitch_states
     WHERE look_at <= +? AND (look_at, id) > (+?, +?) ORDER BY look_at, id LIMIT +?`,
    now,
    after?.lookAt ?? Number.MIN_SAFE_INTEGER,
    after?.id ?? 0,
    LOOKED_THROUGH,
  );
  const failures = after === null ? await settleFlaps(tx, now, limit) : [];
  const result: DueResult = { changed: 0, inVain: false, next: null, failures };
  let applied = 0;
  for (const { id, look_at: lookAt, due_at: dueAt } of looked) {
    if (dueAt === null || dueAt > now) {
      result.inVain = true;
      continue;
    }
    if (applied === limit) return result;
    applied += 1;
    result.next = { lookAt, id };
    const { value: changed, error } = await isolate(tx, () => applyOneDue(tx, id, now));
    if (error !== undefined) result.failures.push({ token: await tokenOf(tx, id), error });
    else if (changed) result.changed += 1;
  }
  const last = looked.at(-1);
  result.next = last && looked.length === LOOKED_THROUGH ? { lookAt: last.look_at, id: last.id } : null;
  return result;
}

interface LookRow {
  id: number;
  look_at: number;
  due_at: number | null;
}

async function applyOneDue(tx: Transaction, id: number, now: number): Promise<boolean> {
  const row = await getStateById(tx, id);
  if (!row) return false;
  const startedAt = await openRunOf(tx, row);
  // The end of one that is excused may have been lost.
  const isKnown = startedAt !== null && !apart(toState(row)).open.some((run) => run.excused);
  const trigger = { kind: 'due', ...(isKnown ? { startedAt } : {}) } as const;
  return apply(tx, row, trigger, await getRules(tx, row.case_id), now);
}

/** Rows that one call moves at most: few enough that no check-in waits for it noticeably. */
const MOVED_AT_ONCE = 200;

/**
 * Lets the sweep look at each snitch when it is due, where a check-in has moved that on; a slice a call.
 *
 * @param until only those that the sweep would look at by then
 * @param after where the last call ended, or null to begin with those that the sweep looks at first
 * @returns where to go on, or null at the end
 */
export async function moveLooks(
  tx: Transaction,
  until: number,
  after: LookCursor | null,
): Promise<LookCursor | null> {
  const looked = await tx.all<LookRow>(
    `SELECT id, look_at, due_at FROM snitch_states
     WHERE look_at <= +? AND (look_at, id) > (+?, +?) ORDER BY look_at, id LIMIT +?`,
    until,
    after?.lookAt ?? Number.MIN_SAFE_INTEGER,
    after?.id ?? 0,
    MOVED_AT_ONCE,
  );
  for (const { id, look_at: lookAt, due_at: dueAt } of looked) {
    if (dueAt !== lookAt) await tx.run('UPDATE snitch_states SET look_at = due_at WHERE id = ?', id);
  }
  const last = looked.at(-1);
  return last && looked.length === MOVED_AT_ONCE ? { lookAt: last.look_at, id: last.id } : null;
}

/** Snitches of one slice of a reschedule or a postponement. */
const SLICE = 200;

/** Whether the changed rules of the case change when the sweep must look at the row. */
function isMoved(row: StateRow, { timezone }: CaseRules, deadlines: boolean): boolean {
  return row.status === 'failed' || (deadlines && followsCaseZone(toState(row), timezone));
}

/** Restarts deadlines and reminders of the cases whose rules changed, a slice a call; false when none is left. */
export async function rescheduleSlice(tx: Transaction, now: number): Promise<boolean> {
  const plan = await tx.get<{ case_id: string; deadlines: number; cursor: number }>(
    'SELECT case_id, deadlines, cursor FROM reschedules ORDER BY case_id LIMIT 1',
  );
  if (!plan) return false;
  const snitches = await tx.all<{ id: number }>(
    'SELECT id FROM snitches WHERE case_id = +? AND id > +? ORDER BY id LIMIT +?',
    plan.case_id,
    plan.cursor,
    SLICE,
  );
  const rules = await getRules(tx, plan.case_id);
  for (const { id } of snitches) {
    const row = await getStateById(tx, id);
    if (row && isMoved(row, rules, plan.deadlines === 1)) {
      // A row that cannot be rescheduled is reported by the sweep, when it is due.
      await isolate(tx, () => apply(tx, row, { kind: 'rescheduled' }, rules, now));
    }
  }
  const last = snitches.at(-1);
  if (last && snitches.length === SLICE) {
    await tx.run('UPDATE reschedules SET cursor = ? WHERE case_id = ?', last.id, plan.case_id);
  } else {
    await tx.run('DELETE FROM reschedules WHERE case_id = ?', plan.case_id);
  }
  return true;
}
