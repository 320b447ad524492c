import * as assert from 'uvu/assert';
import type { Case } from '../../src/core/case.ts';
import { type ChannelFields, EVERYTHING } from '../../src/core/channel.ts';
import type { Delivery } from '../../src/core/delivery.ts';
import type { Hours } from '../../src/core/hours/hours.ts';
import type { ClaimRequest } from '../../src/store/deliveries.ts';
import type { Store } from './acting.ts';
import {
  checkIn,
  contract,
  DAY,
  HOUR,
  healthySnitch,
  MINUTE,
  NOW,
  newCase,
  SECOND,
  sweep,
} from './fixture.ts';

/** When an hourly snitch that checked in at NOW is missing. */
const DUE = NOW + 100 * MINUTE;
const HALF_AN_HOUR = 30 * MINUTE;
const AT = DUE + HALF_AN_HOUR;

const ALL = { limit: 1_000, before: null };

/** From eight to six on each day, by UTC. */
const OFFICE: Hours = {
  timezone: 'UTC',
  days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'],
  from: '08:00',
  to: '18:00',
};

function claim(store: Store, now: number, changes: Partial<ClaimRequest> = {}) {
  const request = { now, leaseUntil: now + MINUTE, perTarget: 100, limit: 100, busy: [], after: '' };
  return store.claimDeliveries({ ...request, channel: 'gotify', ...changes });
}

function pager(store: Store, { id }: Case, fields: Partial<ChannelFields>) {
  const given = { settings: { server: 'https://push.example.com', token: 'x' }, ...EVERYTHING, ...fields };
  return store.createChannel(id, { kind: 'gotify', name: null, fields: given }, NOW);
}

/** What the pager was sent or will be sent, oldest first. */
async function pagesOf(store: Store, { id }: Case): Promise<Delivery[]> {
  const all = await store.listDeliveries(id, { state: null, ...ALL });
  return all.filter(({ channel }) => channel === 'gotify').reverse();
}

async function shownOf(store: Store, owner: Case): Promise<string[]> {
  return (await pagesOf(store, owner)).map(({ about, state, waits, lastError }) => {
    const kind = about.type.replace('snitch.', '');
    return `${kind} ${state}${waits ? ` ${waits}` : ''}${lastError === null ? '' : `: ${lastError}`}`;
  });
}

async function deliverAll(store: Store, now: number): Promise<string[]> {
  const sent: string[] = [];
  for (const one of await claim(store, now)) {
    await store.settleDelivery(one.id, one.fence, { kind: 'delivered', at: now });
    sent.push(one.alert.type.replace('snitch.', ''));
  }
  return sent;
}

/** A case with a pager, and a snitch that is missing since DUE; its first check-in is told already. */
async function missing(store: Store, fields: Partial<ChannelFields>) {
  const owner = await newCase(store, { members: ['ann@example.com'] });
  const { token } = await healthySnitch(store, owner);
  const channel = await pager(store, owner, fields);
  assert.is(await sweep(store, DUE), 1);
  return { owner, token, channel };
}

const AFTER = { after: 1_800 };

contract('deliveries that wait for after', (test) => {
  test('an alarm is planned with its time when it is decided, and goes out then', async (context) => {
    const { owner } = await missing(context.store, AFTER);
    const [planned] = await pagesOf(context.store, owner);
    assert.is(planned?.waits, 'after');
    assert.is(planned?.nextAttemptAt, AT);
    const store = await context.reopen();
    await store.releaseLeases(DUE);
    assert.equal(await claim(store, AT - 1), []);
    assert.equal(await deliverAll(store, AT), ['missing']);
    assert.equal(await shownOf(store, owner), ['missing delivered']);
  });

  test('a recovery before ends it, and is told only to whoever was told', async ({ store }) => {
    const { owner, token } = await missing(store, AFTER);
    await checkIn(store, token, AT - 1);
    assert.equal(await shownOf(store, owner), ['missing dropped: it recovered before']);
    assert.equal(await claim(store, AT + DAY), []);
    assert.is((await claim(store, AT, { channel: 'email' })).length, 3, 'the member hears of all');
    const [dropped] = await store.listDeliveries(owner.id, { state: 'dropped', ...ALL });
    assert.is(dropped?.nextAttemptAt, null);
    assert.equal(await store.listDeliveries(owner.id, { state: 'dead', ...ALL }), []);
  });

  test('in the same millisecond it is either sent and its end told, or neither', async ({ store }) => {
    const first = await missing(store, AFTER);
    assert.is((await claim(store, AT)).length, 1);
    await checkIn(store, first.token, AT);
    assert.equal(await shownOf(store, first.owner), ['missing pending', 'reporting pending']);
    const second = await missing(store, AFTER);
    await checkIn(store, second.token, AT);
    const none = await claim(store, AT);
    assert.equal(
      none.filter(({ case: { id } }) => id === second.owner.id),
      [],
    );
    assert.equal(await shownOf(store, second.owner), ['missing dropped: it recovered before']);
  });

  test('one that was claimed by a daemon that died is sent, and its end is told', async (context) => {
    const { owner, token } = await missing(context.store, AFTER);
    assert.is((await claim(context.store, AT)).length, 1);
    const store = await context.reopen();
    await store.releaseLeases(AT + SECOND);
    await checkIn(store, token, AT + SECOND);
    assert.equal(await deliverAll(store, AT + SECOND), ['missing', 'reporting']);
    assert.equal(await shownOf(store, owner), ['missing delivered', 'reporting delivered']);
  });

  test('one that was given back untried is dropped all the same', async ({ store }) => {
    const { owner, token } = await missing(store, AFTER);
    const [one] = await claim(store, AT);
    await store.settleDelivery(one!.id, one!.fence, { kind: 'released' });
    await checkIn(store, token, AT + 1);
    assert.equal(await shownOf(store, owner), ['missing dropped: it recovered before']);
  });

  test('a pause ends it, and so does the deletion of the snitch, of the case or of the channel', async ({
    store,
  }) => {
    const paused = await missing(store, AFTER);
    await store.pauseSnitch(paused.owner.id, paused.token, { kind: 'unpaused' }, DUE + 1);
    assert.equal(await shownOf(store, paused.owner), [
      'missing dropped: it was paused before',
      'paused pending after',
    ]);
    await store.unpauseSnitch(paused.owner.id, paused.token, DUE + 2);
    assert.match((await shownOf(store, paused.owner))[1] ?? '', 'paused dropped: its pause ended before');
    const deleted = await missing(store, AFTER);
    await store.deleteSnitch(deleted.owner.id, deleted.token);
    assert.equal(await shownOf(store, deleted.owner), ['missing dropped: it was deleted before']);
    const gone = await missing(store, AFTER);
    await store.deleteCase(gone.owner.id);
    assert.equal(await shownOf(store, gone.owner), ['missing dropped: the case was deleted before']);
    const silent = await missing(store, AFTER);
    await store.deleteChannel(silent.owner.id, silent.channel.id);
    assert.equal(await claim(store, DUE + 1), []);
    assert.equal(await shownOf(store, silent.owner), ['missing dropped: nobody is told there any more']);
  });

  test('what ended without an alert is found when its time comes', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await healthySnitch(store, owner);
    await pager(store, owner, AFTER);
    await store.pauseSnitch(owner.id, token, { kind: 'time', at: NOW + 10 * MINUTE }, NOW);
    await checkIn(store, token, NOW + 11 * MINUTE);
    assert.equal(await shownOf(store, owner), ['paused pending after']);
    assert.equal(await claim(store, NOW + HALF_AN_HOUR), []);
    assert.equal(await shownOf(store, owner), ['paused dropped: it recovered before']);
  });

  test('an error that becomes silence is one outage: its time stays, and nobody is told twice', async ({
    store,
  }) => {
    const owner = await newCase(store);
    const { token } = await healthySnitch(store, owner);
    await pager(store, owner, { after: 7_200 });
    await checkIn(store, token, NOW + MINUTE, { outcome: 'error' });
    await sweep(store, DUE);
    assert.equal(await shownOf(store, owner), [
      'errored dropped: it went missing before',
      'missing pending after',
    ]);
    const [, planned] = await pagesOf(store, owner);
    assert.is(planned?.nextAttemptAt, NOW + MINUTE + 2 * HOUR);
    // The reminder does not wait along with the alarm, and is sent at once when the time is over.
    await sweep(store, DUE + 10 * SECOND);
    await sweep(store, NOW + 150 * MINUTE);
    assert.equal(await deliverAll(store, NOW + MINUTE + 2 * HOUR), ['missing']);
    await sweep(store, DUE + HOUR);
    assert.equal(await deliverAll(store, DUE + HOUR), ['missing']);
  });

  test('a later outage starts over', async ({ store }) => {
    const { owner, token } = await missing(store, AFTER);
    await checkIn(store, token, AT - 1);
    await sweep(store, DUE + 2 * HOUR);
    const pages = await pagesOf(store, owner);
    assert.is(pages.at(-1)?.nextAttemptAt, DUE + 2 * HOUR + HALF_AN_HOUR);
    assert.is(pages.length, 2);
  });

  test('each of several channels has its own route', async ({ store }) => {
    const owner = await newCase(store);
    await healthySnitch(store, owner);
    await pager(store, owner, { after: 86_400, hours: OFFICE });
    const soon = await pager(store, owner, AFTER);
    await pager(store, owner, { after: 86_400, hours: OFFICE });
    await sweep(store, DUE);
    const claims = await claim(store, AT);
    assert.equal(
      claims.map(({ target }) => target),
      [soon.id],
    );
  });

  test('a changed route holds for what waits already', async ({ store }) => {
    const { owner, channel } = await missing(store, AFTER);
    await store.updateChannel(owner.id, channel.id, { after: 3_600 });
    assert.equal(await claim(store, AT), []);
    assert.is((await pagesOf(store, owner))[0]?.nextAttemptAt, DUE + HOUR);
    await store.updateChannel(owner.id, channel.id, { after: 60 });
    assert.equal(await deliverAll(store, DUE + MINUTE), ['missing']);
  });

  test('a route that no longer takes what waits drops it at once', async ({ store }) => {
    const events = await missing(store, AFTER);
    await store.updateChannel(events.owner.id, events.channel.id, { events: ['errored', 'reporting'] });
    assert.equal(await claim(store, DUE + 1), []);
    assert.equal(await shownOf(store, events.owner), [
      'missing dropped: its target now takes no missing alerts',
    ]);
    const tags = await missing(store, AFTER);
    await store.updateChannel(tags.owner.id, tags.channel.id, { tags: ['db', 'web'] });
    assert.equal(await claim(store, DUE + 1), []);
    assert.equal(await shownOf(store, tags.owner), [
      'missing dropped: its target now takes only snitches tagged db or web',
    ]);
    await checkIn(store, tags.token, DUE + 2);
    assert.equal((await shownOf(store, tags.owner)).length, 1, 'it is told no end either');
  });

  test('so does that of a service that keeps incidents', async ({ store }) => {
    const owner = await newCase(store);
    await healthySnitch(store, owner);
    const fields = { settings: { routing_key: 'x' }, ...EVERYTHING, after: 1_800 };
    const { id } = await store.createChannel(owner.id, { kind: 'pagerduty', name: null, fields }, NOW);
    await sweep(store, DUE);
    await store.updateChannel(owner.id, id, { events: ['errored'] });
    assert.equal(await claim(store, DUE, { channel: 'pagerduty' }), []);
    const [page] = await store.listDeliveries(owner.id, { state: null, ...ALL });
    assert.equal([page?.state, page?.lastError], ['dropped', 'its target now takes no missing alerts']);
  });

  test('a waiting delivery can be sent by hand, and a dropped one cannot', async ({ store }) => {
    const one = await missing(store, AFTER);
    const [waiting] = await pagesOf(store, one.owner);
    await store.retryDelivery(one.owner.id, waiting!.id, DUE + 1);
    assert.equal(await deliverAll(store, DUE + 1), ['missing']);
    const other = await missing(store, AFTER);
    await checkIn(store, other.token, DUE + 1);
    const [dropped] = await pagesOf(store, other.owner);
    assert.is((await store.retryDelivery(other.owner.id, dropped!.id, AT))?.state, 'dropped');
    assert.equal(await claim(store, AT), []);
  });

  test('a clock that comes back from far ahead does not send what still waits', async ({ store }) => {
    const { owner } = await missing(store, { after: 3 * 86_400 });
    assert.is(await store.setAnewSlice(DUE + MINUTE, 0), null);
    assert.is((await pagesOf(store, owner))[0]?.nextAttemptAt, DUE + MINUTE, 'due for a look');
    assert.equal(await claim(store, DUE + MINUTE), []);
    assert.is((await pagesOf(store, owner))[0]?.nextAttemptAt, DUE + 3 * DAY);
  });

  test('what waits keeps nothing from the same target, and the census knows it', async ({ store }) => {
    const { owner, channel } = await missing(store, AFTER);
    for (let count = 0; count < 20; count += 1) {
      const { token } = await healthySnitch(store, owner, { name: `job ${count}` }, DUE);
      await store.pauseSnitch(owner.id, token, { kind: 'unpaused' }, DUE);
    }
    const target = { channel: 'gotify', target: channel.id } as const;
    await store.createTestDelivery(owner.id, target, DUE + MINUTE);
    const { outbox } = await store.census();
    assert.is(outbox.waiting, 21, 'the alarm, and the pause of each');
    // Even if all of them have to be judged again.
    await store.updateChannel(owner.id, channel.id, { after: 7_200 });
    const claims = await claim(store, DUE + MINUTE, { perTarget: 8 });
    assert.equal(
      claims.map(({ alert }) => alert.snitch?.name),
      ['Test alert'],
    );
  });
});

contract('routes of webhooks and members', (test) => {
  test('they are told as their routes say, until they are gone', async ({ store }) => {
    const owner = await newCase(store, { members: ['Ann@example.com'] });
    const hook = await store.createWebhook(owner.id, 'http://localhost/', NOW);
    const ann = { channel: 'email', target: 'ann@example.com' } as const;
    await store.updateRoute(owner.id, ann, AFTER);
    await store.updateRoute(
      owner.id,
      { channel: 'webhook', target: hook.id },
      { events: ['errored', 'blind'] },
    );
    assert.equal([...(await store.listRoutes(owner.id)).keys()].sort(), ['ann@example.com', hook.id].sort());
    assert.is((await store.getWebhook(owner.id, hook.id))?.notices, true);
    await healthySnitch(store, owner);
    await sweep(store, DUE);
    const [alarm] = await store.listAlerts(owner.id, null, ALL);
    assert.equal(
      alarm?.deliveries.map(({ target, waits }) => [target, waits]),
      [['Ann@example.com', 'after']],
    );
    await store.updateCase(owner.id, { members: [] }, DUE);
    assert.equal(await claim(store, AT, { channel: 'email' }), []);
    const [dropped] = await store.listDeliveries(owner.id, { state: 'dropped', ...ALL });
    assert.is(
      dropped?.lastError,
      'it recovered before' === dropped?.lastError ? '' : 'nobody is told there any more',
    );
    await store.deleteWebhook(owner.id, hook.id);
    assert.is((await store.listRoutes(owner.id)).size, 0);
    await store.updateCase(owner.id, { members: ['ann@example.com'] }, DUE);
    assert.is((await store.listRoutes(owner.id)).size, 0, 'who comes back has none');
  });

  test('without a route again, whoever was spared the alarm is spared its end', async ({ store }) => {
    const owner = await newCase(store, { members: ['Ann@example.com', 'bob@example.com'] });
    await store.updateRoute(owner.id, { channel: 'email', target: 'ann@example.com' }, AFTER);
    const { token } = await healthySnitch(store, owner);
    await sweep(store, DUE);
    await store.acknowledgeSnitch(owner.id, token, { note: null, by: 'Bob' }, DUE + 1);
    await store.updateRoute(owner.id, { channel: 'email', target: 'ann@example.com' }, { after: 0 });
    assert.is((await store.listRoutes(owner.id)).size, 0);
    await checkIn(store, token, AT);
    const [end] = await store.listAlerts(owner.id, null, ALL);
    assert.equal(
      [end?.alert.type, end?.deliveries.map(({ target }) => target)],
      ['snitch.reporting', ['bob@example.com']],
    );
    await sweep(store, DUE + DAY);
    const [next] = await store.listAlerts(owner.id, null, ALL);
    assert.equal(
      [next?.alert.type, next?.deliveries.length],
      ['snitch.missing', 2],
      'a later outage begins anew',
    );
  });

  test('without a route, whoever joined during the outage hears of its end', async ({ store }) => {
    const owner = await newCase(store, { members: [] });
    const { token } = await healthySnitch(store, owner);
    await sweep(store, DUE);
    await store.updateCase(owner.id, { members: ['ann@example.com'] }, DUE + 1);
    await checkIn(store, token, AT);
    const [end] = await store.listAlerts(owner.id, null, ALL);
    assert.equal(
      end?.deliveries.map(({ target }) => target),
      ['ann@example.com'],
    );
  });

  test('a route that takes everything is none', async ({ store }) => {
    const owner = await newCase(store, { members: ['ann@example.com'] });
    const ann = { channel: 'email', target: 'ann@example.com' } as const;
    await store.updateRoute(owner.id, ann, { ...AFTER, hours: OFFICE, tags: ['db'] });
    assert.is((await store.listRoutes(owner.id)).size, 1);
    assert.equal(await store.updateRoute(owner.id, ann, { after: 0, hours: null, tags: [] }), EVERYTHING);
    assert.is((await store.listRoutes(owner.id)).size, 0);
  });
});

/** Half past eight in the evening of the same day. */
const EVENING = NOW + 10 * HOUR + 10 * MINUTE;
const OPENING = NOW - 2 * HOUR - 20 * MINUTE + DAY;

/** A case with a pager for office hours, and a snitch that was seen in the evening. */
async function inTheEvening(store: Store) {
  const owner = await newCase(store);
  const { token } = await healthySnitch(store, owner, {}, EVENING);
  await pager(store, owner, { hours: OFFICE });
  return { owner, token };
}

contract('deliveries that wait for hours', (test) => {
  test('an alarm at night waits for the opening, and is dropped where it recovered before', async ({
    store,
  }) => {
    const one = await inTheEvening(store);
    await sweep(store, EVENING + 2 * HOUR);
    const [planned] = await pagesOf(store, one.owner);
    assert.equal([planned?.waits, planned?.nextAttemptAt], ['hours', OPENING]);
    assert.equal(await claim(store, OPENING - 1), []);
    await checkIn(store, one.token, OPENING - 1);
    assert.equal(await shownOf(store, one.owner), ['missing dropped: it recovered before']);
    const other = await inTheEvening(store);
    await sweep(store, EVENING + 2 * HOUR);
    assert.equal(await deliverAll(store, OPENING), ['missing']);
    assert.equal(await shownOf(store, other.owner), ['missing delivered']);
  });

  test('the end of what was told waits for the opening, and comes before a later alarm', async ({
    store,
  }) => {
    const owner = await newCase(store);
    await pager(store, owner, { hours: OFFICE });
    const { token } = await healthySnitch(store, owner);
    await sweep(store, DUE);
    assert.equal(await deliverAll(store, DUE), ['reporting', 'missing']);
    // It recovers and fails at night, and recovers and fails once more.
    await checkIn(store, token, EVENING);
    await sweep(store, EVENING + 2 * HOUR);
    await checkIn(store, token, EVENING + 3 * HOUR);
    await sweep(store, EVENING + 5 * HOUR);
    assert.equal((await shownOf(store, owner)).slice(2), [
      'reporting pending opening',
      'missing dropped: it recovered before',
      'missing pending hours',
    ]);
    const [first, ...more] = await claim(store, OPENING);
    assert.is(first?.alert.type, 'snitch.reporting');
    assert.equal(more, [], 'not while the end of the outage before is under way');
    await store.settleDelivery(first!.id, first!.fence, { kind: 'delivered', at: OPENING });
    assert.equal(await deliverAll(store, OPENING + MINUTE), ['missing']);
  });

  test('the end of what was told is told, whatever the route takes by then', async ({ store }) => {
    const { owner, token, channel } = await missing(store, {});
    assert.equal(await deliverAll(store, DUE), ['missing']);
    await store.updateChannel(owner.id, channel.id, { hours: { ...OFFICE, from: '02:00', to: '03:00' } });
    await checkIn(store, token, DUE + 1);
    assert.equal((await shownOf(store, owner)).at(-1), 'reporting pending opening');
    await store.updateChannel(owner.id, channel.id, { events: ['missing'], tags: ['db'] });
    assert.equal(await deliverAll(store, Math.ceil(DUE / DAY) * DAY + 2 * HOUR), ['reporting']);
  });

  test('a notice about the service waits as well', async ({ store }) => {
    const { owner, token } = await inTheEvening(store);
    await sweep(store, EVENING + 2 * HOUR);
    await checkIn(store, token, EVENING + 3 * HOUR);
    await store.openBlindWindow({ start: EVENING + 4 * HOUR, end: EVENING + 5 * HOUR + MINUTE });
    while (await store.postponeSlice(EVENING + 6 * HOUR));
    const notice = (await pagesOf(store, owner)).find(({ about }) => about.type === 'service.blind');
    assert.equal([notice?.waits, notice?.nextAttemptAt], ['opening', OPENING]);
    assert.equal(await deliverAll(store, OPENING), ['service.blind']);
  });

  test('hours that begin while something waits hold it until then, unless it is over by then', async ({
    store,
  }) => {
    const afternoon = { ...OFFICE, from: '14:00' };
    const { owner, token, channel } = await missing(store, AFTER);
    await store.updateChannel(owner.id, channel.id, { hours: afternoon });
    assert.equal(await deliverAll(store, AT), []);
    assert.equal(await shownOf(store, owner), ['missing pending hours']);
    await checkIn(store, token, AT + MINUTE);
    assert.equal(await deliverAll(store, DUE + 2 * HOUR), []);
    assert.equal(await shownOf(store, owner), ['missing dropped: it recovered before']);
  });

  test('hours that are taken away let through what waits', async ({ store }) => {
    const { owner } = await inTheEvening(store);
    await sweep(store, EVENING + 2 * HOUR);
    const [channel] = await store.listChannels(owner.id);
    await store.updateChannel(owner.id, channel!.id, { hours: null });
    assert.equal(await deliverAll(store, EVENING + 2 * HOUR), ['missing']);
  });

  test('what also waits for `after` waits as long when its route or a silence is looked at anew', async ({
    store,
  }) => {
    const owner = await newCase(store);
    const channel = await pager(store, owner, {
      after: 3_600,
      hours: { ...OFFICE, from: '14:00', to: '10:30' },
    });
    const { token } = await healthySnitch(store, owner);
    assert.equal(await shownOf(store, owner), ['reporting pending hours']);
    const time = { kind: 'once', from: NOW + MINUTE, to: NOW + HOUR } as const;
    await store.createSilence(owner.id, { scope: { kind: 'all' }, time, note: '', by: 'ops' }, NOW + MINUTE);
    assert.equal(await deliverAll(store, NOW + MINUTE), []);
    await store.updateChannel(owner.id, channel.id, { hours: null });
    assert.equal(await deliverAll(store, NOW + 2 * MINUTE), []);
    assert.equal(await deliverAll(store, NOW + HOUR), ['reporting']);
    await store.pauseSnitch(owner.id, token, { kind: 'unpaused' }, NOW + 2 * HOUR);
    await store.updateChannel(owner.id, channel.id, { hours: { ...OFFICE, from: '20:00' } });
    await store.updateChannel(owner.id, channel.id, { hours: null });
    assert.equal(await deliverAll(store, NOW + 3 * HOUR - 1), []);
    assert.equal(await deliverAll(store, NOW + 3 * HOUR), ['paused']);
  });

  test('a pause of what was told waits for the hours alone, also when it is looked at anew', async ({
    store,
  }) => {
    const { owner, token, channel } = await missing(store, AFTER);
    assert.equal(await deliverAll(store, AT), ['missing']);
    await store.updateChannel(owner.id, channel.id, { hours: { ...OFFICE, from: '16:00' } });
    await store.pauseSnitch(owner.id, token, { kind: 'unpaused' }, AT + MINUTE);
    assert.equal((await shownOf(store, owner)).at(-1), 'paused pending hours');
    await store.updateChannel(owner.id, channel.id, { hours: null });
    assert.equal(await deliverAll(store, AT + MINUTE), ['paused']);
  });

  test('a pause that closes an incident is sent when the hours begin, even if it is over or not taken', async ({
    store,
  }) => {
    const owner = await newCase(store);
    const { token } = await healthySnitch(store, owner);
    const fields = { settings: { routing_key: 'x' }, ...EVERYTHING, events: ['missing' as const] };
    const { id } = await store.createChannel(owner.id, { kind: 'pagerduty', name: null, fields }, NOW);
    await sweep(store, DUE);
    const ask = {
      now: DUE,
      leaseUntil: DUE,
      perTarget: 9,
      limit: 9,
      busy: [],
      after: '',
      channel: 'pagerduty',
    } as const;
    const [alarm] = await store.claimDeliveries(ask);
    await store.settleDelivery(alarm!.id, alarm!.fence, { kind: 'delivered', at: DUE });
    await store.updateChannel(owner.id, id, { hours: { ...OFFICE, from: '14:00' } });
    await store.pauseSnitch(owner.id, token, { kind: 'unpaused' }, DUE + 1);
    assert.equal(await store.claimDeliveries({ ...ask, now: DUE + 2 }), []);
    // No alert tells that the job came back during its pause: nothing else would ever close the incident.
    await checkIn(store, token, DUE + MINUTE);
    await store.unpauseSnitch(owner.id, token, DUE + 2 * MINUTE);
    const [close] = await store.claimDeliveries({ ...ask, now: DUE + 2 * HOUR });
    assert.is(close?.alert.type, 'snitch.paused');
  });
});

/** Hours that end a minute after the alarm. */
const MORNING: Hours = { ...OFFICE, to: '12:01' };
const CLOSING = DUE + MINUTE;

/** Refuses all that is due for the pager, and has it tried again at `again`. */
async function refuseAll(store: Store, now: number, again: number): Promise<string[]> {
  const refused = await claim(store, now);
  for (const { id, fence } of refused)
    await store.settleDelivery(id, fence, { kind: 'retry', at: again, error: 'it answered 503' });
  return refused.map(({ alert }) => alert.type.replace('snitch.', ''));
}

/** A case with a pager for the morning, which refused an alarm in the last minute of it. */
async function refusedAtClosing(store: Store) {
  const owner = await newCase(store);
  const { token } = await healthySnitch(store, owner);
  const channel = await pager(store, owner, { hours: MORNING });
  await sweep(store, DUE);
  assert.equal(await refuseAll(store, DUE, CLOSING + MINUTE), ['missing']);
  return { owner, token, channel };
}

/** A case with a pager for the morning, for which an alarm was decided in the last minute of it. */
async function decidedAtClosing(store: Store) {
  const owner = await newCase(store);
  const { token } = await healthySnitch(store, owner);
  await pager(store, owner, { hours: MORNING });
  await sweep(store, DUE);
  assert.equal(await shownOf(store, owner), ['missing pending']);
  return { owner, token };
}

const NIGHT = CLOSING + 2 * HOUR;

contract('deliveries that failed before the hours end', (test) => {
  test('they are tried for half an hour more, and then when the hours begin again', async ({ store }) => {
    const { owner } = await refusedAtClosing(store);
    assert.equal(await refuseAll(store, CLOSING + MINUTE, CLOSING + HALF_AN_HOUR - 1), ['missing']);
    assert.equal(await refuseAll(store, CLOSING + HALF_AN_HOUR - 1, NIGHT), ['missing']);
    assert.equal(await refuseAll(store, NIGHT, NIGHT), []);
    const [put] = await pagesOf(store, owner);
    assert.equal([put?.state, put?.nextAttemptAt, put?.attempts], ['pending', OPENING, 3]);
    assert.is(put?.lastError, 'it answered 503');
    assert.equal(await deliverAll(store, OPENING - 1), []);
    assert.equal(await deliverAll(store, OPENING), ['missing']);
  });

  test('an alarm that may have arrived is sent in the morning, and then its end', async ({ store }) => {
    const { token } = await refusedAtClosing(store);
    assert.equal(await refuseAll(store, CLOSING + MINUTE, NIGHT), ['missing']);
    assert.equal(await deliverAll(store, NIGHT), []);
    await checkIn(store, token, NIGHT + HOUR);
    assert.equal(await deliverAll(store, NIGHT + 2 * HOUR), []);
    assert.equal(await deliverAll(store, OPENING), ['missing', 'reporting']);
  });

  test('an end that failed is told in the morning as well, before a later alarm', async ({ store }) => {
    const { token, owner } = await refusedAtClosing(store);
    assert.equal(await deliverAll(store, CLOSING + MINUTE), ['missing']);
    await store.updateChannel(owner.id, (await pagesOf(store, owner))[0]!.target, { hours: null });
    await checkIn(store, token, CLOSING + 2 * MINUTE);
    assert.equal(await refuseAll(store, CLOSING + 2 * MINUTE, NIGHT), ['reporting']);
    await store.updateChannel(owner.id, (await pagesOf(store, owner))[0]!.target, { hours: MORNING });
    await sweep(store, NIGHT);
    assert.equal(await deliverAll(store, NIGHT), []);
    assert.equal((await shownOf(store, owner)).slice(1), [
      'reporting pending: it answered 503',
      'missing pending hours',
    ]);
    assert.equal(await deliverAll(store, OPENING), ['reporting']);
    assert.equal(await deliverAll(store, OPENING + MINUTE), ['missing']);
  });

  test('hours that are taken away let it through, and so does a hand', async ({ store }) => {
    const { owner, channel } = await refusedAtClosing(store);
    await refuseAll(store, CLOSING + MINUTE, NIGHT);
    assert.equal(await deliverAll(store, NIGHT), []);
    await store.updateChannel(owner.id, channel.id, { hours: null });
    assert.equal(await refuseAll(store, NIGHT + MINUTE, NIGHT + HOUR), ['missing']);
    await store.updateChannel(owner.id, channel.id, { hours: MORNING });
    assert.equal(await deliverAll(store, NIGHT + HOUR), []);
    const [put] = await pagesOf(store, owner);
    await store.retryDelivery(owner.id, put!.id, NIGHT + 2 * HOUR);
    assert.equal(await deliverAll(store, NIGHT + 2 * HOUR), ['missing']);
  });

  test('an acknowledgement at night ends it, and the census counts it among what waits', async ({
    store,
  }) => {
    const { owner, token } = await refusedAtClosing(store);
    await refuseAll(store, CLOSING + MINUTE, NIGHT);
    assert.is((await store.census()).outbox.waiting, 0);
    assert.equal(await deliverAll(store, NIGHT), []);
    const { outbox } = await store.census();
    assert.equal([outbox.waiting, outbox.oldestAlertAt], [1, OPENING]);
    await store.acknowledgeSnitch(owner.id, token, { note: '', by: 'ops' }, NIGHT + MINUTE);
    assert.equal(await shownOf(store, owner), ['missing dropped: it was acknowledged before']);
  });

  test('one that comes to its first attempt too late waits as if it had been decided at night', async ({
    store,
  }) => {
    const { owner, token } = await decidedAtClosing(store);
    assert.equal(await deliverAll(store, NIGHT), []);
    const [put] = await pagesOf(store, owner);
    assert.equal([put?.waits, put?.attempts, put?.nextAttemptAt], ['hours', 0, OPENING]);
    await checkIn(store, token, NIGHT + HOUR);
    assert.equal(await shownOf(store, owner), ['missing dropped: it recovered before']);
    const other = await decidedAtClosing(store);
    assert.equal(await deliverAll(store, NIGHT), []);
    assert.equal(await deliverAll(store, OPENING), ['missing']);
    await checkIn(store, other.token, OPENING + MINUTE);
    assert.equal(await deliverAll(store, OPENING + MINUTE), ['reporting']);
  });

  test('its end is not told either, if that was decided before the first attempt', async ({ store }) => {
    const { owner, token } = await decidedAtClosing(store);
    await checkIn(store, token, CLOSING + 2 * MINUTE);
    assert.equal(await deliverAll(store, NIGHT), []);
    assert.equal(await deliverAll(store, OPENING), []);
    assert.equal(await shownOf(store, owner), [
      'missing dropped: it recovered before',
      'reporting dead: its alarm did not arrive there',
    ]);
  });

  test('a first attempt is made for half an hour after the hours, and of what was never to wait', async ({
    store,
  }) => {
    const { owner } = await decidedAtClosing(store);
    assert.equal(await deliverAll(store, CLOSING + HALF_AN_HOUR - 1), ['missing']);
    const night: Hours = { ...OFFICE, from: '02:00', to: '03:00' };
    await store.updateChannel(owner.id, (await pagesOf(store, owner))[0]!.target, { hours: null });
    await healthySnitch(store, owner);
    await sweep(store, DUE);
    await store.updateChannel(owner.id, (await pagesOf(store, owner))[0]!.target, { hours: night });
    assert.equal(await deliverAll(store, NIGHT), ['reporting', 'missing'], 'decided when it had no hours');
  });

  test('an address that the snitch itself names has no hours', async ({ store }) => {
    const ann = { channel: 'email', target: 'ann@example.com' } as const;
    for (const [alertEmail, sent] of [
      [['Ann@example.com'], ['ann@example.com']],
      [[], []],
    ] as const) {
      const owner = await newCase(store, { members: ['ann@example.com'] });
      await store.updateRoute(owner.id, ann, { hours: MORNING });
      const fields = { alertEmail: [...alertEmail] };
      await healthySnitch(store, owner, fields);
      await sweep(store, DUE);
      const mail = { channel: 'email' } as const;
      for (const { id, fence } of await claim(store, DUE, mail))
        await store.settleDelivery(id, fence, { kind: 'retry', at: NIGHT, error: 'it answered 451' });
      const late = (await claim(store, NIGHT, mail)).filter(({ case: { id } }) => id === owner.id);
      assert.equal(late.map(({ target }) => target.toLowerCase()).slice(0, 1), sent);
    }
  });
});
