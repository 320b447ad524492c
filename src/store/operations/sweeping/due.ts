/** What the sweep does with the snitches that are due. */
import { NOTHING_LEARNED } from '../../../core/late-runs.ts';
import { isAwaiting, isDown } from '../../../core/needs/needs.ts';
import { apart } from '../../../core/runs.ts';
import { concernedFrom, dueThrough } from '../../../core/silences/due.ts';
import type { SnitchState } from '../../../core/snitch.ts';
import type { DueResult, LookCursor } from '../../sweep.ts';
import type { Transaction } from '../../transaction.ts';
import { settleFlaps } from '../flapping.ts';
import { isolate } from '../isolation.ts';
import { learnedFor } from '../learned.ts';
import { neededBy } from '../needs/facts.ts';
import { openRunOf } from '../open-run.ts';
import { waitFor } from '../silences/alarms.ts';
import { silencesOver } from '../silences/rows.ts';
import {
  getRules,
  getStateById,
  type KeptRules,
  type StateRow,
  saveState,
  tokenOf,
  toState,
} from '../states.ts';
import { apply } from '../triggers.ts';
import { looksBehind } from './looks.ts';
import { openReschedules, type Reschedules, rescheduleAhead } from './slices.ts';

/** The most rows of the index that one call reads: one costs about a microsecond. */
const LOOKED_THROUGH = 2_000;

/** Read in portions of this many, so that a call that soon has enough to apply reads few in vain. */
const READ_AT_ONCE = 200;

/**
 * Applies what is due at `now`, at most `limit` snitches, in the order in which the sweep looks at them. A second sweep
 * at the same time finds nothing left to do, because the state machine checks each row again in the transaction that
 * changes it. A row that cannot be applied is skipped and reported.
 */
export async function applyDue(
  tx: Transaction,
  now: number,
  after: LookCursor | null,
  limit: number,
): Promise<DueResult> {
  const failures = after === null ? await settleFlaps(tx, now, limit) : [];
  const reschedules = await openReschedules(tx);
  const result: DueResult = { changed: 0, inVain: false, next: after, failures };
  let applied = 0;
  for (let looked = 0; looked < LOOKED_THROUGH; ) {
    // In a storm all of the first rows are due: any more would be read in vain by each call.
    const size = looked === 0 ? Math.min(limit, READ_AT_ONCE) : READ_AT_ONCE;
    looked += size;
    const rows = await looksBehind(tx, now, result.next, size);
    const due = rows.filter((row) => row.due_at !== null && row.due_at <= now);
    if (due.length > 0) {
      const foreseen = due.slice(0, limit - applied).map(({ id }) => id);
      await tx.foresee(foreseen, now);
    }
    for (const { id, look_at: lookAt, due_at: dueAt } of rows) {
      if (dueAt !== null && dueAt <= now) {
        if (applied === limit) return result;
        applied += 1;
        const { value: changed, error } = await isolate(tx, () => applyOneDue(tx, id, { now, reschedules }));
        if (error !== undefined) result.failures.push({ token: await tokenOf(tx, id), error });
        else if (changed) result.changed += 1;
      } else result.inVain = true;
      result.next = { lookAt, id };
    }
    if (rows.length < size) return { ...result, next: null };
    if (applied === limit) return result;
  }
  return result;
}

/** How many of the snitches that one needs are handled before it, if they are due at the same time. */
const LOOKED_AT_BEFORE = 50;

interface Pass {
  now: number;
  reschedules: Reschedules;
}

/**
 * What a snitch needs is handled before it, so that the order of the sweep does not decide whether its alert is held.
 *
 * @param above the snitches that need this one
 */
async function applyOneDue(
  tx: Transaction,
  id: number,
  pass: Pass,
  above: readonly number[] = [],
): Promise<boolean> {
  const { now, reschedules } = pass;
  let row = await getStateById(tx, id);
  if (row && (await rescheduleAhead(tx, row, reschedules, now))) row = await getStateById(tx, id);
  if (!row) return false;
  if (row.needs !== null && row.due_at !== null && row.due_at <= now) {
    await applyNeeded(tx, row, pass, [...above, id]);
  }
  const rules = await getRules(tx, row.case_id);
  const before = rules.hasSilences ? await throughSilences(tx, row, rules, now) : toState(row);
  if (before === null) return false;
  if (before.dueAt === null || before.dueAt > now) {
    await saveState(tx, row, before);
    return true;
  }
  const startedAt = await openRunOf(tx, row);
  // The end of an excused run may have been lost.
  const isKnown = startedAt !== null && !apart(before).open.some((run) => run.excused);
  const trigger = { kind: 'due', ...(isKnown ? { startedAt } : {}) } as const;
  return apply(tx, row, trigger, rules, now, before);
}

/** The state with its deadline after the silences since its period began; null while one of them still holds. */
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
  pass: Pass,
  above: readonly number[],
): Promise<void> {
  const { now } = pass;
  const needed = await neededBy(tx, row, { since: row.last_check_in_at ?? 0, soon: now, now });
  if (needed.some(isDown)) return;
  const due = needed.filter((one) => isAwaiting(one) && one.dueAt !== null && one.dueAt <= now);
  for (const one of due.slice(0, LOOKED_AT_BEFORE)) {
    if (above.includes(one.id)) continue;
    // One that cannot be applied is reported when the sweep reaches it.
    await isolate(tx, () => applyOneDue(tx, one.id, pass, above));
    const after = await getStateById(tx, one.id);
    if (after && isDown(after)) return;
  }
}
