/** OnCalendar expressions: what they mean, compared with systemd itself. Time limit: 120 s. */
import { spawnSync } from 'node:child_process';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parseOnCalendar } from '../../../src/core/schedule/on-calendar.ts';
import { instantsAfter, readSchedule } from '../../../src/core/schedule/schedule.ts';
import { randomFrom } from '../../random.ts';
import { unless, without } from '../../skipped.ts';

const DAY = 86_400_000;

/** Saturday. */
const FROM = Date.parse('2026-11-21T22:00:00Z');

const shown = (at: number) => new Date(at).toISOString().slice(0, 19).replace('T', ' ');
const runs = (calendar: string, count = 3, timezone = 'UTC', from = FROM) =>
  instantsAfter(readSchedule({ calendar }, timezone), from, count).map(shown);

const reading = suite('schedule: OnCalendar');

reading('what expressions mean', () => {
  const table: [string, string[]][] = [
    ['Mon..Fri 03:00', ['2026-11-23 03:00:00', '2026-11-24 03:00:00', '2026-11-25 03:00:00']],
    ['daily', ['2026-11-22 00:00:00', '2026-11-23 00:00:00', '2026-11-24 00:00:00']],
    ['QUARTERLY', ['2027-01-01 00:00:00', '2027-04-01 00:00:00', '2027-07-01 00:00:00']],
    ['*-*~01', ['2026-11-30 00:00:00', '2026-12-31 00:00:00', '2027-01-31 00:00:00']],
    ['*-02~03..05', ['2027-02-24 00:00:00', '2027-02-25 00:00:00', '2027-02-26 00:00:00']],
    ['Mon *-*~07/1 12:30', ['2026-11-30 12:30:00', '2026-12-28 12:30:00', '2027-01-25 12:30:00']],
    ['*:0/20:30', ['2026-11-21 22:00:30', '2026-11-21 22:20:30', '2026-11-21 22:40:30']],
    ['2028/2-2-29', ['2028-02-29 00:00:00', '2032-02-29 00:00:00', '2036-02-29 00:00:00']],
    ['Sun', ['2026-11-22 00:00:00', '2026-11-29 00:00:00', '2026-12-06 00:00:00']],
    ['2026-12-24', ['2026-12-24 00:00:00']],
    ['03:00:00.000', ['2026-11-22 03:00:00', '2026-11-23 03:00:00', '2026-11-24 03:00:00']],
  ];
  for (const [calendar, expected] of table) assert.equal(runs(calendar), expected, calendar);
});

reading('a time zone in the expression decides, whatever zone is given beside it', () => {
  const { timezone } = readSchedule({ calendar: '03:00 europe/berlin' }, 'America/New_York');
  assert.is(timezone, 'Europe/Berlin');
  assert.equal(runs('03:00 Europe/Berlin', 1, 'America/New_York'), ['2026-11-22 02:00:00']);
  assert.equal(runs('daily utc', 1, 'America/New_York'), ['2026-11-22 00:00:00']);
  assert.equal(runs('03:00', 1, 'America/New_York'), ['2026-11-22 08:00:00']);
});

reading('what cannot be read says which part, and why', () => {
  const table: [string, RegExp][] = [
    ['', /^can't be blank$/],
    ['noon', /"noon" is neither a weekday such as Mon, nor a word such as daily$/],
    ['Mon..Fry 03:00', /"Fry" is neither a weekday/],
    ['constructor', /"constructor" is neither a weekday such as Mon, nor a word such as daily$/],
    ['__proto__', /"__proto__" is neither a date such as/],
    ['25:00', /hour "25": it is not from 0 to 23$/],
    ['*-13-01', /month "13": it is not from 1 to 12$/],
    ['*-*-32', /day "32": it is not from 1 to 31$/],
    ['*-*~29', /day from the end of the month "29": it is not from 1 to 28$/],
    ['*:*/15', /minute "\*\/15": a step needs a first value: write 0\/15$/],
    ['*:0-15', /minute "0-15": a range is written 0\.\.15$/],
    ['*:0/0', /a step is at least 1$/],
    ['*:55/10', /the step leads to no second value$/],
    ['18..6:00', /the range runs backward$/],
    ['*:1,,2', /a value is missing$/],
    ['3', /"3" is neither a date such as \*-\*-01 nor a time such as 03:00$/],
    ['@1800000000', /it would never come again$/],
    ['03:00 Europe/Berln', /"Europe\/Berln" is not a time zone that is known here$/],
    ['*-*-* 03:00 04:00', /nothing can follow the time of day, and here is "04:00"$/],
    ['Mon..Tue..Wed 03:00', /weekdays "Mon\.\.Tue\.\.Wed": it is no range$/],
    ['Fri..Mon 03:00', /weekdays "Fri\.\.Mon": the range runs backward: write Fri\.\.Sun,Mon\.\.Mon$/],
    ['Mon Tue 03:00', /"Tue" is neither a date/],
    ['*:*:*', /more often than once a minute: give a single value for the seconds, such as :00$/],
    ['*:*:0/30', /more often than once a minute/],
    ['03:00:00,30', /more often than once a minute/],
    ['03:00:00.5', /fractions of a second are not known here$/],
    ['150-1-1', /year "150": it is not from 1970 to 2199$/],
    ['1850-1-1', /year "1850": it is not from 1970 to 2199$/],
    [`${'1,'.repeat(300)}1:00`, /is too long/],
  ];
  for (const [calendar, reason] of table) {
    assert.throws(
      () => parseOnCalendar(calendar),
      (error: Error) => error.name === 'ScheduleRefused' && reason.test(error.message),
      `${calendar}: ${reason}`,
    );
  }
});

reading.run();

const systemd = suite('schedule: OnCalendar as systemd has it');
const withSystemd = unless(without('systemd-analyze'), systemd);

const ITERATIONS = 5;
/** So many expressions are given to one process. */
const AT_ONCE = 100;

/** What systemd says of each expression: the next instants in UTC, or null where it cannot be read. */
function asked(expressions: readonly string[], from: number, timezone: string): (string[] | null)[] {
  const options = [`--iterations=${ITERATIONS}`, `--base-time=${shown(from)} UTC`];
  const run = (given: readonly string[]) => {
    const env = { ...process.env, TZ: timezone, LC_ALL: 'C' };
    return spawnSync('systemd-analyze', ['calendar', ...options, '--', ...given], { encoding: 'utf8', env });
  };
  const { stdout, stderr } = run(expressions);
  // One that is in its normal form already is told once.
  const found = new Map(
    stdout
      .split(/^$/m)
      .map((text) => [/(?:Original|Normalized) form: (.*)$/m.exec(text)?.[1], text] as const),
  );
  const refused = new Set(
    [...stderr.matchAll(/^Failed to parse calendar specification '(.*)':/gm)].map(([, text]) => text),
  );
  return expressions.map((expression) =>
    refused.has(expression) ? null : instantsIn(found.get(expression) ?? ''),
  );
}

/** Each is told in UTC, outside of UTC on a line of its own below. */
function instantsIn(text: string): string[] {
  const told = text.matchAll(/(?:Next elapse|Iter\. #\d+|\(in UTC\)): \w{3} (\S+ \S+) UTC$/gm);
  return [...told].flatMap(([, instant = '']) => instant);
}

function expressionsOf(next: () => number, count: number): string[] {
  const int = (min: number, max: number) => min + Math.floor(next() * (max - min + 1));
  const pick = <T>(from: readonly T[]): T => from[Math.floor(next() * from.length)]!;
  const entry = (min: number, max: number) => {
    const [from, step] = [int(min, max), int(1, Math.max(1, (max - min) >> 1))];
    const to = int(from, max);
    // Versions of systemd lose the first runs of a month or a year where a step without an end does not come out even.
    const even = Array.from({ length: max }, (_, index) => index + 1).filter(
      (one) => min === 0 && (max + 1 - from) % one === 0 && from + one <= max,
    );
    const open = even.length > 0 ? `${from}/${pick(even)}` : `${from}`;
    return pick([`${from}`, `${from}`, `${from}..${to}`, open, `${from}..${to}/${step}`]);
  };
  const list = (min: number, max: number, star: number) =>
    next() < star ? '*' : Array.from({ length: pick([1, 1, 2, 3]) }, () => entry(min, max)).join(',');
  const days = 'Mon Tue Wed Thu Fri Sat Sun monday SATURDAY'.split(' ');
  const weekdays = () =>
    pick([
      pick(days),
      `${pick(days)}..${pick(days)}`,
      `${pick(days)},${pick(days)}`,
      `${pick(days)}-${pick(days)},`,
    ]);
  // systemd refuses the days before the last three weeks where they are not the first of a list: a fault of its own.
  const date = () => {
    const year = next() < 0.15 ? `${pick(['2027', '2026..2030', '2025/2', '28'])}-` : pick(['', '*-']);
    return `${year}${list(1, 12, 0.7)}${next() < 0.3 ? `~${list(1, 19, 0.1)}` : `-${list(1, 31, 0.4)}`}`;
  };
  const time = () => `${list(0, 23, 0.2)}:${list(0, 59, 0.1)}${pick(['', ':00', `:${int(0, 59)}`])}`;
  return Array.from({ length: count }, () => {
    const parts = [next() < 0.4 && weekdays(), next() < 0.6 && date(), next() < 0.8 && time()].filter(
      Boolean,
    );
    return parts.join(' ') || 'weekly';
  });
}

function here(calendar: string, timezone: string, from: number): string[] | null {
  try {
    return runs(calendar, ITERATIONS, timezone, from);
  } catch (error) {
    if ((error as Error).name !== 'ScheduleRefused') throw error;
    return null;
  }
}

withSystemd('no difference in what is read, and in when it is due', () => {
  const next = randomFrom(20_261_121);
  const words =
    'minutely hourly daily weekly monthly quarterly semiannually yearly annually biannually'.split(' ');
  const fixed = [
    '*-2-29',
    '*-2~1',
    'Mon *-2-29',
    '*-2-30',
    '2020-1-1',
    'Sun..Sun',
    'Sat..Tue 1:00',
    '5..5:00',
    '*:10..12/5',
    '*-*~28/3',
    '*-*~27..28/5',
    '*-*~20..28/3',
  ];
  const expressions = [...words, ...fixed, ...expressionsOf(next, 1_000)];
  let read = 0;
  for (let first = 0; first < expressions.length; first += AT_ONCE) {
    const some = expressions.slice(first, first + AT_ONCE);
    const from = FROM + Math.floor(next() * 3_000) * DAY + Math.floor(next() * 86_400) * 1_000;
    for (const [index, expected] of asked(some, from, 'UTC').entries()) {
      const calendar = some[index]!;
      assert.equal(here(calendar, 'UTC', from), expected, `${calendar} from ${shown(from)}`);
      if (expected) read += 1;
    }
  }
  assert.ok(read > 500, `${read} of ${expressions.length} could be read`);
});

/** In New York the clock is not changed from April to October. */
withSystemd('no difference in a time zone, whether it is given beside the expression or in it', () => {
  const next = randomFrom(20_261_123);
  const zones = ['America/New_York', 'Europe/Berlin'];
  const from = Date.parse('2027-04-03T04:05:06Z');
  const isSummer = (instant: string) => instant < '2027-10-25';
  const expressions = expressionsOf(next, 200).map((one, index) =>
    index % 2 === 0 ? one : `${one} ${zones[1]}`,
  );
  let compared = 0;
  for (let first = 0; first < expressions.length; first += AT_ONCE) {
    const some = expressions.slice(first, first + AT_ONCE);
    for (const [index, expected] of asked(some, from, zones[0]!).entries()) {
      const calendar = some[index]!;
      const found = here(calendar, zones[0]!, from)?.filter(isSummer) ?? null;
      assert.equal(found, expected?.filter(isSummer) ?? null, calendar);
      compared += found?.length ?? 0;
    }
  }
  assert.ok(compared > 200, `${compared} instants were compared`);
});

systemd.run();
