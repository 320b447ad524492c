/** What follows when a silence ends: by its time, or because somebody ended it early. */
import { currentWindow, type Silence } from '../../../core/silences/silence.ts';
import { transition } from '../../../core/transition.ts';
import { HOUR, MINUTE } from '../../../text/durations.ts';
import type { SilenceEnds } from '../../silences.ts';
import type { Transaction } from '../../transaction.ts';
import { writeAlert } from '../alert-rows.ts';
import { countChange, present } from '../flapping.ts';
import { isolate } from '../isolation.ts';
import { heldIn } from '../needs/held-text.ts';
import { AT_NO_TIME, forgetKeptBack, type KeptBack, settleKeptBack } from '../silences/alarms.ts';
import { silencedUntil } from '../silences/rows.ts';
import { contextFor, getRules, getStateById, type StateRow, saveState, tokenOf, toState } from '../states.ts';
import { noteEnd } from './ends.ts';
import { dueBehindSilences } from './silenced.ts';

/** Snitches that one call releases to the sweep: few enough that no check-in waits noticeably for it. */
const RELEASED_AT_ONCE = 200;

/** Alarms that one call sends: each may write a dozen rows. */
const TOLD_AT_ONCE = 20;

/**
 * Records that whatever waits for the end that `silence` had is looked at again. Until that is done, nothing waits for any
 * other end: what is changed meanwhile begins it anew.
 */
export async function release(
  tx: Transaction,
  silence: Silence,
  timezone: string,
  now: number,
): Promise<void> {
  const window = currentWindow(silence, now, timezone);
  if (window === null) return;
  await tx.run(
    `UPDATE silences SET release_look_at = CASE WHEN release_cursor IS NULL THEN CAST(? AS BIGINT) ELSE release_look_at END,
       release_cursor = 0 WHERE id = ?`,
    window.end,
    silence.id,
  );
  await tx.run('UPDATE silenced_alarms SET settle_at = ? WHERE settle_at = ?', now, window.end);
}

/** One slice per call. After a crash between two slices, the next one continues. */
export async function endSilencesSlice(tx: Transaction, now: number): Promise<SilenceEnds> {
  await tx.lock('silences');
  if ((await releaseSlice(tx)) || (await noteEnd(tx, now))) return { more: true, failures: [] };
  return tellSlice(tx, now);
}

async function releaseSlice(tx: Transaction): Promise<boolean> {
  const plan = await tx.get<{ id: string; case_id: string; release_look_at: number; release_cursor: number }>(
    'SELECT id, case_id, release_look_at, release_cursor FROM silences WHERE release_cursor IS NOT NULL LIMIT 1',
  );
  if (!plan) return false;
  const waiting = await tx.allHeld<{ id: number; case_id: string; due_at: number | null }>(
    'SELECT id, case_id, due_at FROM snitch_states WHERE look_at = +? AND id > +? ORDER BY id LIMIT +?',
    plan.release_look_at,
    plan.release_cursor,
    RELEASED_AT_ONCE,
  );
  for (const { id, case_id: caseId, due_at: dueAt } of waiting) {
    if (caseId !== plan.case_id || dueAt === null || dueAt >= plan.release_look_at) continue;
    await tx.run('UPDATE snitch_states SET look_at = due_at WHERE id = ?', id);
  }
  const last = waiting.at(-1);
  const cursor = last && waiting.length === RELEASED_AT_ONCE ? last.id : null;
  await tx.run('UPDATE silences SET release_cursor = ? WHERE id = ?', cursor, plan.id);
  return true;
}

async function tellSlice(tx: Transaction, now: number): Promise<SilenceEnds> {
  const rows = await tx.allFree<{ snitch_id: number; told: string }>(
    'SELECT snitch_id, told FROM silenced_alarms WHERE settle_at <= +? ORDER BY settle_at, snitch_id LIMIT +?',
    now,
    TOLD_AT_ONCE,
  );
  const failures: SilenceEnds['failures'] = [];
  for (const { snitch_id: id, told } of rows) {
    const { error } = await isolate(tx, () => tellKeptBack(tx, id, JSON.parse(told) as KeptBack, now));
    if (error === undefined) continue;
    failures.push({ token: await tokenOf(tx, id), error });
    await settleKeptBack(tx, id, now + TRY_AGAIN_AFTER);
  }
  return { more: rows.length === TOLD_AT_ONCE, failures };
}

/** In milliseconds. */
const TRY_AGAIN_AFTER = MINUTE;

/** A reminder follows its alarm by an hour at the least; the sweep comes a moment after the end of a silence. */
const SOONEST_REMINDER = HOUR - MINUTE;

/**
 * When the snitch is due next, after the silence: the alarm that is sent now replaces the reminders that were due in it
 * or would follow at once, and a deadline moves as the sweep is about to move it.
 */
async function dueAfterwards(tx: Transaction, row: StateRow, now: number): Promise<number | null> {
  const rules = await getRules(tx, row.case_id);
  if (row.status !== 'failed') return dueBehindSilences(tx, row, rules, now);
  if (row.due_at === null || row.due_at - now >= SOONEST_REMINDER) return row.due_at;
  const context = await contextFor(tx, row, rules, now);
  const { snitch } = transition(toState(row), { kind: 'rescheduled' }, context);
  await saveState(tx, row, snitch);
  return snitch.dueAt;
}

/** Sends an alarm that was kept back, unless it is over, acknowledged meanwhile, or must still be kept back. */
async function tellKeptBack(tx: Transaction, id: number, kept: KeptBack, now: number): Promise<void> {
  const row = await getStateById(tx, id);
  // An acknowledged alarm is sent only if the acknowledgement is withdrawn. One that a need holds is sent when the need
  // releases it, or never.
  const isHeld = row !== undefined && heldIn(row.needs) !== null;
  if (row?.status === 'paused' || row?.acknowledged || isHeld) return settleKeptBack(tx, id, AT_NO_TIME);
  if (row?.status !== 'failed' && row?.status !== 'errored') return forgetKeptBack(tx, id);
  const { timezone } = await getRules(tx, row.case_id);
  const until = await silencedUntil(tx, row, now, timezone);
  if (until !== null) return settleKeptBack(tx, id, until);
  forgetKeptBack(tx, id);
  const dueAt = await dueAfterwards(tx, row, now);
  const { decision, details } = present(kept, { ...row, due_at: dueAt });
  const change = { decision, details: { ...details, threadId: row.thread_id } };
  const counted = await countChange(tx, id, change, now);
  const alertId = counted?.alertId ?? (await writeAlert(tx, row, change, now));
  // Also if the snitch flaps: what is told of it in the end has the same incident as the recovery from it.
  if (row.thread_id === null) {
    await tx.run('UPDATE snitch_states SET thread_id = ? WHERE id = ?', alertId, id);
  }
  if (counted) return;
  tx.announce({ kind: 'snitch', caseId: row.case_id, token: row.token });
}
