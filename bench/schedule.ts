/**
 * What the deadline of a schedule costs at check-in, beside that of an interval, and what it costs to read one.
 *
 *     node bench/schedule.ts [schedules] [check-ins of each]
 */
import { basicDeadline } from '../src/core/deadline.ts';
import { Calendar } from '../src/core/interval.ts';
import { readSchedule, type ScheduleRule, Schedules } from '../src/core/schedule/schedule.ts';
import { deadlineAfterCheckIn } from '../src/core/schedule/timing.ts';
import { derivedInterval, validateSchedule } from '../src/core/schedule-fields.ts';
import { percentile } from './replay.ts';

const [count = 1_000, checkIns = 60] = process.argv.slice(2).map(Number);
const ZONES = ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'UTC'];
const FROM = Date.UTC(2026, 9, 1);
const MINUTE = 60_000;
const TARGET_US = 20;

/** `count` different ones, as people write them. */
function rules(): { rule: ScheduleRule; timezone: string }[] {
  return Array.from({ length: count }, (_, index) => {
    const [minute, hour] = [index % 60, Math.floor(index / 60) % 24];
    const kinds: ScheduleRule[] = [
      { cron: `${minute} ${hour} * * *` },
      { cron: `${minute} ${hour} * * 1-5` },
      { cron: `${minute}-59/5 * * * *` },
      { cron: `${minute} */2 1,15 * *` },
      { calendar: `Mon..Fri ${hour}:${minute}` },
    ];
    return {
      rule: kinds[index % kinds.length] ?? { every: 3_600 },
      timezone: ZONES[Math.floor(index / 5) % ZONES.length] ?? 'UTC',
    };
  });
}

/** Microseconds of each call of `work`, in the order of `items`. */
function measure<T>(items: readonly T[], work: (item: T) => unknown): number[] {
  return items.map((item) => {
    const begun = performance.now();
    work(item);
    return (performance.now() - begun) * 1_000;
  });
}

const schedules = new Schedules();
const calendar = new Calendar();
const all = rules();

/** Each check-in comes a little after a run. Those of all snitches are mixed, run after run. */
const arrivals = Array.from({ length: checkIns }).flatMap((_, round) =>
  all.map(({ rule, timezone }, index) => ({
    rule,
    timezone,
    at: FROM + round * 1_440 * MINUTE + ((index * 7_919) % 1_440) * MINUTE + 12_345,
  })),
);

function scheduled({ rule, timezone, at }: (typeof arrivals)[number]) {
  const schedule = schedules.read(rule, timezone);
  return deadlineAfterCheckIn(schedule, schedule.defaultGrace(at), at, { at: at - MINUTE, deadline: at });
}

function ofInterval({ timezone, at }: (typeof arrivals)[number]) {
  const rules = { timezone, reminders: 'period', errorNotices: true } as const;
  return basicDeadline({ interval: 'daily' }, at, { calendar, rules });
}

const [warm, measured] = [arrivals.slice(0, all.length * 2), arrivals.slice(all.length * 2)];
for (const one of warm) ofInterval(one);
const interval = measure(measured, ofInterval);
for (const one of warm) scheduled(one);
const schedule = measure(measured, scheduled);
const reading = measure(all, ({ rule, timezone }) => readSchedule(rule, timezone).nextAfter(FROM));
const costly: ScheduleRule[] = [
  { cron: '0 0 29 2 +1' },
  { cron: '0 0 31 2 *' },
  { cron: '0 0 31 2 +1#1' },
  { calendar: 'Mon 2199-02-28 23:59:59' },
];
const checking = measure(
  Array.from({ length: 50 }).flatMap(() => costly),
  (rule) => {
    const { value } = validateSchedule(rule, 'Europe/Berlin', FROM);
    if (value) derivedInterval(readSchedule(value, 'Europe/Berlin'));
  },
);

const row = (times: readonly number[]) => ({
  'p50 µs': Number(percentile(times, 0.5).toFixed(2)),
  'p95 µs': Number(percentile(times, 0.95).toFixed(2)),
  'mean µs': Number((times.reduce((sum, one) => sum + one, 0) / times.length).toFixed(2)),
});
console.table({
  'deadline of an interval': row(interval),
  'deadline of a schedule': row(schedule),
  'reading a schedule for the first time': row(reading),
  'checking the most costly ones': row(checking),
});
const median = percentile(schedule, 0.5);
const ratio = median / percentile(interval, 0.5);
console.log(`${count} schedules, ${measured.length} check-ins. A deadline of a schedule costs ${ratio.toFixed(1)} times that of an
interval in the median. Target: under ${TARGET_US} µs: ${median < TARGET_US ? 'met' : 'MISSED'}.`);
process.exitCode = median < TARGET_US ? 0 : 1;
