import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { AlertKind } from '../../src/core/alert.ts';
import { Calendar, INTERVALS, type Interval } from '../../src/core/interval.ts';
import type { Reason } from '../../src/core/reason.ts';
import {
  type AlertType,
  type CaseRules,
  newSnitchState,
  type PauseUntil,
  type RememberedStatus,
  type Reminders,
  type SnitchState,
  type Status,
} from '../../src/core/snitch.ts';
import { type TransitionContext, type Trigger, transition } from '../../src/core/transition.ts';
import { cases } from '../cases.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const utc = (iso: string) => Date.parse(`${iso}Z`);

/** All states of the table are of an hourly snitch that last checked in at 10:20 and is looked at from 11:30. */
const CHECKED_IN = utc('2025-07-09T10:20:00');
const DUE = utc('2025-07-09T12:00:00');
const NOW = utc('2025-07-09T11:30:00');
const PAUSED_UNTIL = utc('2025-07-09T18:00:00');

const HEALTHY: Trigger = { kind: 'checkIn', outcome: 'healthy' };
const ERROR: Trigger = { kind: 'checkIn', outcome: 'error' };
const DEADLINE: Trigger = { kind: 'due' };
const UNPAUSE: Trigger = { kind: 'unpause' };
const RESCHEDULED: Trigger = { kind: 'rescheduled' };
const UNTIL_HEALTHY: PauseUntil = { kind: 'healthy' };
const UNTIL_UNPAUSED: PauseUntil = { kind: 'unpaused' };
const UNTIL_TIME: PauseUntil = { kind: 'time', at: PAUSED_UNTIL };
const KINDS_OF_PAUSE = [UNTIL_HEALTHY, UNTIL_UNPAUSED, UNTIL_TIME];

function contextAt(now: number, rules: Partial<CaseRules> = {}): TransitionContext {
  return {
    now,
    calendar: new Calendar(),
    rules: { timezone: 'UTC', reminders: 'period', errorNotices: true, ...rules },
    firstCheckIns: [],
  };
}

const pending = newSnitchState('hourly', 'basic');
const healthy: SnitchState = {
  ...pending,
  status: 'healthy',
  checkedInAt: CHECKED_IN,
  lastCheckInAt: CHECKED_IN,
  dueAt: DUE,
};
const errored: SnitchState = { ...healthy, status: 'errored', checkedInAt: CHECKED_IN - HOUR };
const failed: SnitchState = {
  ...healthy,
  status: 'failed',
  checkedInAt: CHECKED_IN - 5 * HOUR,
  lastCheckInAt: CHECKED_IN - 5 * HOUR,
};

const paused = (until: PauseUntil, remembered: RememberedStatus): SnitchState => ({
  ...healthy,
  status: 'paused',
  dueAt: until.kind === 'time' ? until.at : null,
  pause: { until, remembered, since: CHECKED_IN },
});

/** Those of above with a run of at most two hours that began at `startedAt`. */
const running = (snitch: SnitchState, startedAt: number): SnitchState =>
  transition({ ...snitch, maxRuntime: 7_200 }, { kind: 'start', runId: 'a' }, contextAt(startedAt)).snitch;

interface Row {
  from: SnitchState;
  trigger: Trigger;
  at?: number;
  to: Status;
  /** Type and previous status, as the webhook's reader would be told; the new status is `to`. */
  alert: [AlertKind, Status] | null;
  remembered?: RememberedStatus;
  dueAt?: number | null;
  why?: Reason;
}

/** "Transitions" of decisions.md: one entry per row of its table, with every state and trigger that the row names. */
const TABLE: Record<string, Row[]> = {
  'pending, failed, errored | healthy check-in | healthy | snitch.reporting, true previous_status': [
    { from: pending, trigger: HEALTHY, to: 'healthy', alert: ['snitch.reporting', 'pending'] },
    { from: failed, trigger: HEALTHY, to: 'healthy', alert: ['snitch.reporting', 'failed'] },
    { from: errored, trigger: HEALTHY, to: 'healthy', alert: ['snitch.reporting', 'errored'] },
  ],
  'healthy | healthy check-in | healthy | none': [
    { from: healthy, trigger: HEALTHY, to: 'healthy', alert: null, dueAt: DUE + HOUR },
  ],
  'pending, healthy, failed | error check-in | errored | snitch.errored': [
    { from: pending, trigger: ERROR, to: 'errored', alert: ['snitch.errored', 'pending'] },
    { from: healthy, trigger: ERROR, to: 'errored', alert: ['snitch.errored', 'healthy'] },
    { from: failed, trigger: ERROR, to: 'errored', alert: ['snitch.errored', 'failed'] },
  ],
  'errored | error check-in | errored | none': [
    { from: errored, trigger: ERROR, to: 'errored', alert: null, dueAt: DUE + HOUR },
  ],
  'healthy, errored | deadline passes | failed | snitch.missing': [
    { from: healthy, trigger: DEADLINE, at: DUE, to: 'failed', alert: ['snitch.missing', 'healthy'] },
    { from: errored, trigger: DEADLINE, at: DUE, to: 'failed', alert: ['snitch.missing', 'errored'] },
  ],
  'failed | reminder due | failed | snitch.missing, previous missing': [
    {
      from: failed,
      trigger: DEADLINE,
      at: DUE,
      to: 'failed',
      alert: ['snitch.missing', 'failed'],
      dueAt: DUE + HOUR,
    },
  ],
  'healthy, failed, errored | pause | paused | snitch.paused': KINDS_OF_PAUSE.flatMap((until) =>
    ([healthy, failed, errored] as const).map((from) => ({
      from,
      trigger: { kind: 'pause', until } as const,
      to: 'paused' as const,
      alert: ['snitch.paused', from.status] as [AlertKind, Status],
      remembered: from.status as RememberedStatus,
      dueAt: until.kind === 'time' ? PAUSED_UNTIL : null,
    })),
  ),
  'paused (until healthy) | healthy check-in | healthy | snitch.reporting, previous paused': [
    ...(['healthy', 'failed', 'errored'] as const).map((remembered) => ({
      from: paused(UNTIL_HEALTHY, remembered),
      trigger: HEALTHY,
      to: 'healthy' as const,
      alert: ['snitch.reporting', 'paused'] as [AlertKind, Status],
      dueAt: DUE + HOUR,
    })),
  ],
  'paused (unpaused, or a time) | healthy or error check-in | paused | none; remembered': [
    UNTIL_UNPAUSED,
    UNTIL_TIME,
  ].flatMap((until) => [
    { from: paused(until, 'failed'), trigger: HEALTHY, to: 'paused', alert: null, remembered: 'healthy' },
    { from: paused(until, 'errored'), trigger: HEALTHY, to: 'paused', alert: null, remembered: 'healthy' },
    { from: paused(until, 'healthy'), trigger: ERROR, to: 'paused', alert: null, remembered: 'errored' },
    { from: paused(until, 'failed'), trigger: ERROR, to: 'paused', alert: null, remembered: 'errored' },
  ]),
  'paused (until healthy) | error check-in | paused | none; remembered': [
    {
      from: paused(UNTIL_HEALTHY, 'healthy'),
      trigger: ERROR,
      to: 'paused',
      alert: null,
      remembered: 'errored',
      dueAt: null,
    },
  ],
  'paused | unpause, or its time comes | the remembered status | none': (
    ['healthy', 'failed', 'errored'] as const
  ).flatMap((remembered) => [
    ...KINDS_OF_PAUSE.map((until) => ({
      from: paused(until, remembered),
      trigger: UNPAUSE,
      to: remembered,
      alert: null,
      // A failed snitch is reminded at the end of the next period at least an hour away: 13:00.
      dueAt: utc('2025-07-09T13:00:00'),
    })),
    {
      from: paused(UNTIL_TIME, remembered),
      trigger: DEADLINE,
      at: PAUSED_UNTIL,
      to: remembered,
      alert: null,
      dueAt: remembered === 'failed' ? PAUSED_UNTIL + HOUR : PAUSED_UNTIL + 2 * HOUR,
    },
  ]),
  'paused | deadline passes | paused | none': [
    ...KINDS_OF_PAUSE.map((until) => ({
      from: paused(until, 'healthy'),
      trigger: DEADLINE,
      at: DUE + HOUR,
      to: 'paused' as const,
      alert: null,
      remembered: 'healthy' as const,
    })),
  ],
};

/** So many error check-ins in a row before it is errored; `count` have come. */
const forgiving = (from: SnitchState, count = 0, failuresBeforeAlert = 3): SnitchState => ({
  ...from,
  failuresBeforeAlert,
  errorsInRow: count,
});

/** `failures_before_alert` of extensions.md, section 2: an error check-in before there are enough. */
const FORGIVEN: Record<string, Row[]> = {
  'healthy, failed | error check-in before there are enough | as before | none, and the deadline moves': [
    { from: forgiving(healthy), trigger: ERROR, to: 'healthy', alert: null, dueAt: DUE + HOUR },
    { from: forgiving(healthy, 1), trigger: ERROR, to: 'healthy', alert: null, dueAt: DUE + HOUR },
    { from: forgiving(failed), trigger: ERROR, to: 'failed', alert: null, dueAt: DUE + HOUR },
    { from: forgiving({ ...failed, dueAt: null }), trigger: ERROR, to: 'failed', alert: null, dueAt: null },
  ],
  'pending | error check-in before there are enough | pending | none, and nothing is awaited': [
    { from: forgiving(pending), trigger: ERROR, to: 'pending', alert: null, dueAt: null },
  ],
  'pending, healthy, failed | the last of enough error check-ins | errored | snitch.errored': [
    { from: forgiving(pending, 2), trigger: ERROR, to: 'errored', alert: ['snitch.errored', 'pending'] },
    { from: forgiving(healthy, 2), trigger: ERROR, to: 'errored', alert: ['snitch.errored', 'healthy'] },
    { from: forgiving(failed, 2), trigger: ERROR, to: 'errored', alert: ['snitch.errored', 'failed'] },
    // Fewer are wanted since, and there are more than that.
    { from: forgiving(healthy, 4, 2), trigger: ERROR, to: 'errored', alert: ['snitch.errored', 'healthy'] },
  ],
  'errored | error check-in, enough or not | errored | none': [
    { from: forgiving(errored, 3), trigger: ERROR, to: 'errored', alert: null, dueAt: DUE + HOUR },
    { from: forgiving(errored), trigger: ERROR, to: 'errored', alert: null, dueAt: DUE + HOUR },
  ],
  'paused | error check-in before there are enough | paused | none; what it remembers stays':
    KINDS_OF_PAUSE.flatMap((until) => [
      {
        from: forgiving(paused(until, 'healthy')),
        trigger: ERROR,
        to: 'paused' as const,
        alert: null,
        remembered: 'healthy' as const,
      },
      {
        from: forgiving(paused(until, 'failed')),
        trigger: ERROR,
        to: 'paused' as const,
        alert: null,
        remembered: 'failed' as const,
      },
      {
        from: forgiving(paused(until, 'healthy'), 2),
        trigger: ERROR,
        to: 'paused' as const,
        alert: null,
        remembered: 'errored' as const,
      },
    ]),
};

const STATES = [
  pending,
  healthy,
  errored,
  failed,
  ...KINDS_OF_PAUSE.map((until) => paused(until, 'healthy')),
];

/** What runs add to that table (`extensions: What a run must look like`). */
const RUNS: Record<string, Row[]> = {
  'any | start of a run | the same | none': STATES.flatMap((from) =>
    [null, 7_200].map((maxRuntime) => ({
      from: { ...from, maxRuntime },
      trigger: { kind: 'start', runId: null } as const,
      to: from.status,
      alert: null,
      ...(from.pause ? { remembered: 'healthy' as const } : {}),
      dueAt:
        maxRuntime !== null && from.status !== 'paused' && from.dueAt !== null && from !== failed
          ? NOW + 2 * HOUR
          : from.dueAt,
    })),
  ),
  'healthy, errored | a run overruns | failed | snitch.missing': [healthy, errored].map((from) => ({
    from: running(from, NOW),
    trigger: DEADLINE,
    at: NOW + 2 * HOUR,
    to: 'failed' as const,
    alert: ['snitch.missing', from.status] as [AlertKind, Status],
    why: { kind: 'overran', startedAt: NOW } as const,
  })),
  'healthy, errored | deadline passes while a run is open that started in time | the same | none': [
    healthy,
    errored,
  ].map((from) => ({
    from: running(from, NOW),
    trigger: DEADLINE,
    at: DUE,
    to: from.status,
    alert: null,
    dueAt: NOW + 2 * HOUR,
  })),
  'healthy, errored | deadline passes while only a run is open that started later | failed | snitch.missing':
    [healthy, errored].map((from) => ({
      from: running(from, DUE + 1),
      trigger: DEADLINE,
      at: DUE + 2,
      to: 'failed' as const,
      alert: ['snitch.missing', from.status] as [AlertKind, Status],
      why: { kind: 'noCheckIn', by: DUE } as const,
    })),
  'failed, pending, paused | a run overruns | the same | none': [
    { from: running({ ...failed, dueAt: null }, NOW), to: 'failed' as const },
    { from: running(pending, NOW), to: 'pending' as const },
    ...KINDS_OF_PAUSE.map((until) => ({
      from: running(paused(until, 'healthy'), NOW),
      to: 'paused' as const,
      remembered: 'healthy' as const,
    })),
  ].map((row) => ({ ...row, trigger: DEADLINE, at: NOW + 3 * HOUR, alert: null })),
  'failed by a run | the run ends | healthy or errored | as after any silence': (
    [HEALTHY, ERROR] as Extract<Trigger, { kind: 'checkIn' }>[]
  ).map((end) => ({
    from: transition(running(healthy, NOW), DEADLINE, contextAt(NOW + 2 * HOUR)).snitch,
    trigger: { ...end, runId: 'a' },
    at: NOW + 3 * HOUR,
    to: end.outcome === 'healthy' ? ('healthy' as const) : ('errored' as const),
    alert: [end.outcome === 'healthy' ? 'snitch.reporting' : 'snitch.errored', 'failed'] as [
      AlertKind,
      Status,
    ],
  })),
};

const table = suite('transition: the table of decisions.md');

for (const [title, rows] of Object.entries({ ...TABLE, ...RUNS, ...FORGIVEN })) {
  table(title, () => {
    for (const row of rows) {
      const now = row.at ?? NOW;
      const { snitch, alert } = transition(row.from, row.trigger, contextAt(now));
      assert.is(snitch.status, row.to);
      assert.equal(
        alert,
        row.alert && { type: row.alert[0], status: row.to, previousStatus: row.alert[1] },
        `${row.from.status} → ${row.to}`,
      );
      assert.is(snitch.pause?.remembered, row.to === 'paused' ? (row.remembered ?? 'missing') : undefined);
      if (row.dueAt !== undefined) assert.is(snitch.dueAt, row.dueAt);
      if (row.why !== undefined) assert.equal(snitch.reason, row.why);
      if (row.to === 'healthy' || row.to === 'errored') assert.ok(snitch.dueAt! > now);
    }
  });
}

table('it has the document’s twelve rows', () => {
  assert.is(Object.keys(TABLE).length, 12);
});

table.run();

const checkIns = suite('transition: check-ins');

checkIns('error check-ins are counted where one is not enough, until a healthy one', () => {
  const counted = (from: SnitchState, trigger: Trigger, rules: Partial<CaseRules> = {}) =>
    transition(from, trigger, contextAt(NOW, rules)).snitch.errorsInRow;
  assert.is(counted(forgiving(healthy, 1), ERROR), 2);
  assert.is(counted(forgiving(errored, 10), ERROR), 10, 'more would only be written');
  assert.is(counted(forgiving(healthy, 2), HEALTHY), 0);
  assert.is(counted(healthy, ERROR), 0, 'one is enough');
  assert.is(counted(forgiving(healthy, 2), DEADLINE), 2, 'silence ends no row');
  assert.is(counted(forgiving(healthy, 1), ERROR, { errorNotices: false }), 0, 'it counts as healthy');
});

checkIns('an error that is forgiven answers for its period and is not the last healthy one', () => {
  const { snitch } = transition(forgiving(healthy), ERROR, contextAt(NOW));
  assert.equal([snitch.lastCheckInAt, snitch.checkedInAt, snitch.dueAt], [NOW, CHECKED_IN, DUE + HOUR]);
});

checkIns('an error that leaves a snitch failed brings no reminder sooner', () => {
  const later = forgiving({ ...failed, dueAt: DUE + 5 * HOUR });
  assert.is(transition(later, ERROR, contextAt(NOW)).snitch.dueAt, DUE + 5 * HOUR);
});

checkIns('one that comes late and is forgiven lets a failure of today stand', () => {
  const at = CHECKED_IN - 4 * HOUR;
  const { snitch, alert } = transition(forgiving(failed), { ...ERROR, at } as Trigger, contextAt(NOW));
  assert.equal([snitch.status, snitch.dueAt, snitch.errorsInRow, alert], ['failed', failed.dueAt, 1, null]);
});

checkIns('only a healthy one moves checked_in_at; an error one moves the deadline too', () => {
  const ok = transition(healthy, HEALTHY, contextAt(NOW)).snitch;
  assert.is(ok.checkedInAt, NOW);
  assert.is(ok.lastCheckInAt, NOW);
  const error = transition(healthy, ERROR, contextAt(NOW)).snitch;
  assert.is(error.checkedInAt, CHECKED_IN);
  assert.is(error.lastCheckInAt, NOW);
  assert.is(error.dueAt, DUE + HOUR);
});

checkIns('a paused snitch still records them', () => {
  const muted = transition(paused(UNTIL_UNPAUSED, 'failed'), HEALTHY, contextAt(NOW)).snitch;
  assert.is(muted.checkedInAt, NOW);
  assert.is(muted.lastCheckInAt, NOW);
  assert.is(muted.dueAt, null);
  const error = transition(paused(UNTIL_TIME, 'healthy'), ERROR, contextAt(NOW)).snitch;
  assert.is(error.checkedInAt, CHECKED_IN);
  assert.is(error.lastCheckInAt, NOW);
  assert.is(error.dueAt, PAUSED_UNTIL);
});

checkIns('without error notices an error check-in counts as healthy', () => {
  const context = contextAt(NOW, { errorNotices: false });
  const expected: [SnitchState, Status, AlertKind | undefined][] = [
    [pending, 'healthy', 'snitch.reporting'],
    [healthy, 'healthy', undefined],
    [failed, 'healthy', 'snitch.reporting'],
    [errored, 'healthy', 'snitch.reporting'],
    [paused(UNTIL_HEALTHY, 'failed'), 'healthy', 'snitch.reporting'],
    [paused(UNTIL_UNPAUSED, 'failed'), 'paused', undefined],
  ];
  for (const [from, to, alert] of expected) {
    const after = transition(from, ERROR, context);
    assert.is(after.snitch.status, to);
    assert.is(after.alert?.type, alert);
    assert.is(after.snitch.checkedInAt, NOW);
  }
  assert.is(transition(paused(UNTIL_UNPAUSED, 'failed'), ERROR, context).snitch.pause?.remembered, 'healthy');
});

checkIns('a new check-in forgets that the last deadline was postponed', () => {
  const postponed = { ...healthy, postponed: 1 };
  assert.is(transition(postponed, HEALTHY, contextAt(NOW)).snitch.postponed, 0);
  assert.is(transition(postponed, DEADLINE, contextAt(DUE)).snitch.postponed, 0);
});

checkIns('a clock set back moves no deadline back', () => {
  const back = transition(healthy, HEALTHY, contextAt(CHECKED_IN - 40 * 60_000)).snitch;
  assert.is(back.dueAt, DUE);
  assert.is(back.lastCheckInAt, CHECKED_IN);
});

checkIns('a last check-in from a far future does not silence the snitch until then', () => {
  const future = { ...healthy, lastCheckInAt: NOW + 300 * DAY, checkedInAt: NOW + 300 * DAY };
  const { snitch } = transition({ ...future, dueAt: NOW + 301 * DAY }, HEALTHY, contextAt(NOW));
  assert.is(snitch.lastCheckInAt, NOW);
  assert.is(snitch.dueAt, utc('2025-07-09T13:00:00'));
});

checkIns.run();

const due = suite('transition: due');

due('before the deadline nothing happens, so that a second sweep is harmless', () => {
  for (const snitch of [pending, healthy, errored, failed, paused(UNTIL_TIME, 'failed')]) {
    const after = transition(snitch, DEADLINE, contextAt(DUE - 1));
    assert.is(after.snitch, snitch);
    assert.is(after.alert, null);
  }
  const once = transition(healthy, DEADLINE, contextAt(DUE)).snitch;
  assert.is(transition(once, DEADLINE, contextAt(DUE)).alert, null);
});

due('a pending snitch never alerts', () => {
  assert.is(transition(pending, DEADLINE, contextAt(NOW + 1_000 * DAY)).alert, null);
});

due('only a time ends a pause by itself', () => {
  for (const until of [UNTIL_HEALTHY, UNTIL_UNPAUSED]) {
    const after = transition(paused(until, 'healthy'), DEADLINE, contextAt(NOW + 1_000 * DAY));
    assert.is(after.snitch.status, 'paused');
    assert.is(after.alert, null);
  }
});

due.run();

const pauses = suite('transition: pauses');

pauses('a repeated pause replaces until, alerts nobody and remembers the same status', () => {
  for (const first of KINDS_OF_PAUSE) {
    for (const second of KINDS_OF_PAUSE) {
      const { snitch, alert } = transition(
        paused(first, 'failed'),
        { kind: 'pause', until: second },
        contextAt(NOW),
      );
      assert.is(alert, null);
      assert.equal(snitch.pause, { until: second, remembered: 'failed', since: CHECKED_IN });
      assert.is(snitch.dueAt, second.kind === 'time' ? PAUSED_UNTIL : null);
    }
  }
});

pauses('a pending snitch has nothing to remember: pausing it is a mistake of the caller', () => {
  assert.throws(
    () => transition(pending, { kind: 'pause', until: UNTIL_HEALTHY }, contextAt(NOW)),
    TypeError,
  );
});

pauses('leaving one restarts the deadline: silence while muted raises nothing', () => {
  const muted = transition(healthy, { kind: 'pause', until: UNTIL_UNPAUSED }, contextAt(NOW)).snitch;
  const left = NOW + 9 * DAY;
  const { snitch, alert } = transition(muted, UNPAUSE, contextAt(left));
  assert.is(alert, null);
  assert.is(snitch.status, 'healthy');
  assert.is(snitch.dueAt, utc('2025-07-18T13:00:00'));
  assert.is(snitch.pause, null);
  assert.is(transition(snitch, DEADLINE, contextAt(left)).alert, null);
});

pauses('unpausing what is not paused changes nothing', () => {
  for (const snitch of [pending, healthy, errored, failed]) {
    const after = transition(snitch, UNPAUSE, contextAt(NOW));
    assert.is(after.snitch, snitch);
    assert.is(after.alert, null);
  }
});

pauses('a pause ends at its time, though no sweep has come by yet', () => {
  const late = contextAt(PAUSED_UNTIL);
  const expected: [RememberedStatus, Trigger, Status, AlertKind | undefined][] = [
    ['failed', HEALTHY, 'healthy', 'snitch.reporting'],
    ['healthy', HEALTHY, 'healthy', undefined],
    ['healthy', ERROR, 'errored', 'snitch.errored'],
    ['errored', ERROR, 'errored', undefined],
    ['failed', { kind: 'pause', until: UNTIL_HEALTHY }, 'paused', 'snitch.paused'],
    ['failed', RESCHEDULED, 'failed', undefined],
  ];
  for (const [remembered, trigger, to, type] of expected) {
    const { snitch, alert } = transition(paused(UNTIL_TIME, remembered), trigger, late);
    assert.is(snitch.status, to, trigger.kind);
    assert.equal(alert, type ? { type, status: to, previousStatus: remembered } : null, trigger.kind);
    assert.is(snitch.pause === null, to !== 'paused');
  }
  const early = contextAt(PAUSED_UNTIL - 1);
  assert.is(transition(paused(UNTIL_TIME, 'failed'), HEALTHY, early).snitch.status, 'paused');
});

pauses.run();

const rescheduled = suite('transition: rescheduled');

rescheduled('a changed interval restarts the deadline from now', () => {
  for (const from of [healthy, errored]) {
    const { snitch, alert } = transition({ ...from, interval: 'daily' }, RESCHEDULED, contextAt(NOW));
    assert.is(alert, null);
    assert.equal(snitch, { ...from, interval: 'daily', dueAt: utc('2025-07-11T00:00:00') });
  }
});

rescheduled('a failed snitch is reminded on its new schedule', () => {
  const { snitch, alert } = transition({ ...failed, interval: 'daily' }, RESCHEDULED, contextAt(NOW));
  assert.is(alert, null);
  assert.is(snitch.status, 'failed');
  assert.is(snitch.dueAt, utc('2025-07-10T00:00:00'));
});

rescheduled('a pending or paused snitch still awaits nothing', () => {
  for (const from of [pending, paused(UNTIL_HEALTHY, 'failed'), paused(UNTIL_TIME, 'failed')]) {
    const after = transition({ ...from, interval: 'daily' }, RESCHEDULED, contextAt(NOW));
    assert.equal(after, { snitch: { ...from, interval: 'daily' }, alert: null });
  }
});

rescheduled.run();

const walks = suite('transition: random walks');

type Step = { advance: number; choice: number; until: PauseUntil['kind'] };

/** What the table allows, as `from trigger to alert`; a paused snitch may also go to what it remembers. */
const ALLOWED = new Set([
  ...['pending', 'failed', 'errored'].map((from) => `${from} healthy healthy snitch.reporting`),
  'healthy healthy healthy none',
  ...['pending', 'healthy', 'failed'].map((from) => `${from} error errored snitch.errored`),
  'errored error errored none',
  ...['healthy', 'errored', 'failed'].map((from) => `${from} due failed snitch.missing`),
  ...['healthy', 'errored', 'failed', 'pending', 'paused'].flatMap((same) => [
    `${same} due ${same} none`,
    `${same} unpause ${same} none`,
    `${same} rescheduled ${same} none`,
  ]),
  ...['healthy', 'errored', 'failed'].flatMap((status) => [
    `${status} pause paused snitch.paused`,
    `paused due ${status} none`,
    `paused unpause ${status} none`,
  ]),
  'paused healthy healthy snitch.reporting',
  'paused healthy paused none',
  'paused error paused none',
  'paused pause paused none',
]);
ALLOWED.delete('paused unpause paused none');

function triggerOf({ choice, until }: Step, now: number): { name: string; trigger: Trigger } {
  if (choice < 4) return { name: 'healthy', trigger: HEALTHY };
  if (choice < 6) return { name: 'error', trigger: ERROR };
  if (choice < 10) return { name: 'due', trigger: DEADLINE };
  if (choice === 10) return { name: 'unpause', trigger: UNPAUSE };
  if (choice === 11) return { name: 'rescheduled', trigger: RESCHEDULED };
  const pause: PauseUntil = until === 'time' ? { kind: 'time', at: now + 3 * HOUR } : { kind: until };
  return { name: 'pause', trigger: { kind: 'pause', until: pause } };
}

/** Mostly forward, by minutes or days; now and then a step back. */
const anyStep: fc.Arbitrary<Step> = fc.record({
  advance: fc.oneof(
    { weight: 4, arbitrary: fc.integer({ min: 0, max: 2 * HOUR }) },
    { weight: 2, arbitrary: fc.integer({ min: 0, max: 3 * DAY }) },
    { weight: 1, arbitrary: fc.integer({ min: -2 * DAY, max: 0 }) },
  ),
  choice: fc.integer({ min: 0, max: 13 }),
  until: fc.constantFrom<PauseUntil['kind']>('healthy', 'unpaused', 'time'),
});

function assertStep(
  before: SnitchState,
  name: string,
  trigger: Trigger,
  context: TransitionContext,
): SnitchState {
  const { snitch: after, alert } = transition(before, trigger, context);
  // A pause whose time is over has ended, so that the trigger meets the remembered status.
  const over = before.pause?.until.kind === 'time' && before.pause.until.at <= context.now;
  const from = over && name !== 'unpause' && name !== 'due' ? before.pause!.remembered : before.status;
  const step = `${from} ${name} ${after.status} ${alert?.type ?? 'none'}`;
  assert.ok(ALLOWED.has(step), `not in the table: ${step}`);
  assert.is(after.pause !== null, after.status === 'paused', 'a pause is set exactly when paused');
  if (alert) assert.equal([alert.status, alert.previousStatus], [after.status, from]);
  if (after.status === 'pending') assert.is(after.dueAt, null);
  if (after.status === 'paused') {
    const { until } = after.pause!;
    assert.is(after.dueAt, until.kind === 'time' ? until.at : null);
  }
  if (trigger.kind === 'checkIn' && after.status !== 'paused') assertDeadline(after, context);
  return after;
}

function assertDeadline({ interval, lastCheckInAt, dueAt }: SnitchState, context: TransitionContext): void {
  const following = context.calendar.periodAfter(interval, context.rules.timezone, lastCheckInAt!);
  assert.ok(dueAt! > lastCheckInAt!, 'the deadline is later than the check-in');
  assert.ok(dueAt! > context.now, 'and later than now');
  assert.ok(dueAt! <= following.end, 'and no later than the end of the following period');
}

walks('no state outside the table is reached, and no deadline outside two periods', () => {
  fc.assert(
    fc.property(
      fc.constantFrom<Interval>(...INTERVALS),
      fc.constantFrom<AlertType>('basic', 'smart'),
      fc.record({
        timezone: fc.constantFrom('UTC', 'Europe/Berlin', 'America/Havana', 'Australia/Lord_Howe'),
        reminders: fc.constantFrom<Reminders>('period', 'hourly', 'daily', 'off'),
        errorNotices: fc.boolean(),
      }),
      fc.array(anyStep, { minLength: 5, maxLength: 60 }),
      (interval, alertType, rules, steps) => {
        const calendar = new Calendar();
        const firstOfPeriod = new Map<number, number>();
        let snitch = newSnitchState(interval, alertType);
        let now = utc('2025-10-25T20:00:00');
        for (const step of steps) {
          now += step.advance;
          const { name, trigger } = triggerOf(step, now);
          if (name === 'pause' && snitch.status === 'pending') continue;
          if (trigger.kind === 'checkIn') {
            const { start } = calendar.periodAt(interval, rules.timezone, now);
            firstOfPeriod.set(start, Math.min(now, firstOfPeriod.get(start) ?? now));
          }
          const firstCheckIns = [...firstOfPeriod.values()].sort((a, b) => a - b).slice(-50);
          const counted = name === 'error' && !rules.errorNotices ? 'healthy' : name;
          snitch = assertStep(snitch, counted, trigger, { now, calendar, rules, firstCheckIns });
        }
      },
    ),
    { numRuns: cases(400) },
  );
});

walks.run();
