/** Snitches that alert too often: their changes are counted, and the sweep reports them together. */

import { type AlertDecision, type AlertKind, isAlarm } from '../../core/alert.ts';
import { FLAPPING_OVER, FLAPPING_WITHIN, type Flapping, isOver, settleAt } from '../../core/flapping.ts';
import type { Status } from '../../core/snitch.ts';
import { MINUTE } from '../../text/durations.ts';
import type { Transaction } from '../transaction.ts';
import { type Told, writeAlert } from './alert-rows.ts';
import { isolate } from './isolation.ts';
import { heldIn } from './needs/held-text.ts';
import { silencedUntil } from './silences/rows.ts';
import { getRules, getStateById, reasonIn, type StateRow, tokenOf } from './states.ts';

interface FlapRow {
  snitch_id: number;
  since: number;
  changed_at: number;
  untold: number;
  alert_id: string;
  last: string;
}

/** In milliseconds. */
const TRY_AGAIN_AFTER = MINUTE;

const COLUMNS = 'snitch_id, since, changed_at, untold, alert_id, last';

export const SELECT_FLAP = `SELECT ${COLUMNS} FROM flapping WHERE snitch_id = ?`;

/** Counts a change of a snitch that flaps; null if it does not flap, and the change must be alerted. */
export async function countChange(
  tx: Transaction,
  id: number,
  change: Told,
  at: number,
): Promise<{ alertId: string } | null> {
  const row = await tx.getHeld<FlapRow>(SELECT_FLAP, id);
  if (!row) return null;
  const { since } = row;
  await tx.run(
    'UPDATE flapping SET untold = untold + 1, changed_at = ?, settle_at = ?, last = ? WHERE snitch_id = ?',
    at,
    settleAt({ since, changedAt: at }),
    JSON.stringify(change),
    id,
  );
  return { alertId: row.alert_id };
}

export const SELECT_RECENT =
  'SELECT at FROM alerts WHERE token = +? AND at > +? AND at <= +? ORDER BY at DESC LIMIT +?';

/** What the alert of a change at `at` must say if it is the one too many; null otherwise. */
export async function flappingBegins(tx: Transaction, token: string, at: number): Promise<Flapping | null> {
  const earlier = await tx.all<{ at: number }>(SELECT_RECENT, token, at - FLAPPING_WITHIN, at, FLAPPING_OVER);
  if (earlier.length < FLAPPING_OVER) return null;
  return { phase: 'begun', changes: earlier.length + 1, since: earlier.at(-1)?.at ?? at, changedAt: at };
}

export async function openFlap(
  tx: Transaction,
  id: number,
  change: Told,
  { at, alertId }: { at: number; alertId: string },
): Promise<void> {
  await tx.run(
    `INSERT INTO flapping (snitch_id, since, changed_at, settle_at, untold, alert_id, last) VALUES (?, ?, ?, ?, 0, ?, ?)`,
    id,
    at,
    at,
    settleAt({ since: at, changedAt: at }),
    alertId,
    JSON.stringify(change),
  );
}

/**
 * Reports the flaps that are due, at most `limit`: the snitch's present state if it has been quiet, and that it still
 * flaps if not. A row that cannot be reported is returned with its error, and tried again.
 */
export async function settleFlaps(
  tx: Transaction,
  now: number,
  limit: number,
): Promise<{ token: string; error: unknown }[]> {
  const due = await tx.allFree<FlapRow>(
    `SELECT ${COLUMNS} FROM flapping WHERE settle_at <= +? ORDER BY settle_at LIMIT +?`,
    now,
    limit,
  );
  const failures: { token: string; error: unknown }[] = [];
  for (const row of due) {
    const { error } = await isolate(tx, () => settle(tx, row, now));
    if (error === undefined) continue;
    failures.push({ token: await tokenOf(tx, row.snitch_id), error });
    await tx.run(
      'UPDATE flapping SET settle_at = ? WHERE snitch_id = ?',
      now + TRY_AGAIN_AFTER,
      row.snitch_id,
    );
  }
  return failures;
}

async function settle(tx: Transaction, row: FlapRow, now: number): Promise<void> {
  const { snitch_id: id, since, changed_at: changedAt, untold } = row;
  const over = isOver({ since, changedAt }, now);
  const state = await getStateById(tx, id);
  // If somebody acknowledged what it is now, nobody needs to be told.
  if (state && state.acknowledged === null) {
    const flapping: Flapping = { phase: over ? 'over' : 'goes on', changes: untold, since, changedAt };
    const { decision, details } = present(JSON.parse(row.last) as Told, state);
    const until = isAlarm(decision.type) ? await quietUntil(tx, state, now) : null;
    if (until !== null) {
      await tx.run('UPDATE flapping SET settle_at = ? WHERE snitch_id = ?', until, id);
      return;
    }
    const threadId = details.threadId ?? row.alert_id;
    await writeAlert(tx, state, { decision, details: { ...details, threadId, flapping } }, now);
  }
  if (over || !state) await tx.run('DELETE FROM flapping WHERE snitch_id = ?', id);
  else {
    await tx.run(
      'UPDATE flapping SET since = ?, untold = 0, settle_at = ? WHERE snitch_id = ?',
      now,
      settleAt({ since: now, changedAt }),
      id,
    );
  }
}

/** When the silence that covers the snitch ends, or when to look again while its alert is held; null for neither. */
async function quietUntil(tx: Transaction, state: StateRow, now: number): Promise<number | null> {
  if (state.status === 'failed' && heldIn(state.needs) !== null) return now + MINUTE;
  const { hasSilences, timezone } = await getRules(tx, state.case_id);
  return hasSilences ? silencedUntil(tx, state, now, timezone) : null;
}

const KINDS: Record<Exclude<Status, 'pending'>, AlertKind> = {
  healthy: 'snitch.reporting',
  failed: 'snitch.missing',
  errored: 'snitch.errored',
  paused: 'snitch.paused',
};

/**
 * The last change, if the snitch still has the status that it led to; otherwise an alert for the status that it has
 * now. The end of a pause, for one, sends no alert of its own.
 */
export function present(last: Told, { status, due_at: nextDueAt, reason }: StateRow): Told {
  const details = { ...last.details, nextDueAt };
  if (status === last.decision.status || status === 'pending') return { ...last, details };
  const decision: AlertDecision = {
    type: KINDS[status],
    status,
    previousStatus: last.decision.status,
  };
  const { reason: _, ...others } = details;
  const why = reasonIn(reason);
  const known = why && isAlarm(decision.type) ? { reason: why } : {};
  return { decision, details: { ...others, ...known, message: null, exitStatus: null } };
}
