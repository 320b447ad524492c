/** Deliveries that failed, or come to their first attempt late, when the hours of their target are over. */
import { type Alert, isAlarm } from '../../../core/alert.ts';
import type { RouteRule } from '../../../core/channel.ts';
import { type Hours, openingFrom } from '../../../core/hours/hours.ts';
import { routeKey } from '../../../core/routing.ts';
import { MINUTE } from '../../../text/durations.ts';
import type { Reading } from '../../transaction.ts';
import { ruleOf } from './rules.ts';
import { type Fate, fateOf, type WaitingRow } from './waiting.ts';

type Target = Pick<WaitingRow, 'case_id' | 'channel' | 'target'>;

/** What was attempted before has an error, even if it is retried by hand. */
interface DueForTheFirstTime extends WaitingRow {
  last_error: string | null;
}

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

/**
 * The same for one that was never attempted, because the daemon was down, or sent the target no more for some time. It
 * waits as if it had been decided now, unless it was meant to be sent whatever the hours.
 */
export async function fateOfLate(
  tx: Reading,
  row: DueForTheFirstTime,
  alert: Alert,
  now: number,
): Promise<Fate> {
  // Nearly all are on time, and need no query.
  if (now - alert.at <= GOES_ON || row.last_error !== null) return null;
  const hours = await hoursOf(tx, row, alert);
  if (hours === null || !isWithin(hours, alert.at)) return null;
  const fate = await fateOfRetry(tx, row, alert, now);
  if (fate === null || !isAlarm(alert.type)) return fate;
  const waiting = { ...row, waits: 'hours', waiting_token: alert.token } as const;
  return fateOf(tx, waiting, alert, await ruleIn(tx, row), now);
}

function isWithin(hours: Hours, at: number): boolean {
  return openingFrom(hours, at) <= at;
}

/** Null for always. */
async function hoursOf(tx: Reading, row: Target, { token }: Alert): Promise<Hours | null> {
  const rule = await ruleIn(tx, row);
  if (!rule?.hours) return null;
  return row.channel === 'email' && (await hasOwnAddresses(tx, token)) ? null : rule.hours;
}

function ruleIn(tx: Reading, row: Target): Promise<RouteRule | null> {
  const { case_id: caseId } = row;
  return tx.remember(`rule ${caseId} ${routeKey(row)}`, () => ruleOf(tx, caseId, row));
}

/** Whether the snitch names addresses of its own: these are told whatever their route as members. */
async function hasOwnAddresses(tx: Reading, token: string | null): Promise<boolean> {
  const sql = `SELECT id FROM snitches WHERE token = +? AND alert_email <> '[]'`;
  return token !== null && (await tx.get(sql, token)) !== undefined;
}
