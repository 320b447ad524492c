/** How long runs take, in simulated time, from the check-ins to the alerts. */
import * as assert from 'uvu/assert';
import type { Case } from '../../src/core/case.ts';
import type { CheckIn } from '../../src/core/check-in.ts';
import type { Reason } from '../../src/core/reason.ts';
import type { SnitchFields } from '../../src/core/snitch.ts';
import type { Store } from './acting.ts';
import {
  alertsOf,
  checkIn,
  contract,
  DAY,
  HOUR,
  MINUTE,
  NOW,
  newCase,
  newSnitch,
  SECOND,
  snitchOf,
  sweep,
  utc,
} from './fixture.ts';

/** Due at three each night with half an hour of grace; a run can take up to two hours. */
const NIGHTLY: Partial<SnitchFields> = {
  interval: 'daily',
  schedule: { cron: '0 3 * * *' },
  grace: 1_800,
  maxRuntime: 7_200,
};

const THREE = utc('2025-07-10T03:00:00');

class Night {
  readonly store: Store;
  readonly owner: Case;
  readonly token: string;

  private constructor(store: Store, owner: Case, token: string) {
    this.store = store;
    this.owner = owner;
    this.token = token;
  }

  /** A snitch that checked in the day before. */
  static async of(store: Store, fields: Partial<SnitchFields> = {}): Promise<Night> {
    const owner = await newCase(store, { reminders: 'off' });
    const { token } = await newSnitch(store, owner, { ...NIGHTLY, ...fields });
    const night = new Night(store, owner, token);
    await night.end(NOW);
    return night;
  }

  /** The same in a store that was reopened. */
  in(store: Store): Night {
    return new Night(store, this.owner, this.token);
  }

  start(at: number, details: Partial<CheckIn> = {}): Promise<boolean> {
    return checkIn(this.store, this.token, at, { outcome: 'start', ...details });
  }

  end(at: number, details: Partial<CheckIn> = {}): Promise<boolean> {
    return checkIn(this.store, this.token, at, details);
  }

  async state() {
    return (await snitchOf(this.store, this.owner, this.token)).state;
  }

  /** Sweeps just before `at` and finds nothing, and then at `at` and finds that the snitch failed. */
  async failsAt(at: number, reason: Reason): Promise<void> {
    assert.is(await sweep(this.store, at - 1), 0, 'nothing is due before');
    assert.is(await sweep(this.store, at), 1);
    const { status, reason: why } = await this.state();
    assert.equal({ status, why }, { status: 'failed', why: reason });
    const [alert] = await this.store.listAlerts(this.owner.id, this.token, { limit: 1, before: null });
    assert.equal([alert?.alert.type, alert?.alert.details?.reason], ['snitch.missing', reason]);
  }

  alerts(): Promise<string[]> {
    return alertsOf(this.store, this.owner, this.token);
  }
}

contract('the longest time of a run', (test) => {
  test('a run that takes too long is missing, and its end says how long it took', async ({ store }) => {
    const night = await Night.of(store);
    await night.start(THREE + MINUTE);
    await night.failsAt(THREE + MINUTE + 2 * HOUR, { kind: 'overran', startedAt: THREE + MINUTE });
    assert.is(await sweep(store, THREE + 10 * HOUR), 0, 'it is told once');
    await night.end(THREE + 3 * HOUR);
    assert.equal((await night.alerts()).slice(1), [
      'snitch.missing from healthy',
      'snitch.reporting from missing',
    ]);
    const [recovery] = await store.listAlerts(night.owner.id, night.token, { limit: 1, before: null });
    assert.equal(recovery?.alert.details?.reason, { kind: 'checkedIn', tookMs: 3 * HOUR - MINUTE });
    assert.is((await night.state()).runs, null);
    await night.failsAt(THREE + DAY + 30 * MINUTE, { kind: 'noCheckIn', by: THREE + DAY + 30 * MINUTE });
  });

  test('while a run is open that started in time, its end is awaited', async ({ store }) => {
    const night = await Night.of(store);
    await night.start(THREE + 30 * MINUTE);
    assert.is(await sweep(store, THREE + 2 * HOUR), 0, 'the deadline is held back');
    await night.end(THREE + 2 * HOUR + 29 * MINUTE);
    assert.equal((await night.alerts()).length, 1);
    assert.is((await night.state()).dueAt, THREE + DAY + 30 * MINUTE);
  });

  test('a run that started too late holds nothing back', async ({ store }) => {
    const night = await Night.of(store);
    const deadline = THREE + 30 * MINUTE;
    await night.failsAt(deadline, { kind: 'noCheckIn', by: deadline });
    await night.start(deadline + MINUTE);
    assert.is(await sweep(store, deadline + 5 * HOUR), 0, 'it is known to be missing');
    await night.end(deadline + 6 * HOUR);
    assert.is((await night.state()).status, 'healthy');
  });

  test('a start between the deadline and the sweep is not in time either', async ({ store }) => {
    const night = await Night.of(store);
    const deadline = THREE + 30 * MINUTE;
    await night.start(deadline + 1);
    assert.is(await sweep(store, deadline + 2), 1);
    assert.equal((await night.state()).reason, { kind: 'noCheckIn', by: deadline, startedAt: deadline + 1 });
  });

  test('an error ends a run as well', async ({ store }) => {
    const night = await Night.of(store);
    await night.start(THREE);
    await night.end(THREE + HOUR, { outcome: 'error', exitStatus: 3 });
    assert.equal((await night.state()).reason, { kind: 'exitStatus', status: 3 });
    assert.is((await night.state()).runs, null);
    assert.is(await sweep(store, THREE + DAY), 0);
  });

  test('open runs are known with the time at which they overrun', async ({ store }) => {
    const night = await Night.of(store);
    const open = async () => (await store.findRuns(night.token)).open;
    assert.equal(await open(), []);
    await night.start(THREE);
    assert.equal(await open(), [{ startedAt: THREE, overrunsAt: THREE + 2 * HOUR }]);
    await night.end(THREE + HOUR);
    assert.equal(await open(), []);
  });

  test('two simultaneous runs each have their own time', async ({ store }) => {
    const night = await Night.of(store);
    await night.start(THREE, { runId: 'a' });
    await night.start(THREE + HOUR, { runId: 'b' });
    await night.end(THREE + 90 * MINUTE, { runId: 'b' });
    assert.is((await night.state()).status, 'healthy');
    await night.failsAt(THREE + 2 * HOUR, { kind: 'overran', startedAt: THREE });
    await night.start(THREE + 3 * HOUR, { runId: 'c' });
    await night.end(THREE + 4 * HOUR, { runId: 'c' });
    assert.is((await night.state()).status, 'healthy');
    assert.is(await sweep(store, THREE + 20 * HOUR), 0, 'the run that hangs was told');
    await night.end(THREE + 21 * HOUR, { runId: 'a' });
    const [last] = (await store.listCheckIns(night.owner.id, night.token, { limit: 1, before: null })) ?? [];
    assert.is(last?.durationMs, 21 * HOUR);
  });

  test('once the first run has ended, the other one is reported when it overruns', async ({ store }) => {
    const night = await Night.of(store);
    await night.start(THREE, { runId: 'a' });
    await night.start(THREE + HOUR, { runId: 'b' });
    await night.failsAt(THREE + 2 * HOUR, { kind: 'overran', startedAt: THREE });
    await night.end(THREE + 2 * HOUR + MINUTE, { runId: 'a', outcome: 'error' });
    await night.failsAt(THREE + 3 * HOUR, { kind: 'overran', startedAt: THREE + HOUR });
  });

  test('a start and its end may lie on both sides of a restart', async (context) => {
    const before = await Night.of(context.store);
    await before.start(THREE, { runId: 'a' });
    await before.start(THREE + MINUTE);
    const after = before.in(await context.reopen());
    await after.end(THREE + HOUR, { runId: 'a' });
    assert.is((await after.state()).runs?.open.length, 1);
    const again = before.in(await context.reopen());
    await again.failsAt(THREE + MINUTE + 2 * HOUR, { kind: 'overran', startedAt: THREE + MINUTE });
    await before.in(await context.reopen()).end(THREE + 4 * HOUR);
    assert.is((await before.in(await context.reopen()).state()).status, 'healthy');
  });

  test('an end without a start changes no run', async ({ store }) => {
    const night = await Night.of(store);
    await night.start(THREE, { runId: 'a' });
    await night.end(THREE + MINUTE, { runId: 'unknown' });
    assert.is((await night.state()).status, 'healthy');
    await night.failsAt(THREE + 2 * HOUR, { kind: 'overran', startedAt: THREE });
  });

  test('a check-in by hand ends the only run, but none of several', async ({ store }) => {
    const night = await Night.of(store);
    await night.start(THREE, { runId: 'a' });
    await night.end(THREE + MINUTE);
    assert.is((await night.state()).runs, null);
    await night.start(THREE + 2 * MINUTE, { runId: 'b' });
    await night.start(THREE + 3 * MINUTE, { runId: 'c' });
    await night.end(THREE + 4 * MINUTE);
    assert.is((await night.state()).runs?.open.length, 2);
  });

  test('a repeated start restarts its run, with or without an id', async ({ store }) => {
    for (const runId of ['a', null]) {
      const night = await Night.of(store);
      await night.start(THREE, { runId });
      await night.start(THREE + 20 * MINUTE, { runId });
      await night.failsAt(THREE + 20 * MINUTE + 2 * HOUR, {
        kind: 'overran',
        startedAt: THREE + 20 * MINUTE,
      });
      await store.deleteSnitch(night.owner.id, night.token);
    }
  });

  test('a job that starts again and again does not put its alarm off for ever', async ({ store }) => {
    const night = await Night.of(store);
    let failedAt = 0;
    for (let at = THREE; failedAt === 0 && at < THREE + DAY; at += 5 * MINUTE) {
      await night.start(at);
      if ((await sweep(store, at + SECOND)) > 0) failedAt = at;
    }
    assert.ok(failedAt > 0 && failedAt <= THREE + 35 * MINUTE);
  });

  test('the end of a run that came before its start leaves nothing open', async ({ store }) => {
    const night = await Night.of(store);
    await night.end(THREE + HOUR, { runId: 'a' });
    await night.start(THREE + HOUR + SECOND, { runId: 'a', at: THREE });
    await night.start(THREE + HOUR + SECOND, { at: THREE });
    assert.is((await night.state()).runs, null);
    // The same start once more, though it was known.
    await night.start(THREE + 2 * HOUR, { runId: 'b' });
    await night.end(THREE + 3 * HOUR, { runId: 'b' });
    await night.start(THREE + 4 * HOUR, { runId: 'b', at: THREE + 2 * HOUR });
    assert.is((await night.state()).runs, null);
  });

  test('every run can use the same id again', async ({ store }) => {
    const night = await Night.of(store);
    for (const day of [0, 1, 2]) {
      await night.start(THREE + day * DAY, { runId: 'nightly' });
      assert.is((await night.state()).runs?.open.length, 1);
      await night.end(THREE + day * DAY + HOUR, { runId: 'nightly' });
      assert.is((await night.state()).runs, null);
    }
    await night.start(THREE + 3 * DAY, { runId: 'nightly' });
    await night.failsAt(THREE + 3 * DAY + 2 * HOUR, { kind: 'overran', startedAt: THREE + 3 * DAY });
  });

  test('the time of a start that was reported late counts from then, for its end may follow at once', async ({
    store,
  }) => {
    const night = await Night.of(store);
    const reported = THREE + 5 * HOUR;
    await night.failsAt(THREE + 30 * MINUTE, { kind: 'noCheckIn', by: THREE + 30 * MINUTE });
    await night.start(reported, { at: THREE, runId: 'a' });
    assert.is(await sweep(store, reported + SECOND), 0);
    await night.end(reported + 2 * SECOND, { at: THREE + HOUR, runId: 'a' });
    const { status, runs } = await night.state();
    assert.equal([status, runs], ['healthy', null]);
  });

  test('a late end that is older than the last check-in ends the alarm about its own run', async ({
    store,
  }) => {
    const night = await Night.of(store);
    await night.start(THREE, { runId: 'a' });
    await night.start(THREE + MINUTE, { runId: 'b' });
    await night.end(THREE + HOUR, { runId: 'b' });
    await night.failsAt(THREE + 2 * HOUR, { kind: 'overran', startedAt: THREE });
    await night.end(THREE + 3 * HOUR, { runId: 'a', at: THREE + 50 * MINUTE });
    const { status, reason, lastCheckInAt, dueAt } = await night.state();
    assert.equal([status, reason, lastCheckInAt], ['healthy', null, THREE + HOUR]);
    assert.is(dueAt, THREE + DAY + 30 * MINUTE);
    assert.is((await night.alerts()).at(-1), 'snitch.reporting from missing');
  });

  test('if the next run is already missing, a late end changes only the reason', async ({ store }) => {
    const night = await Night.of(store);
    await night.start(THREE);
    await night.failsAt(THREE + 2 * HOUR, { kind: 'overran', startedAt: THREE });
    await night.end(THREE + 2 * DAY, { at: THREE + HOUR });
    const { status, reason } = await night.state();
    assert.equal([status, reason], ['failed', { kind: 'noCheckIn', by: THREE + DAY + 30 * MINUTE }]);
  });

  test('an error that does not count yet ends the run, and the snitch says that it ended', async ({
    store,
  }) => {
    const night = await Night.of(store, { failuresBeforeAlert: 3 });
    await night.start(THREE);
    await night.failsAt(THREE + 2 * HOUR, { kind: 'overran', startedAt: THREE });
    await night.end(THREE + 3 * HOUR, { outcome: 'error', exitStatus: 3 });
    const { status, reason, runs } = await night.state();
    assert.equal([status, runs], ['failed', null]);
    assert.equal(reason, { kind: 'overran', startedAt: THREE, endedAt: THREE + 3 * HOUR });
  });

  test('a pause mutes a run that overran in it, and one that did not goes on', async ({ store }) => {
    const night = await Night.of(store);
    await night.start(THREE, { runId: 'a' });
    await store.pauseSnitch(night.owner.id, night.token, { kind: 'unpaused' }, THREE + MINUTE);
    await night.start(THREE + 2 * HOUR, { runId: 'b' });
    assert.is(await sweep(store, THREE + 3 * HOUR), 0);
    await store.unpauseSnitch(night.owner.id, night.token, THREE + 3 * HOUR);
    assert.is((await night.state()).status, 'healthy');
    await night.failsAt(THREE + 4 * HOUR, { kind: 'overran', startedAt: THREE + 2 * HOUR });
  });

  test('the sweep that ends a pause forgets what overran in it', async ({ store }) => {
    const night = await Night.of(store);
    await night.start(THREE);
    const until = { kind: 'time', at: THREE + 5 * HOUR } as const;
    await store.pauseSnitch(night.owner.id, night.token, until, THREE + MINUTE);
    assert.is(await sweep(store, THREE + 5 * HOUR), 1);
    const { status, runs } = await night.state();
    assert.equal([status, runs], ['healthy', null]);
    const next = THREE + DAY + 30 * MINUTE;
    await night.failsAt(next, { kind: 'noCheckIn', by: next, startedAt: THREE });
  });

  test('a pending snitch never alerts, however long its first run takes', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await newSnitch(store, owner, NIGHTLY);
    await checkIn(store, token, THREE, { outcome: 'start' });
    assert.is(await sweep(store, THREE + DAY), 0);
    await checkIn(store, token, THREE + DAY);
    assert.is((await snitchOf(store, owner, token)).state.runs, null);
  });

  test('a changed longest time holds for the runs that are open', async ({ store }) => {
    const night = await Night.of(store);
    const change = (maxRuntime: number | null, at: number) =>
      store.updateSnitch(night.owner.id, night.token, { maxRuntime }, at);
    const own = (await night.state()).dueAt;
    await night.start(THREE);
    await change(3_600, THREE + MINUTE);
    assert.is((await night.state()).dueAt, THREE + HOUR);
    await change(14_400, THREE + MINUTE);
    assert.is((await night.state()).dueAt, THREE + 4 * HOUR);
    await change(null, THREE + MINUTE);
    assert.equal([(await night.state()).dueAt, (await night.state()).runs], [own, null]);
    await change(60, THREE + 2 * MINUTE);
    await night.failsAt(THREE + 2 * MINUTE, { kind: 'overran', startedAt: THREE }).catch(() => undefined);
    assert.equal((await night.state()).reason, { kind: 'overran', startedAt: THREE });
    await change(null, THREE + 3 * MINUTE);
    assert.is((await night.state()).status, 'failed', 'a change of the fields changes no state');
  });

  test('of the runs from before anybody watched, those count that began after the last end', async ({
    store,
  }) => {
    const night = await Night.of(store, { maxRuntime: null });
    await night.start(THREE - HOUR, { runId: 'lost' });
    await night.end(THREE - MINUTE, { runId: 'other' });
    await night.start(THREE, { runId: 'a' });
    await night.start(THREE + MINUTE);
    assert.is((await night.state()).runs, null);
    await store.updateSnitch(night.owner.id, night.token, { maxRuntime: 7_200 }, THREE + 2 * MINUTE);
    const started = (await night.state()).runs?.open.map(({ id, startedAt }) => [id, startedAt]);
    assert.equal(started, [
      ['a', THREE],
      [null, THREE + MINUTE],
    ]);
  });

  test('a changed schedule leaves the open run as it is', async ({ store }) => {
    const night = await Night.of(store);
    await night.start(THREE);
    const schedule = { cron: '0 5 * * *' };
    await store.updateSnitch(night.owner.id, night.token, { schedule }, THREE + HOUR);
    await night.failsAt(THREE + 2 * HOUR, { kind: 'overran', startedAt: THREE });
    await night.end(THREE + 2 * HOUR + MINUTE);
    assert.is((await night.state()).dueAt, utc('2025-07-11T05:30:00'));
  });

  test('the time zone of the case may change while a run is open', async ({ store }) => {
    const night = await Night.of(store);
    await night.start(THREE);
    await store.updateCase(night.owner.id, { timezone: 'Asia/Kathmandu' }, THREE + MINUTE);
    while (await store.rescheduleSlice(THREE + MINUTE));
    await night.failsAt(THREE + 2 * HOUR, { kind: 'overran', startedAt: THREE });
  });

  test('more runs than are watched do no harm, and those that hang are found', async ({ store }) => {
    const night = await Night.of(store);
    for (let index = 0; index < 120; index += 1) await night.start(THREE + index, { runId: `run-${index}` });
    assert.is((await night.state()).runs?.open.length, 50);
    await night.failsAt(THREE + 2 * HOUR, { kind: 'overran', startedAt: THREE });
    for (let index = 0; index < 60; index += 1) {
      await night.start(THREE + 3 * HOUR + index, { runId: `later-${index}` });
    }
    assert.is((await night.state()).runs?.open.length, 50, 'those that overran make room');
    assert.ok((await night.state()).runs?.open.every(({ startedAt }) => startedAt >= THREE + 3 * HOUR));
  });

  test('a clock that ran ahead moves the start of a run to now', async ({ store }) => {
    const night = await Night.of(store);
    await night.start(THREE + 10 * DAY);
    let after: number | null = 0;
    while (after !== null) after = await store.setAnewSlice(THREE, after);
    await night.failsAt(THREE + 2 * HOUR, { kind: 'overran', startedAt: THREE });
  });

  test('a clock that is set back a little ends the run all the same', async ({ store }) => {
    const night = await Night.of(store);
    await night.start(THREE + MINUTE);
    await night.end(THREE);
    assert.is((await night.state()).runs, null);
  });

  test('a snitch of intervals watches its runs as well, and so does a smart one', async ({ store }) => {
    for (const alertType of ['basic', 'smart'] as const) {
      const night = await Night.of(store, { interval: 'hourly', schedule: null, grace: null, alertType });
      const start = NOW + 80 * MINUTE;
      await night.end(start - MINUTE);
      await night.start(start);
      assert.is((await night.state()).dueAt, start + 2 * HOUR);
      await night.failsAt(start + 2 * HOUR, { kind: 'overran', startedAt: start });
      await store.deleteSnitch(night.owner.id, night.token);
    }
  });
});

contract('blind windows across runs', (test) => {
  async function blind(store: Store, start: number, end: number): Promise<void> {
    await store.openBlindWindow({ start, end });
    while (await store.postponeSlice(end));
  }

  test('a run whose end may have been lost is not accused, and the next one is awaited', async ({
    store,
  }) => {
    const night = await Night.of(store);
    await night.start(THREE);
    const [start, end] = [THREE + HOUR, THREE + 90 * MINUTE];
    await blind(store, start, end);
    const next = THREE + DAY + 30 * MINUTE;
    const postponements = await store.listPostponements(night.owner.id, night.token, 10);
    assert.equal(postponements, [{ start, end, dueAt: next }]);
    assert.is(await sweep(store, THREE + 10 * HOUR), 0);
    await night.failsAt(next, { kind: 'noCheckIn', by: next });
  });

  test('a run that goes on after the window ends as usual', async ({ store }) => {
    const night = await Night.of(store);
    await night.start(THREE);
    await blind(store, THREE + HOUR, THREE + 90 * MINUTE);
    await night.end(THREE + 100 * MINUTE);
    assert.equal((await night.alerts()).length, 1);
    assert.is((await night.state()).runs, null);
  });

  test('a window when no end was to be expected excuses nothing', async ({ store }) => {
    const night = await Night.of(store);
    for (const day of [0, 1, 2, 3, 4]) {
      await night.start(THREE + day * DAY);
      await night.end(THREE + day * DAY + (10 + day) * MINUTE);
    }
    const start = THREE + 5 * DAY;
    await night.start(start);
    await blind(store, start + HOUR, start + HOUR + 2 * SECOND);
    await night.failsAt(start + 2 * HOUR, { kind: 'overran', startedAt: start });
  });

  test('a run that would overrun in the window gets the time back', async ({ store }) => {
    const night = await Night.of(store);
    for (const day of [0, 1, 2, 3, 4]) {
      await night.start(THREE + day * DAY);
      await night.end(THREE + day * DAY + 10 * MINUTE);
    }
    const start = THREE + 5 * DAY;
    await night.start(start);
    await blind(store, start + 110 * MINUTE, start + 130 * MINUTE);
    await night.failsAt(start + 140 * MINUTE, { kind: 'overran', startedAt: start });
  });

  test('a window before the start and one after the alarm change nothing', async ({ store }) => {
    const night = await Night.of(store, { reminders: 'off' } as Partial<SnitchFields>);
    await blind(store, THREE - 2 * HOUR, THREE - HOUR);
    await night.start(THREE);
    await night.failsAt(THREE + 2 * HOUR, { kind: 'overran', startedAt: THREE });
    await blind(store, THREE + 2 * HOUR, THREE + 3 * HOUR);
    assert.equal((await night.state()).reason, { kind: 'overran', startedAt: THREE });
  });
});
