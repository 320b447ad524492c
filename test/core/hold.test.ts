/** "Alerts that are held", row by row: what a trigger makes of a snitch that needs something. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { isHeldDue, LONGEST_DOUBT } from '../../src/core/hold.ts';
import { Calendar } from '../../src/core/interval.ts';
import { type Held, isDown, type Needed } from '../../src/core/needs/needs.ts';
import { newSnitchState, type SnitchState, type Status } from '../../src/core/snitch.ts';
import { type Trigger, transition } from '../../src/core/transition.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const LAST = Date.UTC(2025, 6, 9, 10, 0);

/** The deadline of a job that is due an hour after its last check-in. */
const DUE = LAST + HOUR;

const healthy: SnitchState = {
  ...newSnitchState('hourly', 'basic', { schedule: { every: 3_600 }, grace: 0 }),
  status: 'healthy',
  checkedInAt: LAST,
  lastCheckInAt: LAST,
  dueAt: DUE,
};
const errored: SnitchState = { ...healthy, status: 'errored', reason: { kind: 'error' } };
const told: SnitchState = { ...healthy, status: 'failed', reason: { kind: 'noCheckIn', by: DUE } };

const held = (over: Partial<Held> = {}, dueAt = DUE + HOUR): SnitchState => ({
  ...told,
  dueAt,
  held: { by: 1, name: 'db1', since: DUE, missed: DUE, previous: 'healthy', wellSince: null, ...over },
});

const needed = (status: Status, over: Partial<Needed> = {}): Needed => ({
  id: 1,
  name: 'db1',
  status,
  dueAt: null,
  lastCheckInAt: LAST,
  wellSince: null,
  silencedUntil: null,
  ...over,
});

const DOWN = needed('failed');
const WELL = needed('healthy', { lastCheckInAt: DUE, dueAt: DUE + HOUR });

const DEADLINE: Trigger = { kind: 'due' };
const RELIEVED: Trigger = { kind: 'relieved' };
const HEALTHY: Trigger = { kind: 'checkIn', outcome: 'healthy' };
const ERROR: Trigger = { kind: 'checkIn', outcome: 'error' };
const PAUSE: Trigger = { kind: 'pause', until: { kind: 'unpaused' } };

interface Row {
  what: string;
  from: SnitchState;
  trigger: Trigger;
  needs?: Needed[];
  at: number;
  to: Status;
  /** Type and previous status of the alert. */
  alert: string | null;
  /** Null where no alert is held afterwards. */
  held?: { [Field in keyof Held]?: Held[Field] | undefined } | null;
  dueAt?: number | null;
}

const MISSING = 'snitch.missing from healthy';

const TABLE: Row[] = [
  {
    what: 'a deadline without needs',
    from: healthy,
    trigger: DEADLINE,
    at: DUE,
    to: 'failed',
    alert: MISSING,
    held: null,
  },
  {
    what: 'a deadline while all is well',
    from: healthy,
    trigger: DEADLINE,
    needs: [WELL],
    at: DUE,
    to: 'failed',
    alert: MISSING,
    held: null,
  },
  ...(['paused', 'pending', 'errored'] as const).map((status) => ({
    what: `a deadline while what it needs is ${status}`,
    from: healthy,
    trigger: DEADLINE,
    needs: [needed(status)],
    at: DUE,
    to: 'failed' as const,
    alert: MISSING,
    held: null,
  })),
  {
    what: 'a deadline while one of two is down',
    from: healthy,
    trigger: DEADLINE,
    needs: [WELL, { ...DOWN, id: 2, name: 'net' }],
    at: DUE,
    to: 'failed',
    alert: null,
    held: { by: 2, name: 'net', since: DUE, missed: DUE, previous: 'healthy', wellSince: null },
    dueAt: DUE + HOUR,
  },
  {
    what: 'a deadline of an errored one',
    from: errored,
    trigger: DEADLINE,
    needs: [DOWN],
    at: DUE,
    to: 'failed',
    alert: null,
    held: { previous: 'errored' },
  },
  {
    what: 'a deadline after what it needs recovered',
    from: healthy,
    trigger: DEADLINE,
    needs: [{ ...WELL, wellSince: DUE - MINUTE }],
    at: DUE,
    to: 'healthy',
    alert: null,
    held: null,
    dueAt: DUE + HOUR - MINUTE,
  },
  {
    what: 'a deadline, the recovery being older than the last check-in',
    from: healthy,
    trigger: DEADLINE,
    needs: [{ ...WELL, wellSince: LAST }],
    at: DUE,
    to: 'failed',
    alert: MISSING,
  },
  {
    what: 'a deadline, a clock that ran ahead having written the recovery',
    from: healthy,
    trigger: DEADLINE,
    needs: [{ ...WELL, wellSince: DUE + HOUR }],
    at: DUE,
    to: 'failed',
    alert: MISSING,
  },
  {
    what: 'a deadline while nothing was heard of what it needs',
    from: healthy,
    trigger: DEADLINE,
    needs: [needed('healthy', { dueAt: DUE + MINUTE })],
    at: DUE,
    to: 'failed',
    alert: null,
    held: { isUnsure: true, by: 1 },
    dueAt: DUE + MINUTE,
  },
  {
    what: 'the same, where it was heard within the period, but before the job was expected',
    from: healthy,
    trigger: DEADLINE,
    needs: [needed('healthy', { lastCheckInAt: DUE - 1, dueAt: DUE + MINUTE })],
    at: DUE,
    to: 'failed',
    alert: null,
    held: { isUnsure: true, by: 1 },
    dueAt: DUE + MINUTE,
  },
  {
    what: 'a deadline behind its grace, what it needs having been heard since the run was expected',
    from: { ...healthy, grace: 600, dueAt: DUE + 10 * MINUTE },
    trigger: DEADLINE,
    needs: [needed('healthy', { lastCheckInAt: DUE, dueAt: DUE + 11 * MINUTE })],
    at: DUE + 10 * MINUTE,
    to: 'failed',
    alert: MISSING,
  },
  {
    what: 'the same, its silence telling only much later',
    from: healthy,
    trigger: DEADLINE,
    needs: [needed('healthy', { dueAt: DUE + LONGEST_DOUBT + 1 })],
    at: DUE,
    to: 'failed',
    alert: MISSING,
  },
  {
    what: 'a reminder of what was told, what it needs being down',
    from: told,
    trigger: DEADLINE,
    needs: [DOWN],
    at: DUE,
    to: 'failed',
    alert: null,
    held: null,
  },
  {
    what: 'a reminder of what was told',
    from: told,
    trigger: DEADLINE,
    needs: [WELL],
    at: DUE,
    to: 'failed',
    alert: 'snitch.missing from failed',
  },
  {
    what: 'the doubt ends: down',
    from: held({ isUnsure: true }, DUE + MINUTE),
    trigger: DEADLINE,
    needs: [DOWN],
    at: DUE + MINUTE,
    to: 'failed',
    alert: null,
    held: { isUnsure: undefined, since: DUE },
  },
  {
    what: 'the doubt ends: well',
    from: held({ isUnsure: true }, DUE + MINUTE),
    trigger: DEADLINE,
    needs: [WELL],
    at: DUE + MINUTE,
    to: 'failed',
    alert: MISSING,
    held: null,
  },
  {
    what: 'the doubt goes on, for as long as it may',
    from: held({ isUnsure: true }, DUE + MINUTE),
    trigger: DEADLINE,
    needs: [needed('healthy', { dueAt: DUE + 2 * MINUTE })],
    at: DUE + MINUTE,
    to: 'failed',
    alert: null,
    held: { isUnsure: true },
    dueAt: DUE + 2 * MINUTE,
  },
  {
    what: 'held, and what it needs is still down',
    from: held(),
    trigger: DEADLINE,
    needs: [DOWN],
    at: DUE + HOUR,
    to: 'failed',
    alert: null,
    held: { wellSince: null },
    dueAt: DUE + 2 * HOUR,
  },
  {
    what: 'held, and nobody said yet that it recovered',
    from: held(),
    trigger: DEADLINE,
    needs: [{ ...WELL, wellSince: DUE + MINUTE }],
    at: DUE + HOUR,
    to: 'failed',
    alert: null,
    held: { wellSince: DUE + MINUTE },
    dueAt: DUE + HOUR + MINUTE,
  },
  {
    what: 'held, and one period is over',
    from: held({ wellSince: DUE + MINUTE }, DUE + HOUR + MINUTE),
    trigger: DEADLINE,
    needs: [{ ...WELL, wellSince: DUE + MINUTE }],
    at: DUE + HOUR + MINUTE,
    to: 'failed',
    alert: MISSING,
    held: null,
  },
  {
    what: 'held, and it failed again within the period',
    from: held({ wellSince: DUE + MINUTE }, DUE + HOUR + MINUTE),
    trigger: DEADLINE,
    needs: [DOWN],
    at: DUE + HOUR + MINUTE,
    to: 'failed',
    alert: null,
    held: { wellSince: null },
  },
  {
    what: 'held, and what held it is gone',
    from: held(),
    trigger: DEADLINE,
    at: DUE + HOUR,
    to: 'failed',
    alert: MISSING,
    held: null,
  },
  {
    what: 'held, and looked at too early',
    from: held(),
    trigger: DEADLINE,
    at: DUE + HOUR - 1,
    to: 'failed',
    alert: null,
    held: { by: 1 },
  },
  {
    what: 'held, and relieved',
    from: held(),
    trigger: RELIEVED,
    needs: [WELL],
    at: DUE + MINUTE,
    to: 'failed',
    alert: null,
    held: { wellSince: DUE + MINUTE },
    dueAt: DUE + HOUR + MINUTE,
  },
  {
    what: 'held, and relieved of one of two',
    from: held(),
    trigger: RELIEVED,
    needs: [WELL, DOWN],
    at: DUE + MINUTE,
    to: 'failed',
    alert: null,
    held: { wellSince: null },
    dueAt: DUE + HOUR,
  },
  {
    what: 'awaited, and relieved',
    from: healthy,
    trigger: RELIEVED,
    needs: [WELL],
    at: DUE - MINUTE,
    to: 'healthy',
    alert: null,
    held: null,
    dueAt: DUE + HOUR - MINUTE,
  },
  {
    what: 'awaited later, and relieved',
    from: { ...healthy, dueAt: DUE + 9 * HOUR },
    trigger: RELIEVED,
    needs: [WELL],
    at: DUE,
    to: 'healthy',
    alert: null,
    dueAt: DUE + 9 * HOUR,
  },
  {
    what: 'told, and relieved',
    from: told,
    trigger: RELIEVED,
    needs: [WELL],
    at: DUE + MINUTE,
    to: 'failed',
    alert: null,
    dueAt: DUE,
  },
  {
    what: 'a healthy check-in of what was healthy',
    from: held(),
    trigger: HEALTHY,
    at: DUE + MINUTE,
    to: 'healthy',
    alert: null,
    held: null,
  },
  {
    what: 'a healthy check-in of what was errored',
    from: held({ previous: 'errored' }),
    trigger: HEALTHY,
    at: DUE + MINUTE,
    to: 'healthy',
    alert: 'snitch.reporting from errored',
    held: null,
  },
  {
    what: 'an error of what was healthy',
    from: held(),
    trigger: ERROR,
    at: DUE + MINUTE,
    to: 'errored',
    alert: 'snitch.errored from healthy',
    held: null,
  },
  {
    what: 'an error of what was errored',
    from: held({ previous: 'errored' }),
    trigger: ERROR,
    at: DUE + MINUTE,
    to: 'errored',
    alert: null,
    held: null,
  },
  {
    what: 'an error that does not count yet',
    from: { ...held(), failuresBeforeAlert: 3 },
    trigger: ERROR,
    at: DUE + MINUTE,
    to: 'failed',
    alert: null,
    held: { by: 1 },
  },
  {
    what: 'a pause',
    from: held(),
    trigger: PAUSE,
    at: DUE + MINUTE,
    to: 'paused',
    alert: 'snitch.paused from healthy',
    held: { by: 1 },
    dueAt: null,
  },
  {
    what: 'the needs are taken back',
    from: held(),
    trigger: { kind: 'needsChanged', isHolderNeeded: false },
    at: DUE + MINUTE,
    to: 'failed',
    alert: MISSING,
    held: null,
  },
  {
    what: 'another need is added while it waits',
    from: held({ wellSince: DUE }),
    trigger: { kind: 'needsChanged', isHolderNeeded: true },
    needs: [WELL],
    at: DUE + MINUTE,
    to: 'failed',
    alert: null,
    held: { wellSince: DUE },
    dueAt: DUE + HOUR,
  },
  {
    what: 'another need is added that is down',
    from: held({ wellSince: DUE }),
    trigger: { kind: 'needsChanged', isHolderNeeded: true },
    needs: [{ ...DOWN, id: 3 }],
    at: DUE + MINUTE,
    to: 'failed',
    alert: null,
    held: { by: 3, wellSince: null },
  },
  {
    what: 'another interval',
    from: held({ wellSince: DUE }),
    trigger: { kind: 'rescheduled' },
    at: DUE + MINUTE,
    to: 'failed',
    alert: null,
    held: { wellSince: DUE + MINUTE },
    dueAt: DUE + HOUR + MINUTE,
  },
  {
    what: 'needs that change while nothing is held',
    from: healthy,
    trigger: { kind: 'needsChanged', isHolderNeeded: false },
    at: DUE - 1,
    to: 'healthy',
    alert: null,
    held: null,
    dueAt: DUE,
  },
];

const test = suite('alerts that are held, row by row');

for (const row of TABLE) {
  test(row.what, () => {
    const { snitch, alert } = transition(row.from, row.trigger, {
      now: row.at,
      calendar: new Calendar(),
      rules: { timezone: 'UTC', reminders: 'period', errorNotices: true },
      firstCheckIns: [],
      ...(row.needs ? { needs: row.needs } : {}),
    });
    assert.is(snitch.status, row.to);
    assert.is(alert && `${alert.type} from ${alert.previousStatus}`, row.alert);
    if (row.held === null) assert.is(snitch.held, null);
    for (const [field, value] of Object.entries(row.held ?? {})) {
      assert.is(snitch.held?.[field as keyof Held], value, field);
    }
    if (row.dueAt !== undefined) assert.is(snitch.dueAt, row.dueAt);
  });
}

test('an alert that was held says since when the snitch was silent, and why nobody was told', () => {
  const { snitch } = transition(held({ wellSince: DUE + MINUTE }, DUE + 2 * HOUR), DEADLINE, {
    now: DUE + 2 * HOUR,
    calendar: new Calendar(),
    rules: { timezone: 'UTC', reminders: 'period', errorNotices: true },
    firstCheckIns: [],
    needs: [WELL],
  });
  const heldFor = { by: 'db1', since: DUE, until: DUE + MINUTE };
  assert.equal(snitch.reason, { kind: 'noCheckIn', by: DUE, held: heldFor });
});

test('only a failed snitch holds an alert', () => {
  const statuses = ['pending', 'healthy', 'failed', 'errored', 'paused'];
  assert.equal(
    statuses.filter((status) => isDown({ status })),
    ['failed'],
  );
});

test('the sweep takes up a held alert when its time has come, and not before', () => {
  assert.is(isHeldDue(held({}, DUE), DUE), true);
  assert.is(isHeldDue(held({}, DUE), DUE - 1), false);
  assert.is(isHeldDue({ ...held(), dueAt: null }, DUE), false);
  assert.is(isHeldDue({ ...held({}, DUE), status: 'paused' }, DUE), false);
});

test.run();
