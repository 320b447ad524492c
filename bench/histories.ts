/** Synthetic histories of jobs, seeded: the same seed makes the same history. */
import type { Interval } from '../src/core/interval.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../src/text/durations.ts';
import {
  anySchedule,
  boundarySchedule,
  clockChangeSchedule,
  driftingSchedule,
  frequentSchedule,
  hourlySchedule,
  monthlySchedule,
  nightlySchedule,
  type Schedule,
  weekdaySchedule,
} from './job-schedules.ts';
import { type Random, seeded } from './random.ts';

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
  /** Whether the runs keep to one time in their period: the target is set for these histories. */
  regular: boolean;
  interval: Interval;
  timezone: string;
  runs: Run[];
}

/** Milliseconds from the scheduled instant of a run to its check-in. */
type Delay = (run: number, at: number) => number;

interface Plan {
  regular: boolean;
  schedule(random: Random, count: number): Schedule;
  delay(random: Random, schedule: Schedule): Delay;
}

/** Normal jitter, from a second to 1.5 % of the interval but never above ten minutes. */
function jitter(random: Random, { length }: Schedule): Delay {
  const deviation = random.magnitude(SECOND, Math.min(0.015 * length, 10 * MINUTE));
  return () => deviation * random.normal();
}

/** The run takes longer and longer: up to a third of the interval at the end, give or take 3 %. */
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

/** On time, except for a share of the runs, which are late by `least` to `most` milliseconds. */
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

/** A heavy job on Sunday night occupies the host for some hours, and jobs that start then are late. */
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
