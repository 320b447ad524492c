/** Synthetic histories of jobs, seeded: the same seed makes the same history. */
import type { Interval } from '../src/core/interval.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const START = '2023-01-02';

/** How many scheduled runs do not happen: single misses, and the starts of outages of up to five runs. */
const MISSES = 0.006;
const OUTAGES = 0.001;

/** One scheduled run: when it checks in, or would have checked in, had it not been missed. */
export interface Run {
  at: number;
  missed: boolean;
}

export interface History {
  kind: string;
  /** Whether the runs keep to one time of their period: the histories that the target is set for. */
  regular: boolean;
  interval: Interval;
  timezone: string;
  runs: Run[];
}

/** A job's schedule before anything delays its check-ins. */
interface Schedule {
  interval: Interval;
  timezone: string;
  /** The interval's length in milliseconds. */
  length: number;
  instants: number[];
}

/** Milliseconds from the scheduled instant of a run to its check-in. */
type Delay = (run: number, at: number) => number;

interface Plan {
  regular: boolean;
  schedule(random: Random, count: number): Schedule;
  delay(random: Random, schedule: Schedule): Delay;
}

interface Random {
  /** In [0, 1). */
  next(): number;
  /** In [low, high). */
  between(low: number, high: number): number;
  /** Spread evenly over the orders of magnitude from `low` to `high`. */
  magnitude(low: number, high: number): number;
  /** Of the standard normal distribution. */
  normal(): number;
  pick<T>(choices: readonly [T, ...T[]]): T;
}

/** The generator known as mulberry32: small, fast, and good enough to draw a history from. */
function seeded(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (low: number, high: number) => low + next() * (high - low);
  return {
    next,
    between,
    magnitude: (low, high) => low * (high / low) ** next(),
    normal: () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next()),
    pick: (choices) => choices[Math.floor(next() * choices.length)] ?? choices[0],
  };
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

/** A run at the same place of each period, by the local clock of `zone`, as cron starts it. */
function wallClock(zone: string, place: number, length: number, count: number): number[] {
  const first = Temporal.PlainDateTime.from(START).add({ seconds: Math.round(place / SECOND) });
  const instants = Array.from(
    { length: count },
    (_, run) => first.add({ hours: (run * length) / HOUR }).toZonedDateTime(zone).epochMilliseconds,
  );
  // Where the clock skips two places in one go, both fall on the same instant: that is one run.
  return instants.filter((at, run) => at > (instants[run - 1] ?? 0));
}

/** A fixed place of any interval's periods, early enough that `room` of the period is left after it. */
function anySchedule(random: Random, count: number, room: number): Schedule {
  const interval = random.pick(INTERVALS);
  const length = LENGTHS[interval];
  const timezone = random.pick(ZONES);
  const place = random.between(0.02, 1 - room) * length;
  // An hourly job runs each real hour, whatever the clocks do.
  const clock = interval === 'hourly' ? 'UTC' : timezone;
  const runs = interval === 'weekly' ? Math.ceil(count / 7) : count;
  return { interval, timezone, length, instants: wallClock(clock, place, length, runs) };
}

/** Jobs of UTC or of local time in a case whose clock changes twice a year. */
function clockChangeSchedule(random: Random, count: number): Schedule {
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

function hourlySchedule(random: Random, count: number): Schedule {
  const instants = wallClock('UTC', random.between(0.02, 0.5) * HOUR, HOUR, count);
  return { interval: 'hourly', timezone: random.pick(ZONES), length: HOUR, instants };
}

function nightlySchedule(random: Random, count: number): Schedule {
  const timezone = random.pick(ZONES);
  const place = random.between(0.2, 8) * HOUR;
  return { interval: 'daily', timezone, length: DAY, instants: wallClock(timezone, place, DAY, count) };
}

/** Several times a day: often enough that the last fifty periods do not hold a week. */
function frequentSchedule(random: Random, count: number): Schedule {
  const interval = random.pick(['hourly', '2_hour', '3_hour'] as const);
  const length = LENGTHS[interval];
  const place = random.between(0.02, 0.3) * length;
  return { interval, timezone: 'UTC', length, instants: wallClock('UTC', place, length, count) };
}

function weekdaySchedule(random: Random, count: number): Schedule {
  const schedule = dailySchedule(random, Math.ceil((count * 7) / 5), 0.1);
  const weekday = (_: number, run: number) => run % 7 < 5;
  return { ...schedule, instants: schedule.instants.filter(weekday) };
}

function monthlySchedule(random: Random): Schedule {
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

/** A loop that sleeps for about the interval: each run starts a little later, or earlier, than the one before. */
function driftingSchedule(random: Random, count: number): Schedule {
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
function boundarySchedule(random: Random, count: number): Schedule {
  const interval = random.pick(['hourly', 'daily'] as const);
  const length = LENGTHS[interval];
  return { interval, timezone: 'UTC', length, instants: wallClock('UTC', length, length, count) };
}

/** Normal jitter, from a second to 1.5 % of the interval but never above ten minutes. */
function jitter(random: Random, { length }: Schedule): Delay {
  const deviation = random.magnitude(SECOND, Math.min(0.015 * length, 10 * MINUTE));
  return () => deviation * random.normal();
}

/** The run takes ever longer: up to a third of the interval at the end, give or take 3 %. */
function growing(random: Random, { length, instants }: Schedule): Delay {
  const last = random.between(0.05, 0.33) * length;
  return (run) => last * (0.1 + (0.9 * run) / instants.length) * (1 + 0.03 * random.normal());
}

/** Now quick, now slow: by chance, every tenth run, or at weekends. */
function twoModes(random: Random, schedule: Schedule): Delay {
  const { length } = schedule;
  const slow = random.between(0.03, 0.3) * length;
  const share = random.between(0.25, 0.6);
  const isWeekend = (at: number) => (Math.floor(at / DAY) + 3) % 7 > 4;
  const isSlow = random.pick<(run: number, at: number) => boolean>([
    () => random.next() < share,
    (run) => run % 10 === 9,
    (_, at) => length === DAY && isWeekend(at),
  ]);
  const quick = jitter(random, { ...schedule, length: length / 4 });
  return (run, at) => quick(run, at) + (isSlow(run, at) ? slow : 0);
}

/** Log-normal run times: most are short, a few take ten or thirty times as long. */
function longTail(random: Random, { length }: Schedule): Delay {
  const median = random.magnitude(0.001, 0.01) * length;
  const shape = random.between(0.6, 1.1);
  return () => Math.min(median * Math.exp(shape * random.normal()), 0.6 * length);
}

/** On time but for a share of the runs, which come late by between `least` and `most`. */
function sometimes(share: number, least: number, most: number): Plan['delay'] {
  return (random, schedule) => {
    const usual = jitter(random, { ...schedule, length: schedule.length / 4 });
    return (run, at) => usual(run, at) + (random.next() < share ? random.between(least, most) : 0);
  };
}

/** The run of the last day of each month, or of the first, takes five times as long as the others. */
function monthEnd(random: Random, { timezone }: Schedule): Delay {
  const usual = random.magnitude(10 * MINUTE, 90 * MINUTE);
  const isFirst = random.next() < 0.5;
  return (_, at) => {
    const date = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timezone);
    const isLong = date.day === (isFirst ? 1 : date.daysInMonth);
    return (isLong ? 5 : 1) * usual * (1 + 0.05 * random.normal());
  };
}

/** A heavy job of Sunday night takes the host for some hours, and what starts then is late. */
function weeklySlow(random: Random, schedule: Schedule): Delay {
  const usual = jitter(random, { ...schedule, length: schedule.length / 4 });
  const from = 6 * DAY + random.between(0, 6) * HOUR;
  const until = from + random.between(2, 4) * HOUR;
  const late = random.between(0.2, 0.5) * schedule.length;
  return (run, at) => {
    const inWeek = (at + 3 * DAY) % (7 * DAY);
    const isSlow = inWeek >= from && inWeek < until;
    return usual(run, at) + (isSlow ? late * (1 + 0.1 * random.normal()) : 0);
  };
}

const PLANS: Record<string, Plan> = {
  'fixed time ± jitter': {
    regular: true,
    schedule: (random, count) => anySchedule(random, count, 0.12),
    delay: jitter,
  },
  'clock change': { regular: true, schedule: clockChangeSchedule, delay: jitter },
  'growing run time': {
    regular: true,
    schedule: (random, count) => anySchedule(random, count, 0.45),
    delay: growing,
  },
  drifting: { regular: true, schedule: driftingSchedule, delay: jitter },
  'weekdays only': { regular: true, schedule: weekdaySchedule, delay: jitter },
  'two modes': {
    regular: false,
    schedule: (random, count) => anySchedule(random, count, 0.42),
    delay: twoModes,
  },
  'long tail': {
    regular: false,
    schedule: (random, count) => anySchedule(random, count, 0.65),
    delay: longTail,
  },
  monthly: { regular: false, schedule: monthlySchedule, delay: jitter },
  'hourly, late in 2 %': {
    regular: false,
    schedule: hourlySchedule,
    delay: sometimes(0.02, 5 * MINUTE, 50 * MINUTE),
  },
  'daily, caught up hours late in 4 %': {
    regular: false,
    schedule: nightlySchedule,
    delay: sometimes(0.04, HOUR, 12 * HOUR),
  },
  'month-end run five times as long': {
    regular: false,
    schedule: nightlySchedule,
    delay: monthEnd,
  },
  'slowed down once a week': {
    regular: false,
    schedule: frequentSchedule,
    delay: weeklySlow,
  },
  'on the boundary': {
    regular: false,
    schedule: boundarySchedule,
    delay: (random) => {
      const deviation = random.magnitude(0.2 * SECOND, 20 * SECOND);
      const offset = random.between(-2, 4) * deviation;
      return () => offset + deviation * random.normal();
    },
  },
};

/** `perKind` histories of each kind, of about `count` runs each (fewer of weekly and monthly jobs). */
export function* histories(seed: number, perKind: number, count: number): Generator<History> {
  let number = seed * 1_000_003;
  for (const [kind, plan] of Object.entries(PLANS)) {
    for (let made = 0; made < perKind; made += 1) {
      number += 1;
      const random = seeded(number);
      const schedule = plan.schedule(random, count);
      const delay = plan.delay(random, schedule);
      const { interval, timezone, instants } = schedule;
      const delayed = instants.map((at, run) => Math.round(at + delay(run, at))).sort((a, b) => a - b);
      yield { kind, regular: plan.regular, interval, timezone, runs: withMisses(random, delayed) };
    }
  }
}

function withMisses(random: Random, instants: readonly number[]): Run[] {
  let out = 0;
  return instants.map((at) => {
    if (out > 0) out -= 1;
    else if (random.next() < OUTAGES) out = Math.ceil(random.between(0, 5));
    return { at, missed: out > 0 || random.next() < MISSES };
  });
}
