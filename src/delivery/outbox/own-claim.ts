/** Deliveries that this process has claimed, reduced to what is needed to settle and log them. */
import { isAlarm } from '../../core/alert.ts';
import type { ClaimedDelivery } from '../../core/delivery.ts';

/** A claim, and until when it is ours on the monotonic clock. */
export type OwnClaim = Pick<
  ClaimedDelivery,
  'id' | 'fence' | 'attempt' | 'lastError' | 'channel' | 'target'
> & {
  alertId: string;
  /** What the log shows when an alarm is delivered; null for other alerts. */
  alarm: { type: string; snitch: string; token: string } | null;
  leaseEnds: number;
};

export function ownClaim(
  { id, fence, attempt, lastError, channel, target, alert }: ClaimedDelivery,
  leaseEnds: number,
): OwnClaim {
  const { type, snitch } = alert;
  const alarm = snitch && isAlarm(type) ? { type, snitch: snitch.name, token: snitch.token } : null;
  return { id, fence, attempt, lastError, channel, target, alertId: alert.id, alarm, leaseEnds };
}
