/** Alarms that somebody has seen: of a snitch, and of the one alert that a link is for. */
import * as assert from 'uvu/assert';
import { Invalid } from '../../src/core/errors.ts';
import type { Store } from './acting.ts';
import {
  alertsOf,
  checkIn,
  contract,
  HOUR,
  healthySnitch,
  MINUTE,
  NOW,
  newCase,
  newSnitch,
  rejection,
  SECOND,
  snitchOf,
  sweep,
} from './fixture.ts';

const SAID = { note: 'on it', by: 'Ann' };

/** A case with one snitch that failed at 12:00. */
async function setUp(store: Store) {
  const owner = await newCase(store, { members: ['ann@example.com'] });
  const { token } = await healthySnitch(store, owner);
  await sweep(store, NOW + 2 * HOUR);
  return { owner, token, now: NOW + 2 * HOUR };
}

/** The ids of the alerts, the newest first. */
async function ids(store: Store, caseId: string, token: string): Promise<string[]> {
  const listed = await store.listAlerts(caseId, token, { limit: 100, before: null });
  return listed.map(({ alert }) => alert.id);
}

contract('acknowledgements', (test) => {
  test('an acknowledged alarm is kept, listed, and not reminded of until it changes', async ({
    store,
    reopen,
  }) => {
    const { owner, token, now } = await setUp(store);
    const answered = await store.acknowledgeSnitch(owner.id, token, SAID, now);
    const acknowledged = { at: now, ...SAID };
    assert.equal(answered?.state.acknowledged, acknowledged);
    const { snitches } = await store.listSnitches(owner.id, { after: 0, limit: 10, tags: [] });
    assert.equal(snitches[0]?.state.acknowledged, acknowledged);
    const again = await reopen();
    assert.is(await sweep(again, now + 48 * HOUR), 0, 'no reminder');
    assert.equal((await snitchOf(again, owner, token)).state.acknowledged, acknowledged);
    await checkIn(again, token, now + 49 * HOUR);
    assert.is((await snitchOf(again, owner, token)).state.acknowledged, null);
    await sweep(again, now + 52 * HOUR);
    assert.equal(await alertsOf(again, owner, token), [
      'snitch.reporting from pending',
      'snitch.missing from healthy',
      'snitch.reporting from missing',
      'snitch.missing from healthy',
    ]);
    assert.ok((await sweep(again, now + 56 * HOUR)) > 0, 'the next outage has reminders');
  });

  test('taken back, the reminders go on', async ({ store }) => {
    const { owner, token, now } = await setUp(store);
    await store.acknowledgeSnitch(owner.id, token, SAID, now);
    const back = await store.unacknowledgeSnitch(owner.id, token, now + 10 * HOUR);
    assert.is(back?.state.acknowledged, null);
    assert.is(await sweep(store, now + 10 * HOUR), 0);
    assert.is(await sweep(store, now + 12 * HOUR), 1);
    assert.is((await store.unacknowledgeSnitch(owner.id, token, now))?.state.status, 'failed', 'it is safe');
  });

  test('only an alarm can be acknowledged, and only by its own case', async ({ store }) => {
    const owner = await newCase(store);
    const rival = await newCase(store);
    const { token } = await newSnitch(store, owner);
    const refuse = async () =>
      assert.instance(await rejection(store.acknowledgeSnitch(owner.id, token, SAID, NOW)), Invalid);
    await refuse();
    await checkIn(store, token, NOW);
    await refuse();
    await store.pauseSnitch(owner.id, token, { kind: 'unpaused' }, NOW);
    await refuse();
    assert.is((await snitchOf(store, owner, token)).state.status, 'paused');
    assert.is(await store.acknowledgeSnitch(rival.id, token, SAID, NOW), null);
    assert.is(await store.unacknowledgeSnitch(rival.id, token, NOW), null);
    assert.is(await store.acknowledgeSnitch(owner.id, 'none', SAID, NOW), null);
  });

  test('who acknowledges in the second of the reminder is either before it or after it', async ({
    store,
  }) => {
    const { owner, token, now } = await setUp(store);
    const due = (await snitchOf(store, owner, token)).state.dueAt ?? 0;
    const said = store.acknowledgeSnitch(owner.id, token, SAID, due);
    assert.is(await sweep(store, due), 0, 'the reminder came after it, and finds it seen');
    await said;
    await store.unacknowledgeSnitch(owner.id, token, now);
    const then = (await snitchOf(store, owner, token)).state.dueAt ?? 0;
    const swept = sweep(store, then);
    await Promise.all([swept, store.acknowledgeSnitch(owner.id, token, SAID, then)]);
    assert.is(await sweep(store, then + 48 * HOUR), 0, 'whichever was first, it is the last');
    assert.is((await snitchOf(store, owner, token)).state.acknowledged?.by, 'Ann');
  });

  test('one that flaps is not told of once somebody has seen what it is', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await newSnitch(store, owner, { interval: 'daily' });
    for (let index = 0; index < 31; index += 1) {
      const outcome = index % 2 === 0 ? 'error' : 'healthy';
      await checkIn(store, token, NOW + index * SECOND, { outcome });
    }
    const before = (await ids(store, owner.id, token)).length;
    await store.acknowledgeSnitch(owner.id, token, SAID, NOW + MINUTE);
    await sweep(store, NOW + HOUR);
    assert.is((await ids(store, owner.id, token)).length, before);
    await checkIn(store, token, NOW + 2 * HOUR);
    assert.is(
      (await ids(store, owner.id, token)).length,
      before + 1,
      'the flapping is over: the end is told',
    );
  });
});

contract('acknowledgements by the link of one alarm', (test) => {
  test('the alarm is acknowledged once, whoever comes second is told who was first', async ({ store }) => {
    const { owner, token, now } = await setUp(store);
    const [id = ''] = await ids(store, owner.id, token);
    const before = await store.findAlarm(id);
    assert.is(before?.lasts, true);
    assert.is(before?.status, 'failed');
    assert.is(before?.acknowledged, null);
    const [one, other] = await Promise.all([
      store.acknowledgeAlarm(id, SAID, now),
      store.acknowledgeAlarm(id, { note: 'me too', by: 'Bob' }, now),
    ]);
    assert.is(one?.isNew, true);
    assert.is(other?.isNew, false);
    for (const seen of [one, other, await store.findAlarm(id)]) {
      assert.equal(seen?.acknowledged, { at: now, ...SAID });
    }
    assert.equal((await snitchOf(store, owner, token)).state.acknowledged, { at: now, ...SAID });
  });

  test('a reminder and its alarm are the same, and a pause gives the alarm back', async ({ store }) => {
    const { owner, token, now } = await setUp(store);
    await sweep(store, now + 3 * HOUR);
    const [reminder = '', first = ''] = await ids(store, owner.id, token);
    assert.is((await store.findAlarm(reminder))?.lasts, true);
    await store.pauseSnitch(owner.id, token, { kind: 'unpaused' }, now + 3 * HOUR);
    const paused = await store.acknowledgeAlarm(first, SAID, now + 3 * HOUR);
    assert.is(paused?.lasts, false);
    assert.is(paused?.status, 'paused');
    await store.unpauseSnitch(owner.id, token, now + 3 * HOUR);
    assert.is((await store.acknowledgeAlarm(first, SAID, now + 3 * HOUR))?.isNew, true);
  });

  test('after the recovery, in the next outage, and once it is another alarm, nothing is acknowledged', async ({
    store,
  }) => {
    const { owner, token, now } = await setUp(store);
    const [missing = ''] = await ids(store, owner.id, token);
    const acknowledgesNothing = async (id: string, what: string) => {
      const answer = await store.acknowledgeAlarm(id, SAID, now + 20 * HOUR);
      assert.is(answer?.isNew, false, what);
      assert.is(answer?.lasts, false, what);
      assert.is((await snitchOf(store, owner, token)).state.acknowledged, null, what);
    };
    await checkIn(store, token, now + MINUTE, { outcome: 'error' });
    const [errored = ''] = await ids(store, owner.id, token);
    await acknowledgesNothing(missing, 'it is errored now');
    await sweep(store, now + 5 * HOUR);
    await acknowledgesNothing(errored, 'it is missing again');
    await acknowledgesNothing(missing, 'missing anew, after an error in between');
    await checkIn(store, token, now + 6 * HOUR);
    await acknowledgesNothing(missing, 'it is well');
    await sweep(store, now + 10 * HOUR);
    await acknowledgesNothing(missing, 'the next outage');
    await store.deleteSnitch(owner.id, token);
    const gone = await store.acknowledgeAlarm(missing, SAID, now + 20 * HOUR);
    assert.equal([gone?.isNew, gone?.lasts, gone?.status], [false, false, null]);
  });

  test('a silent recovery under a pause ends the alarm as well', async ({ store }) => {
    const { owner, token, now } = await setUp(store);
    const [missing = ''] = await ids(store, owner.id, token);
    await store.pauseSnitch(owner.id, token, { kind: 'unpaused' }, now);
    await checkIn(store, token, now + MINUTE);
    await store.unpauseSnitch(owner.id, token, now + 2 * MINUTE);
    await sweep(store, now + 5 * HOUR);
    assert.is((await snitchOf(store, owner, token)).state.status, 'failed');
    assert.is((await store.acknowledgeAlarm(missing, SAID, now + 5 * HOUR))?.lasts, false);
  });

  test('what is no alarm, and what is unknown, has no link', async ({ store }) => {
    const { owner, token, now } = await setUp(store);
    await checkIn(store, token, now + MINUTE);
    const [reported = ''] = await ids(store, owner.id, token);
    assert.is(await store.findAlarm(reported), null);
    assert.is(await store.findAlarm('alert_none'), null);
    assert.is(await store.acknowledgeAlarm('alert_none', SAID, now), null);
  });
});
