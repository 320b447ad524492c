/** The strip of a snitch on a status page, and since when it is as it is. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Calendar } from '../../../src/core/interval.ts';
import { type Past, presentSince, type Span, spansOf } from '../../../src/core/status-page/spans.ts';
import { marksOf, periodEdges, periodsInWords } from '../../../src/core/status-page/strip.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NOW = Date.UTC(2026, 10, 18, 10, 20);
const NEVER = { away: [], quiet: [] };

const hourly = { interval: 'hourly', schedule: null, timezone: null } as const;

/** Hours before the full one that `NOW` is in. */
const ago = (hours: number) => NOW - (NOW % HOUR) - hours * HOUR;

const edges = [3, 2, 1, 0, -1].map(ago);

const marks = (spans: readonly Span[], excused = NEVER as Parameters<typeof marksOf>[2]) =>
  marksOf(edges, spans, excused, NOW);

test('60 periods of the interval, of the schedule, or of a number of seconds', () => {
  const calendar = new Calendar();
  const of = (rhythm: Parameters<typeof periodEdges>[0], zone = 'UTC') =>
    periodEdges(rhythm, zone, calendar, NOW);
  const days = of({ ...hourly, interval: 'daily' }, 'Europe/Berlin');
  assert.is(days.length, 61);
  assert.equal(
    [days[0], days.at(-2), days.at(-1)].map((at) => new Date(at ?? 0).toISOString()),
    ['2026-09-19T22:00:00.000Z', '2026-11-17T23:00:00.000Z', '2026-11-18T23:00:00.000Z'],
  );
  assert.is((days[36] ?? 0) - (days[35] ?? 0), 25 * HOUR, 'the clock was changed');
  const runs = of({ ...hourly, schedule: { cron: '0 3 * * 1-5' } });
  assert.is(runs.length, 61);
  assert.equal(
    [runs.at(-3), runs.at(-2), runs.at(-1)].map((at) => new Date(at ?? 0).toISOString()),
    ['2026-11-17T03:00:00.000Z', '2026-11-18T03:00:00.000Z', '2026-11-19T03:00:00.000Z'],
  );
  const every = of({ ...hourly, schedule: { every: 5_400 } });
  assert.is(every.length, 61);
  assert.ok(every.every((at, index) => index === 0 || at - (every[index - 1] ?? 0) === 5_400_000));
  assert.ok((every.at(-2) ?? 0) <= NOW && NOW < (every.at(-1) ?? 0));
});

test('the periods that there are 60 of are named in words', () => {
  const words = (rhythm: Partial<typeof hourly> | object) => periodsInWords({ ...hourly, ...rhythm });
  assert.equal(
    [words({}), words({ interval: 'daily' }), words({ interval: '5_minute' }), words({ interval: '6_hour' })],
    ['hours', 'days', 'periods of 5 minutes', 'periods of 6 hours'],
  );
  assert.equal(
    [words({ schedule: { cron: '0 3 * * *' } }), words({ schedule: { every: 90 } })],
    ['scheduled runs', 'expected runs'],
  );
});

test('the worst status of a period counts, and before it was made there is none', () => {
  const spans: Span[] = [
    { from: ago(2), status: 'pending' },
    { from: ago(2) + 1, status: 'healthy' },
    { from: ago(1) + 60_000, status: 'errored' },
    { from: ago(1) + 120_000, status: 'healthy' },
    { from: ago(0) + 60_000, status: 'errored' },
    { from: ago(0) + 120_000, status: 'failed' },
    { from: ago(0) + 180_000, status: 'paused' },
  ];
  assert.equal(marks(spans), ['none', 'well', 'error', 'missing']);
  assert.equal(marks([{ from: ago(5), status: 'paused' }]), ['paused', 'paused', 'paused', 'paused']);
  assert.equal(marks([{ from: ago(5), status: null }]), ['none', 'none', 'none', 'none']);
  assert.is(
    marks([
      { from: ago(5), status: 'healthy' },
      { from: NOW, status: 'failed' },
    ]).at(-1),
    'missing',
    'just now',
  );
});

test('nothing of what happened while nobody listened is held against it', () => {
  const spans: Span[] = [
    { from: ago(9), status: 'healthy' },
    { from: ago(2) + 600_000, status: 'failed' },
    { from: ago(1) + 600_000, status: 'healthy' },
  ];
  assert.equal(marks(spans), ['well', 'missing', 'missing', 'well']);
  const window = { start: ago(2), end: ago(0) };
  assert.equal(marks(spans, { away: [window], quiet: [window] }), ['well', 'away', 'away', 'well']);
  assert.equal(marks(spans, { away: [], quiet: [window] }), ['well', 'planned', 'planned', 'well']);
  const part = { start: ago(2) + 600_000, end: ago(1) + 600_000 };
  assert.equal(marks(spans, { away: [], quiet: [part] }), ['well', 'well', 'well', 'well']);
  const early = { start: ago(2), end: ago(2) + 300_000 };
  assert.equal(marks(spans, { away: [early], quiet: [early] }), ['well', 'missing', 'missing', 'well']);
});

const past: Past = {
  createdAt: NOW - 10 * DAY,
  status: 'healthy',
  since: NOW - DAY,
  changes: [],
  alerts: [],
  isCut: false,
};

test('what was before changes were kept is told by the alerts', () => {
  assert.equal(spansOf(past), [
    { from: NOW - 10 * DAY, status: 'healthy' },
    { from: NOW - DAY, status: 'healthy' },
  ]);
  const at = (days: number) => NOW - days * DAY;
  const alerts = [
    { at: at(9), status: 'healthy', previousStatus: 'pending' },
    { at: at(8), status: 'missing', previousStatus: 'healthy' },
    { at: at(7), status: 'healthy', previousStatus: 'missing' },
    { at: at(6), status: 'paused', previousStatus: 'healthy' },
    { at: at(5), status: 'healthy', previousStatus: 'paused' },
    { at: at(4), status: 'paused', previousStatus: 'healthy' },
    { at: at(3), status: 'errored', previousStatus: 'healthy' },
  ] as const;
  const changes = [{ at: at(0.5), was: 'errored', status: 'healthy' }] as const;
  assert.equal(
    spansOf({ ...past, alerts, changes }).map(({ from, status }) => [(NOW - from) / DAY, status]),
    [
      [10, 'pending'],
      [9, 'healthy'],
      [8, 'failed'],
      [7, 'healthy'],
      [6, 'paused'],
      [5, 'healthy'],
      [4, null],
      [3, 'errored'],
      [1, 'errored'],
      [0.5, 'healthy'],
    ],
  );
});

test('times before the oldest kept entry are unknown', () => {
  const changes = [{ at: NOW - HOUR, was: 'failed', status: 'healthy' }] as const;
  assert.equal(spansOf({ ...past, changes, isCut: true }), [
    { from: past.createdAt, status: null },
    { from: NOW - HOUR, status: 'failed' },
    { from: NOW - HOUR, status: 'healthy' },
  ]);
  const young = { ...past, createdAt: NOW - HOUR, status: 'pending' } as const;
  assert.equal(spansOf(young), [{ from: NOW - HOUR, status: 'pending' }]);
});

test('since when it is as it is: missing and errored are one outage', () => {
  const spans = (...statuses: Span['status'][]) => statuses.map((status, index) => ({ from: index, status }));
  assert.is(presentSince(spans('healthy', 'failed', 'errored', 'failed')), 1);
  assert.is(presentSince(spans('failed', 'healthy', 'healthy')), 1);
  assert.is(presentSince(spans('healthy', 'healthy')), null, 'for as long as is known');
  assert.is(presentSince(spans('failed', 'failed')), 0);
  assert.is(presentSince(spans(null, 'paused')), 1);
  assert.is(presentSince([]), null);
});

test.run();
