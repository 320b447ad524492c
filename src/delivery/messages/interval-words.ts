/** Intervals as people read them. */
import { type Interval, isMinuteInterval } from '../../core/interval.ts';

/** `every 5 minutes`, `every hour`, `every week (Monday to Monday)` */
export function intervalInWords(interval: Interval): string {
  switch (interval) {
    case 'hourly':
      return 'every hour';
    case 'daily':
      return 'every day';
    case 'weekly':
      return 'every week (Monday to Monday)';
    case 'monthly':
      return 'every month';
    default: {
      const count = Number.parseInt(interval, 10);
      const unit = isMinuteInterval(interval) ? 'minute' : 'hour';
      return count === 1 ? `every ${unit}` : `every ${count} ${unit}s`;
    }
  }
}
