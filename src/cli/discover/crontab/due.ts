/** When the job of a line in a crontab is due. */
import { isTimeZone, spelledTimeZone } from '../../../text/time-zone.ts';
import { parseCronSchedule } from '../../schedule/cron.ts';
import { intervalForGap, longestGap, NotUnderstood } from '../../schedule/schedule.ts';
import { type Due, NeverAwaited, scheduledDue, type Terms } from '../due/due.ts';
import type { HostClock } from '../host/clock.ts';
import type { CronJob } from './lines.ts';

type Line = Pick<CronJob, 'schedule' | 'cronTz' | 'tz' | 'flaw'>;

/** @throws NotUnderstood with the reason why nobody can wait for it */
export function dueOfCronJob(job: Line, clock: HostClock, terms: Terms): Due {
  const { expression, lateness } = settled(job.schedule);
  if (/^@reboot$/i.test(expression)) throw new NeverAwaited('it runs only at boot, at no known time');
  // The server understands more than this, such as L, but the cron of a host does not run it.
  const read = parseCronSchedule(expression);
  const { timezone, remark } = zoneOf(job, clock);
  const interval = () => {
    const gap = longestGap([read]);
    return gap === null ? null : intervalForGap(gap + lateness / 60);
  };
  const due = scheduledDue({ cron: expression }, { timezone, lateness, interval }, terms);
  const random =
    lateness > 0 ? `cron picks the time: from the first one on, and ${lateness / 60} min longer` : null;
  const remarks = [random, remark, job.flaw].filter((one) => one !== null);
  return { ...due, remarks: [...due.remarks, ...remarks] };
}

/** Seconds in one step of the minute and of the hour. */
const STEPS = [60, 3_600];

/**
 * The expression with single blanks. Some crons choose a minute or an hour of a range such as `0~30` when they read the
 * crontab: then the first of it is taken, and the rest of the range is how late the job may be.
 */
function settled(schedule: string): { expression: string; lateness: number } {
  if (/^@every_minute$/i.test(schedule)) return { expression: '* * * * *', lateness: 0 };
  let lateness = 0;
  const fields = schedule.split(/\s+/).map((field, index) => {
    const step = STEPS[index];
    const [, from, to] = /^(\d{0,2})~(\d{0,2})$/.exec(field) ?? [];
    if (from === undefined || step === undefined) return field;
    const [first, last] = [Number(from || 0), to ? Number(to) : index === 0 ? 59 : 23];
    if (last < first) throw new NotUnderstood(`"${field}" is a range that runs backward`);
    lateness += (last - first) * step;
    return String(first);
  });
  return { expression: fields.join(' '), lateness };
}

function zoneOf({ cronTz, tz }: Line, clock: HostClock): { timezone: string; remark: string | null } {
  const { timezone, doubt, heedsCronTz } = clock;
  if (cronTz !== null && cronTz !== '') {
    if (!heedsCronTz) {
      return { timezone, remark: `the cron of this host ignores CRON_TZ: it runs in ${timezone}` };
    }
    if (!isTimeZone(cronTz))
      throw new NotUnderstood(`CRON_TZ=${cronTz} is not a time zone that is known here`);
    return { timezone: spelledTimeZone(cronTz), remark: null };
  }
  const isOther = tz !== null && tz !== '' && tz !== timezone;
  if (isOther) return { timezone, remark: `TZ=${tz} is only for the job: cron starts it in ${timezone}` };
  return { timezone, remark: doubt };
}
