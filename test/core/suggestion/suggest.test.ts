import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { histories } from '../../../bench/histories.ts';
import { Calendar, INTERVALS, isMinuteInterval } from '../../../src/core/interval.ts';
import { usualOf } from '../../../src/core/judgement/usual.ts';
import { readSchedule, Schedules } from '../../../src/core/schedule/schedule.ts';
import type { PastCheckIn } from '../../../src/core/suggestion/history.ts';
import { type DueSetting, outlook } from '../../../src/core/suggestion/outlook.ts';
import { roundUp } from '../../../src/core/suggestion/round-lengths.ts';
import { suggest } from '../../../src/core/suggestion/suggest.ts';
import { cases } from '../../cases.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const BERLIN = 'Europe/Berlin';

/** The same numbers each time, in [0, 1). */
function randoms(seed = 1): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

const healthy = (at: number, durationMs: number | null = null): PastCheckIn => ({
  at: Math.round(at),
  outcome: 'healthy',
  durationMs,
});

interface Habit {
  timezone?: string;
  from?: string;
  count?: number;
  /** Most that a check-in comes after its run. */
  late?: number;
  skip?: (run: number) => boolean;
}

/** What a job leaves that cron starts by `cron`, which checks in up to `late` after it. */
function jobOf(
  cron: string,
  { timezone = 'UTC', from = '2026-01-05T00:00:00Z', count = 100, late = 2 * MINUTE, skip }: Habit = {},
) {
  const schedule = readSchedule({ cron }, timezone);
  const random = randoms(cron.length + count);
  const history: PastCheckIn[] = [];
  let at = Date.parse(from);
  for (let run = 0; run < count; run += 1) {
    at = schedule.nextAfter(at)!;
    if (!skip?.(run)) history.push(healthy(at + SECOND + random() * late));
  }
  return history;
}

const daily: DueSetting = {
  interval: 'daily',
  alertType: 'basic',
  schedule: null,
  timezone: 'UTC',
  grace: null,
};
const present = (changes: Partial<DueSetting> = {}): DueSetting => ({ ...daily, ...changes });

function ruleFor(history: readonly PastCheckIn[], timezones = ['UTC'], setting = daily): unknown {
  const { schedule } = suggest(history, setting, timezones);
  return schedule && ('cron' in schedule.rule ? schedule.rule.cron : schedule.rule);
}

const schedules = suite('suggest: schedules');

const CRONS: [string, Habit?][] = [
  ['0 3 * * *'],
  ['15 2 * * *', { late: 10 * MINUTE }],
  ['30 23 * * *', { late: 50 * MINUTE }],
  ['0 0 * * *', { late: 40 * MINUTE }],
  ['0 3 * * 1-5'],
  ['30 22 * * 1-5', { late: 3 * HOUR }],
  ['0 3 * * 1,3,5', { count: 40 }],
  ['10 * * * *', { late: MINUTE }],
  ['*/15 * * * *', { late: 20 * SECOND }],
  ['*/5 * * * *', { late: 15 * SECOND }],
  ...[2, 3, 4, 6, 10, 12, 20, 30].map((step): [string, Habit] => [
    `*/${step} * * * *`,
    { late: 10 * SECOND },
  ]),
  ['0 */2 * * *'],
  ['0 */3 * * *'],
  ['0 */4 * * *'],
  ['0 */6 * * *', { late: 20 * MINUTE }],
  ['0 0,8,16 * * *'],
  ['30 1-23/4 * * *'],
  ['0 6,18 * * *', { late: 20 * MINUTE }],
  ['0 7,13 * * 1-5', { late: 10 * MINUTE }],
  ['0 4 * * 0', { count: 12 }],
  // The fewest that are enough.
  ['0 4 * * 0', { count: 3 }],
  ['0 3 * * *', { count: 5 }],
  ['0 5 1 * *', { count: 6 }],
  ['0 5 15 * *', { count: 4, late: HOUR }],
  ['0 5 L * *', { count: 6 }],
  ['0 6 * * 1#1', { count: 6 }],
];

for (const [cron, habit] of CRONS) {
  schedules(`finds ${cron}, of ${habit?.count ?? 'many'} runs`, () => {
    assert.is(ruleFor(jobOf(cron, habit)), cron);
    assert.is(ruleFor(jobOf(cron, habit).toReversed()), cron, 'newest first as well');
  });
}

schedules('by when its runs began, if that is known of nearly all: how long they take may differ', () => {
  const random = randoms(5);
  const began = jobOf('0 3 * * *', { late: 5 * SECOND, count: 40 });
  const ended = began.map(({ at }) => ({ at, took: Math.round((0.1 + 2.5 * random()) * HOUR) }));
  const told = (unknown: number) =>
    ended.map(({ at, took }, run) => healthy(at + took, run < unknown ? null : took));
  const { schedule } = suggest(told(0), daily, ['UTC']);
  assert.equal(schedule?.rule, { cron: '0 3 * * *' });
  const longest = Math.max(...ended.map(({ took }) => took)) / SECOND;
  assert.ok((schedule?.grace ?? 0) >= longest, `a grace of ${schedule?.grace} s for a run of ${longest} s`);
  assert.is(ruleFor(told(4)), '0 3 * * *', 'one in ten is unknown');
  assert.is.not(ruleFor(told(5)), '0 3 * * *', 'more are unknown');
});

schedules('with a grace that ends before the next run, however long the runs take', () => {
  const random = randoms(7);
  const history = jobOf('0 * * * *', { late: SECOND }).map(({ at }) => {
    const took = Math.round(random() * 50 * MINUTE);
    return healthy(at + took, took);
  });
  const { schedule } = suggest(history, daily, ['UTC']);
  assert.equal([schedule?.rule, schedule?.grace], [{ cron: '0 * * * *' }, 54 * 60]);
});

schedules('with missed runs, runs by hand and one that came very late', () => {
  const history = jobOf('0 3 * * *', { skip: (run) => run % 20 === 7 });
  const { schedule } = suggest([...history, healthy(Date.parse('2026-02-10T15:12:00Z'))], daily, ['UTC']);
  assert.equal(schedule?.rule, { cron: '0 3 * * *' });
  assert.is(schedule?.missed, 5);
  const late = history.map((checkIn, run) =>
    run === 50 ? { ...checkIn, at: checkIn.at + 7 * HOUR } : checkIn,
  );
  const found = suggest(late, daily, ['UTC']).schedule;
  assert.equal([found?.rule, found?.grace], [{ cron: '0 3 * * *' }, 20 * 60]);
  assert.is(found?.outlook.falseAlarms, 1, 'one in 95 is told of, and not hidden');
});

schedules('in the time zone that the job follows through a clock change', () => {
  const zoned = (timezone: string) =>
    jobOf('30 4 * * *', { timezone, from: '2026-02-15T00:00:00Z', count: 90 });
  for (const timezone of [BERLIN, 'UTC']) {
    const { schedule } = suggest(zoned(timezone), daily, [BERLIN]);
    assert.equal([schedule?.rule, schedule?.timezone], [{ cron: '30 4 * * *' }, timezone]);
  }
});

schedules('where nothing tells the zones apart, in the first of them', () => {
  const winter = jobOf('30 4 * * *', { timezone: BERLIN, count: 40 });
  assert.is(suggest(winter, daily, [BERLIN]).schedule?.timezone, BERLIN);
});

schedules('of runs whose start is known, when they begin and not when they end', () => {
  const random = randoms();
  const history = jobOf('0 3 * * *', { late: 5 * SECOND }).map(({ at }) => {
    const took = Math.round((40 + 80 * random()) * MINUTE);
    return healthy(at + took, took);
  });
  const { schedule, runtime } = suggest(history, daily, ['UTC']);
  assert.equal(schedule?.rule, { cron: '0 3 * * *' });
  assert.ok(schedule!.lateness.earliest > 40 * MINUTE && schedule!.lateness.latest < 121 * MINUTE);
  assert.is(schedule?.grace, 3 * 3_600);
  assert.is(schedule?.outlook.falseAlarms, 0);
  assert.is(runtime?.seconds, 5 * 3_600);
});

schedules('a loop that sleeps between its runs is due so long after the last one', () => {
  const random = randoms();
  let at = Date.parse('2026-01-05T00:00:00Z');
  const history = Array.from({ length: 80 }, () => {
    at += 100 * MINUTE + random() * MINUTE;
    return healthy(at);
  });
  assert.equal(ruleFor(history), { every: 6_000 + 60 });
});

schedules('where the clock of the host is seconds ahead, at the full hour all the same', () => {
  const history = jobOf('0 * * * *', { late: 0 }).map(({ at }) => healthy(at - 4 * SECOND));
  assert.is(ruleFor(history), '0 * * * *');
});

schedules('of what comes every six days, four check-ins are enough', () => {
  const times = (count: number, days: number) =>
    Array.from({ length: count }, (_, run) => healthy(Date.parse('2026-01-05T03:00:10Z') + run * days * DAY));
  assert.equal(ruleFor(times(4, 6)), { every: 6 * 86_400 });
  assert.is(ruleFor(times(4, 5)), null, 'and of what comes more often they are not');
});

schedules('nothing that comes less often than once a year, because no schedule can', () => {
  const times = (days: number) =>
    Array.from({ length: 8 }, (_, run) => healthy(Date.parse('2016-01-05T03:00:10Z') + run * days * DAY));
  assert.equal(ruleFor(times(366)), { every: 366 * 86_400 });
  assert.is(ruleFor(times(367)), null);
});

schedules('every second day, whatever the month', () => {
  const history = Array.from({ length: 30 }, (_, run) =>
    healthy(Date.parse('2026-01-05T03:00:10Z') + 2 * run * DAY),
  );
  assert.equal(ruleFor(history), { every: 2 * 86_400 });
});

schedules('where nothing fits it says so', () => {
  const random = randoms(7);
  let at = Date.parse('2026-01-05T00:00:00Z');
  const irregular = Array.from({ length: 100 }, () => {
    at += HOUR * 40 ** (2 * random() - 1);
    return healthy(at);
  });
  const found = suggest(irregular, daily, [BERLIN]);
  assert.is(found.schedule, null);
  assert.is(found.present, null);
  assert.match(found.unfit ?? '', 'keep to no time of day');
  const few = suggest(jobOf('0 3 * * *', { count: 2 }), daily, ['UTC']);
  assert.match(few.unfit ?? '', 'only 2 check-ins are kept');
  assert.is(suggest([], daily, ['UTC']).schedule, null);
});

schedules('starts and lines of the log are no runs, errors are', () => {
  const history = jobOf('0 3 * * *').flatMap((checkIn): PastCheckIn[] => [
    { ...checkIn, at: checkIn.at - 30 * SECOND, outcome: 'start' },
    { ...checkIn, at: checkIn.at + 5 * HOUR, outcome: 'log' },
    { ...checkIn, outcome: 'error' },
  ]);
  assert.is(ruleFor(history), '0 3 * * *');
  assert.is(suggest(history, daily, ['UTC']).seen.count, 100);
});

schedules.run();

const outlooks = suite('suggest: what it would have told');

outlooks('a weekday job on a daily interval was accused every weekend, and is not by its schedule', () => {
  const { schedule, present: now } = suggest(jobOf('0 3 * * 1-5', { count: 95 }), daily, ['UTC']);
  assert.equal([now?.falseAlarms, schedule?.outlook.falseAlarms], [18, 0]);
  assert.ok(now!.foundAfter! > 20 * HOUR);
  assert.ok(schedule!.outlook.foundAfter! < 20 * MINUTE);
});

outlooks('a smart deadline is learned as the history goes on', () => {
  const history = jobOf('0 9 * * *');
  const smart = suggest(history, present({ alertType: 'smart' }), ['UTC']).present!;
  const basic = suggest(history, present(), ['UTC']).present!;
  assert.ok(smart.foundAfter! < basic.foundAfter! / 2);
});

outlooks('missed runs are found, or were not', () => {
  const history = jobOf('0 3 * * *', { skip: (run) => run === 30 || run === 60 });
  const { schedule, present: weekly } = suggest(history, present({ interval: 'weekly' }), ['UTC']);
  assert.equal([schedule?.missed, schedule?.outlook.found, schedule?.outlook.unnoticed], [2, 2, 0]);
  assert.equal([weekly?.found, weekly?.unnoticed], [0, 2]);
});

outlooks('how long after a run it would have been told is known from two check-ins on', () => {
  const knowledge = { calendar: new Calendar(), schedules: new Schedules() };
  const setting = present({ interval: 'hourly', timezone: 'UTC' });
  const from = Date.parse('2025-07-09T10:20:00Z');
  const foundAfter = (...checkIns: number[]) => outlook(setting, checkIns, [], knowledge).foundAfter;
  assert.is(foundAfter(from), null);
  assert.is(foundAfter(from, from + 50 * MINUTE), 50 * MINUTE, 'it was due at noon');
});

outlooks('a check-in at the very instant of a deadline comes too late', () => {
  const knowledge = { calendar: new Calendar(), schedules: new Schedules() };
  const setting = present({ interval: 'hourly', timezone: 'UTC' });
  const noon = Date.parse('2025-07-09T12:00:00Z');
  const falseAlarms = (at: number) => outlook(setting, [noon - 100 * MINUTE, at], [], knowledge).falseAlarms;
  assert.equal([falseAlarms(noon - 1), falseAlarms(noon)], [0, 1]);
});

outlooks('how late the check-ins came is given exactly', () => {
  const history = jobOf('0 3 * * *');
  const late = history.map(({ at }) => (at % (24 * HOUR)) - 3 * HOUR).sort((a, b) => a - b);
  const { earliest, usual, latest } = suggest(history, daily, ['UTC']).schedule!.lateness;
  assert.equal([earliest, usual, latest], [late[0], late[Math.ceil(late.length / 2) - 1], late.at(-1)]);
});

outlooks('the schedule that is set is compared as it is set', () => {
  const set = present({ schedule: { cron: '0 2 * * *' }, grace: 30 * MINUTE });
  const { present: now } = suggest(jobOf('0 3 * * *'), set, ['UTC']);
  assert.is(now?.falseAlarms, 99);
});

outlooks.run();

const reports = suite('suggest: runs and values');

const withValues = (numbers: readonly (number | undefined)[], name = 'bytes') =>
  jobOf('0 3 * * *', { count: numbers.length }).map((checkIn, run) => {
    const number = numbers[run];
    return number === undefined ? checkIn : { ...checkIn, values: { [name]: number } };
  });
const expectationsOf = (history: readonly PastCheckIn[]) => suggest(history, daily, ['UTC']).expect;

reports('max_runtime leaves room, and needs five runs whose start is known', () => {
  const took = (count: number) =>
    jobOf('0 3 * * *', { count }).map((run, index) => ({ ...run, durationMs: (10 + (index % 3)) * MINUTE }));
  assert.equal(suggest(took(9), daily, ['UTC']).runtime, {
    seconds: 45 * 60,
    seen: { least: 10 * MINUTE, usual: 11 * MINUTE, most: 12 * MINUTE, count: 9 },
  });
  assert.is(suggest(took(5), daily, ['UTC']).runtime?.seen.count, 5);
  assert.is(suggest(took(4), daily, ['UTC']).runtime, null);
});

reports('of failed runs neither the length nor the values count', () => {
  const failed = { outcome: 'error', durationMs: 9 * HOUR, values: { bytes: 0 } } as const;
  const history = withValues(Array.from({ length: 20 }, () => 500)).map((run) => ({
    ...run,
    durationMs: MINUTE,
  }));
  const { runtime, expect } = suggest([...history, { ...history[0]!, ...failed }], daily, ['UTC']);
  assert.is(runtime?.seen.most, MINUTE);
  assert.equal([expect[0]?.min, expect[0]?.max], [500, 500]);
});

reports('a result that grows is compared with the usual one', () => {
  const numbers = Array.from({ length: 60 }, (_, run) => 800e6 * 1.01 ** run);
  const [bytes] = expectationsOf(withValues(numbers));
  assert.equal([bytes?.value, bytes?.required, bytes?.min, bytes?.max], ['bytes', true, null, null]);
  const [low, high] = bytes!.ofUsual!;
  assert.ok(low > 0.5 && low <= 1 && high >= 1.1 && high <= 2);
});

reports('what varies by a factor of ten either way is still compared with the usual one', () => {
  const comparedWith = (...last: number[]) =>
    expectationsOf(withValues([...Array.from({ length: 20 }, () => 100), ...last]))[0]?.ofUsual !== null;
  assert.equal(
    [[10], [1_000], [9.9], [1_001]].map((last) => comparedWith(...last)),
    [true, true, false, false],
  );
});

reports('what varies without bounds has a floor, and what is not always there is not required', () => {
  const random = randoms();
  const wild = Array.from({ length: 60 }, () => 10 ** (1 + 5 * random()));
  const [bytes] = expectationsOf(withValues(wild));
  assert.is(bytes?.ofUsual, null);
  assert.ok(bytes!.min! > 0 && bytes!.min! <= bytes!.seen.least);
  const sometimes = expectationsOf(
    withValues(wild.map((number, run) => (run % 4 === 1 ? undefined : number))),
  );
  assert.is(sometimes[0]?.required, false);
  const later = expectationsOf(withValues(wild.map((number, run) => (run < 20 ? undefined : number))));
  assert.is(later[0]?.required, true, 'a value that is reported since some time is required');
});

reports('what varies without bounds, down to nothing, is only required', () => {
  const numbers = [0, 1, 1_000, 0, 5, 100_000, 0, 3];
  const [errors] = expectationsOf(withValues(numbers, 'errors'));
  assert.equal([errors?.required, errors?.min, errors?.max, errors?.ofUsual], [true, null, null, null]);
  assert.equal(
    expectationsOf(withValues([...numbers, undefined], 'errors')),
    [],
    'of others nothing can be said',
  );
});

reports('shares are rounded away from what was seen, to what a person would write', () => {
  const usual = Array.from({ length: 6 }, () => 100);
  const [bytes] = expectationsOf(withValues([...usual, 70, 130]));
  assert.equal(bytes?.ofUsual, [0.45, 2], '0.7 / 1.5 and 1.3 * 1.5');
  const [small] = expectationsOf(withValues([...usual, 70, 130].map((number) => number / 1_000)));
  assert.equal(small?.ofUsual, bytes?.ofUsual, 'however small the numbers are');
});

reports('the usual one is the same that runs will be judged by', () => {
  const times = (count: number, number: number) => Array.from({ length: count }, () => number);
  const numbers = [...times(20, 100), ...times(10, 200)];
  const usual = usualOf(numbers) ?? 0;
  assert.is(usual, 150, 'between the two, because half of the last twenty are each');
  const [bytes] = expectationsOf(withValues([...numbers, 4 * usual]));
  assert.is(bytes?.ofUsual?.[1], 6, '4 * 1.5');
  const [even] = expectationsOf(withValues(numbers));
  assert.is(even?.seen.usual, usual, 'and it is the one that stands beside the shares');
});

reports('four reports say nothing, five do', () => {
  assert.equal(expectationsOf(withValues([1, 2, 3, 4])), []);
  assert.is(expectationsOf(withValues([1, 2, 3, 4, 5])).length, 1);
});

reports('lengths of time are those that a person would write', () => {
  const lengths: [number, number][] = [
    [1, SECOND],
    [2 * SECOND + 1, 5 * SECOND],
    [6 * SECOND, 10 * SECOND],
    [11 * SECOND, 15 * SECOND],
    [16 * SECOND, 20 * SECOND],
    [21 * SECOND, 30 * SECOND],
    [31 * SECOND, 45 * SECOND],
    [46 * SECOND, MINUTE],
    [4 * MINUTE, 5 * MINUTE],
    [8 * MINUTE, 10 * MINUTE],
    [46 * MINUTE, HOUR],
    [61 * MINUTE, 90 * MINUTE],
    [91 * MINUTE, 2 * HOUR],
    [9 * HOUR, 10 * HOUR],
    [16 * HOUR, 18 * HOUR],
    [19 * HOUR, DAY],
    [DAY + 1, 2 * DAY],
  ];
  for (const [length, rounded] of lengths) assert.is(roundUp(length), rounded, String(length));
  const hours = [2, 3, 4, 5, 6, 8, 10, 12, 15, 18];
  assert.equal(
    [...new Set(Array.from({ length: 17 }, (_, hour) => roundUp((hour + 2) * HOUR) / HOUR))],
    hours,
  );
});

reports.run();

const any = suite('suggest: any history');

any('the kinds of the benchmark: what is regular has a schedule with few false alarms', () => {
  for (const { kind, interval, timezone, runs } of histories(3, 3, 130)) {
    const came = runs.filter(({ missed }) => !missed).slice(-100);
    const { schedule } = suggest(
      came.map(({ at }) => healthy(at)),
      present({ interval, timezone }),
      [timezone],
    );
    if (!['fixed time ± jitter', 'clock change', 'weekdays only'].includes(kind)) continue;
    if (came.length < 20) continue;
    assert.ok(schedule, `${kind}, ${interval} in ${timezone}`);
    assert.ok(schedule.outlook.falseAlarms <= 2, `${kind}: ${JSON.stringify(schedule)}`);
  }
});

any('whatever came: no error, a schedule that can be read, and nothing of the history is changed', () => {
  const checkIn = fc.record(
    {
      at: fc.oneof(
        fc.integer({ min: Date.UTC(2025, 0), max: Date.UTC(2026, 0) }),
        fc.integer({ min: 0, max: 300 }).map((second) => Date.UTC(2025, 0) + second * SECOND),
      ),
      outcome: fc.constantFrom('healthy', 'error', 'start', 'log'),
      durationMs: fc.option(fc.nat(3 * HOUR)),
      values: fc.dictionary(fc.constantFrom('a', 'b'), fc.double({ noNaN: true, noDefaultInfinity: true }), {
        noNullPrototype: true,
      }),
    },
    { noNullPrototype: true },
  ) as fc.Arbitrary<PastCheckIn>;
  fc.assert(
    fc.property(
      fc.array(checkIn, { maxLength: 100 }),
      fc.constantFrom(...INTERVALS.filter((interval) => !isMinuteInterval(interval))),
      fc.constantFrom('America/Havana', 'Australia/Lord_Howe', 'UTC'),
      (history, interval, timezone) => {
        const before = structuredClone(history);
        const { schedule, unfit, expect } = suggest(history, present({ interval, timezone }), [timezone]);
        assert.equal(history, before);
        assert.is(schedule === null, unfit !== null);
        if (schedule) {
          readSchedule(schedule.rule, schedule.timezone);
          assert.ok(Number.isInteger(schedule.grace) && schedule.grace >= 60 && schedule.grace <= 31_536_000);
        }
        for (const { min, max, seen } of expect)
          assert.ok((min ?? seen.least) <= seen.least && (max ?? seen.most) >= seen.most);
      },
    ),
    { numRuns: cases(60) },
  );
});

any.run();
