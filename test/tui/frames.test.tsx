/** Each screen as a whole, compared with the frame in `frames/`. Not with --fast: React is slow to draw them. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cleanup, render } from 'ink-testing-library';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireAlert, WireCheckIn, WireDelivery } from '../../src/api/wire.ts';
import type { WireExplanation, WireScheduleCheck } from '../../src/api/wire-explanation.ts';
import { ASCII, UNICODE } from '../../src/tui/drawing/glyphs.ts';
import { createStore } from '../../src/tui/live/store.ts';
import type { Foreseen } from '../../src/tui/model/foreseen.ts';
import type { Event, RowDetail, SnitchDetail, State } from '../../src/tui/model/state.ts';
import { Dashboard } from '../../src/tui/view/dashboard.tsx';
import type { Look } from '../../src/tui/view/look.ts';
import {
  after,
  beginning,
  DAY,
  FLEET,
  HOUR,
  iso,
  keys,
  MINUTE,
  NOON,
  read,
  silence,
  snitch,
  typed,
} from './samples.ts';

const test = suite('frames of the dashboard');

const PLAIN: Look = { glyphs: UNICODE, styling: 'none' };

const SILENCED: Event = {
  kind: 'silences',
  silences: [
    silence({ tags: ['db'], note: 'kernel' }),
    silence({ id: 'sil_b', tokens: ['token-web-certs'], tags: null }),
  ],
};

const LIVE: Event = { kind: 'link', link: { state: 'live', error: null, retryAt: null } };

function row(checkInsAgo: readonly number[], changes: Partial<RowDetail> = {}): RowDetail {
  const checkIns = checkInsAgo.map((ago) => ({ at: iso(NOON - ago), outcome: 'healthy' as const }));
  const period = { start: NOON, end: NOON + HOUR };
  return {
    deadlineAt: null,
    missingSince: null,
    timezone: 'UTC',
    period,
    checkIns,
    more: false,
    readAt: NOON,
    stale: false,
    ...changes,
  };
}

const ROWS: Event[] = [
  {
    kind: 'row',
    token: 'token-web-certs',
    detail: row([3 * DAY, 9 * DAY, 24 * DAY], {
      deadlineAt: NOON + 8 * DAY + 12 * HOUR,
      period: { start: NOON - 5.5 * DAY, end: NOON + 1.5 * DAY },
    }),
  },
  {
    kind: 'row',
    token: 'token-nightly-backup',
    detail: row([2 * DAY, 3 * DAY, 4 * DAY], {
      period: { start: NOON - DAY / 2, end: NOON + DAY / 2 },
      missingSince: NOON - 12 * HOUR,
    }),
  },
  {
    kind: 'row',
    token: 'token-日本語のジョブ',
    detail: {
      ...row([20 * MINUTE]),
      deadlineAt: NOON + 90_000,
      period: { start: NOON, end: NOON + 15 * MINUTE },
      checkIns: [
        { at: iso(NOON - 10 * MINUTE), outcome: 'error' },
        { at: iso(NOON - 20 * MINUTE), outcome: 'healthy' },
      ],
    },
  },
];

function full(columns = 100, rows = 16): State {
  return after(beginning(columns, rows), { kind: 'case', name: 'default' }, read(FLEET), LIVE, ...ROWS);
}

const NOBODY: Event = {
  kind: 'reach',
  nobody: 'nobody would be told of any alert: chat\u001b[2J refused the last message: answered 404 Not Found',
};

function frameOf(state: State, look: Look = PLAIN): string {
  const { lastFrame } = render(<Dashboard store={createStore(state)} look={look} />);
  return `${lastFrame()}\n`;
}

/** The same from a server that does not tell deadlines in its list. */
function old(columns = 100, rows = 16): State {
  const snitches = FLEET.map(({ deadline: _, missing_since: __, ...rest }) => rest);
  return after(beginning(columns, rows), { kind: 'case', name: 'default' }, read(snitches), LIVE, ...ROWS);
}

const NIGHTLY = snitch('nightly', {
  interval: 'weekly',
  schedule: { cron: '0 3 * * 1-5' },
  timezone: 'Europe/Berlin',
  grace: 600,
});

const CHECKED: WireScheduleCheck = {
  interval: 'weekly',
  timezone: 'Europe/Berlin',
  grace: 600,
  runs: [2, 3, 4, 5, 6].map((days) => ({
    at: iso(NOON + days * DAY - 10 * HOUR),
    deadline: iso(NOON + days * DAY - 10 * HOUR + 10 * MINUTE),
  })),
};

/** The form of a snitch with a schedule, and what the server says of that. */
function editing(columns: number, rows: number, answer: Partial<Foreseen>, ...names: string[]): State {
  const form = after(beginning(columns, rows), read([NIGHTLY]), LIVE, ...keys('e', ...names));
  const asked = form.overlay?.kind === 'form' ? (form.overlay.preview.asked ?? '') : '';
  const foreseen = { asked, answer: null, validations: [], error: null, isUnknown: false, ...answer };
  return after(form, { kind: 'foreseen', foreseen });
}

/** The form of a snitch whose server knows what a run must look like. */
function limited(columns: number, rows: number, ...names: string[]): State {
  const expect = [
    { value: 'bytes', min: 1_000_000, max: null, of_usual: [0.5, 3] as const, required: true },
    { value: 'errors', min: null, max: 3, of_usual: null, required: false },
  ];
  const rules = { max_runtime: 5_400, min_runtime: 300, failures_before_alert: 2, expect };
  return after(beginning(columns, rows), read([snitch('backup', rules)]), LIVE, ...keys('e', ...names));
}

/** The details of a job that is running. */
function running(told: Partial<WireExplanation>): State {
  const runs = CHECKED.runs.map(({ at, deadline }) => ({ at, local: '', deadline, deadline_local: '' }));
  const detail: SnitchDetail = {
    explanation: {
      ...DETAIL.explanation,
      status: 'healthy',
      missing_since: null,
      schedule: { timezone: 'Europe/Berlin', grace: 600, runs },
      ...told,
    },
    checkIns: [
      checkIn(3 * MINUTE, { outcome: 'log' }),
      checkIn(8 * MINUTE, { outcome: 'start' }),
      ...[1, 2, 3].map((days) => checkIn(days * DAY, { duration_ms: (10 + days) * MINUTE })),
    ],
    alerts: [],
  };
  const state = after(beginning(80, 24), read([NIGHTLY]), LIVE, ...keys('enter'));
  return after(state, { kind: 'detail', token: 'token-nightly', detail, error: null });
}

/** Look at a changed frame, and then keep it with `SNITCH_KEEP_FRAMES=1`. */
function assertFrame(name: string, frame: string): void {
  const path = join(import.meta.dirname, 'frames', `${name}.txt`);
  if (process.env.SNITCH_KEEP_FRAMES) writeFileSync(path, frame);
  assert.fixture(frame, readFileSync(path, 'utf8'), name);
}

const delivery = (changes: Partial<WireDelivery>): WireDelivery => ({
  id: 'd1',
  alert: 'a1',
  channel: 'webhook',
  target: 'https://hooks.example/snitch',
  type: 'snitch.missing',
  snitch: { token: 'token-nightly-backup', name: 'nightly-backup' },
  state: 'delivered',
  sending: false,
  attempts: 1,
  last_error: null,
  next_attempt_at: null,
  delivered_at: iso(NOON),
  ...changes,
});

const DEAD = delivery({
  id: 'd2',
  channel: 'email',
  target: 'ops@example.com',
  state: 'dead',
  attempts: 11,
  last_error: '550 no such\u001b[2J user',
});
const WAITING = delivery({
  id: 'd3',
  state: 'pending',
  attempts: 2,
  last_error: 'no answer in 30 s',
  next_attempt_at: iso(NOON + MINUTE),
});

const ALERTS: WireAlert[] = [
  {
    id: 'a1',
    type: 'snitch.missing',
    timestamp: iso(NOON - 12 * HOUR),
    snitch: {
      token: 'token-nightly-backup',
      name: 'nightly-backup',
      notes: '',
      tags: [],
      status: 'missing',
      previous_status: 'healthy',
    },
    deliveries: [delivery({}), DEAD, WAITING],
  },
  {
    id: 'a0',
    type: 'service.blind',
    timestamp: iso(NOON - 2 * DAY),
    snitch: null,
    deliveries: [],
    notice: { from: iso(NOON), to: iso(NOON), postponed: ['x'], postponed_count: 1, snitches: [] },
  },
];

const checkIn = (ago: number, changes: Partial<WireCheckIn> = {}): WireCheckIn => ({
  id: `c${ago}`,
  at: iso(NOON - ago),
  outcome: 'healthy',
  exit_status: null,
  message: null,
  duration_ms: null,
  source: '203.0.113.7',
  output: null,
  ...changes,
});

const DETAIL: SnitchDetail = {
  explanation: {
    status: 'failed',
    timezone: 'Europe/Berlin',
    period: { start: iso(NOON - 13 * HOUR), end: iso(NOON + 11 * HOUR) },
    deadline: null,
    missing_since: iso(NOON - 13 * HOUR),
    next_alert: { at: iso(NOON + 11 * HOUR), local: '2026-03-15 00:00:00 (Europe/Berlin)' },
    reasons: ['It missed its deadline: the last check-in came at 2026-03-12 13:00:00 (Europe/Berlin).'],
    notify: { emails: ['ops@example.com'], webhooks: ['https://hooks.example/snitch'] },
  },
  checkIns: [
    checkIn(2 * DAY, {
      duration_ms: 61_000,
      message: '12 GB in 3 files',
      output: 'dumping…\n\u001b[31mdone\u001b[0m\n',
    }),
    checkIn(3 * DAY, { duration_ms: 30_500, outcome: 'error', exit_status: 2 }),
    checkIn(4 * DAY, { duration_ms: 900 }),
  ],
  alerts: ALERTS.slice(0, 1),
};

const LOST: Event = {
  kind: 'link',
  link: {
    state: 'lost',
    error: 'cannot reach http://127.0.0.1:7676: connect ECONNREFUSED',
    retryAt: NOON + 8_000,
  },
};

const REFUSED: Event = {
  kind: 'link',
  link: { state: 'refused', error: 'the API key is missing or wrong', retryAt: null },
};

/** Somebody looks after what failed. */
function seen(columns: number, rows: number): State {
  const failed = FLEET.find(({ status }) => status === 'failed') ?? snitch('none');
  const acknowledged = { at: iso(NOON - 5 * MINUTE), note: 'the \u202edisk is full', by: 'Ann' };
  const changed = [{ ...failed, acknowledged }];
  return after(full(columns, rows), { kind: 'changes', changed, deleted: [], at: NOON });
}

const FRAMES: Record<string, () => string> = {
  table: () => frameOf(full()),
  'table at 40 columns': () => frameOf(full(40, 12)),
  'table at 160 columns': () => frameOf(full(160, 12)),
  'table at 200 columns': () => frameOf(full(200, 12)),
  'table sorted by name, reversed': () =>
    frameOf(after(full(), ...keys('s', 's', 'S', 'escape'), { kind: 'tick', now: NOON + 9_000 })),
  'table without Unicode': () => frameOf(full(), { glyphs: ASCII, styling: 'none' }),
  'table before anything was read': () => frameOf(beginning(60, 8)),
  'table of an empty case': () => frameOf(after(beginning(60, 8), read([]), LIVE)),
  'table read-only, two marked': () =>
    frameOf({ ...after(full(), ...keys('space', 'space')), readonly: true }),
  'filter prompt': () => frameOf(after(full(), ...keys('/'), ...typed('!tag:db'))),
  'filter that is kept': () => frameOf(after(full(), ...keys('/'), ...typed('tag:db'), ...keys('enter'))),
  'server away': () => frameOf(after(full(), LOST, { kind: 'tick', now: NOON + 5_000 })),
  'silences at 40 columns': () => frameOf(after(full(40, 12), SILENCED)),
  silences: () => frameOf(after(full(), SILENCED)),
  'silence prompt at 40 columns': () => frameOf(after(full(40, 16), ...keys('z', 'down'), ...typed('2h'))),
  'paste prompt': () => frameOf(after(full(100, 20), ...keys('Y', 'down'))),
  'paste prompt at 40 columns': () => frameOf(after(full(40, 16), ...keys('Y', 'up'))),
  'pause prompt': () => frameOf(after(full(100, 20), ...keys('p'), ...typed('2h'))),
  'pause prompt with a text that is not understood': () =>
    frameOf(after(full(60, 20), ...keys('p'), ...typed('soon'), ...keys('enter'))),
  'acknowledge prompt': () => frameOf(after(full(), ...keys('a'), ...typed('on it'))),
  'acknowledge prompt at 40 columns': () =>
    frameOf(after(full(40, 12), ...keys('a'), ...typed('the disk is full, I am on it'))),
  'table with an acknowledged alarm at 40 columns': () => frameOf(seen(40, 10)),
  'detail of an acknowledged alarm at 40 columns': () => {
    const detail: Event = { kind: 'detail', token: 'token-nightly-backup', detail: DETAIL, error: null };
    return frameOf(after(seen(40, 16), ...keys('enter'), detail));
  },
  'key refused': () => frameOf(after(full(), REFUSED)),
  'tag prompt': () => frameOf(after(full(), ...keys('#'), ...typed('new'))),
  'delete prompt': () => frameOf(after(full(), ...keys('d'))),
  form: () => {
    const sent = after(
      full(100, 18),
      ...keys('n'),
      ...typed('job'),
      ...keys('tab', 'ctrl+u'),
      ...typed('often'),
    );
    const validations = [{ attribute: 'interval', message: 'is not a valid interval' }];
    return frameOf(after(sent, ...keys('enter'), { kind: 'refused', error: 'Invalid.', validations }));
  },
  'form with the next runs': () => frameOf(editing(100, 26, { answer: CHECKED }, 'tab', 'tab')),
  'form with the next runs at 40 × 10': () =>
    frameOf(editing(40, 10, { answer: CHECKED }, 'tab', 'tab', 'tab')),
  'form with a schedule that is wrong': () => {
    const message = 'has a day of the week "x", which is not a number from 0 to 7 and no name such as MON';
    const validations = [{ attribute: 'schedule', message }];
    return frameOf(editing(60, 20, { validations, error: 'Invalid.' }, 'tab', 'tab', ' ', 'x'));
  },
  'form of an older server': () =>
    frameOf(editing(60, 20, { isUnknown: true, error: 'There is nothing here.' }, 'tab', 'tab')),
  'table of an older server': () => frameOf(old()),
  'form with what a run must look like': () => frameOf(limited(100, 24, 'up', 'up', 'up', 'up', 'up')),
  'form with an expectation that is wrong at 40 × 10': () =>
    frameOf(limited(40, 10, 'up', 'up', 'up', 'up', 'up', ',', ' ', ...'rows>1', 'enter')),
  'form at 40 columns': () => frameOf(after(full(40, 16), ...keys('e'), ...keys('tab'))),
  detail: () => {
    const detail: Event = { kind: 'detail', token: 'token-nightly-backup', detail: DETAIL, error: null };
    return frameOf(after(full(100, 44), ...keys('enter'), detail));
  },
  'detail with a run under way': () => frameOf(running({})),
  'detail with runs that the server tells': () =>
    frameOf(
      running({
        runs: {
          open: [
            { started_at: iso(NOON - 8 * MINUTE), overruns_at: iso(NOON + HOUR) },
            { started_at: iso(NOON - 2 * HOUR), overruns_at: iso(NOON - HOUR) },
          ],
          usual_ms: 12 * MINUTE,
        },
      }),
    ),
  'nobody is told': () => frameOf(after(full(80, 8), NOBODY)),
  'nobody is told at 40 columns': () =>
    frameOf(after(full(40, 8), NOBODY, ...typed('/db'), ...keys('enter'))),
  'detail at 40 columns': () => {
    const detail: Event = { kind: 'detail', token: 'token-nightly-backup', detail: DETAIL, error: null };
    return frameOf(after(full(40, 20), ...keys('enter'), detail, ...keys('j', 'j')));
  },
  alerts: () => {
    const event: Event = { kind: 'alerts', alerts: ALERTS, deliveries: [DEAD, WAITING], error: null };
    return frameOf(after(full(100, 10), ...keys('t'), event));
  },
  deliveries: () => {
    const event: Event = { kind: 'alerts', alerts: ALERTS, deliveries: [DEAD, WAITING], error: null };
    return frameOf(after(full(100, 10), ...keys('t'), event, ...keys('tab', 'j')));
  },
  help: () => frameOf(after(full(100, 34), ...keys('?'))),
  'help-in-80-columns': () => frameOf(after(full(80, 24), ...keys('?'))),
  'help-in-40-columns-from-the-top': () => frameOf(after(full(40, 14), ...keys('?'))),
  'help-in-40-columns': () => frameOf(after(full(40, 24), ...keys('?', 'pagedown', 'j'))),
};

test('what a long alert is called does not run into the name of its snitch', () => {
  const [first, ...others] = ALERTS;
  const flapping = { changes: 13 } as NonNullable<typeof first>['flapping'];
  const alerts = [{ ...first!, type: 'snitch.reporting', flapping } as NonNullable<typeof first>, ...others];
  const event: Event = { kind: 'alerts', alerts, deliveries: [], error: null };
  assert.match(
    frameOf(after(full(100, 10), ...keys('t'), event)),
    /13 changes, reporting, was healthy {2}nightly/,
  );
});

test('a reason that ends with a full stop gets no second one', () => {
  const link = { state: 'refused', error: 'The API key is missing or invalid.', retryAt: null } as const;
  const frame = frameOf(after(full(), { kind: 'link', link }));
  assert.match(frame, 'is missing or invalid. What is shown');
});

for (const [name, draw] of Object.entries(FRAMES)) test(name, () => assertFrame(name, draw()));

test('no line is wider than the terminal, and there are as many as it has rows, at any size', () => {
  for (const [columns, rows] of [
    [1, 1],
    [20, 5],
    [39, 9],
    [41, 10],
    [80, 24],
    [99, 30],
  ] as const) {
    for (const key of ['?', '/', 'p', 'a', 'd', 'n', 'enter', 't', '#', 'j', 'Y']) {
      const lines = frameOf(after(full(columns, rows), ...keys(key)))
        .trimEnd()
        .split('\n');
      assert.ok(lines.length <= rows, `${key} at ${columns} × ${rows}: ${lines.length} lines`);
      assert.not.match(lines.join(''), 'ERROR');
      for (const line of lines)
        assert.ok([...line].length <= columns, `${key} at ${columns} × ${rows}: ${line}`);
    }
  }
});

test('colours are used only where the terminal wants them, and never say what the words do not', () => {
  const colored = frameOf(full(), { glyphs: UNICODE, styling: 'color' });
  assert.match(colored, '\u001b[33m▲ errored');
  assert.match(colored, '\u001b[7m\u001b[1m❯ ', 'the selected row is inverted as a whole');
  const plain = frameOf(full(), { glyphs: UNICODE, styling: 'plain' });
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what is looked for is the escape itself.
  assert.not.match(plain, /\u001b\[(3\d|9\d)m/);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: as above.
  const bare = (frame: string) => frame.replace(/\u001b\[\d+m/g, '').replace(/ +$/gm, '');
  assert.is(bare(colored), frameOf(full()));
  assert.is(bare(plain), frameOf(full()));
});

test('keys that are typed reach the screen', async () => {
  const { stdin, lastFrame } = render(<Dashboard store={createStore(full())} look={PLAIN} />);
  await new Promise(setImmediate);
  stdin.write('/web');
  await new Promise(setImmediate);
  assert.match(lastFrame()!, 'Filter: web  (1 of 5)');
});

test('keys that arrive together count one by one', async () => {
  const { stdin, lastFrame } = render(<Dashboard store={createStore(full(100, 18))} look={PLAIN} />);
  await new Promise(setImmediate);
  stdin.write('nnew one\t\u0015hourly\t');
  await new Promise(setImmediate);
  assert.match(lastFrame()!, /Name {9}new one\n/);
  assert.match(lastFrame()!, /Interval {5}hourly\n❯ Schedule/);
});

test.after.each(cleanup);
test.run();
