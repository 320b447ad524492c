/** Alarms that a service ends unless it is told of them again: whose turn it is, and which of them are over. */
import * as assert from 'uvu/assert';
import type { Case } from '../../src/core/case.ts';
import { DEFAULT_EVENTS, REPEAT_EVERY } from '../../src/core/channel.ts';
import type { Store } from './acting.ts';
import { checkIn, contract, DAY, HOUR, NOW, newCase, newSnitch } from './fixture.ts';

/** A case with such a channel. */
async function caseWithChannel(store: Store): Promise<{ owner: Case; channel: string }> {
  const owner = await newCase(store);
  const fields = { settings: { url: 'http://127.0.0.1:9' }, events: DEFAULT_EVENTS, tags: [] };
  const { id } = await store.createChannel(owner.id, { kind: 'alertmanager', name: null, fields }, NOW);
  return { owner, channel: id };
}

/** Delivers all that waits. */
async function tell(store: Store, now: number): Promise<void> {
  const request = { now, leaseUntil: now + HOUR, perTarget: 9, limit: 9, busy: [], after: '' };
  for (const { id, fence } of await store.claimDeliveries({ ...request, channel: 'alertmanager' }))
    await store.settleDelivery(id, fence, { kind: 'delivered', at: now, told: { reference: null } });
}

/** A snitch whose error was delivered at `now`. */
async function toldError(store: Store, owner: Case, now: number): Promise<string> {
  const { token } = await newSnitch(store, owner);
  await checkIn(store, token, now, { outcome: 'error' });
  await tell(store, now);
  return token;
}

/** The snitches whose alarms are to be repeated, in their order. */
async function taken(store: Store, now: number, limit = 9): Promise<string[]> {
  return (await store.takeRepeats(now, limit)).map(({ token }) => token);
}

contract('repeats', (test) => {
  test('each alarm has its turn by itself, at its time and not a moment before', async ({ store }) => {
    const { owner } = await caseWithChannel(store);
    assert.is(await store.nextRepeatAt(), null);
    const first = await toldError(store, owner, NOW);
    const second = await toldError(store, owner, NOW + 10);
    const due = NOW + REPEAT_EVERY;
    assert.is(await store.nextRepeatAt(), due);
    assert.equal(await taken(store, due - 1), []);
    assert.equal(await taken(store, due), [first]);
    assert.equal(await taken(store, due + 9), []);
    assert.is(await store.nextRepeatAt(), due + 10, 'only the turn of the first has moved');
    assert.equal(await taken(store, due + 10), [second]);
    assert.is(await store.nextRepeatAt(), due + REPEAT_EVERY);
    assert.equal(await taken(store, due + 2 * REPEAT_EVERY, 1), [first], 'one at a time, the oldest first');
    assert.equal(await taken(store, due + 2 * REPEAT_EVERY, 1), [second]);
  });

  test('a channel that is busy keeps the turns of its alarms', async ({ store }) => {
    const { owner, channel } = await caseWithChannel(store);
    const token = await toldError(store, owner, NOW);
    const due = NOW + REPEAT_EVERY;
    assert.equal(await store.takeRepeats(due, 9, ['other', channel]), []);
    assert.is(await store.nextRepeatAt(), due);
    const repeats = await store.takeRepeats(due, 9, ['other']);
    assert.equal(
      repeats.map((repeat) => [repeat.channelId, repeat.token]),
      [[channel, token]],
    );
  });

  test('an alarm that is over is forgotten, and no other', async ({ store }) => {
    const { owner, channel } = await caseWithChannel(store);
    const over = await toldError(store, owner, NOW);
    const lasting = await toldError(store, owner, NOW);
    const lasts = (token: string, channelId = channel) => store.lasts({ channelId, token });
    assert.equal(
      [await lasts(over), await lasts(lasting), await lasts(lasting, 'other')],
      [true, true, false],
    );
    await checkIn(store, over, NOW + 1);
    assert.is(await lasts(over), false, 'also before its end was delivered');
    assert.equal(await taken(store, NOW + REPEAT_EVERY), [lasting]);
    await checkIn(store, over, NOW + REPEAT_EVERY + 1, { outcome: 'error' });
    assert.equal([await lasts(over), await lasts(lasting)], [false, true], 'it must be delivered again');
  });

  test('the delivery of the end stops the repeats of that alarm alone', async ({ store }) => {
    const { owner } = await caseWithChannel(store);
    const ended = await toldError(store, owner, NOW);
    const lasting = await toldError(store, owner, NOW);
    await checkIn(store, ended, NOW + 1);
    await tell(store, NOW + 2);
    await checkIn(store, ended, NOW + 3, { outcome: 'error' });
    assert.equal(await taken(store, NOW + HOUR), [lasting]);
  });

  test('an alarm that another one follows is repeated as the new one, from its delivery on', async ({
    store,
  }) => {
    const { owner } = await caseWithChannel(store);
    const token = await toldError(store, owner, NOW);
    await store.applyDue(NOW + DAY, null, 9);
    await checkIn(store, token, NOW + DAY);
    await checkIn(store, token, NOW + DAY + 1, { outcome: 'error' });
    await tell(store, NOW + DAY + 1);
    assert.is(await store.nextRepeatAt(), NOW + DAY + 1 + REPEAT_EVERY);
    const [repeat] = await store.takeRepeats(NOW + 2 * DAY, 9);
    assert.is(repeat?.alert.at, NOW + DAY + 1);
  });

  test('a turn that a clock put into the future comes at once', async ({ store }) => {
    const { owner } = await caseWithChannel(store);
    const token = await toldError(store, owner, NOW + DAY);
    const near = await toldError(store, owner, NOW + REPEAT_EVERY);
    assert.equal(await taken(store, NOW), [], 'it is noticed, and due with the next look');
    assert.equal(await taken(store, NOW), [token]);
    assert.equal(await taken(store, NOW + 2 * REPEAT_EVERY), [token, near], 'what is near keeps its turn');
  });

  test('no repeat is left of what was deleted', async ({ store, query }) => {
    const { owner, channel } = await caseWithChannel(store);
    const gone = await toldError(store, owner, NOW);
    const lasting = await toldError(store, owner, NOW);
    await store.deleteSnitch(owner.id, gone);
    assert.equal(await taken(store, NOW + REPEAT_EVERY), [lasting]);
    await store.deleteChannel(owner.id, channel);
    assert.equal(await taken(store, NOW + HOUR), []);
    assert.equal(await query('SELECT token FROM repeats'), []);
  });
});
