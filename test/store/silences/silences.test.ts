import * as assert from 'uvu/assert';
import type { Case } from '../../../src/core/case.ts';
import type { SilenceScope, SilenceTime } from '../../../src/core/silences/silence.ts';
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
  newSnitch,
  SECOND,
  snitchOf,
  sweep,
  utc,
} from '../fixture.ts';

/** Snitches are hourly and checked in at 10:20, so that the next check-in is expected at 11:20. */
const DUE = utc('2025-07-09T12:00:00');
const ALL: SilenceScope = { kind: 'all' };

/** A silence from one time of the day to another. */
function once(from: string, to: string): SilenceTime {
  return { kind: 'once', from: utc(`2025-07-09T${from}:00`), to: utc(`2025-07-09T${to}:00`) };
}

function at(time: string): number {
  return utc(`2025-07-09T${time}:00`);
}

function silence(
  store: Store,
  { id }: Pick<Case, 'id'>,
  time: SilenceTime,
  scope: SilenceScope = ALL,
  now = NOW,
) {
  return store.createSilence(id, { scope, time, note: 'kernel', by: 'ops' }, now);
}

/** One pass of the sweep as the daemon makes it. @returns how many snitches changed */
async function pass(store: Store, now: number): Promise<number> {
  for (;;) {
    const { more, failures } = await store.endSilencesSlice(now);
    assert.equal(failures, []);
    if (!more) break;
  }
  const changed = await sweep(store, now);
  await store.moveLooks(now + 10 * MINUTE, null);
  return changed;
}

/** The alerts after the first check-in. */
async function told(store: Store, owner: Case, token: string): Promise<string[]> {
  return (await alertsOf(store, owner, token)).slice(1);
}

async function dueOf(store: Store, owner: Case, token: string): Promise<number | null> {
  return (await snitchOf(store, owner, token)).state.dueAt;
}

contract('deadlines in a silence', (test) => {
  test('are those from its first millisecond on', async ({ store }) => {
    const [covered, before] = [await newCase(store), await newCase(store)];
    const silent = await healthySnitch(store, covered);
    const loud = await healthySnitch(store, before);
    await silence(store, covered, { kind: 'once', from: DUE, to: at('13:00') });
    await silence(store, before, { kind: 'once', from: DUE + 1, to: at('13:00') });
    await pass(store, DUE);
    assert.equal(await told(store, covered, silent.token), []);
    assert.equal(await told(store, before, loud.token), ['snitch.missing from healthy']);
  });

  test('do not make the sweep look late', async ({ store }) => {
    const owner = await newCase(store);
    await healthySnitch(store, owner);
    await silence(store, owner, once('11:10', '18:00'));
    await pass(store, DUE);
    await pass(store, at('17:00'));
    assert.is((await store.census()).firstDueAt, at('18:00'), 'until then there is nothing to do');
    await pass(store, at('18:00'));
    assert.ok(((await store.census()).firstDueAt ?? 0) > at('18:00'));
  });

  test('wait for its end, and then the next run is awaited', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await healthySnitch(store, owner);
    await silence(store, owner, once('11:10', '12:30'));
    assert.is(await pass(store, DUE + MINUTE), 0);
    assert.is(await pass(store, at('12:29')), 0);
    assert.is(await dueOf(store, owner, token), DUE);
    assert.is(await pass(store, at('12:30')), 1);
    assert.is(await dueOf(store, owner, token), at('14:00'));
    assert.is((await snitchOf(store, owner, token)).state.postponed, 0);
    assert.equal(await told(store, owner, token), []);
    await pass(store, at('14:00'));
    assert.equal(await told(store, owner, token), ['snitch.missing from healthy']);
  });

  test('a silence that was over before the deadline, but kept the run away, moves it as well', async ({
    store,
  }) => {
    const owner = await newCase(store);
    const { token } = await healthySnitch(store, owner);
    await silence(store, owner, once('11:10', '11:30'));
    await pass(store, DUE);
    assert.is(await dueOf(store, owner, token), at('13:00'));
  });

  test('a silence that was over when the awaited period began changes nothing', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await healthySnitch(store, owner);
    await silence(store, owner, once('10:21', '11:00'));
    await pass(store, DUE);
    assert.equal(await told(store, owner, token), ['snitch.missing from healthy']);
  });

  test('two that overlap or touch are one, and the second need not have been made with the first', async ({
    store,
  }) => {
    const owner = await newCase(store);
    const { token } = await healthySnitch(store, owner);
    await silence(store, owner, once('11:10', '12:30'));
    await pass(store, DUE);
    await silence(store, owner, once('12:30', '13:10'), ALL, DUE);
    assert.is(await pass(store, at('12:30')), 0);
    await pass(store, at('13:10'));
    assert.is(await dueOf(store, owner, token), at('15:00'));
    assert.equal(await told(store, owner, token), []);
  });

  test('only what it covers waits, by the tags that a snitch has when it is decided', async ({ store }) => {
    const owner = await newCase(store);
    const tagged = await healthySnitch(store, owner, { tags: ['web1'] });
    const gains = await healthySnitch(store, owner);
    const loses = await healthySnitch(store, owner, { tags: ['web1'] });
    const other = await healthySnitch(store, owner, { tags: ['web10'] });
    await silence(store, owner, once('11:10', '12:30'), { kind: 'tags', tags: ['db', 'web1'] });
    await store.addTags(owner.id, gains.token, ['web1']);
    await pass(store, DUE);
    await store.removeTag(owner.id, loses.token, ['web1']);
    await pass(store, DUE + MINUTE);
    assert.equal(await told(store, owner, tagged.token), []);
    assert.equal(await told(store, owner, gains.token), []);
    assert.equal(await told(store, owner, loses.token), ['snitch.missing from healthy']);
    assert.equal(await told(store, owner, other.token), ['snitch.missing from healthy']);
  });

  test('one of some tags holds beside one of other snitches', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await healthySnitch(store, owner, { tags: ['web1'] });
    const other = await healthySnitch(store, owner);
    await silence(store, owner, once('11:10', '12:30'), { kind: 'tags', tags: ['web1'] });
    await silence(store, owner, once('11:10', '12:30'), { kind: 'tokens', tokens: [other.token] });
    await pass(store, DUE + MINUTE);
    assert.equal(await told(store, owner, token), []);
    assert.equal(await told(store, owner, other.token), []);
  });

  test('one that is deleted ends now, and snitches that waited for it are judged at once', async ({
    store,
  }) => {
    const owner = await newCase(store);
    const early = await healthySnitch(store, owner);
    const { id } = await silence(store, owner, once('11:50', '18:00'));
    await pass(store, DUE + MINUTE);
    assert.is(await store.deleteSilence(owner.id, id, at('12:10')), true);
    assert.is(await pass(store, at('12:10')), 1);
    // It was late, and gets the twenty minutes of the silence back.
    assert.is(await dueOf(store, owner, early.token), at('12:20'));
    await pass(store, at('12:20'));
    assert.equal(await told(store, owner, early.token), ['snitch.missing from healthy']);
    assert.equal(await store.listSilences(owner.id, at('12:10')), []);
  });

  test('one that is shortened ends then, and one that is extended goes on', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await healthySnitch(store, owner);
    const { id } = await silence(store, owner, once('11:50', '18:00'));
    await pass(store, DUE + MINUTE);
    await store.updateSilence(owner.id, id, { to: at('12:30') }, at('12:10'));
    await pass(store, at('12:11'));
    await store.updateSilence(owner.id, id, { to: at('12:40') }, at('12:12'));
    assert.is(await pass(store, at('12:30')), 0);
    assert.is(await pass(store, at('12:40')), 1);
    assert.is(await dueOf(store, owner, token), DUE + 50 * MINUTE);
    assert.equal(await store.listSilences(owner.id, at('12:40')), [], 'it is over');
  });

  test('one that is extended and then ended holds nothing until the end that it had first', async ({
    store,
  }) => {
    const owner = await newCase(store);
    const late = await healthySnitch(store, owner);
    const errored = await healthySnitch(store, owner);
    const { id } = await silence(store, owner, once('11:50', '18:00'));
    await checkIn(store, errored.token, at('11:55'), { outcome: 'error' });
    await pass(store, DUE + MINUTE);
    await store.updateSilence(owner.id, id, { to: at('20:00') }, at('12:05'));
    await pass(store, at('12:06'));
    await store.deleteSilence(owner.id, id, at('12:10'));
    await pass(store, at('12:10'));
    assert.is(await dueOf(store, owner, late.token), at('12:20'));
    assert.equal(await told(store, owner, errored.token), ['snitch.errored from healthy']);
    await pass(store, at('12:20'));
    assert.equal(await told(store, owner, late.token), ['snitch.missing from healthy']);
  });

  test('one that is changed and ended between two sweeps is no longer waited for', async ({ store }) => {
    for (const to of [at('15:00'), at('20:00')]) {
      const owner = await newCase(store);
      const { token } = await healthySnitch(store, owner);
      const { id } = await silence(store, owner, once('11:50', '18:00'));
      await pass(store, DUE + MINUTE);
      await store.updateSilence(owner.id, id, { to }, at('12:10'));
      await store.deleteSilence(owner.id, id, at('12:10'));
      await pass(store, at('12:10'));
      assert.is(await dueOf(store, owner, token), at('12:20'));
    }
  });

  test('a reminder waits, and a recovery of what was told does not', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await healthySnitch(store, owner);
    await pass(store, DUE);
    await silence(store, owner, once('12:30', '14:30'), ALL, at('12:10'));
    await pass(store, at('13:01'));
    await pass(store, at('14:01'));
    assert.equal(await told(store, owner, token), ['snitch.missing from healthy']);
    await pass(store, at('14:30'));
    assert.equal((await told(store, owner, token)).slice(1), ['snitch.missing from missing']);
    await silence(store, owner, once('14:40', '15:30'), ALL, at('14:40'));
    await checkIn(store, token, at('14:50'));
    assert.equal((await told(store, owner, token)).slice(2), ['snitch.reporting from missing']);
  });

  test('a recurring one holds at each of its times', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await healthySnitch(store, owner);
    const time = {
      kind: 'recurring',
      schedule: { cron: '45 11 * * *' },
      duration: 30 * MINUTE,
      timezone: null,
    } as const;
    await silence(store, owner, time);
    assert.is(await pass(store, DUE), 0);
    await pass(store, at('12:15'));
    assert.is(await dueOf(store, owner, token), at('12:30'));
    await checkIn(store, token, at('12:20') + DAY - HOUR);
    assert.is(await pass(store, DUE + DAY), 0);
  });

  test('a recurring one that moves with the time zone of its case is not waited for', async ({ store }) => {
    const owner = await newCase(store, { timezone: 'Europe/Berlin' });
    const late = await healthySnitch(store, owner, { schedule: { every: 600 }, grace: 0 });
    const errored = await healthySnitch(store, owner, { interval: 'daily' });
    const schedule = { cron: '25 12 * * *' };
    await silence(store, owner, { kind: 'recurring', schedule, duration: 6 * HOUR, timezone: null });
    await checkIn(store, errored.token, at('10:28'), { outcome: 'error' });
    await pass(store, at('10:31'));
    assert.equal(await told(store, owner, late.token), []);
    await store.updateCase(owner.id, { timezone: 'Asia/Tokyo' }, at('11:00'));
    while (await store.rescheduleSlice(at('11:00')));
    await pass(store, at('11:00'));
    assert.equal(await told(store, owner, late.token), ['snitch.missing from healthy']);
    assert.equal(await told(store, owner, errored.token), ['snitch.errored from healthy']);
  });

  test('a late check-in about a time in a silence counts with it', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await healthySnitch(store, owner);
    await pass(store, DUE);
    await silence(store, owner, once('12:10', '13:30'), ALL, at('12:05'));
    // The run after it was due in the silence, so that it is not missing.
    await checkIn(store, token, at('13:40'), { at: at('11:20') });
    const { state } = await snitchOf(store, owner, token);
    assert.is(state.status, 'healthy');
    assert.is(state.dueAt, at('15:00'));
    assert.is(state.postponed, 0);
  });

  test('a snitch that waits is not looked at again before the end', async ({ store, query }) => {
    const owner = await newCase(store);
    for (let count = 0; count < 200; count += 1) await healthySnitch(store, owner);
    await silence(store, owner, once('11:50', '13:00'));
    await pass(store, DUE);
    const looks = () =>
      query<{ count: number }>('SELECT COUNT(*) AS count FROM snitch_states WHERE look_at < ?', at('13:00'));
    assert.equal(await looks(), [{ count: 0 }]);
    await store.moveLooks(at('13:00'), null);
    assert.equal(await looks(), [{ count: 0 }]);
    assert.equal(await store.applyDue(DUE + SECOND, null, 300), {
      changed: 0,
      inVain: false,
      next: null,
      failures: [],
    });
    assert.is(await pass(store, at('13:00')), 200);
  });

  test('a check-in while it waits makes it due in time again', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await healthySnitch(store, owner);
    const { id } = await silence(store, owner, once('11:50', '18:00'));
    await pass(store, DUE);
    await checkIn(store, token, at('12:05'));
    await store.deleteSilence(owner.id, id, at('12:10'));
    await pass(store, at('14:00'));
    assert.equal(await told(store, owner, token), ['snitch.missing from healthy']);
  });

  test('what waits for the end of a silence that a wrong clock put into the future is looked at again', async ({
    store,
  }) => {
    const owner = await newCase(store);
    const { token } = await healthySnitch(store, owner);
    const ahead = NOW + 300 * DAY;
    const time = {
      kind: 'recurring',
      schedule: { cron: '0 0 * * *' },
      duration: 23 * HOUR,
      timezone: null,
    } as const;
    await silence(store, owner, time, ALL, NOW);
    const [made] = await store.listSilences(owner.id, NOW);
    await pass(store, ahead);
    await store.deleteSilence(owner.id, made?.id ?? '', at('11:00'));
    await store.setAnewSlice(at('13:00'), 0);
    await pass(store, at('13:00'));
    assert.equal(await told(store, owner, token), ['snitch.missing from healthy']);
  });

  test('a case, a snitch and a silence that are gone leave nothing behind', async ({ store, query }) => {
    const owner = await newCase(store);
    const { token } = await healthySnitch(store, owner);
    await silence(store, owner, once('10:20', '13:00'));
    await checkIn(store, token, at('11:00'), { outcome: 'error' });
    const count = (table: string) => query(`SELECT 1 FROM ${table}`).then((rows) => rows.length);
    assert.is(await count('silenced_alarms'), 1);
    await store.deleteSnitch(owner.id, token);
    assert.is(await count('silenced_alarms'), 0);
    const later = NOW + 400 * DAY;
    while (await store.prune({ checkIns: 10, olderThan: later, now: later }));
    assert.is(await count('silences'), 1);
    while (await store.prune({ checkIns: 10, olderThan: later, now: later + DAY }));
    assert.is(await count('silences'), 0);
    await silence(store, owner, once('10:20', '13:00'));
    await store.deleteCase(owner.id);
    assert.is(await count('silences'), 0);
  });
});

contract('alarms in a silence', (test) => {
  test('an error is told when the silence ends, once, if it still lasts', async ({ store, reopen }) => {
    const owner = await newCase(store, { members: ['ann@example.com'] });
    const { token } = await healthySnitch(store, owner);
    const mended = await healthySnitch(store, owner);
    await silence(store, owner, once('10:20', '11:10'));
    await checkIn(store, token, at('10:30'), { outcome: 'error', exitStatus: 3 });
    await checkIn(store, token, at('10:31'), { outcome: 'error', exitStatus: 4 });
    await checkIn(store, mended.token, at('10:30'), { outcome: 'error' });
    assert.is((await snitchOf(store, owner, token)).state.status, 'errored');
    await pass(store, at('11:09'));
    await checkIn(store, mended.token, at('11:09'));
    assert.equal(await told(store, owner, token), []);
    // The daemon is killed between the end and the sweep.
    const after = await reopen();
    await pass(after, at('11:20'));
    await pass(after, at('11:21'));
    assert.equal(await told(after, owner, token), ['snitch.errored from healthy']);
    assert.equal(await told(after, owner, mended.token), []);
    const [alert] = await after.listAlerts(owner.id, token, { limit: 1, before: null });
    assert.is(alert?.deliveries.length, 1);
    assert.equal(alert?.alert.details?.reason, { kind: 'exitStatus', status: 3 });
    assert.is(alert?.alert.details?.silencedSince, at('10:30'));
    await checkIn(after, token, at('11:30'));
    assert.equal((await told(after, owner, token)).slice(1), ['snitch.reporting from errored']);
  });

  test('a run that takes too long fails its snitch then, and is told at the end', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await healthySnitch(store, owner, { maxRuntime: 600 });
    await silence(store, owner, once('10:20', '11:10'));
    await checkIn(store, token, at('10:30'), { outcome: 'start' });
    await pass(store, at('10:41'));
    assert.is((await snitchOf(store, owner, token)).state.reason?.kind, 'overran');
    assert.equal(await told(store, owner, token), []);
    await pass(store, at('11:10'));
    assert.equal(await told(store, owner, token), ['snitch.missing from healthy']);
  });

  test('reminders that were due in the silence are not sent along with its alarm', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await healthySnitch(store, owner, { maxRuntime: 600 });
    await silence(store, owner, once('10:20', '14:10'));
    await checkIn(store, token, at('10:30'), { outcome: 'start' });
    for (const time of ['10:41', '12:00', '13:00', '14:00', '14:10', '14:11']) await pass(store, at(time));
    assert.equal(await told(store, owner, token), ['snitch.missing from healthy']);
    await pass(store, at('16:00'));
    assert.equal((await told(store, owner, token)).slice(1), ['snitch.missing from missing']);
  });

  test('a reminder of its alarm comes an hour later at the earliest', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await healthySnitch(store, owner, { maxRuntime: 600 });
    await silence(store, owner, once('10:20', '11:59'));
    await checkIn(store, token, at('10:30'), { outcome: 'start' });
    for (const time of ['10:41', '11:59', '12:00']) await pass(store, at(time));
    const [alarm] = await store.listAlerts(owner.id, token, { limit: 1, before: null });
    assert.is(alarm?.alert.details?.nextDueAt, at('13:00'));
    assert.equal(await told(store, owner, token), ['snitch.missing from healthy']);
    await pass(store, at('13:00'));
    assert.equal((await told(store, owner, token)).slice(1), ['snitch.missing from missing']);
  });

  test('it names the time that counts after the silence, and not one that passed in it', async ({
    store,
  }) => {
    const owner = await newCase(store);
    const overran = await healthySnitch(store, owner, { maxRuntime: 600 });
    const errored = await healthySnitch(store, owner);
    await silence(store, owner, once('10:20', '14:10'));
    await checkIn(store, overran.token, at('10:30'), { outcome: 'start' });
    await checkIn(store, errored.token, at('10:30'), { outcome: 'error' });
    for (const time of ['10:41', '12:00', '13:00', '14:10']) await pass(store, at(time));
    for (const { token } of [overran, errored]) {
      const [last] = await store.listAlerts(owner.id, token, { limit: 1, before: null });
      assert.is(last?.alert.details?.nextDueAt, await dueOf(store, owner, token), last?.alert.type);
    }
  });

  test('one that ends early releases held alerts at once', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await healthySnitch(store, owner);
    const { id } = await silence(store, owner, once('10:20', '18:00'));
    await checkIn(store, token, at('10:30'), { outcome: 'error' });
    await store.deleteSilence(owner.id, id, at('10:40'));
    await pass(store, at('10:40'));
    assert.equal(await told(store, owner, token), ['snitch.errored from healthy']);
  });

  test('a second silence keeps it back further', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await healthySnitch(store, owner);
    await silence(store, owner, once('10:20', '10:50'));
    await checkIn(store, token, at('10:30'), { outcome: 'error' });
    await silence(store, owner, once('10:40', '11:30'), ALL, at('10:40'));
    await pass(store, at('10:50'));
    assert.equal(await told(store, owner, token), []);
    await pass(store, at('11:30'));
    assert.equal(await told(store, owner, token), ['snitch.errored from healthy']);
  });

  test('what somebody acknowledged in the silence is not told at its end, unless that is taken back', async ({
    store,
  }) => {
    const owner = await newCase(store);
    const [seen, undone, worse, late] = [
      await healthySnitch(store, owner),
      await healthySnitch(store, owner),
      await healthySnitch(store, owner),
      await healthySnitch(store, owner),
    ];
    await silence(store, owner, once('10:20', '11:10'));
    for (const { token } of [seen, undone, worse, late]) {
      await checkIn(store, token, at('10:30'), { outcome: 'error' });
      await store.acknowledgeSnitch(owner.id, token, { by: 'ann', note: null }, at('10:40'));
    }
    await store.unacknowledgeSnitch(owner.id, undone.token, at('10:50'));
    await pass(store, at('11:10'));
    assert.equal(await told(store, owner, seen.token), []);
    assert.equal(await told(store, owner, undone.token), ['snitch.errored from healthy']);
    await checkIn(store, seen.token, at('11:20'));
    assert.equal(await told(store, owner, seen.token), [], 'nobody was told, so there is nothing to close');
    await store.unacknowledgeSnitch(owner.id, late.token, at('11:20'));
    await pass(store, at('11:20'));
    assert.equal(await told(store, owner, late.token), ['snitch.errored from healthy']);
    // Every change of the status ends an acknowledgement.
    await pass(store, at('18:00'));
    assert.equal((await told(store, owner, worse.token))[0], 'snitch.missing from errored');
  });

  test('a pause keeps it back until it ends', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await healthySnitch(store, owner);
    await silence(store, owner, once('10:20', '10:50'));
    await checkIn(store, token, at('10:30'), { outcome: 'error' });
    await store.pauseSnitch(owner.id, token, { kind: 'unpaused' }, at('10:40'));
    await pass(store, at('10:50'));
    await pass(store, at('10:51'));
    assert.equal(await told(store, owner, token), ['snitch.paused from errored']);
    await store.unpauseSnitch(owner.id, token, at('10:55'));
    await pass(store, at('10:55'));
    assert.equal((await told(store, owner, token)).slice(1), ['snitch.errored from healthy']);
  });

  test('an error of a snitch whose alarm was told belongs to that outage', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await healthySnitch(store, owner);
    await pass(store, DUE);
    await silence(store, owner, once('12:10', '12:50'), ALL, at('12:10'));
    await checkIn(store, token, at('12:20'), { outcome: 'error' });
    await checkIn(store, token, at('12:30'));
    const story = ['snitch.missing from healthy', 'snitch.reporting from errored'];
    assert.equal(await told(store, owner, token), story);
  });

  test('a first check-in and a pause are no alarms, and are told', async ({ store }) => {
    const owner = await newCase(store);
    await silence(store, owner, once('10:20', '12:50'));
    const { token } = await newSnitch(store, owner);
    await checkIn(store, token, at('10:30'));
    await store.pauseSnitch(owner.id, token, { kind: 'unpaused' }, at('10:40'));
    assert.equal(await alertsOf(store, owner, token), [
      'snitch.reporting from pending',
      'snitch.paused from healthy',
    ]);
  });
});

contract('silences as they are kept', (test) => {
  test('are listed while they are not over, and belong to one case', async ({ store }) => {
    const owner = await newCase(store);
    const other = await newCase(store);
    const one = await silence(store, owner, once('10:20', '11:00'));
    const two = await silence(store, owner, once('12:00', '13:00'), { kind: 'tags', tags: ['db'] }, NOW + 1);
    assert.equal(await store.listSilences(owner.id, NOW), [two, one]);
    assert.equal(await store.listSilences(owner.id, at('11:00')), [two]);
    assert.equal(await store.listSilences(other.id, NOW), []);
    assert.equal(await store.getSilence(owner.id, one.id), one);
    assert.is(await store.getSilence(other.id, one.id), null);
    assert.is(await store.deleteSilence(other.id, one.id, NOW), false);
  });

  test('a tag that no snitch of the case has is pointed out', async ({ store }) => {
    const [owner, other] = [await newCase(store), await newCase(store)];
    await newSnitch(store, owner, { tags: ['db'] });
    await newSnitch(store, other, { tags: ['web'] });
    assert.equal(await store.unknownTags(owner.id, ['db', 'web', 'none']), ['web', 'none']);
  });

  test('there are only so many, and only of snitches that are there', async ({ store }) => {
    const owner = await newCase(store);
    const fields = { scope: ALL, time: once('10:20', '11:00'), note: '', by: 'ops' };
    await store.createSilence(owner.id, fields, NOW, 1);
    const words = async (promise: Promise<unknown>) =>
      promise.then(
        () => '',
        (error: Error) => error.message,
      );
    assert.match(await words(store.createSilence(owner.id, fields, NOW, 1)), /1 is the most/);
    const scope = { kind: 'tokens', tokens: ['nowhere'] } as const;
    assert.match(await words(store.createSilence(owner.id, { ...fields, scope }, NOW)), /nowhere/);
    const many = { kind: 'tokens', tokens: ['one', 'two', 'three', 'four', 'five'] } as const;
    const refusal = await words(store.createSilence(owner.id, { ...fields, scope: many }, NOW));
    assert.match(refusal, /tokens name no snitch: one, two, three and 2 more$/);
  });

  test('a snitch that is due when its silence ends is shown with the deadline that it then gets', async ({
    store,
  }) => {
    const owner = await newCase(store);
    const { token } = await healthySnitch(store, owner);
    await silence(store, owner, once('11:10', '12:00'));
    const candidate = { token, tags: [], dueAt: DUE };
    const shown = (await store.silencedAmong(owner.id, [candidate], at('11:30')))?.get(token)?.dueAt;
    await pass(store, DUE);
    assert.is(await dueOf(store, owner, token), at('13:00'));
    assert.is(shown, at('13:00'));
  });

  test('a snitch shows until when it is silenced, and when it is due after that', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await healthySnitch(store, owner, { tags: ['db'] });
    const candidate = { token, tags: ['db'], dueAt: DUE };
    assert.is(await store.silencedAmong(owner.id, [candidate], NOW), null);
    await silence(store, owner, once('11:10', '12:30'), { kind: 'tags', tags: ['db'] });
    assert.equal([...((await store.silencedAmong(owner.id, [candidate], NOW)) ?? [])], []);
    await silence(store, owner, once('12:30', '12:50'), { kind: 'tokens', tokens: [token] });
    const found = (await store.silencedAmong(owner.id, [candidate], at('11:30')))?.get(token);
    assert.is(found?.until, at('12:50'));
    assert.is(found?.dueAt, at('14:00'));
    const over = await store.silenceOver(owner.id, token, at('11:30'));
    assert.is(over?.silenced?.silence.note, 'kernel');
    assert.is(over?.dueAt, at('14:00'));
    await pass(store, at('12:50'));
    assert.is(await dueOf(store, owner, token), at('14:00'));
  });
});
