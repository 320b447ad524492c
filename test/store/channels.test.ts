/** Channels of a case: what is stored about them, and which alerts they get. */
import * as assert from 'uvu/assert';
import type { ChannelFields, ChannelKind } from '../../src/core/channel.ts';
import type { ClaimedDelivery } from '../../src/core/delivery.ts';
import { Invalid } from '../../src/core/errors.ts';
import type { Channel } from '../../src/core/routing.ts';
import type { Store } from './acting.ts';
import {
  checkIn,
  contract,
  DAY,
  HOUR,
  MINUTE,
  NOW,
  newCase,
  newSnitch,
  rejection,
  SECOND,
} from './fixture.ts';

const ALL = ['missing', 'errored', 'reporting', 'paused'] as const;

function made(kind: ChannelKind, changes: Partial<ChannelFields> = {}) {
  const { name = null, settings = { topic: 'ops' }, events = ALL, tags = [] } = changes;
  return { kind, name, fields: { settings, events, tags } };
}

async function claim(store: Store, channel: Channel, now: number): Promise<ClaimedDelivery[]> {
  const request = { leaseUntil: now + MINUTE, perTarget: 50, limit: 50, after: '', busy: [] };
  return store.claimDeliveries({ ...request, now, channel });
}

const targets = async (store: Store, caseId: string) => {
  const [alert] = await store.listAlerts(caseId, null, { limit: 1, before: null });
  return alert?.deliveries.map(({ target }) => target) ?? [];
};

contract('channels', (test) => {
  test('of two that make the same at once, one makes it; another kind or what is known of is not in its way', async ({
    store,
  }) => {
    const { id: owner } = await newCase(store);
    const ops = { ...made('ntfy', { name: 'ops' }), known: [] };
    const tried = await Promise.allSettled([1, 2].map(() => store.createChannel(owner, ops, NOW)));
    assert.equal(tried.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
    const [first, ...others] = await store.listChannels(owner);
    assert.equal(others, []);
    await store.createChannel(owner, { ...ops, kind: 'gotify' }, NOW);
    const second = await store.createChannel(owner, { ...ops, known: [first!.id] }, NOW);
    assert.instance(
      await rejection(store.createChannel(owner, { ...ops, known: [second.id] }, NOW)),
      Invalid,
    );
    await store.createChannel(owner, made('ntfy', { name: 'ops' }), NOW);
  });

  test('a recovery is not sent to a target that its alarm did not reach, and no attempt is counted', async ({
    store,
  }) => {
    const owner = await newCase(store);
    await store.createChannel(owner.id, made('ntfy'), NOW);
    const { token } = await newSnitch(store, owner);
    await checkIn(store, token, NOW, { outcome: 'error' });
    for (const { id, fence } of await claim(store, 'ntfy', NOW)) {
      await store.settleDelivery(id, fence, { kind: 'dead', error: 'refused' });
    }
    await checkIn(store, token, NOW + MINUTE);
    assert.equal(await claim(store, 'ntfy', NOW + MINUTE), []);
    const dead = await store.listDeliveries(owner.id, { state: 'dead', limit: 9, before: null });
    assert.equal(
      dead.map(({ attempts, lastError }) => [attempts, lastError]),
      [
        [0, 'its alarm did not arrive there'],
        [1, 'refused'],
      ],
    );
  });

  test('a channel is read as it was made, and named after its kind', async ({ store }) => {
    const { id: owner } = await newCase(store);
    const one = await store.createChannel(owner, made('ntfy'), NOW);
    const { id, ...rest } = one;
    assert.match(id, /^chan_/);
    assert.equal(rest, {
      caseId: owner,
      kind: 'ntfy',
      name: 'ntfy',
      settings: { topic: 'ops' },
      events: ALL,
      tags: [],
      after: 0,
      hours: null,
      refused: null,
      createdAt: NOW,
    });
    const two = await store.createChannel(owner, made('ntfy'), NOW + 1);
    assert.is(two.name, 'ntfy-2');
    assert.equal(await store.getChannel(owner, id), one);
    assert.equal(await store.listChannels(owner), [two, one]);
    const changed = await store.updateChannel(owner, id, { name: 'night', tags: ['db'] });
    assert.equal(changed, { ...one, name: 'night', tags: ['db'] });
    assert.equal(await store.getChannel(owner, id), changed);
    assert.is(await store.deleteChannel(owner, id), true);
    assert.is(await store.deleteChannel(owner, id), false);
    assert.equal(await store.listChannels(owner), [two]);
  });

  test('no case reads, changes or deletes what another has; a deleted case leaves none', async ({
    store,
  }) => {
    const { id: owner } = await newCase(store);
    const { id: other } = await newCase(store);
    const { id } = await store.createChannel(owner, made('ntfy'), NOW);
    assert.is(await store.getChannel(other, id), null);
    assert.equal(await store.listChannels(other), []);
    assert.is(await store.updateChannel(other, id, { name: 'x' }), null);
    assert.is(await store.deleteChannel(other, id), false);
    assert.is(await store.createTestDelivery(other, { channel: 'ntfy', target: id }, NOW), null);
    await store.deleteCase(owner);
    assert.is(await store.getChannel(owner, id), null);
  });

  test('webhooks and channels share one limit', async ({ store }) => {
    const { id: owner } = await newCase(store);
    await store.createWebhook(owner, 'https://example.com/', NOW, { most: 2 });
    await store.createChannel(owner, made('ntfy'), NOW, 2);
    const refused = await rejection(store.createChannel(owner, made('ntfy'), NOW, 2));
    assert.instance(refused, Invalid);
    assert.match((refused as Error).message, 'channels are too many');
    assert.instance(
      await rejection(store.createWebhook(owner, 'https://example.com/', NOW, { most: 2 })),
      Invalid,
    );
    const { id: other } = await newCase(store);
    await store.createWebhook(other, 'https://example.com/', NOW, { most: 2 });
    await store.createChannel(other, made('ntfy'), NOW, 2);
    assert.is((await store.listChannels(other)).length, 1, 'those of other cases are not counted');
  });

  test('a channel is sent what its events and tags take, in the transaction of the alert', async ({
    store,
  }) => {
    const owner = await newCase(store);
    const all = await store.createChannel(owner.id, made('ntfy'), NOW);
    const errors = await store.createChannel(owner.id, made('slack', { events: ['errored'] }), NOW + 1);
    const db = await store.createChannel(owner.id, made('ntfy', { tags: ['db', 'web'] }), NOW + 2);
    await store.createChannel(owner.id, made('ntfy', { tags: ['mail'] }), NOW + 3);
    const tagged = await newSnitch(store, owner, { tags: ['db', 'x'] });
    await checkIn(store, tagged.token, NOW, { outcome: 'error', exitStatus: 1 });
    assert.equal(await targets(store, owner.id), [all.id, errors.id, db.id]);
    await checkIn(store, tagged.token, NOW + MINUTE);
    assert.equal(await targets(store, owner.id), [all.id, db.id], 'the recovery');
  });

  test('a recovery goes only where the alarm went; a first report to every target that accepts it', async ({
    store,
  }) => {
    const owner = await newCase(store);
    const chat = await store.createChannel(owner.id, made('ntfy'), NOW);
    const pager = await store.createChannel(owner.id, made('pagerduty'), NOW + 1);
    const cheers = await store.createChannel(owner.id, made('ntfy', { events: ['reporting'] }), NOW + 2);
    const { token } = await newSnitch(store, owner);
    await checkIn(store, token, NOW);
    assert.equal(await targets(store, owner.id), [chat.id, cheers.id], 'reporting for the first time');
    await checkIn(store, token, NOW + 1, { outcome: 'error' });
    assert.equal(await targets(store, owner.id), [chat.id, pager.id]);
    const late = await store.createChannel(owner.id, made('ntfy'), NOW + 3);
    await checkIn(store, token, NOW + 2);
    const told = await targets(store, owner.id);
    assert.equal(told, [chat.id, pager.id, cheers.id]);
    assert.not(told.includes(late.id));
    await store.pauseSnitch(owner.id, token, { kind: 'unpaused' }, NOW + 4);
    assert.equal(await targets(store, owner.id), [chat.id, late.id], 'an incident service hears of no alarm');
  });

  test('a claim brings the channel, and the same outage for alarm and recovery', async ({ store }) => {
    const owner = await newCase(store);
    const { id } = await store.createChannel(owner.id, made('telegram'), NOW);
    const { token } = await newSnitch(store, owner, { name: 'before' });
    await checkIn(store, token, NOW, { outcome: 'error' });
    const [alarm] = await claim(store, 'telegram', NOW);
    assert.is(alarm?.recipient?.channel?.id, id);
    assert.ok(alarm?.recipient);
    const { incident } = alarm.recipient;
    assert.equal(incident, { key: alarm?.alert.id, name: 'before', since: NOW, reference: null });
    const told = { reference: '4711' };
    await store.settleDelivery(alarm?.id as number, alarm?.fence as number, {
      kind: 'delivered',
      at: NOW,
      told,
    });
    await store.updateSnitch(owner.id, token, { name: 'after' }, NOW);
    await checkIn(store, token, NOW + MINUTE);
    const [recovery] = await claim(store, 'telegram', NOW + MINUTE);
    assert.equal(recovery?.recipient?.incident, { ...incident, reference: '4711' });
    await store.settleDelivery(recovery?.id as number, recovery?.fence as number, {
      kind: 'delivered',
      at: NOW,
      told: { reference: null },
    });
    await checkIn(store, token, NOW + 2 * MINUTE, { outcome: 'error' });
    const [next] = await claim(store, 'telegram', NOW + 2 * MINUTE);
    assert.is.not(next?.recipient?.incident.key, incident.key);
    assert.is(next?.recipient?.incident.reference, null);
  });

  test('a recovery waits for its alarm, and is claimed once that is settled', async ({ store }) => {
    const owner = await newCase(store);
    await store.createChannel(owner.id, made('pagerduty'), NOW);
    const { token } = await newSnitch(store, owner);
    await checkIn(store, token, NOW, { outcome: 'error' });
    const [alarm] = await claim(store, 'pagerduty', NOW);
    const failed = { kind: 'retry', at: NOW + HOUR, error: 'no' } as const;
    await store.settleDelivery(alarm?.id as number, alarm?.fence as number, failed);
    await checkIn(store, token, NOW + SECOND);
    assert.equal(await claim(store, 'pagerduty', NOW + SECOND), []);
    assert.equal(await claim(store, 'pagerduty', NOW + 2 * MINUTE), [], 'it still waits');
    const waiting = await store.listDeliveries(owner.id, { state: 'pending', limit: 9, before: null });
    assert.equal(
      waiting.map(({ attempts, sending }) => [attempts, sending]),
      [
        [0, false],
        [1, false],
      ],
    );
    const both = await claim(store, 'pagerduty', NOW + HOUR);
    assert.is(both[0]?.id, alarm?.id);
    const dead = { kind: 'dead', error: 'gone' } as const;
    await store.settleDelivery(alarm?.id as number, both[0]?.fence as number, dead);
    const after = both[1] ?? (await claim(store, 'pagerduty', NOW + DAY))[0];
    assert.is(after?.alert.type, 'snitch.reporting');
  });

  test('a refusal is remembered until something is delivered or the settings change', async ({ store }) => {
    const owner = await newCase(store);
    const { id } = await store.createChannel(owner.id, made('ntfy'), NOW);
    const send = async (settlement: Parameters<Store['settleDelivery']>[2], at: number) => {
      await store.createTestDelivery(owner.id, { channel: 'ntfy', target: id }, at);
      const [claimed] = await claim(store, 'ntfy', at);
      await store.settleDelivery(claimed?.id as number, claimed?.fence as number, settlement);
      return (await store.getChannel(owner.id, id))?.refused;
    };
    const dead = (at: number) => ({ kind: 'dead', error: `no ${at}`, refusedAt: at }) as const;
    assert.equal(await send(dead(NOW), NOW), { at: NOW, error: `no ${NOW}` });
    assert.equal(await send(dead(NOW + 1), NOW + 1), { at: NOW, error: `no ${NOW}` }, 'the first one stands');
    assert.is(await send({ kind: 'delivered', at: NOW, told: { reference: null } }, NOW + 2), null);
    await send(dead(NOW + 3), NOW + 3);
    assert.ok((await store.updateChannel(owner.id, id, { name: 'x' }))?.refused);
    assert.is((await store.updateChannel(owner.id, id, { settings: { topic: 'y' } }))?.refused, null);
  });
});
