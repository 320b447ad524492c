/** Deliveries that failed, when the hours of their target are over. */
import { type Alert, isAlarm } from '../../../core/alert.ts';
import { type Hours, openingFrom } from '../../../core/hours/hours.ts';
import { routeKey } from '../../../core/routing.ts';
import { MINUTE } from '../../../text/durations.ts';
import type { Reading } from '../../transaction.ts';
import { ruleOf } from './rules.ts';
import type { Fate, WaitingRow } from './waiting.ts';

type Target = Pick<WaitingRow, 'case_id' | 'channel' | 'target'>;

/** For so long after the hours retries go on: whoever was about to be told in the last minute still is. */
const GOES_ON = 30 * MINUTE;

/**
 * Whether a delivery that failed has to wait until the hours of its target begin again. It is sent then even if what it
 * reports is over, because an attempt may have arrived.
 */
export async function fateOfRetry(tx: Reading, row: Target, alert: Alert, now: number): Promise<Fate> {
  const hours = await hoursOf(tx, row, alert);
  if (hours === null || isWithin(hours, now) || isWithin(hours, now - GOES_ON)) return null;
  return { until: openingFrom(hours, now), waits: isAlarm(alert.type) ? 'hours' : 'opening' };
}

function isWithin(hours: Hours, at: number): boolean {
  return openingFrom(hours, at) <= at;
}

/** Null for always. */
async function hoursOf(tx: Reading, row: Target, { token }: Alert): Promise<Hours | null> {
  const { case_id: caseId, channel } = row;
  const rule = await tx.remember(`rule ${caseId} ${routeKey(row)}`, () => ruleOf(tx, caseId, row));
  if (!rule?.hours) return null;
  return channel === 'email' && (await hasOwnAddresses(tx, token)) ? null : rule.hours;
}

/** Whether the snitch names addresses of its own: these are told whatever their route as members. */
async function hasOwnAddresses(tx: Reading, token: string | null): Promise<boolean> {
  const sql = `SELECT id FROM snitches WHERE token = +? AND alert_email <> '[]'`;
  return token !== null && (await tx.get(sql, token)) !== undefined;
}
