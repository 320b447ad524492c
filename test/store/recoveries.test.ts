/** A recovery goes to the targets that got the alarm, whatever happened meanwhile. */
import * as assert from 'uvu/assert';
import type { Case } from '../../src/core/case.ts';
import { EVERYTHING } from '../../src/core/channel.ts';
import { partlyTaken } from '../../src/core/explanation/death.ts';
import type { Channel } from '../../src/core/routing.ts';
import type { Store } from './acting.ts';
import { checkIn, contract, HOUR, MINUTE, NOW, newCase, newSnitch, sweep } from './fixture.ts';

const KINDS = {
  ntfy: { server: 'http://127.0.0.1', topic: 'pager' },
  pagerduty: { routing_key: 'a'.repeat(32) },
} as const;

const SAID = { note: null, by: 'Ann' };
const LATER = NOW + HOUR;

async function sent(store: Store, channel: Channel, now: number): Promise<string[]> {
  const request = { now, leaseUntil: now + MINUTE, perTarget: 10, limit: 10, busy: [], after: '' };
  const claimed = await store.claimDeliveries({ ...request, channel });
  for (const { id, fence } of claimed) await store.settleDelivery(id, fence, { kind: 'delivered', at: now });
  return claimed.map(({ alert }) => alert.type.replace('snitch.', ''));
}

interface World {
  store: Store;
  owner: Case;
  token: string;
  channelId: string;
}

/** A snitch whose error was reported at NOW, and what happens before it recovers. */
const BETWEEN: Record<string, (world: World) => Promise<unknown>> = {
  nothing: async () => null,
  'an acknowledgement': ({ store, owner, token }) => store.acknowledgeSnitch(owner.id, token, SAID, NOW + 1),
  'a silence': ({ store, owner }) => silence(store, owner),
  'a silence, and silence of the job in it': async ({ store, owner }) => {
    await silence(store, owner);
    await sweep(store, LATER - 1);
  },
  'a pause that ended': async ({ store, owner, token }) => {
    await store.pauseSnitch(owner.id, token, { kind: 'healthy' }, NOW + 1);
    for (const channel of ['ntfy', 'pagerduty'] as const) await sent(store, channel, NOW + 2);
  },
  'other tags of the channel': ({ store, owner, channelId }) =>
    store.updateChannel(owner.id, channelId, { tags: ['other'] }),
  'other events of the channel': ({ store, owner, channelId }) =>
    store.updateChannel(owner.id, channelId, { events: ['reporting'] }),
  'another time of the channel': ({ store, owner, channelId }) =>
    store.updateChannel(owner.id, channelId, { after: 86_400 }),
  'other tags of the snitch': ({ store, owner, token }) =>
    store.updateSnitch(owner.id, token, { tags: ['mail'] }, NOW + 1),
};

function silence(store: Store, { id }: Case) {
  const time = { kind: 'once', from: NOW + 1, to: NOW + 5 * HOUR } as const;
  return store.createSilence(id, { scope: { kind: 'all' }, time, note: '', by: 'ops' }, NOW + 1);
}

async function alarmed(store: Store, kind: keyof typeof KINDS): Promise<World> {
  const owner = await newCase(store, { members: ['ann@example.com'] });
  await store.createWebhook(owner.id, 'http://127.0.0.1/', NOW);
  const { token } = await newSnitch(store, owner, { interval: 'daily', tags: ['db'] });
  const fields = { settings: KINDS[kind], ...EVERYTHING, tags: ['db'] };
  const { id: channelId } = await store.createChannel(owner.id, { kind, name: 'pager', fields }, NOW);
  await checkIn(store, token, NOW, { outcome: 'error' });
  assert.equal(await sent(store, kind, NOW), ['errored']);
  return { store, owner, token, channelId };
}

contract('recoveries', (test) => {
  for (const [what, happens] of Object.entries(BETWEEN)) {
    test(`are told after ${what}`, async ({ store }) => {
      for (const kind of ['ntfy', 'pagerduty'] as const) {
        const world = await alarmed(store, kind);
        await happens(world);
        await checkIn(store, world.token, LATER);
        assert.equal(await sent(store, kind, LATER), ['reporting'], kind);
        assert.is((await sent(store, 'webhook', LATER)).at(-1), 'reporting');
      }
    });
  }

  test('close what was opened at a service that takes none any more; a chat is spared them', async ({
    store,
  }) => {
    for (const kind of ['ntfy', 'pagerduty'] as const) {
      const { owner, token, channelId } = await alarmed(store, kind);
      await store.updateChannel(owner.id, channelId, { events: ['missing'] });
      await checkIn(store, token, LATER);
      assert.equal(await sent(store, kind, LATER), kind === 'pagerduty' ? ['reporting'] : [], kind);
    }
  });

  test('are told to whoever may have heard of the alarm from a service that passed it on to some', async ({
    store,
  }) => {
    const refusals = { [partlyTaken('answered 424')]: ['reporting'], 'answered 404': [] };
    for (const [error, told] of Object.entries(refusals)) {
      const owner = await newCase(store);
      const fields = { settings: { url: 'http://127.0.0.1/notify/key' }, ...EVERYTHING };
      await store.createChannel(owner.id, { kind: 'apprise', name: 'pager', fields }, NOW);
      const { token } = await newSnitch(store, owner, { interval: 'daily' });
      await checkIn(store, token, NOW, { outcome: 'error' });
      const request = { now: NOW, leaseUntil: LATER, perTarget: 10, limit: 10, busy: [], after: '' };
      const [alarm] = await store.claimDeliveries({ ...request, channel: 'apprise' });
      await store.settleDelivery(alarm!.id, alarm!.fence, { kind: 'dead', error });
      await checkIn(store, token, LATER);
      assert.equal(await sent(store, 'apprise', LATER), told, error);
    }
  });

  test('are told to a channel that takes them without alarms, and so has heard of none', async ({
    store,
  }) => {
    const owner = await newCase(store);
    const fields = { settings: KINDS.ntfy, ...EVERYTHING, events: ['reporting'] as const };
    await store.createChannel(owner.id, { kind: 'ntfy', name: 'pager', fields }, NOW);
    const { token } = await newSnitch(store, owner, { interval: 'daily' });
    await checkIn(store, token, NOW, { outcome: 'error' });
    assert.equal(await sent(store, 'ntfy', NOW), []);
    await checkIn(store, token, LATER);
    assert.equal(await sent(store, 'ntfy', LATER), ['reporting']);
  });

  test('are told to a member who was removed and added again', async ({ store }) => {
    const { owner, token } = await alarmed(store, 'ntfy');
    assert.equal(await sent(store, 'email', NOW), ['errored']);
    await store.updateCase(owner.id, { members: [] }, NOW + 1);
    await store.updateCase(owner.id, { members: ['ann@example.com'] }, NOW + 2);
    await checkIn(store, token, LATER);
    assert.equal(await sent(store, 'email', LATER), ['reporting']);
  });
});
