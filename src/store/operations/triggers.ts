/** Triggers from people, from the sweep and from changed rules: read the row, ask the state machine, write. */
import type { Act } from '../../core/activity/activity.ts';
import { isAlike } from '../../core/activity/changes.ts';
import { Invalid } from '../../core/errors.ts';
import { LONGEST_DOUBT } from '../../core/hold.ts';
import type { NeedsFacts } from '../../core/needs/needs.ts';
import type { CaseRules, PauseUntil, SnitchState } from '../../core/snitch.ts';
import { type Trigger, transition } from '../../core/transition.ts';
import { PENDING_CANNOT_PAUSE } from '../../core/validation.ts';
import type { Transaction } from '../transaction.ts';
import { namedBy, recordOf, untilOf } from './activity/of-snitches.ts';
import { insertAlert } from './alerts.ts';
import { isNeededBy, neededBy } from './needs/facts.ts';
import { noteStatus } from './needs/reliefs.ts';
import { dropWaiting } from './routes/waiting.ts';
import { contextFor, getRules, getState, getStateById, type StateRow, saveState, toState } from './states.ts';
import { noteChange } from './status-pages/changes.ts';

export async function pauseSnitch(
  tx: Transaction,
  act: Act,
  caseId: string,
  token: string,
  until: PauseUntil,
  now: number,
): Promise<boolean> {
  const [row, named] = await Promise.all([getState(tx, token), namedBy(tx, token)]);
  if (row?.case_id !== caseId) return false;
  if (row.status === 'pending') throw new Invalid([PENDING_CANNOT_PAUSE]);
  const before = toState(row).pause;
  await apply(tx, row, { kind: 'pause', until }, await getRules(tx, caseId), now);
  if (before && isAlike(before.until, until)) return true;
  await recordOf(tx, act, caseId, 'snitch.paused', named, { until: untilOf(until) });
  return true;
}

export async function unpauseSnitch(
  tx: Transaction,
  act: Act,
  caseId: string,
  token: string,
  now: number,
): Promise<boolean> {
  const [row, named] = await Promise.all([getState(tx, token), namedBy(tx, token)]);
  if (row?.case_id !== caseId) return false;
  if (await apply(tx, row, { kind: 'unpause' }, await getRules(tx, caseId), now)) {
    await recordOf(tx, act, caseId, 'snitch.unpaused', named);
  }
  return true;
}

/** Returns whether the trigger changed anything. */
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
  await noteChange(tx, row, snitch.status, now);
  return true;
}

/** Only deadlines and triggers about needs require this, and only for a snitch that needs something. */
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

/** The deadline that an alert reports, and the run that was under way then. A held alert reports the old deadline. */
function causeOf(before: SnitchState, { reason }: SnitchState, trigger: Trigger) {
  if (trigger.kind !== 'due' && trigger.kind !== 'needsChanged') return {};
  const deadlineAt = before.held?.missed ?? before.dueAt;
  if (reason?.kind === 'overran' && reason.endedAt === undefined) {
    return { deadlineAt, startedAt: reason.startedAt };
  }
  const startedAt = reason?.kind === 'noCheckIn' && before.held ? reason.startedAt : undefined;
  return { deadlineAt, startedAt: startedAt ?? (trigger.kind === 'due' ? trigger.startedAt : undefined) };
}

/** Decides again about a held alert, because a person changed what the snitch needs. */
export async function decideHeldAnew(tx: Transaction, id: number, now: number): Promise<void> {
  const row = await getStateById(tx, id);
  const held = row ? toState(row).held : null;
  if (!row || !held) return;
  const isHolderNeeded = await isNeededBy(tx, id, held.by);
  await apply(tx, row, { kind: 'needsChanged', isHolderNeeded }, await getRules(tx, row.case_id), now);
}
