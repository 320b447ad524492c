/** What one change means for many snitches, one slice at a time. */
import { followsCaseZone } from '../../../core/job-schedule.ts';
import type { CaseRules } from '../../../core/snitch.ts';
import type { Transaction } from '../../transaction.ts';
import { isolate } from '../isolation.ts';
import { heldIn } from '../needs/held-text.ts';
import { advanceRelief, dependentsOf, isSilenceEnd, nextRelief } from '../needs/reliefs.ts';
import { lookAnewInCase } from '../routes/look-anew.ts';
import { lookAnew } from '../silences/alarms.ts';
import { getRules, getStateById, type StateRow, toState } from '../states.ts';
import { apply } from '../triggers.ts';

/** How many snitches one slice of a reschedule or a relief has. */
const SLICE = 200;

/**
 * Whether the changed rules of the case move the time at which the sweep must look at the row. A held alert awaits a
 * deadline, and no reminder.
 */
function isMoved(row: StateRow, { timezone }: CaseRules, deadlines: boolean): boolean {
  const isReminded = row.status === 'failed' && heldIn(row.needs) === null;
  return isReminded || (deadlines && followsCaseZone(toState(row), timezone));
}

/** Of a case whose rules changed: its snitches after the number `cursor` still have their old deadlines. */
interface Reschedule {
  case_id: string;
  deadlines: number;
  cursor: number;
}

/** By case: those that are not over. */
export type Reschedules = ReadonlyMap<string, Reschedule>;

export async function openReschedules(tx: Transaction): Promise<Reschedules> {
  const open = await tx.all<Reschedule>('SELECT case_id, deadlines, cursor FROM reschedules');
  return new Map(open.map((one) => [one.case_id, one]));
}

/**
 * Restarts the deadline of a snitch whose turn in the reschedule of its case has not come: by changed rules it may not
 * be due, and the sweep does not wait until a million others have had their turn.
 *
 * @returns whether it did, and the row is no longer as it was
 */
export async function rescheduleAhead(
  tx: Transaction,
  row: StateRow,
  reschedules: Reschedules,
  now: number,
): Promise<boolean> {
  const plan = reschedules.get(row.case_id);
  if (!plan || row.id <= plan.cursor) return false;
  const rules = await getRules(tx, row.case_id);
  return isMoved(row, rules, plan.deadlines === 1) && apply(tx, row, { kind: 'rescheduled' }, rules, now);
}

/** Restarts deadlines and reminders in cases whose rules changed, one slice per call; false when none is left. */
export async function rescheduleSlice(tx: Transaction, now: number): Promise<boolean> {
  await tx.lock('reschedules');
  const plan = await tx.get<Reschedule>(
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
  await tx.foresee(
    snitches.map(({ id }) => id),
    now,
  );
  for (const { id } of snitches) {
    const row = await getStateById(tx, id);
    if (row && isMoved(row, rules, plan.deadlines === 1)) {
      // The sweep reports a row that cannot be rescheduled, when it is due.
      await isolate(tx, () => apply(tx, row, { kind: 'rescheduled' }, rules, now));
    }
    // Recurring silences follow the time zone of the case, and may end at another time than the one waited for.
    if (plan.deadlines === 1 && rules.hasSilences) await lookAnew(tx, id);
  }
  const last = snitches.at(-1);
  if (last && snitches.length === SLICE) {
    await tx.run('UPDATE reschedules SET cursor = ? WHERE case_id = ?', last.id, plan.case_id);
  } else {
    await tx.run('DELETE FROM reschedules WHERE case_id = ?', plan.case_id);
    if (plan.deadlines === 1 && rules.hasSilences) await lookAnewInCase(tx, plan.case_id);
  }
  return true;
}

/** Restarts deadlines of snitches whose need no longer holds alerts, a slice per call; false when none is left. */
export async function relieveSlice(tx: Transaction, now: number): Promise<boolean> {
  await tx.lock('reliefs');
  const relief = await nextRelief(tx);
  if (!relief) return false;
  const dependents = await dependentsOf(tx, relief, SLICE);
  await tx.foresee(dependents, now);
  for (const id of dependents) {
    const row = await getStateById(tx, id);
    if (!row) continue;
    const rules = await getRules(tx, row.case_id);
    // The sweep reports a row that cannot be applied, when it is due.
    const kind = isSilenceEnd(relief) ? 'silenceEnded' : 'relieved';
    await isolate(tx, () => apply(tx, row, { kind }, rules, now));
  }
  await advanceRelief(tx, relief, dependents.length === SLICE ? (dependents.at(-1) ?? null) : null);
  return true;
}
