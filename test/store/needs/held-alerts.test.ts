/** One alert for a dead host: which alerts it holds, until when, and who is told in the end. */
import * as assert from 'uvu/assert';
import type { Case } from '../../../src/core/case.ts';
import type { Snitch, SnitchFields } from '../../../src/core/snitch.ts';
import type { Store } from '../acting.ts';
import {
  alertsOf,
  checkIn,
  contract,
  DAY,
  HOUR,
  healthySnitch,
  MINUTE,
  NOW,
  newCase,
  rejection,
  SECOND,
  snitchOf,
  sweep,
} from '../fixture.ts';

/** One pass of the sweeper, without blind windows. */
async function pass(store: Store, now: number): Promise<void> {
  while (await store.relieveSlice(now));
  await sweep(store, now);
}

const every = (minutes: number, fields: Partial<SnitchFields> = {}): Partial<SnitchFields> => ({
  schedule: { every: minutes * 60 },
  grace: 0,
  ...fields,
});

interface Host {
  owner: Case;
  host: Snitch;
  job: Snitch;
}

/** A host that checks in every 5 minutes, and a job on it every 10: both did at `NOW`. */
async function hostAndJob(store: Store, fields: Partial<SnitchFields> = {}): Promise<Host> {
  const owner = await newCase(store);
  const host = await healthySnitch(store, owner, every(5, { name: 'db1', tags: ['host'] }));
  const job = await healthySnitch(
    store,
    owner,
    every(10, { name: 'backup', needs: [host.token], ...fields }),
  );
  return { owner, host, job };
}

const HOST_FAILS = NOW + 5 * MINUTE;
const JOB_FAILS = NOW + 10 * MINUTE;

async function bothDown(store: Store, fields: Partial<SnitchFields> = {}): Promise<Host> {
  const made = await hostAndJob(store, fields);
  await pass(store, HOST_FAILS);
  await pass(store, JOB_FAILS);
  return made;
}

const REPORTED = 'snitch.reporting from pending';
const MISSING = 'snitch.missing from healthy';

const reasonOf = async (store: Store, { owner, job }: Host) => {
  const [last] = await store.listAlerts(owner.id, job.token, { limit: 1, before: null });
  return last?.alert.details;
};

contract('alerts that are held', (test) => {
  test('a host that is back restarts no deadline of another case', async ({ store }) => {
    const needs = ['tag:host'];
    const { host, owner, job } = await hostAndJob(store, { needs });
    const others = await hostAndJob(store, { needs });
    await checkIn(store, others.host.token, NOW + 4 * MINUTE);
    await pass(store, HOST_FAILS);
    await checkIn(store, host.token, NOW + 6 * MINUTE);
    await pass(store, NOW + 6 * MINUTE);
    assert.is((await snitchOf(store, owner, job.token)).state.dueAt, NOW + 16 * MINUTE);
    assert.is((await snitchOf(store, others.owner, others.job.token)).state.dueAt, JOB_FAILS);
  });

  test('a job whose host is down fails and tells nobody', async ({ store }) => {
    const { owner, host, job } = await bothDown(store);
    const { state, hold, missingSince } = await snitchOf(store, owner, job.token);
    assert.is(state.status, 'failed');
    assert.equal(hold, { by: { token: host.token, name: 'db1' }, since: JOB_FAILS, until: null });
    assert.is(missingSince, JOB_FAILS);
    assert.equal(await alertsOf(store, owner, job.token), [REPORTED]);
    assert.equal(await alertsOf(store, owner, host.token), [REPORTED, MISSING]);
    const { snitches } = await store.listSnitches(owner.id, { after: 0, limit: 10, tags: [] });
    const listed = snitches.find(({ token }) => token === job.token);
    assert.equal([listed?.hold, listed?.needs, listed?.missingSince], [hold, [host.token], JOB_FAILS]);
  });

  test('other reminders do not put it off once the host is back', async ({ store }) => {
    const { owner, host, job } = await bothDown(store);
    const well = NOW + 12 * MINUTE;
    await checkIn(store, host.token, well);
    await pass(store, well);
    const due = well + 10 * MINUTE;
    assert.is((await snitchOf(store, owner, job.token)).state.dueAt, due);
    await store.updateCase(owner.id, { reminders: 'daily' }, well + 3 * MINUTE);
    while (await store.rescheduleSlice(well + 3 * MINUTE));
    await checkIn(store, host.token, well + 4 * MINUTE);
    await checkIn(store, host.token, well + 8 * MINUTE);
    await pass(store, due);
    assert.equal(await alertsOf(store, owner, job.token), [REPORTED, MISSING]);
  });

  test('nobody is reminded of a held failure, however long it lasts, without reminders too', async ({
    store,
  }) => {
    for (const reminders of ['hourly', 'off'] as const) {
      const { owner, host, job } = await hostAndJob(store);
      const { name, timezone, members } = owner;
      await store.updateCase(owner.id, { name, timezone, members, reminders }, NOW);
      while (await store.rescheduleSlice(NOW));
      for (let at = HOST_FAILS; at < NOW + 5 * HOUR; at += 5 * MINUTE) await pass(store, at);
      assert.equal(await alertsOf(store, owner, job.token), [REPORTED]);
      const well = NOW + 5 * HOUR;
      await checkIn(store, host.token, well);
      await pass(store, well + 1);
      await checkIn(store, host.token, well + 5 * MINUTE);
      await pass(store, well + 10 * MINUTE - 1);
      assert.equal(await alertsOf(store, owner, job.token), [REPORTED]);
      await checkIn(store, host.token, well + 10 * MINUTE);
      await pass(store, well + 11 * MINUTE);
      assert.equal(await alertsOf(store, owner, job.token), [REPORTED, MISSING]);
    }
  });

  test('nobody is told of a job that checks in again, whichever recovers first', async ({ store }) => {
    for (const order of ['host', 'job', 'together'] as const) {
      const { owner, host, job } = await bothDown(store);
      const at = NOW + HOUR;
      if (order !== 'job') await checkIn(store, host.token, at);
      if (order !== 'together') await pass(store, at + SECOND);
      await checkIn(store, job.token, at + 2 * SECOND);
      if (order !== 'host') await checkIn(store, host.token, at + 2 * SECOND);
      await pass(store, at + 3 * SECOND);
      const { state, hold } = await snitchOf(store, owner, job.token);
      assert.equal([state.status, state.held, hold], ['healthy', null, null]);
      assert.equal(await alertsOf(store, owner, job.token), [REPORTED], order);
    }
  });

  test('a job that stays silent is reported, truthfully, when its host has been well for one of its periods', async ({
    store,
  }) => {
    const made = await bothDown(store);
    const { owner, host, job } = made;
    const well = NOW + HOUR;
    await checkIn(store, host.token, well);
    await pass(store, well + SECOND);
    const { hold } = await snitchOf(store, owner, job.token);
    const told = well + SECOND + 10 * MINUTE;
    assert.equal(hold, { by: { token: host.token, name: 'db1' }, since: JOB_FAILS, until: told });
    await checkIn(store, host.token, well + 5 * MINUTE);
    await checkIn(store, host.token, well + 10 * MINUTE);
    await pass(store, told - 1);
    assert.equal(await alertsOf(store, owner, job.token), [REPORTED]);
    await pass(store, told);
    assert.equal(await alertsOf(store, owner, job.token), [REPORTED, MISSING]);
    const details = await reasonOf(store, made);
    assert.equal(details?.reason, {
      kind: 'noCheckIn',
      by: JOB_FAILS,
      held: { by: 'db1', since: JOB_FAILS, until: well + SECOND },
    });
    assert.equal([details?.deadlineAt, details?.missingSince], [JOB_FAILS, JOB_FAILS]);
    await checkIn(store, job.token, told + MINUTE);
    assert.is(
      (await alertsOf(store, owner, job.token)).at(-1),
      'snitch.reporting from failed'.replace('failed', 'missing'),
    );
  });

  test('a host that fails again within that period goes on holding', async ({ store }) => {
    const { owner, host, job } = await bothDown(store);
    const well = NOW + HOUR;
    await checkIn(store, host.token, well);
    await pass(store, well + SECOND);
    await pass(store, well + 5 * MINUTE);
    await pass(store, well + 11 * MINUTE);
    assert.equal(await alertsOf(store, owner, job.token), [REPORTED]);
    assert.is((await snitchOf(store, owner, job.token)).hold?.until, null);
  });

  test('what needs a held snitch is held too, by the host at the end of the chain', async ({ store }) => {
    const { owner, host, job } = await hostAndJob(store);
    const third = await healthySnitch(store, owner, every(20, { name: 'report', needs: [job.token] }));
    for (const minutes of [5, 10, 20]) await pass(store, NOW + minutes * MINUTE);
    const { hold } = await snitchOf(store, owner, third.token);
    assert.is(hold?.by?.token, host.token);
    assert.equal(await alertsOf(store, owner, third.token), [REPORTED]);
    const well = NOW + HOUR;
    await checkIn(store, host.token, well);
    await pass(store, well);
    assert.is((await snitchOf(store, owner, third.token)).hold?.by?.token, job.token);
    await checkIn(store, job.token, well + MINUTE);
    await pass(store, well + 2 * MINUTE);
    assert.is((await snitchOf(store, owner, third.token)).hold?.until, well + 22 * MINUTE);
  });

  test('the order within a sweep does not matter', async ({ store }) => {
    for (const [hostEvery, jobEvery] of [
      [10, 5],
      [5, 10],
      [5, 5],
    ] as const) {
      const owner = await newCase(store);
      const host = await healthySnitch(store, owner, every(hostEvery, { tags: ['host'] }));
      const job = await healthySnitch(store, owner, every(jobEvery, { needs: ['tag:host'] }));
      const above = await healthySnitch(store, owner, every(jobEvery, { needs: [job.token] }));
      await pass(store, NOW + HOUR);
      assert.equal(await alertsOf(store, owner, host.token), [REPORTED, MISSING]);
      assert.equal(await alertsOf(store, owner, job.token), [REPORTED]);
      assert.equal(await alertsOf(store, owner, above.token), [REPORTED]);
    }
  });

  test('a job that is due a moment before its dead host waits for it, and for nothing longer', async ({
    store,
  }) => {
    for (const [isDead, expected] of [
      [true, [REPORTED]],
      [false, [REPORTED, MISSING]],
    ] as const) {
      const owner = await newCase(store);
      const host = await healthySnitch(store, owner, every(1), NOW - 10 * SECOND);
      const job = await healthySnitch(store, owner, every(1, { needs: [host.token], grace: 30 }));
      await store.updateSnitch(owner.id, host.token, { grace: 60 }, NOW - 10 * SECOND);
      const due = NOW + 90 * SECOND;
      await pass(store, due);
      const { state, hold } = await snitchOf(store, owner, job.token);
      assert.is(state.status, 'failed');
      assert.equal([hold?.by?.token, hold?.until], [host.token, NOW + 110 * SECOND]);
      if (!isDead) await checkIn(store, host.token, due + SECOND);
      await pass(store, NOW + 110 * SECOND);
      assert.equal(await alertsOf(store, owner, job.token), expected);
    }
  });

  test('a host that was heard since, or is slow, holds nothing', async ({ store }) => {
    const { owner, host, job } = await hostAndJob(store);
    await checkIn(store, host.token, NOW + 4 * MINUTE);
    await checkIn(store, host.token, NOW + 10 * MINUTE - 1);
    const slow = await healthySnitch(store, owner, { name: 'slow', interval: 'daily' });
    const needy = await healthySnitch(store, owner, every(10, { needs: [slow.token] }));
    await checkIn(store, host.token, NOW + 10 * MINUTE);
    await pass(store, JOB_FAILS);
    assert.equal(await alertsOf(store, owner, needy.token), [REPORTED, MISSING]);
    assert.equal(await alertsOf(store, owner, job.token), [REPORTED, MISSING]);
  });

  test('what is paused, pending or errored holds nothing', async ({ store }) => {
    for (const status of ['paused', 'pending', 'errored'] as const) {
      const { owner, host, job } = await hostAndJob(store);
      if (status === 'paused') await store.pauseSnitch(owner.id, host.token, { kind: 'unpaused' }, NOW);
      if (status === 'errored')
        await checkIn(store, host.token, JOB_FAILS, { outcome: 'error', exitStatus: 1 });
      if (status === 'pending') {
        const made = await store.createSnitch(
          owner.id,
          { name: 'p', notes: '', tags: [], alertEmail: [], interval: '1_minute', alertType: 'basic' },
          NOW,
        );
        await store.updateSnitch(owner.id, job.token, { needs: [made.token] }, NOW);
      }
      await pass(store, JOB_FAILS);
      assert.equal(await alertsOf(store, owner, job.token), [REPORTED, MISSING], status);
    }
  });

  test('an error of a job alerts as usual, and so does its recovery', async ({ store }) => {
    const { owner, job } = await bothDown(store);
    await checkIn(store, job.token, JOB_FAILS + MINUTE, { outcome: 'error', exitStatus: 3 });
    await checkIn(store, job.token, JOB_FAILS + 2 * MINUTE);
    assert.equal(await alertsOf(store, owner, job.token), [
      REPORTED,
      'snitch.errored from healthy',
      'snitch.reporting from errored',
    ]);
  });

  test('targets that got an error hear when the held job is well, and get no second error', async ({
    store,
  }) => {
    const { owner, host, job } = await hostAndJob(store);
    await checkIn(store, job.token, NOW + MINUTE, { outcome: 'error', exitStatus: 3 });
    await pass(store, HOST_FAILS);
    await pass(store, NOW + 11 * MINUTE);
    assert.is((await snitchOf(store, owner, job.token)).hold?.by?.token, host.token);
    await checkIn(store, job.token, NOW + 12 * MINUTE, { outcome: 'error', exitStatus: 3 });
    await checkIn(store, job.token, NOW + 13 * MINUTE);
    assert.equal(await alertsOf(store, owner, job.token), [
      REPORTED,
      'snitch.errored from healthy',
      'snitch.reporting from errored',
    ]);
  });

  test('a job that started and went silent with its host is reported with its start', async ({ store }) => {
    const made = await hostAndJob(store);
    const { host, job } = made;
    const started = NOW + MINUTE;
    await checkIn(store, job.token, started, { outcome: 'start' });
    await pass(store, HOST_FAILS);
    await pass(store, JOB_FAILS);
    const well = NOW + HOUR;
    for (const minutes of [0, 5, 10]) {
      await checkIn(store, host.token, well + minutes * MINUTE);
      await pass(store, well + minutes * MINUTE + SECOND);
    }
    const reason = (await reasonOf(store, made))?.reason;
    assert.equal([reason?.kind, reason && 'startedAt' in reason && reason.startedAt], ['noCheckIn', started]);
  });

  test('a run that overran because its host died is held as well', async ({ store }) => {
    const made = await hostAndJob(store, { maxRuntime: 60 });
    const { owner, host, job } = made;
    await checkIn(store, job.token, NOW + 4 * MINUTE + 30 * SECOND, { outcome: 'start' });
    await pass(store, HOST_FAILS);
    await pass(store, NOW + 5 * MINUTE + 30 * SECOND);
    const { state, hold } = await snitchOf(store, owner, job.token);
    assert.equal([state.status, state.reason?.kind, hold?.by?.token], ['failed', 'overran', host.token]);
    assert.equal(await alertsOf(store, owner, job.token), [REPORTED]);
    const well = NOW + HOUR;
    await checkIn(store, host.token, well);
    for (const minutes of [0, 5, 10]) {
      await checkIn(store, host.token, well + minutes * MINUTE);
      await pass(store, well + minutes * MINUTE + SECOND);
    }
    await pass(store, well + 10 * MINUTE + 2 * SECOND);
    assert.equal(await alertsOf(store, owner, job.token), [REPORTED, MISSING]);
    assert.is((await reasonOf(store, made))?.startedAt, NOW + 4 * MINUTE + 30 * SECOND);
  });

  test('a job that is not overdue when its host recovers gets a fresh period', async ({ store }) => {
    const { owner, host, job } = await hostAndJob(store);
    await pass(store, HOST_FAILS);
    await checkIn(store, host.token, NOW + 9 * MINUTE);
    await pass(store, NOW + 9 * MINUTE);
    assert.is((await snitchOf(store, owner, job.token)).state.dueAt, NOW + 19 * MINUTE);
    assert.is((await snitchOf(store, owner, job.token)).state.status, 'healthy');
  });

  test('the same if the sweep reaches the job before anything was restarted', async ({ store }) => {
    const { owner, host, job } = await hostAndJob(store);
    await pass(store, HOST_FAILS);
    await checkIn(store, host.token, NOW + 9 * MINUTE);
    await sweep(store, JOB_FAILS);
    const { state } = await snitchOf(store, owner, job.token);
    assert.equal([state.status, state.dueAt], ['healthy', NOW + 19 * MINUTE]);
    assert.equal(await alertsOf(store, owner, job.token), [REPORTED]);
  });

  test('nobody is reminded of the job while the host is down, but is once the host is well', async ({
    store,
  }) => {
    const { owner, host, job } = await hostAndJob(store);
    await checkIn(store, host.token, JOB_FAILS);
    await pass(store, JOB_FAILS);
    for (let at = JOB_FAILS; at <= NOW + 3 * HOUR; at += 5 * MINUTE) await pass(store, at);
    assert.equal(await alertsOf(store, owner, job.token), [REPORTED, MISSING]);
    for (let at = NOW + 3 * HOUR; at <= NOW + 5 * HOUR; at += 5 * MINUTE) {
      await checkIn(store, host.token, at);
      await pass(store, at);
    }
    assert.is((await alertsOf(store, owner, job.token)).at(-1), 'snitch.missing from missing');
  });

  test('a pause of the host gives its jobs their period, and then they alert', async ({ store }) => {
    const { owner, host, job } = await bothDown(store);
    await store.pauseSnitch(owner.id, host.token, { kind: 'unpaused' }, JOB_FAILS + MINUTE);
    await pass(store, JOB_FAILS + 2 * MINUTE);
    assert.is((await snitchOf(store, owner, job.token)).hold?.until, JOB_FAILS + 12 * MINUTE);
    await pass(store, JOB_FAILS + 12 * MINUTE);
    assert.equal(await alertsOf(store, owner, job.token), [REPORTED, MISSING]);
  });

  test('a held job that is paused goes on being held afterwards, and alerts after its period', async ({
    store,
  }) => {
    const { owner, host, job } = await bothDown(store);
    await store.pauseSnitch(owner.id, job.token, { kind: 'unpaused' }, JOB_FAILS + MINUTE);
    assert.is((await snitchOf(store, owner, job.token)).hold, null);
    await checkIn(store, host.token, JOB_FAILS + 2 * MINUTE);
    await pass(store, JOB_FAILS + 3 * MINUTE);
    const unpaused = NOW + HOUR;
    await checkIn(store, host.token, unpaused);
    await store.unpauseSnitch(owner.id, job.token, unpaused);
    assert.is((await snitchOf(store, owner, job.token)).hold?.until, unpaused + 10 * MINUTE);
    await checkIn(store, host.token, unpaused + 10 * MINUTE);
    await pass(store, unpaused + 10 * MINUTE);
    assert.equal(await alertsOf(store, owner, job.token), [REPORTED, 'snitch.paused from healthy', MISSING]);
  });

  test('an error during a pause ends what was held', async ({ store }) => {
    const { owner, job } = await bothDown(store);
    await store.pauseSnitch(owner.id, job.token, { kind: 'unpaused' }, JOB_FAILS + MINUTE);
    await checkIn(store, job.token, JOB_FAILS + 2 * MINUTE, { outcome: 'error', exitStatus: 1 });
    await store.unpauseSnitch(owner.id, job.token, JOB_FAILS + 3 * MINUTE);
    const { state } = await snitchOf(store, owner, job.token);
    assert.equal([state.status, state.held], ['errored', null]);
  });

  test('the host is deleted: its jobs have their period, and then they alert', async ({ store }) => {
    for (const need of ['token', 'tag'] as const) {
      const { owner, host, job } = await bothDown(store, need === 'tag' ? { needs: ['tag:host'] } : {});
      await store.deleteSnitch(owner.id, host.token);
      const before = await snitchOf(store, owner, job.token);
      assert.equal(before.needs, need === 'tag' ? ['tag:host'] : []);
      assert.is(before.hold?.by, null);
      await pass(store, JOB_FAILS + MINUTE);
      assert.is((await snitchOf(store, owner, job.token)).hold?.until, JOB_FAILS + 11 * MINUTE);
      await pass(store, JOB_FAILS + 11 * MINUTE);
      assert.equal(await alertsOf(store, owner, job.token), [REPORTED, MISSING]);
    }
  });

  test('the host loses the tag by which it was needed: its jobs have their period, and then they alert', async ({
    store,
  }) => {
    for (const how of ['removeTag', 'updateSnitch'] as const) {
      const { owner, host, job } = await bothDown(store, { needs: ['tag:host'] });
      if (how === 'removeTag') await store.removeTag(owner.id, host.token, ['host']);
      else await store.updateSnitch(owner.id, host.token, { tags: ['other'] }, JOB_FAILS);
      await pass(store, JOB_FAILS + MINUTE);
      assert.is((await snitchOf(store, owner, job.token)).hold?.until, JOB_FAILS + 11 * MINUTE);
      await pass(store, JOB_FAILS + 11 * MINUTE);
      assert.equal(await alertsOf(store, owner, job.token), [REPORTED, MISSING]);
    }
  });

  test('the need is taken back while the alert is held: it is raised at once', async ({ store }) => {
    const made = await bothDown(store);
    const { owner, host, job } = made;
    const same = await store.updateSnitch(owner.id, job.token, { needs: [host.token] }, JOB_FAILS + MINUTE);
    assert.is(same?.hold?.by?.token, host.token);
    const after = await store.updateSnitch(owner.id, job.token, { needs: [] }, JOB_FAILS + 2 * MINUTE);
    assert.equal([after?.hold, after?.state.status, after?.needs], [null, 'failed', []]);
    assert.equal(await alertsOf(store, owner, job.token), [REPORTED, MISSING]);
    assert.is((await reasonOf(store, made))?.deadlineAt, JOB_FAILS);
    await pass(store, NOW + 2 * DAY);
    assert.equal(await alertsOf(store, owner, job.token), [REPORTED, MISSING, 'snitch.missing from missing']);
  });

  test('a need that is added while the alert waits leaves it waiting', async ({ store }) => {
    const { owner, host, job } = await bothDown(store);
    await checkIn(store, host.token, NOW + HOUR);
    await pass(store, NOW + HOUR);
    const other = await healthySnitch(store, owner, { name: 'switch' }, NOW + HOUR);
    await store.updateSnitch(owner.id, job.token, { needs: [host.token, other.token] }, NOW + HOUR + MINUTE);
    assert.is((await snitchOf(store, owner, job.token)).hold?.until, NOW + HOUR + 10 * MINUTE);
    assert.equal(await alertsOf(store, owner, job.token), [REPORTED]);
  });

  test('a blind window after the host recovered gives the job its time back', async ({ store }) => {
    const { owner, host, job } = await bothDown(store);
    const well = NOW + HOUR;
    await checkIn(store, host.token, well);
    await pass(store, well);
    await store.openBlindWindow({ start: well + 9 * MINUTE, end: well + 12 * MINUTE });
    while (await store.postponeSlice(well + 12 * MINUTE));
    await checkIn(store, host.token, well + 12 * MINUTE);
    await pass(store, well + 12 * MINUTE);
    assert.equal(await alertsOf(store, owner, job.token), [REPORTED]);
    const { hold } = await snitchOf(store, owner, job.token);
    assert.ok((hold?.until ?? 0) > well + 20 * MINUTE);
    for (let at = well + 12 * MINUTE; at <= (hold?.until ?? 0); at += 4 * MINUTE)
      await checkIn(store, host.token, at);
    await pass(store, hold?.until ?? 0);
    assert.equal(await alertsOf(store, owner, job.token), [REPORTED, MISSING]);
  });

  test('held alerts survive a restart, also one between the recovery and the restarted deadlines', async (opened) => {
    const { owner, host, job } = await bothDown(opened.store);
    let store = await opened.reopen();
    assert.is((await snitchOf(store, owner, job.token)).hold?.by?.name, 'db1');
    const well = NOW + HOUR;
    await checkIn(store, host.token, well);
    store = await opened.reopen();
    await sweep(store, well + SECOND);
    assert.equal(await alertsOf(store, owner, job.token), [REPORTED]);
    store = await opened.reopen();
    await pass(store, well + 2 * SECOND);
    assert.is((await snitchOf(store, owner, job.token)).hold?.until, well + 2 * SECOND + 10 * MINUTE);
  });

  test('times written by a clock that was ahead do not hold alerts for long', async ({ store }) => {
    const { owner, host, job } = await bothDown(store);
    const ahead = NOW + 400 * 24 * HOUR;
    await checkIn(store, host.token, ahead);
    await pass(store, ahead);
    for (let after: number | null = 0; after !== null; ) after = await store.setAnewSlice(NOW + HOUR, after);
    for (let at = NOW + HOUR; at <= NOW + 2 * HOUR; at += 4 * MINUTE) {
      await checkIn(store, host.token, at);
      await pass(store, at);
    }
    assert.equal(await alertsOf(store, owner, job.token), [REPORTED, MISSING]);
  });

  test('the deadlines of many restart in slices', async ({ store }) => {
    const owner = await newCase(store);
    const host = await healthySnitch(store, owner, every(5, { tags: ['host'] }));
    const made = await Promise.all(
      Array.from({ length: 450 }, () => healthySnitch(store, owner, every(10, { needs: ['tag:host'] }))),
    );
    await pass(store, HOST_FAILS);
    await pass(store, JOB_FAILS);
    await checkIn(store, host.token, NOW + HOUR);
    let slices = 0;
    while (await store.relieveSlice(NOW + HOUR)) slices += 1;
    assert.is(slices, 3);
    for (const { token } of made) {
      assert.is((await snitchOf(store, owner, token)).hold?.until, NOW + HOUR + 10 * MINUTE);
    }
    assert.is((await alertsOf(store, owner)).filter((alert) => alert === MISSING).length, 1);
  });

  test('those of one host are not passed over while the many of another restart', async ({ store }) => {
    const owner = await newCase(store);
    const hosts = [
      await healthySnitch(store, owner, every(5, { tags: ['many'] })),
      await healthySnitch(store, owner, every(5, { tags: ['few'] })),
    ];
    const jobsOf = (tag: string, length: number) =>
      Promise.all(
        Array.from({ length }, () => healthySnitch(store, owner, every(10, { needs: [`tag:${tag}`] }))),
      );
    const few = await jobsOf('few', 2);
    await jobsOf('many', 250);
    await pass(store, HOST_FAILS);
    await pass(store, JOB_FAILS);
    for (const { token } of hosts) await checkIn(store, token, NOW + HOUR);
    while (await store.relieveSlice(NOW + HOUR));
    for (const { token } of few) {
      assert.is((await snitchOf(store, owner, token)).hold?.until, NOW + HOUR + 10 * MINUTE);
    }
  });

  test('the last run of a schedule is reported as well', async ({ store }) => {
    const { owner, host } = await hostAndJob(store);
    const schedule = { calendar: '2025-07-09 10:30:00' };
    const job = await healthySnitch(store, owner, {
      schedule,
      grace: 0,
      interval: 'hourly',
      needs: [host.token],
    });
    await pass(store, HOST_FAILS);
    await pass(store, JOB_FAILS);
    assert.is((await snitchOf(store, owner, job.token)).hold?.by?.token, host.token);
    for (let at = NOW + HOUR; at <= NOW + 4 * HOUR; at += 4 * MINUTE) {
      await checkIn(store, host.token, at);
      await pass(store, at);
    }
    assert.equal(await alertsOf(store, owner, job.token), [REPORTED, MISSING]);
  });
});

contract('needs that are refused', (test) => {
  const wordsOf = async (promise: Promise<unknown>) => {
    const { validations } = (await rejection(promise)) as {
      validations?: { attribute: string; message: string }[];
    };
    return validations?.map(({ attribute, message }) => `${attribute} ${message}`).join();
  };

  test('a need of an unknown token, of one of another case or of its own is refused', async ({ store }) => {
    const { owner, host, job } = await hostAndJob(store);
    const other = await newCase(store);
    const foreign = await healthySnitch(store, other);
    for (const token of ['nothing', foreign.token]) {
      const words = await wordsOf(store.updateSnitch(owner.id, job.token, { needs: [token] }, NOW));
      assert.is(
        words,
        `needs names ${token}, which is the token of no snitch of this case (write tag:<tag> for a tag)`,
      );
    }
    const own = await wordsOf(store.updateSnitch(owner.id, host.token, { needs: [host.token] }, NOW));
    assert.is(own, 'needs would go in a circle: db1 needs db1');
    assert.equal((await snitchOf(store, owner, job.token)).needs, [host.token]);
  });

  test('needs that form a circle are refused, with the way in words', async ({ store }) => {
    const { owner, host, job } = await hostAndJob(store);
    const direct = await wordsOf(store.updateSnitch(owner.id, host.token, { needs: [job.token] }, NOW));
    assert.is(direct, 'needs would go in a circle: db1 needs backup, which needs db1');
    await store.addTags(owner.id, job.token, ['jobs']);
    const tagged = await wordsOf(store.updateSnitch(owner.id, host.token, { needs: ['tag:jobs'] }, NOW));
    assert.is(tagged, 'needs would go in a circle: db1 needs backup (tag:jobs), which needs db1');
    assert.equal((await snitchOf(store, owner, host.token)).needs, []);
  });

  test('tags that would close a circle are refused, whichever request gives them', async ({ store }) => {
    const owner = await newCase(store);
    const host = await healthySnitch(store, owner, every(5, { name: 'db1', needs: ['tag:net'] }));
    const web = await healthySnitch(store, owner, every(5, { name: 'web1', needs: [host.token] }));
    const words = 'needs would go in a circle: web1 needs db1, which needs web1 (tag:net)';
    assert.is(await wordsOf(store.addTags(owner.id, web.token, ['net'])), words);
    assert.is(await wordsOf(store.updateSnitch(owner.id, web.token, { tags: ['net'] }, NOW)), words);
    assert.equal((await snitchOf(store, owner, web.token)).tags, []);
    const own = {
      name: 'x',
      notes: '',
      tags: ['net'],
      alertEmail: [],
      interval: 'hourly',
      alertType: 'basic',
    } as const;
    const made = store.createSnitch(
      owner.id,
      { ...own, tags: ['net'], alertEmail: [], needs: ['tag:net'] },
      NOW,
    );
    assert.is(await wordsOf(made), 'needs would go in a circle: x needs x (tag:net)');
    // If the needs are taken back in the same request, the tag closes no circle.
    const both = await store.updateSnitch(owner.id, web.token, { tags: ['net'], needs: [] }, NOW);
    assert.equal([both?.tags, both?.needs], [['net'], []]);
  });

  test('a deleted snitch is needed by nobody', async ({ store }) => {
    const { owner, host, job } = await hostAndJob(store);
    await store.deleteSnitch(owner.id, host.token);
    assert.equal((await snitchOf(store, owner, job.token)).needs, []);
    await pass(store, JOB_FAILS);
    assert.equal(await alertsOf(store, owner, job.token), [REPORTED, MISSING]);
  });
});
