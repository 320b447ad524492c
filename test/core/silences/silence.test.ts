import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ruleIn } from '../../../src/core/job-schedule.ts';
import {
  activeAt,
  covers,
  currentWindow,
  longestOver,
  merged,
  nextWindow,
  overAt,
  plannedWindows,
  type Silence,
  type SilenceTime,
  silentUntil,
  windowsOf,
} from '../../../src/core/silences/silence.ts';

const test = suite('silences');

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const LONG_AGO = Date.parse('2025-01-01T00:00:00Z');

function silence(time: SilenceTime, changes: Partial<Silence> = {}): Silence {
  const scope = { kind: 'all' } as const;
  return {
    id: 'sil_a',
    caseId: 'case_a',
    scope,
    time,
    note: '',
    by: 'ops',
    createdAt: LONG_AGO,
    endedAt: null,
    ...changes,
  };
}

function once(from: string, to: string, changes: Partial<Silence> = {}): Silence {
  return silence({ kind: 'once', from: Date.parse(from), to: Date.parse(to) }, changes);
}

function recurring(cron: string, duration: number, timezone: string | null = null): Silence {
  const schedule = ruleIn(JSON.stringify({ cron }));
  return silence({ kind: 'recurring', schedule, duration, timezone });
}

/** The windows as text, in UTC. */
function shown(windows: readonly { start: number; end: number }[]): string[] {
  const short = (at: number) => new Date(at).toISOString().slice(5, 16);
  return windows.map(({ start, end }) => `${short(start)} ${short(end)}`);
}

test('covers all, one of its tags, or what it names', () => {
  const snitch = { token: 'a', tags: ['db', 'web1'] };
  const rows = [
    [{ kind: 'all' }, true],
    [{ kind: 'tags', tags: ['web1', 'x'] }, true],
    [{ kind: 'tags', tags: ['web', 'DB'] }, false],
    [{ kind: 'tokens', tokens: ['b', 'a'] }, true],
    [{ kind: 'tokens', tokens: ['db'] }, false],
  ] as const;
  for (const [scope, is] of rows) assert.is(covers({ scope }, snitch), is, JSON.stringify(scope));
});

test('one that holds once has one window, which begins when it was made at the earliest', () => {
  const one = once('2026-03-01T10:00Z', '2026-03-01T12:00Z');
  const at = (time: string) => Date.parse(`2026-03-01T${time}Z`);
  const rows = [
    ['09:59:59.999', false],
    ['10:00', true],
    ['11:59:59.999', true],
    ['12:00', false],
  ] as const;
  for (const [time, is] of rows) assert.is(currentWindow(one, at(time), 'UTC') !== null, is, time);
  assert.is(currentWindow({ ...one, endedAt: at('11:00') }, at('11:00'), 'UTC'), null);
  const made = { ...one, createdAt: at('11:00') };
  assert.equal(shown(windowsOf(made, { start: at('09:00'), end: at('13:00') }, 'UTC')), [
    '03-01T11:00 03-01T12:00',
  ]);
  assert.equal(nextWindow(one, at('09:00'), 'UTC'), { start: at('10:00'), end: at('12:00') });
  assert.is(nextWindow(one, at('10:00'), 'UTC'), null);
  assert.is(overAt(one), at('12:00'));
  assert.is(overAt({ ...one, endedAt: at('11:00') }), at('11:00'));
  assert.is(overAt(recurring('0 3 * * *', HOUR)), null);
});

test('a recurring one follows the clock of its zone where that is changed, in both directions', () => {
  const rows: [string, string, number, string, string, string[]][] = [
    // On 29 March the clock in Berlin skips from 2:00 to 3:00, which is 1:00 UTC: what is skipped begins then.
    [
      '30 2 * * *',
      'Europe/Berlin',
      HOUR,
      '2026-03-28T00:00Z',
      '2026-03-31T00:00Z',
      ['03-28T01:30 03-28T02:30', '03-29T01:00 03-29T02:00', '03-30T00:30 03-30T01:30'],
    ],
    // On 25 October it goes back from 3:00 to 2:00: what comes twice begins the first time, and lasts as long as ever.
    [
      '30 2 * * *',
      'Europe/Berlin',
      2 * HOUR,
      '2026-10-24T00:00Z',
      '2026-10-27T00:00Z',
      ['10-24T00:30 10-24T02:30', '10-25T00:30 10-25T02:30', '10-26T01:30 10-26T03:30'],
    ],
    // Weekly at 3:00 in New York: the same time on the wall, an hour apart in UTC.
    [
      '0 3 * * 0',
      'America/New_York',
      2 * HOUR,
      '2026-10-24T00:00Z',
      '2026-11-09T00:00Z',
      ['10-25T07:00 10-25T09:00', '11-01T08:00 11-01T10:00', '11-08T08:00 11-08T10:00'],
    ],
    // In Lord Howe the clock is changed by half an hour.
    [
      '15 2 * * *',
      'Australia/Lord_Howe',
      HOUR,
      '2026-10-03T00:00Z',
      '2026-10-04T20:00Z',
      ['10-03T15:30 10-03T16:30', '10-04T15:15 10-04T16:15'],
    ],
  ];
  for (const [cron, zone, duration, start, end, expected] of rows) {
    const stretch = { start: Date.parse(start), end: Date.parse(end) };
    assert.equal(
      shown(windowsOf(recurring(cron, duration, zone), stretch, 'UTC')),
      expected,
      `${cron} ${zone}`,
    );
    assert.equal(
      shown(windowsOf(recurring(cron, duration), stretch, zone)),
      expected,
      `${cron} in the zone of the case`,
    );
  }
});

test('a stretch has the window that began before it', () => {
  const one = recurring('0 22 * * *', 5 * HOUR);
  const stretch = { start: Date.parse('2026-03-02T02:00Z'), end: Date.parse('2026-03-02T22:00Z') };
  assert.equal(shown(windowsOf(one, stretch, 'UTC')), ['03-01T22:00 03-02T03:00']);
  assert.equal(windowsOf(one, { ...stretch, start: Date.parse('2026-03-02T03:00Z') }, 'UTC'), []);
});

test('windows that overlap or touch are one', () => {
  const windows = [
    [5, 7],
    [1, 3],
    [3, 4],
    [6, 6.5],
    [8, 9],
  ].map(([start = 0, end = 0]) => ({ start, end }));
  assert.equal(merged(windows), [
    { start: 1, end: 4 },
    { start: 5, end: 7 },
    { start: 8, end: 9 },
  ]);
  assert.equal(merged([]), []);
});

test('those to come are found in the order in which they begin, unless they are too many', () => {
  const now = Date.parse('2026-03-01T12:00Z');
  const begun = once('2026-03-01T10:00Z', '2026-03-01T13:00Z');
  const later = once('2026-03-02T12:00Z', '2026-03-02T13:00Z');
  const nightly = recurring('0 3 * * *', HOUR);
  const ahead = (until: string, most: number) => {
    const silences = [begun, later, nightly];
    const found = plannedWindows(silences, { now, until: Date.parse(until), timezone: 'UTC', most });
    return found && shown(found);
  };
  const [first, second, third] = [
    '03-02T03:00 03-02T04:00',
    '03-02T12:00 03-02T13:00',
    '03-03T03:00 03-03T04:00',
  ];
  assert.equal(ahead('2026-03-03T03:00:00.001Z', 3), [first, second, third]);
  assert.equal(ahead('2026-03-03T03:00Z', 2), [first, second]);
  assert.is(ahead('2026-03-03T03:00:00.001Z', 2), null);
  assert.equal(ahead('2026-03-02T03:00Z', 0), []);
});

test('a snitch is silent until the last of them ends, also where one follows on another', () => {
  const now = Date.parse('2026-03-01T10:30Z');
  const first = once('2026-03-01T10:00Z', '2026-03-01T12:00Z', { id: 'first' });
  const longer = once('2026-03-01T10:00Z', '2026-03-01T12:30Z', { id: 'longer' });
  const touching = once('2026-03-01T12:30Z', '2026-03-01T13:00Z', { id: 'touching' });
  const apart = once('2026-03-01T13:01Z', '2026-03-01T14:00Z', { id: 'apart' });
  const all = [first, apart, longer, touching];
  assert.is(silentUntil(all, now, 'UTC'), Date.parse('2026-03-01T13:00Z'));
  assert.is(silentUntil([apart], now, 'UTC'), null);
  const held = activeAt(all, now, 'UTC');
  assert.equal(
    held.map(({ silence: { id } }) => id),
    ['first', 'longer'],
  );
  assert.is(longestOver(held, { token: 'a', tags: [] })?.silence.id, 'longer');
  assert.is(longestOver([], { token: 'a', tags: [] }), null);
  // One after the other for ever is no reason to look for ever.
  const always = recurring('0 * * * *', HOUR);
  assert.ok((silentUntil([always], now, 'UTC') ?? 0) > now);
});

test.run();
