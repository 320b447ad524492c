/** What random snitches are explained by, written down: nearly every sentence there is, in many combinations. */
import { join } from 'node:path';
import { suite } from 'uvu';
import { explain, type Telling } from '../../../src/core/explanation/explain.ts';
import type { KnownNeeds } from '../../../src/core/explanation/needs-reasons.ts';
import type { Audience, FailingTarget, Telling as Told } from '../../../src/core/explanation/told.ts';
import { whyNobody } from '../../../src/core/explanation/told.ts';
import { Calendar } from '../../../src/core/interval.ts';
import type { Reason } from '../../../src/core/reason.ts';
import { shownRuns } from '../../../src/core/runs.ts';
import { newSnitchState, type Pause, type SnitchState } from '../../../src/core/snitch.ts';
import { assertKept } from '../../kept-text.ts';
import { Dice } from '../../random.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const SNITCHES = 200;
const KEPT = join(import.meta.dirname, 'random-explanations.txt');
const NOW = Date.parse('2026-10-24T20:10:00Z');

const explanations = suite('random explanations');

function reasonOf(dice: Dice, isFailed: boolean): Reason {
  if (!isFailed) {
    return dice.oneOf<Reason>([
      { kind: 'exitStatus', status: dice.whole(1, 255) },
      { kind: 'error' },
      { kind: 'judged', what: 'bytes 120 is below 1000000' },
    ]);
  }
  const held = dice.isHit(0.2) ? { held: { by: 'db', since: NOW - HOUR, until: NOW - MINUTE } } : {};
  return dice.oneOf<Reason>([
    { kind: 'noCheckIn', by: NOW - HOUR, ...held },
    { kind: 'noCheckIn', by: NOW - HOUR, startedAt: NOW - 2 * HOUR },
    { kind: 'overran', startedAt: NOW - 3 * HOUR, ...held },
    { kind: 'overran', startedAt: NOW - 3 * HOUR, endedAt: NOW - HOUR },
  ]);
}

function pauseOf(dice: Dice): Pause {
  const until = dice.oneOf([
    { kind: 'healthy' },
    { kind: 'unpaused' },
    { kind: 'time', at: NOW + DAY },
  ] as const);
  return { until, remembered: 'healthy', since: NOW - HOUR };
}

function settingsOf(dice: Dice): SnitchState {
  const schedule = dice.oneOf([
    null,
    null,
    { cron: '30 2 * * *' },
    { calendar: 'Mon..Fri 09:00 Europe/Berlin' },
    { calendar: '2026-10-20 10:00' },
    { every: 5_400 },
  ]);
  const interval = dice.oneOf(['15_minute', 'hourly', 'daily', 'weekly'] as const);
  const isSmart = schedule === null && interval !== '15_minute' && dice.isHit(0.5);
  return newSnitchState(interval, isSmart ? 'smart' : 'basic', {
    schedule,
    timezone: dice.oneOf([null, 'America/New_York']),
    grace: dice.oneOf([null, 0, 60, 5_400]),
    maxRuntime: dice.oneOf([null, 600]),
    minRuntime: dice.oneOf([null, null, 5]),
    failuresBeforeAlert: dice.oneOf([1, 1, 3]),
    expect: dice.isHit(0.2)
      ? [{ value: 'bytes', min: 1_000, max: null, of_usual: [0.5, 3], required: dice.isHit(0.5) }]
      : null,
  });
}

function stateOf(dice: Dice): SnitchState {
  const settings = settingsOf(dice);
  const status = dice.oneOf(['pending', 'healthy', 'healthy', 'errored', 'failed', 'paused'] as const);
  const known = status === 'pending' && dice.isHit(0.7) ? null : NOW - dice.whole(1, 100) * 15 * MINUTE;
  const dueAt = status === 'pending' || dice.isHit(0.1) ? null : NOW + dice.whole(1, 60) * HOUR;
  const run = {
    id: null,
    startedAt: NOW - dice.oneOf([MINUTE, HOUR]),
    from: NOW - dice.oneOf([MINUTE, HOUR]),
  };
  const open = dice.isHit(0.3) ? [{ ...run, ...(dice.isHit(0.2) ? { excused: true as const } : {}) }] : [];
  const isAlarming = status === 'failed' || status === 'errored';
  return {
    ...settings,
    status,
    checkedInAt: status === 'pending' ? null : known,
    lastCheckInAt: known,
    dueAt,
    pause: status === 'paused' ? pauseOf(dice) : null,
    errorsInRow: dice.oneOf([0, 0, 1, 2]),
    reason: isAlarming && dice.isHit(0.8) ? reasonOf(dice, status === 'failed') : null,
    runs: settings.maxRuntime !== null && open.length > 0 ? { dueAt, open } : null,
    acknowledged:
      isAlarming && dice.isHit(0.3)
        ? { at: NOW - MINUTE, note: dice.oneOf([null, 'on it']), by: 'ann' }
        : null,
  };
}

function toldOf(dice: Dice): Told {
  const state = dice.oneOf(['pending', 'pending', 'delivered', 'dead', 'dropped'] as const);
  const waits =
    state === 'pending' && dice.isHit(0.3)
      ? { waits: dice.oneOf(['after', 'hours', 'opening'] as const) }
      : {};
  return {
    channel: dice.oneOf(['email', 'webhook', 'ntfy', 'slack'] as const),
    target: dice.oneOf(['ann@example.com', 'https://hooks.example.com/x', 'ops chat']),
    state,
    sending: state === 'pending' && dice.isHit(0.3),
    attempts: dice.whole(0, 4),
    lastError: state === 'delivered' || dice.isHit(0.4) ? null : 'answered 503 Service Unavailable',
    nextAttemptAt: state === 'pending' ? NOW + dice.whole(0, 5) * HOUR : null,
    deliveredAt: state === 'delivered' ? NOW - dice.whole(1, 50) * MINUTE : null,
    ...waits,
  };
}

function audienceOf(dice: Dice): Audience {
  const failing: FailingTarget[] = [
    { channel: 'email', name: 'ann@example.com', why: 'refused the last message: 550 no such user' },
    { channel: 'slack', name: 'ops chat', why: 'refused the last message: answered 404 Not Found' },
  ];
  return {
    emails: dice.someOf(['ann@example.com'], 0.4),
    webhooks: dice.someOf(['https://hooks.example.com/x'], 0.2),
    channels: dice.someOf(['ops chat'], 0.3),
    passedOver: dice.someOf([{ name: 'pager', why: 'takes only snitches tagged db' }], 0.3),
    failing: dice.someOf(failing, 0.3),
    sendsEmail: dice.isHit(0.5),
  };
}

function tellingOf(dice: Dice): Telling {
  const type = dice.oneOf(['snitch.missing', 'snitch.errored', 'snitch.reporting'] as const);
  const deliveries = Array.from({ length: dice.whole(0, 3) }, () => toldOf(dice));
  const startedAt = dice.isHit(0.2) ? NOW - 2 * HOUR : null;
  const last = { type, at: NOW - dice.whole(1, 30) * HOUR, flapping: dice.isHit(0.1), startedAt, deliveries };
  return { nobody: whyNobody(audienceOf(dice)), last: dice.isHit(0.7) ? last : null };
}

function needsOf(dice: Dice): KnownNeeds {
  const hold = dice.oneOf([
    null,
    null,
    { by: { token: 'tok', name: 'db' }, since: NOW - HOUR, until: null },
    { by: null, since: NOW - HOUR, until: NOW + HOUR },
    { by: { token: 'tok', name: 'db' }, since: NOW - HOUR, until: NOW + MINUTE, isUnsure: true as const },
  ]);
  const needs = dice.oneOf([['tok'], ['tok', 'tag:network'], ['tok', 'other', 'tag:network']]);
  const down = dice.oneOf([
    null,
    { name: 'db', silencedUntil: null },
    { name: 'db', silencedUntil: NOW + HOUR },
  ]);
  return { needs, hold, down, names: new Map([['tok', 'db']]) };
}

/** A field that is there in one of `of` cases. */
function sometimes<T extends object>(dice: Dice, of: number, field: () => T): T | object {
  return dice.whole(1, of) === 1 ? field() : {};
}

function describe(seed: number): string[] {
  const dice = new Dice(seed);
  const state = stateOf(dice);
  const timezone = dice.oneOf(['UTC', 'Europe/Berlin']);
  const rules = { timezone, reminders: dice.oneOf(['period', 'off'] as const), errorNotices: true };
  const place = dice.whole(1, 20) * HOUR;
  const firstCheckIns = Array.from(
    { length: dice.oneOf([0, 3, 12, 50]) },
    (_, index) => NOW - (50 - index) * DAY + place,
  );
  const planned = { start: NOW + HOUR, end: NOW + 2 * HOUR, by: 'ops', note: dice.oneOf(['', 'kernel']) };
  const missed = { start: NOW - 5 * HOUR, end: NOW - 4 * HOUR, dueAt: dice.oneOf([null, NOW + DAY]) };
  const context = {
    ...{ rules, calendar: new Calendar(), now: NOW, firstCheckIns, telling: tellingOf(dice) },
    ...sometimes(dice, 2, () => ({
      runs: { open: shownRuns(state), usual: dice.oneOf([null, 500, 90_000]) },
    })),
    ...sometimes(dice, 4, () => ({
      silence: { until: NOW + HOUR, by: 'ops', note: '', isKeptBack: dice.isHit(0.4) },
    })),
    ...sometimes(dice, 5, () => ({ planned, nextAlertAt: dice.oneOf([null, NOW + DAY]) })),
    ...sometimes(dice, 4, () => ({ needs: needsOf(dice) })),
    ...sometimes(dice, 5, () => ({ postponements: [missed] })),
    ...sometimes(dice, 6, () => ({ isMovedBySilence: true })),
    ...sometimes(dice, 3, () => ({ pausedBy: { name: 'ann', at: NOW - HOUR } })),
    ...sometimes(dice, 2, () => ({
      values: { bytes: { at: NOW - HOUR, last: 5_000, runs: [4_000, 5_000, 6_000, 7_000, 8_000] } },
    })),
  };
  const { interval, alertType, schedule } = state;
  const { period, reasons, deadlineAt, nextAlertAt } = explain(state, context);
  const times = [period.start, period.end, deadlineAt, nextAlertAt].map((at) =>
    at === null ? '-' : new Date(at).toISOString(),
  );
  return [
    `${seed}: ${schedule ? JSON.stringify(schedule) : `${interval} ${alertType}`}, ${state.status}: ${times.join(' ')}`,
    ...reasons.map((reason) => `  ${reason}`),
  ];
}

explanations('are as they were', () => {
  const lines: string[] = [];
  for (let seed = 1; seed <= SNITCHES; seed += 1) lines.push(...describe(seed));
  assertKept(KEPT, lines);
});

explanations.run();
