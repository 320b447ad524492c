/** Random expressions of cron and OnCalendar, many of them spoiled: when they are due or why they are refused, written down. */
import { join } from 'node:path';
import { suite } from 'uvu';
import { scheduleShown } from '../../../src/core/explanation/schedule-words.ts';
import { readSchedule, type Schedule, type ScheduleRule } from '../../../src/core/schedule/schedule.ts';
import { deadlineAfterCheckIn, earliestCheckIn } from '../../../src/core/schedule/timing.ts';
import { derivedInterval, validateSchedule } from '../../../src/core/schedule-fields.ts';
import { scheduleWithZone } from '../../../src/core/schedule-name.ts';
import { newSnitchState } from '../../../src/core/snitch.ts';
import { assertKept, inOneLine } from '../../kept-text.ts';
import { Dice } from '../../random.ts';

const EXPRESSIONS = 400;
const KEPT = join(import.meta.dirname, 'random-schedules.txt');

const ZONES = ['UTC', 'Europe/Berlin', 'Australia/Lord_Howe', 'America/Havana'];

/** Some hours before clocks change, before a leap day, and on a day like others. */
const TIMES = ['2026-10-24T20:10:05Z', '2026-03-28T22:00Z', '2028-02-28T12:00Z', '2026-07-15T13:20Z'].map(
  (time) => Date.parse(time),
);

const schedules = suite('random schedules');

/** One field of cron, from `least` to `most`. */
function field(dice: Dice, least: number, most: number, names: readonly string[] = []): string {
  const one = () => (names.length > 0 && dice.isHit(0.3) ? dice.oneOf(names) : `${dice.whole(least, most)}`);
  const [from, to] = [dice.whole(least, most), dice.whole(least, most)].sort((a, b) => a - b);
  return dice.oneOf([
    '*',
    '*',
    one(),
    one(),
    `${one()},${one()}`,
    `${from}-${to}`,
    `*/${dice.whole(1, Math.max(2, most - least))}`,
    `${from}-${to}/${dice.whole(1, 5)}`,
  ]);
}

function cronOf(dice: Dice): string {
  const day = dice.oneOf(['*', '*', field(dice, 1, 31), 'L', 'LW', '15W']);
  const weekday = dice.oneOf(['*', '*', field(dice, 0, 7, ['sun', 'MON', 'Fri']), '5L', '1#2', '+1']);
  const fields = [field(dice, 0, 59), field(dice, 0, 23), day, field(dice, 1, 12, ['jan', 'DEC']), weekday];
  return dice.oneOf([
    ...Array<string>(9).fill(fields.join(' ')),
    '@daily',
    '@weekly',
    '@reboot',
    `0 ${fields.join(' ')}`,
  ]);
}

function calendarOf(dice: Dice): string {
  const days = dice.oneOf(['', '', 'Mon ', 'Mon..Fri ', 'Sat,Sun ', 'Fri..Mon ']);
  const year = dice.oneOf(['*', '*', '*', '2026', '2020..2028/2']);
  const month = dice.oneOf(['*', '*', `${dice.whole(1, 12)}`, '01,07', '02..04']);
  const day = dice.oneOf(['*', '*', `${dice.whole(1, 31)}`, '1/7', '29', '~1', '~03/1']);
  const date = dice.isHit(0.6)
    ? ''
    : day.startsWith('~')
      ? `${year}-${month}${day} `
      : `${year}-${month}-${day} `;
  const minute = dice.oneOf(['00', '30', '0/15', '*', '5,55']);
  const time = dice.oneOf([
    `${dice.whole(0, 23)}:${minute}`,
    `*:${minute}`,
    '0/6:00',
    '02:30:00',
    '2..5:00:30',
  ]);
  const zone = dice.oneOf(['', '', '', ' UTC', ' Europe/Berlin']);
  return dice.oneOf([
    ...Array<string>(9).fill(`${days}${date}${time}${zone}`),
    'daily',
    'quarterly',
    'annually',
    `${days}${date}`,
  ]);
}

/** With a character too many, too few or another one. */
function spoiled(dice: Dice, text: string): string {
  const at = dice.whole(0, text.length);
  const other = dice.oneOf(['', '-', '/', '99', '*', ',', 'x', ' ']);
  return text.slice(0, at) + other + text.slice(at + dice.whole(0, 1));
}

function ruleOf(dice: Dice): ScheduleRule {
  if (dice.isHit(0.06))
    return { every: dice.oneOf([59, 60, 1_000, 5_400.5, 86_400, 31_622_400, 31_622_401]) };
  const [kind, text] = dice.isHit(0.5) ? ['cron', cronOf(dice)] : ['calendar', calendarOf(dice)];
  const given = dice.isHit(0.2) ? spoiled(dice, text) : text;
  return kind === 'cron' ? { cron: given } : { calendar: given };
}

function due(schedule: Schedule, now: number): string[] {
  const runs: (number | null)[] = [schedule.nextAfter(now)];
  for (let count = 0; count < 3; count += 1) {
    const last = runs.at(-1) ?? null;
    runs.push(last === null ? null : schedule.nextAfter(last));
  }
  const [first = null] = runs;
  const gaps = schedule.gapsAfter(now);
  const early = first === null ? null : earliestCheckIn(schedule, first);
  const grace = schedule.defaultGrace(now);
  const after = (at: number | null) =>
    at === null
      ? null
      : deadlineAfterCheckIn(schedule, grace, at, { at: now, deadline: first && first + grace });
  return [
    `  runs ${inOneLine(runs)}, last ${inOneLine(schedule.lastUntil(now))}`,
    `  ${gaps.length} gaps from ${Math.min(...gaps)} to ${Math.max(...gaps)}, longest ${schedule.longestGap}, grace ${grace}, ${derivedInterval(schedule)}`,
    `  early from ${inOneLine(early)}, then due ${inOneLine([early, first, early === null ? null : early - 1].map(after))}`,
  ];
}

function describe(seed: number): string[] {
  const dice = new Dice(seed);
  const rule = ruleOf(dice);
  const zone = dice.oneOf(ZONES);
  const now = dice.oneOf(TIMES);
  const checked = validateSchedule(rule, zone, now);
  const head = `${seed}: ${inOneLine(rule)} ${zone} ${inOneLine(now)}`;
  if (checked.validations)
    return [head, ...checked.validations.map(({ message }) => `  refused: ${message}`)];
  const state = {
    ...newSnitchState('daily', 'basic', { schedule: checked.value, grace: dice.oneOf([null, 90]) }),
  };
  const awaited = { ...state, status: 'healthy' as const, dueAt: now + dice.whole(-100, 500) * 60_000 };
  const shown = scheduleShown(awaited, zone, now);
  return [
    `${head}: ${scheduleWithZone(checked.value, null, zone)}`,
    ...due(readSchedule(checked.value, zone), now),
    `  shown if due ${inOneLine(awaited.dueAt)}: ${inOneLine(shown?.runs.slice(0, 2).map(({ at, deadline }) => [at, deadline]))}`,
  ];
}

schedules('are due and refused as they were', () => {
  const lines: string[] = [];
  for (let seed = 1; seed <= EXPRESSIONS; seed += 1) lines.push(...describe(seed));
  assertKept(KEPT, lines);
});

schedules.run();
