import type { Calendar, Interval } from './interval.ts';

export function smartDeadline(
  calendar: Calendar,
  interval: Interval,
  timezone: string,
  _firstCheckIns: readonly number[],
  from: number,
): number {
  return calendar.periodAfter(interval, timezone, from).end;
}
