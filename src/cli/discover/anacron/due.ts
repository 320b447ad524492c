/** When a job of anacron is due. Anacron counts whole days, and starts a job at any of the hours that it is allowed. */

import { DAY, HOUR, MINUTE, SECOND } from '../../../text/durations.ts';
import { intervalForGap } from '../../schedule/schedule.ts';
import { type Due, scheduledDue, type Terms } from '../due/due.ts';
import type { HostClock } from '../host/clock.ts';
import type { AnacronJob } from './lines.ts';

/** Seconds. Cron looks once an hour whether anacron has something to do. */
const LOOK = HOUR / SECOND;

/**
 * A daily job is awaited from the first hour in which it may start until the end of the last one. A job with a longer
 * period has no fixed day: it is awaited that many days after its last run.
 */
export function dueOfAnacronJob(job: AnacronJob, clock: HostClock, terms: Terms): Due {
  const { period, delay, hours } = job;
  const { timezone, doubt } = clock;
  const lateness = delay * 60 + LOOK;
  const slack = (hours.to - hours.from) * (HOUR / SECOND);
  const isDaily = period === 1;
  const rule = isDaily ? { cron: `0 ${hours.from} * * *` } : { every: (period * DAY) / SECOND };
  // The basic deadline of an interval leaves a whole period, which covers all of this.
  const interval = () => intervalForGap((period * DAY) / MINUTE);
  const due = scheduledDue(rule, { timezone, lateness, slack, interval }, terms);
  const remark = `anacron starts it between ${hours.from}:00 and ${hours.to}:00, ${isDaily ? 'each day' : 'on a day that depends on its last run'}`;
  return { ...due, remarks: [...due.remarks, remark, ...(isDaily && doubt !== null ? [doubt] : [])] };
}
