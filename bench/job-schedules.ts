/** When jobs are started, before anything delays their check-ins. */
import type { Interval } from '../src/core/interval.ts';
import { DAY, HOUR, SECOND } from '../src/text/durations.ts';
import type { Random } from './random.ts';

const START = '2023-01-02';

/** A job's schedule before anything delays its check-ins. */
export interface Schedule {
  interval: Interval;
  timezone: string;
  /** The interval's length in milliseconds. */
  length: number;
  instants: number[];
}

const INTERVALS = [
  'hourly',
  'hourly',
  '2_hour',
  '6_hour',
  '12_hour',
  'daily',
  'daily',
  'daily',
  'weekly',
] as const;
const LENGTHS = {
  hourly: HOUR,
  '2_hour': 2 * HOUR,
  '3_hour': 3 * HOUR,
  '6_hour': 6 * HOUR,
  '12_hour': 12 * HOUR,
  daily: DAY,
  weekly: 7 * DAY,
} as const;
const ZONES = ['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kathmandu', 'Australia/Lord_Howe'] as const;
const CLOCK_CHANGING = ['Europe/Berlin', 'America/New_York', 'America/Havana'] as const;

/** A run at the same time in each period, by the local clock of `zone`, as cron starts it. */
function wallClock(zone: string, place: number, length: number, count: number): number[] {
  const first = Temporal.PlainDateTime.from(START).add({ seconds: Math.round(place / SECOND) });
  const instants = Array.from(
    { length: count },
    (_, run) => first.add({ hours: (run * length) / HOUR }).toZonedDateTime(zone).epochMilliseconds,
  );
  // If the clock skips two runs at once, both fall on the same instant: that is one run.
  return instants.filter((at, run) => at > (instants[run - 1] ?? 0));
}

/** A fixed time in the periods of any interval, early enough to leave a share `room` of the period after it. */
export function anySchedule(random: Random, count: number, room: number): Schedule {
  const interval = random.pick(INTERVALS);
  const length = LENGTHS[interval];
  const timezone = random.pick(ZONES);
  const place = random.between(0.02, 1 - room) * length;
  // An hourly job runs each real hour, whatever the clocks do.
  const clock = interval === 'hourly' ? 'UTC' : timezone;
  const runs = interval === 'weekly' ? Math.ceil(count / 7) : count;
  return { interval, timezone, length, instants: wallClock(clock, place, length, runs) };
}

/** Jobs that run by UTC or by local time, in a case whose clock changes twice a year. */
export function clockChangeSchedule(random: Random, count: number): Schedule {
  const interval = random.pick(['6_hour', 'daily', 'daily', 'weekly'] as const);
  const length = LENGTHS[interval];
  const timezone = random.pick(CLOCK_CHANGING);
  const place = random.between(0, 0.9) * length;
  const runs = interval === 'weekly' ? Math.ceil(count / 7) : count;
  const clock = random.pick(['UTC', timezone] as const);
  return { interval, timezone, length, instants: wallClock(clock, place, length, runs) };
}

function dailySchedule(random: Random, count: number, room: number): Schedule {
  const timezone = random.pick(ZONES);
  const place = random.between(0.02, 1 - room) * DAY;
  return { interval: 'daily', timezone, length: DAY, instants: wallClock(timezone, place, DAY, count) };
}

export function hourlySchedule(random: Random, count: number): Schedule {
  const instants = wallClock('UTC', random.between(0.02, 0.5) * HOUR, HOUR, count);
  return { interval: 'hourly', timezone: random.pick(ZONES), length: HOUR, instants };
}

export function nightlySchedule(random: Random, count: number): Schedule {
  const timezone = random.pick(ZONES);
  const place = random.between(0.2, 8) * HOUR;
  return { interval: 'daily', timezone, length: DAY, instants: wallClock(timezone, place, DAY, count) };
}

/** Several times a day: often enough that the last fifty periods do not hold a week. */
export function frequentSchedule(random: Random, count: number): Schedule {
  const interval = random.pick(['hourly', '2_hour', '3_hour'] as const);
  const length = LENGTHS[interval];
  const place = random.between(0.02, 0.3) * length;
  return { interval, timezone: 'UTC', length, instants: wallClock('UTC', place, length, count) };
}

export function weekdaySchedule(random: Random, count: number): Schedule {
  const schedule = dailySchedule(random, Math.ceil((count * 7) / 5), 0.1);
  const weekday = (_: number, run: number) => run % 7 < 5;
  return { ...schedule, instants: schedule.instants.filter(weekday) };
}

export function monthlySchedule(random: Random): Schedule {
  const timezone = random.pick(ZONES);
  const lastDay = random.next() < 0.3;
  const day = Math.ceil(random.between(0, 28));
  const hour = Math.floor(random.between(0, 24));
  const instants = Array.from({ length: 120 }, (_, month) => {
    const first = Temporal.PlainDateTime.from({ year: 2015, month: 1, day: 1, hour }).add({ months: month });
    const wall = first.with({ day: lastDay ? first.daysInMonth : day });
    return wall.toZonedDateTime(timezone).epochMilliseconds;
  });
  return { interval: 'monthly', timezone, length: 30 * DAY, instants };
}

/** A loop that sleeps for about the interval: each run starts a little later, or earlier, in its period. */
export function driftingSchedule(random: Random, count: number): Schedule {
  const interval = random.pick(['hourly', '6_hour', 'daily'] as const);
  const length = LENGTHS[interval];
  const drift = random.magnitude(1e-5, 1e-3) * length * random.pick([1, 1, -1]);
  let at = Date.parse(START) + random.between(0, 1) * length;
  const instants = Array.from({ length: count }, () => {
    at += length + drift * (1 + 0.2 * random.normal());
    return at;
  });
  return { interval, timezone: 'UTC', length, instants };
}

/** Runs at the very boundary of two periods, on a host whose clock is a little ahead or behind. */
export function boundarySchedule(random: Random, count: number): Schedule {
  const interval = random.pick(['hourly', 'daily'] as const);
  const length = LENGTHS[interval];
  return { interval, timezone: 'UTC', length, instants: wallClock('UTC', length, length, count) };
}
