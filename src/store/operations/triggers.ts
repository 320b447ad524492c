/** Triggers from people, from the sweep and from changed rules: read the row, ask the state machine, write. */
import type { Act } from '../../core/activity/activity.ts';
import { isAlike } from '../../core/activity/changes.ts';
import { Invalid } from '../../core/errors.ts';
import { LONGEST_DOUBT } from '../../core/hold.ts';
import { followsCaseZone } from '../../core/job-schedule.ts';
import { NOTHING_LEARNED } from '../../core/late-runs.ts';
import { isAwaiting, isDown, type NeedsFacts } from '../../core/needs/needs.ts';
import { apart } from '../../core/runs.ts';
import { concernedFrom, dueThrough } from '../../core/silences/due.ts';
import type { CaseRules, PauseUntil, SnitchState } from '../../core/snitch.ts';
import { type Trigger, transition } from '../../core/transition.ts';
import { PENDING_CANNOT_PAUSE } from '../../core/validation.ts';
import type { DueResult, LookCursor } from '../sweep.ts';
import type { Transaction } from '../transaction.ts';
import { namedBy, recordOf, untilOf } from './activity/of-snitches.ts';
import { insertAlert } from './alerts.ts';
import { settleFlaps } from './flapping.ts';
import { isolate } from './isolation.ts';
import { learnedFor } from './learned.ts';
import { isNeededBy, neededBy } from './needs/facts.ts';
import { advanceRelief, dependentsOf, isSilenceEnd, nextRelief, noteStatus } from './needs/reliefs.ts';
import { openRunOf } from './open-run.ts';
import { dropWaiting } from './routes/waiting.ts';
import { waitFor } from './silences/alarms.ts';
import { silencesOver } from './silences/rows.ts';
import {
  contextFor,
  getRules,
  getState,
  getStateById,
  type KeptRules,
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
export async function apply(
  tx: Transaction,
  row: StateRow,
  trigger: Trigger,
  rules: CaseRules,
  now: number,
  before = toState(row),
): Promise<boolean> {
  const context = await contextFor(tx, row, rules, now);
  const { snitch, alert } = transition(before, trigger, {
    ...context,
    ...(await needsFor(tx, row, trigger, now)),
  });
  if (snitch === before) return false;
  // The end of a pause alerts nobody.
  const isResumed = row.status === 'paused' && snitch.status !== 'paused' && !alert;
  if (isResumed) await dropWaiting(tx, { caseId: row.case_id, token: row.token }, 'its pause ended before');
  let threadId = row.thread_id;
  if (alert) {
    const cause = causeOf(before, snitch, trigger);
    threadId = await insertAlert(tx, row, alert, snitch, { at: now, ...cause });
  }
  await saveState(tx, row, snitch, { threadId });
  await noteStatus(tx, row, snitch.status, now);
  return true;
}

/** Only deadlines and what is about needs ask for them, and only of a snitch that needs something. */
async function needsFor(
  tx: Transaction,
  row: StateRow,
  { kind }: Trigger,
  now: number,
): Promise<{ needs?: NeedsFacts }> {
  if (row.needs === null || kind === 'pause' || kind === 'unpause' || kind === 'rescheduled') return {};
  const since = row.last_check_in_at ?? Number.MIN_SAFE_INTEGER;
  return { needs: await neededBy(tx, row, { since, soon: now + LONGEST_DOUBT, now }) };
}

/** The deadline that an alert tells of, and the run that was going on then. An alert that was held tells of the old one. */
function causeOf(before: SnitchState, { reason }: SnitchState, trigger: Trigger) {
  if (trigger.kind !== 'due' && trigger.kind !== 'needsChanged') return {};
  const deadlineAt = before.held?.missed ?? before.dueAt;
  if (reason?.kind === 'overran' && reason.endedAt === undefined) {
    return { deadlineAt, startedAt: reason.startedAt };
  }
  const startedAt = reason?.kind === 'noCheckIn' && before.held ? reason.startedAt : undefined;
  return { deadlineAt, startedAt: startedAt ?? (trigger.kind === 'due' ? trigger.startedAt : undefined) };
}

/** Decides anew about an alert that is held, because a person changed what the snitch needs. */
export async function decideHeldAnew(tx: Transaction, id: number, now: number): Promise<void> {
  const row = await getStateById(tx, id);
  const held = row ? toState(row).held : null;
  if (!row || !held) return;
  const isHolderNeeded = await isNeededBy(tx, id, held.by);
  await apply(tx, row, { kind: 'needsChanged', isHolderNeeded }, await getRules(tx, row.case_id), now);
}

/** Rows of the index that one call looks through: reading one costs about a microsecond. */
const LOOKED_THROUGH = 2_000;

/** So many of them are read at a time, so that a call that soon has enough to apply reads few in vain. */
const READ_AT_ONCE = 200;

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
  const failures = after === null ? await settleFlaps(tx, now, limit) : [];
  const result: DueResult = { changed: 0, inVain: false, next: after, failures };
  let applied = 0;
  for (let looked = 0; looked < LOOKED_THROUGH; looked += READ_AT_ONCE) {
    const rows = await looksBehind(tx, now, result.next, READ_AT_ONCE);
    for (const { id, look_at: lookAt, due_at: dueAt } of rows) {
      if (dueAt !== null && dueAt <= now) {
        if (applied === limit) return result;
        applied += 1;
        const { value: changed, error } = await isolate(tx, () => applyOneDue(tx, id, now));
        if (error !== undefined) result.failures.push({ token: await tokenOf(tx, id), error });
        else if (changed) result.changed += 1;
      } else result.inVain = true;
      result.next = { lookAt, id };
    }
    if (rows.length < READ_AT_ONCE) return { ...result, next: null };
  }
  return result;
}

/**
 * The rows that the sweep looks at by `until`, in its order, behind `after`. Many may have the same instant, and one
 * condition on both columns would walk through all of these from the first on: SQLite finds the id by the index only
 * where the instant is given.
 */
async function looksBehind(
  tx: Transaction,
  until: number,
  after: LookCursor | null,
  limit: number,
): Promise<LookRow[]> {
  // Where the clock was set back meanwhile, the rows of that instant are not looked at yet.
  const same =
    after && after.lookAt <= until
      ? await tx.all<LookRow>(
          'SELECT id, look_at, due_at FROM snitch_states WHERE look_at = +? AND id > +? ORDER BY id LIMIT +?',
          after.lookAt,
          after.id,
          limit,
        )
      : [];
  if (same.length === limit) return same;
  const later = await tx.all<LookRow>(
    `SELECT id, look_at, due_at FROM snitch_states
     WHERE look_at > +? AND look_at <= +? ORDER BY look_at, id LIMIT +?`,
    after?.lookAt ?? Number.MIN_SAFE_INTEGER,
    until,
    limit - same.length,
  );
  return [...same, ...later];
}

interface LookRow {
  id: number;
  look_at: number;
  due_at: number | null;
}

/** How many of those that a snitch needs are looked at before it, where they are due at the same time. */
const LOOKED_AT_BEFORE = 50;

/**
 * What a snitch needs is looked at before it, so that the order of the sweep does not decide whether its alert is held.
 *
 * @param above the snitches that need this one
 */
async function applyOneDue(
  tx: Transaction,
  id: number,
  now: number,
  above: readonly number[] = [],
): Promise<boolean> {
  const row = await getStateById(tx, id);
  if (!row) return false;
  if (row.needs !== null && row.due_at !== null && row.due_at <= now) {
    await applyNeeded(tx, row, now, [...above, id]);
  }
  const rules = await getRules(tx, row.case_id);
  const before = rules.hasSilences ? await throughSilences(tx, row, rules, now) : toState(row);
  if (before === null) return false;
  if (before.dueAt === null || before.dueAt > now) {
    await saveState(tx, row, before);
    return true;
  }
  const startedAt = await openRunOf(tx, row);
  // The end of one that is excused may have been lost.
  const isKnown = startedAt !== null && !apart(before).open.some((run) => run.excused);
  const trigger = { kind: 'due', ...(isKnown ? { startedAt } : {}) } as const;
  return apply(tx, row, trigger, rules, now, before);
}

/** The state with the deadline that it has after the silences since its period began; null while one still holds. */
async function throughSilences(
  tx: Transaction,
  row: StateRow,
  rules: KeptRules,
  now: number,
): Promise<SnitchState | null> {
  const before = toState(row);
  const since = concernedFrom(before, { rules, calendar: tx.calendar }) ?? now;
  const silences = await silencesOver(tx, row, { start: Math.min(since, now), end: now }, rules.timezone);
  if (silences.until === null && silences.ended.length === 0) return before;
  const learned = silences.until === null ? await learnedFor(tx, row) : NOTHING_LEARNED;
  const through = dueThrough(before, silences, { now, rules, calendar: tx.calendar, ...learned });
  if (through.do === 'apply') return through.snitch;
  await waitFor(tx, row.id, through.until);
  return null;
}

async function applyNeeded(
  tx: Transaction,
  row: StateRow,
  now: number,
  above: readonly number[],
): Promise<void> {
  const needed = await neededBy(tx, row, { since: row.last_check_in_at ?? 0, soon: now, now });
  if (needed.some(isDown)) return;
  const due = needed.filter((one) => isAwaiting(one) && one.dueAt !== null && one.dueAt <= now);
  for (const one of due.slice(0, LOOKED_AT_BEFORE)) {
    if (above.includes(one.id)) continue;
    // One that cannot be applied is reported when the sweep comes to it.
    await isolate(tx, () => applyOneDue(tx, one.id, now, above));
    const after = await getStateById(tx, one.id);
    if (after && isDown(after)) return;
  }
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
  const looked = await looksBehind(tx, until, after, MOVED_AT_ONCE);
  for (const { id, look_at: lookAt, due_at: dueAt } of looked) {
    // One that waits for the end of a silence is looked at later than it is due.
    if (dueAt === null || dueAt > lookAt)
      await tx.run('UPDATE snitch_states SET look_at = due_at WHERE id = ?', id);
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

/**
 * Restarts the deadlines of those that need a snitch that holds alerts no more, a slice a call; false when none is left.
 */
export async function relieveSlice(tx: Transaction, now: number): Promise<boolean> {
  const relief = await nextRelief(tx);
  if (!relief) return false;
  const dependents = await dependentsOf(tx, relief, SLICE);
  for (const id of dependents) {
    const row = await getStateById(tx, id);
    if (!row) continue;
    const rules = await getRules(tx, row.case_id);
    // A row that cannot be applied is reported by the sweep, when it is due.
    const kind = isSilenceEnd(relief) ? 'silenceEnded' : 'relieved';
    await isolate(tx, () => apply(tx, row, { kind }, rules, now));
  }
  await advanceRelief(tx, relief, dependents.length === SLICE ? (dependents.at(-1) ?? null) : null);
  return true;
}
