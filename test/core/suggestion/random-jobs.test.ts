/** What is suggested for the histories of random jobs, written down. */
import { join } from 'node:path';
import { suite } from 'uvu';
import type { Interval } from '../../../src/core/interval.ts';
import { readSchedule, type ScheduleRule } from '../../../src/core/schedule/schedule.ts';
import type { PastCheckIn } from '../../../src/core/suggestion/history.ts';
import type { DueSetting } from '../../../src/core/suggestion/outlook.ts';
import { suggest } from '../../../src/core/suggestion/suggest.ts';
import { assertKept, inOneLine } from '../../kept-text.ts';
import { Dice } from '../../random.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

const JOBS = 150;
const KEPT = join(import.meta.dirname, 'random-jobs.txt');

const ZONES = ['UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kolkata'];

/** Before, at and between the changes of the clock. */
const BEGINNINGS = ['2026-01-05', '2026-03-20', '2026-06-29', '2026-10-15', '2026-12-28'].map((day) =>
  Date.parse(`${day}T00:00:00Z`),
);

const INTERVALS: Interval[] = ['15_minute', 'hourly', '4_hour', 'daily', 'weekly', 'monthly'];

const suggestions = suite('suggestions for random jobs');

function ruleOf(dice: Dice): ScheduleRule {
  const minute = dice.whole(0, 59);
  const hour = dice.whole(0, 23);
  const days = dice.oneOf(['*', '*', '*', '1-5', '6,0', '1,3,5', '2-4', '0-2,4-6']);
  return dice.oneOf<ScheduleRule>([
    { cron: `${minute} ${hour} * * ${days}` },
    { cron: `${minute} ${hour} * * ${days}` },
    { cron: `${minute} ${hour},${(hour + 7) % 24},${(hour + 11) % 24} * * *` },
    { cron: `${minute} */${dice.oneOf([2, 3, 4, 6, 8, 12])} * * *` },
    { cron: `${minute} ${dice.whole(0, 1)}-23/2 * * *` },
    { cron: `${minute} * * * *` },
    { cron: `*/${dice.oneOf([2, 3, 5, 7, 10, 15, 20, 30])} * * * *` },
    { cron: `${minute} ${hour} ${dice.oneOf(['1', '15', '28', '31', 'L', '1,15', '10-20'])} * *` },
    { cron: `${minute} ${hour} * * ${dice.oneOf(['1#1', '5#2', '0L', '3L'])}` },
    { every: dice.oneOf([90, 300, 1_000, 5_400, 36_000, 86_400, 100_000]) },
  ]);
}

function historyOf(dice: Dice, rule: ScheduleRule, timezone: string): PastCheckIn[] {
  const schedule = readSchedule(rule, timezone);
  const latest = dice.oneOf([SECOND, 20 * SECOND, 2 * MINUTE, 15 * MINUTE, HOUR, 5 * HOUR]);
  const skipped = dice.oneOf([0, 0, 0, 0.02, 0.1, 0.5]);
  const known = dice.oneOf([0, 0.5, 0.95, 1]);
  const reported = dice.oneOf([0, 0, 0.8, 1]);
  const size = dice.oneOf([1, 1_000, 5e8]);
  const history: PastCheckIn[] = [];
  let at = dice.oneOf(BEGINNINGS) + dice.whole(0, HOUR);
  for (let left = dice.oneOf([2, 4, 6, 12, 30, 60, 110]); left > 0; left -= 1) {
    at = schedule.nextAfter(at) ?? at;
    if (dice.isHit(skipped)) continue;
    const outlier = dice.isHit(0.01) ? 10 : 1;
    const durationMs = dice.isHit(known) ? dice.whole(0, outlier * latest) : null;
    const end = at + (durationMs ?? dice.whole(0, outlier * latest)) + SECOND;
    const outcome = dice.isHit(0.03) ? 'error' : dice.isHit(0.02) ? 'log' : 'healthy';
    const values = {
      ...(dice.isHit(reported) ? { bytes: Math.round(size * (1 + dice.whole(0, 200) / 100)) } : {}),
      ...(dice.isHit(reported) ? { errors: dice.whole(0, 2), same: 7 } : {}),
      ...(dice.isHit(reported) ? { wild: 10 ** dice.whole(0, 6) } : {}),
    };
    history.push({ at: end, outcome, durationMs, ...(reported > 0 ? { values } : {}) });
    if ('every' in rule) at = end;
  }
  return history;
}

function settingOf(dice: Dice, rule: ScheduleRule, timezone: string): DueSetting {
  const interval = dice.oneOf(INTERVALS);
  const grace = dice.oneOf([null, 0, MINUTE, HOUR]);
  const schedule = dice.isHit(0.3) ? rule : null;
  const alertType = schedule === null && interval !== '15_minute' && dice.isHit(0.3) ? 'smart' : 'basic';
  return { interval, alertType, schedule, timezone: schedule ? timezone : 'UTC', grace };
}

function describe(seed: number): string[] {
  const dice = new Dice(seed);
  const rule = ruleOf(dice);
  const timezone = dice.oneOf(ZONES);
  const history = historyOf(dice, rule, timezone);
  const setting = settingOf(dice, rule, timezone);
  const { seen, schedule, unfit, present, runtime, expect } = suggest(history, setting, [
    dice.oneOf(ZONES),
    timezone,
  ]);
  return [
    `${seed}: ${inOneLine(rule)} ${timezone}, set to ${inOneLine(setting)}`,
    `  ${inOneLine(seen)}`,
    `  ${schedule ? inOneLine(schedule) : unfit}`,
    `  present ${inOneLine(present)}`,
    ...(runtime ? [`  runtime ${inOneLine(runtime)}`] : []),
    ...expect.map((one) => `  expect ${inOneLine(one)}`),
  ];
}

suggestions('are as they were', () => {
  const lines: string[] = [];
  for (let seed = 1; seed <= JOBS; seed += 1) lines.push(...describe(seed));
  assertKept(KEPT, lines);
});

suggestions.run();
