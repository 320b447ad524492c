/** Triggers from people, from the sweep and from changed rules: read the row, ask the state machine, write. */
import { Invalid } from '../../core/errors.ts';
import type { CaseRules, PauseUntil } from '../../core/snitch.ts';
import { type Trigger, transition } from '../../core/transition.ts';
import { PENDING_CANNOT_PAUSE } from '../../core/validation.ts';
import type { DueCursor, DueResult } from '../sweep.ts';
import type { Transaction } from '../transaction.ts';
import { insertAlert } from './alerts.ts';
import { settleFlaps } from './flapping.ts';
import { isolate } from './isolation.ts';
import { contextFor, getRules, getState, type StateRow, saveState, toState } from './states.ts';

export async function pauseSnitch(
  tx: Transaction,
  caseId: string,
  token: string,
  until: PauseUntil,
  now: number,
): Promise<boolean> {
  const row = await getState(tx, token);
  if (row?.case_id !== caseId) return false;
  if (row.status === 'pending') throw new Invalid([PENDING_CANNOT_PAUSE]);
  await apply(tx, row, { kind: 'pause', until }, await getRules(tx, caseId), now);
  return true;
}

export async function unpauseSnitch(
  tx: Transaction,
  caseId: string,
  token: string,
  now: number,
): Promise<boolean> {
  const row = await getState(tx, token);
  if (row?.case_id !== caseId) return false;
  await apply(tx, row, { kind: 'unpause' }, await getRules(tx, caseId), now);
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
    const deadlineAt = trigger.kind === 'due' ? row.due_at : null;
    threadId = await insertAlert(tx, row, alert, snitch, { at: now, deadlineAt });
  }
  await saveState(tx, row, snitch, threadId);
  return true;
}

/**
 * Applies what is due at `now`, at most `limit` snitches, in order of their due times. A second sweep at the same
 * time finds nothing left to do, because the state machine looks at each row again in the transaction that changes
 * it. A row that cannot be applied is passed over and reported.
 */
export async function applyDue(
  tx: Transaction,
  now: number,
  after: DueCursor | null,
  limit: number,
): Promise<DueResult> {
  const due = await tx.all<{ token: string; due_at: number }>(
    `SELECT token, due_at FROM snitch_states
     WHERE due_at IS NOT NULL AND due_at <= ? AND (due_at, token) > (?, ?)
     ORDER BY due_at, token LIMIT ?`,
    now,
    after?.dueAt ?? Number.MIN_SAFE_INTEGER,
    after?.token ?? '',
    limit,
  );
  const failures = after === null ? await settleFlaps(tx, now, limit) : [];
  const result: DueResult = { changed: 0, next: null, failures };
  for (const { token } of due) {
    const { value: changed, error } = await isolate(tx, () => applyOneDue(tx, token, now));
    if (error !== undefined) result.failures.push({ token, error });
    else if (changed) result.changed += 1;
  }
  const last = due.at(-1);
  if (last && due.length === limit) result.next = { dueAt: last.due_at, token: last.token };
  return result;
}

async function applyOneDue(tx: Transaction, token: string, now: number): Promise<boolean> {
  const row = await getState(tx, token);
  if (!row) return false;
  return apply(tx, row, { kind: 'due' }, await getRules(tx, row.case_id), now);
}

/** Snitches of one slice of a reschedule or a postponement. */
const SLICE = 200;

/** Restarts deadlines and reminders of the cases whose rules changed, a slice a call; false when none is left. */
export async function rescheduleSlice(tx: Transaction, now: number): Promise<boolean> {
  const plan = await tx.get<{ case_id: string; deadlines: number; cursor: number }>(
    'SELECT case_id, deadlines, cursor FROM reschedules ORDER BY case_id LIMIT 1',
  );
  if (!plan) return false;
  const snitches = await tx.all<{ id: number; token: string }>(
    'SELECT id, token FROM snitches WHERE case_id = ? AND id > ? ORDER BY id LIMIT ?',
    plan.case_id,
    plan.cursor,
    SLICE,
  );
  const rules = await getRules(tx, plan.case_id);
  for (const { token } of snitches) {
    const row = await getState(tx, token);
    if (row && (plan.deadlines === 1 || row.status === 'failed')) {
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
