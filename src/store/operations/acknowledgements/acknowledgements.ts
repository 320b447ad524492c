import { NOTHING_TO_ACKNOWLEDGE } from '../../../core/acknowledgement/input.ts';
import type { Act } from '../../../core/activity/activity.ts';
import { Invalid } from '../../../core/errors.ts';
import type { Snitch } from '../../../core/snitch.ts';
import type { Alarm, Said } from '../../acknowledgements.ts';
import type { Transaction } from '../../transaction.ts';
import { namedBy, recordOf } from '../activity/of-snitches.ts';
import { dropEscalations } from '../routes/acknowledged.ts';
import { settleKeptBack } from '../silences/alarms.ts';
import { getSnitch } from '../snitches.ts';
import { getRules, getState, type StateRow } from '../states.ts';
import { apply } from '../triggers.ts';
import { findAlarm } from './alarms.ts';

export async function acknowledgeSnitch(
  tx: Transaction,
  act: Act,
  caseId: string,
  token: string,
  said: Said,
  now: number,
): Promise<Snitch | null> {
  const row = await getState(tx, token);
  if (row?.case_id !== caseId) return null;
  await acknowledge(tx, act, row, said, now);
  const snitch = await getSnitch(tx, caseId, token);
  if (snitch?.state.acknowledged === null) throw new Invalid([NOTHING_TO_ACKNOWLEDGE]);
  return snitch;
}

export async function unacknowledgeSnitch(
  tx: Transaction,
  act: Act,
  caseId: string,
  token: string,
  now: number,
): Promise<Snitch | null> {
  const row = await getState(tx, token);
  if (row?.case_id !== caseId) return null;
  if (await apply(tx, row, { kind: 'unacknowledge' }, await getRules(tx, caseId), now)) {
    await recordOf(tx, act, caseId, 'snitch.unacknowledged', await namedBy(tx, token));
    // At its end, the silence sent nothing of what it kept back, because somebody had acknowledged it.
    await settleKeptBack(tx, row.id, now);
  }
  return getSnitch(tx, caseId, token);
}

/** Whether the alarm still lasts is checked in the transaction that acknowledges it: it may have ended a moment ago. */
export async function acknowledgeAlarm(
  tx: Transaction,
  act: Act,
  alertId: string,
  said: Said,
  now: number,
): Promise<(Alarm & { isNew: boolean }) | null> {
  const found = await findAlarm(tx, alertId);
  if (found === null) return null;
  await tx.lock(`case ${found.alert.caseId}`);
  const before = (await findAlarm(tx, alertId)) ?? found;
  const row = before.lasts ? await getState(tx, before.alert.token) : undefined;
  if (!row || before.acknowledged !== null) return { ...before, isNew: false };
  await acknowledge(tx, act, row, said, now);
  const after = await findAlarm(tx, alertId);
  return after && { ...after, isNew: true };
}

/** Also drops the deliveries that are sent only if nobody responds, in the very transaction in which somebody does. */
async function acknowledge(tx: Transaction, act: Act, row: StateRow, said: Said, now: number): Promise<void> {
  const { case_id: caseId, token } = row;
  const trigger = { kind: 'acknowledge', ...said } as const;
  const changed = await apply(tx, row, trigger, await getRules(tx, caseId), now);
  if (!changed) return;
  await dropEscalations(tx, row);
  const details = said.note === null ? {} : { note: said.note };
  await recordOf(tx, act, caseId, 'snitch.acknowledged', await namedBy(tx, token), details);
}
