/** Alerts and deliveries as the API shows them, and a retry by hand. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireAlert, WireDelivery, WireWebhook } from '../../src/api/wire.ts';
import type { Settlement } from '../../src/core/delivery.ts';
import { invalidOn, ok, refused } from './expect.ts';
import { checkIn, type Fixture, HOUR, hooks, newSnitch, sweep } from './fixture.ts';

const test = suite<Fixture>('alerts and deliveries');
test.before.each(hooks.start);
test.after.each(hooks.close);

/** Ends every due delivery with `settlement`. */
async function settleAll({ store, clock }: Fixture, settlement: Settlement): Promise<void> {
  for (const channel of ['webhook', 'email'] as const) {
    const { now } = clock;
    const request = { now, channel, leaseUntil: now + HOUR, perTarget: 100, limit: 100, busy: [], after: '' };
    for (const { id, fence } of await store.claimDeliveries(request)) {
      assert.ok(await store.settleDelivery(id, fence, settlement));
    }
  }
}

async function listed<T>({ acme }: Fixture, path: string): Promise<T[]> {
  return ok<T[]>(await acme.read.get(path));
}

test('an alert shows the snitch as the webhook does, and each delivery', async (context) => {
  const { acme } = context;
  ok(await acme.write.post('/v1/webhooks', { url: 'https://u:p@hook.example.com/in' }));
  const snitch = await newSnitch(acme, { alert_email: 'ops@example.com', notes: 'n\n', tags: ['a'] });
  await checkIn(context, snitch.token, '?s=1');
  const [alert, ...others] = await listed<WireAlert>(context, '/v1/alerts');
  assert.equal(others, []);
  const delivery = {
    alert: alert?.id,
    type: 'snitch.errored',
    snitch: { token: snitch.token, name: 'nightly-backup' },
    state: 'pending',
    sending: false,
    attempts: 0,
    last_error: null,
    next_attempt_at: '2026-11-18T10:20:30.123Z',
    delivered_at: null,
  };
  const [webhook, email] = alert?.deliveries ?? [];
  assert.equal(alert, {
    id: alert?.id,
    type: 'snitch.errored',
    timestamp: '2026-11-18T10:20:30.123Z',
    snitch: {
      token: snitch.token,
      name: 'nightly-backup',
      notes: 'n\n',
      tags: ['a'],
      status: 'errored',
      previous_status: 'pending',
    },
    reason: 'exit status 1',
    deliveries: [
      { ...delivery, id: webhook?.id, channel: 'webhook', target: 'https://hook.example.com/in' },
      { ...delivery, id: email?.id, channel: 'email', target: 'ops@example.com' },
    ],
  });
  assert.match(alert?.id ?? '', /^alert_[a-z2-7]{16}$/);
  assert.equal(await listed(context, `${snitch.href}/alerts`), [alert]);
  assert.equal(await listed(context, '/v1/deliveries'), [email, webhook]);
});

test('failed is missing in alerts; every transition that alerts is listed, newest first', async (context) => {
  const { acme, clock } = context;
  const { token, href } = await newSnitch(acme, { interval: 'hourly' });
  await checkIn(context, token);
  clock.now += 2 * HOUR;
  await sweep(context);
  await checkIn(context, token, '?s=1');
  clock.now += 1;
  await checkIn(context, token);
  clock.now += 1;
  assert.is((await acme.write.post(`${href}/pause`)).status, 204);
  const moves = (await listed<WireAlert>(context, `${href}/alerts`)).map(({ type, snitch }) =>
    [type, snitch?.previous_status, snitch?.status].join(' '),
  );
  assert.equal(
    new Set(moves),
    new Set([
      'snitch.paused healthy paused',
      'snitch.reporting errored healthy',
      'snitch.errored missing errored',
      'snitch.missing healthy missing',
      'snitch.reporting pending healthy',
    ]),
  );
  assert.equal(moves.slice(0, 2), ['snitch.paused healthy paused', 'snitch.reporting errored healthy']);
  assert.is(moves.at(-1), 'snitch.reporting pending healthy');
});

test('lists come in pages by limit and before', async (context) => {
  const { acme, clock } = context;
  ok(await acme.write.patch('/v1/case', { members: ['ann@example.com'] }));
  const other = await newSnitch(acme, { name: 'other' });
  await checkIn(context, other.token);
  const { token, href } = await newSnitch(acme);
  for (const query of ['', '?s=1', '', '?s=1', '']) {
    clock.now += 1_000;
    await checkIn(context, token, query);
  }
  const alerts = await listed<WireAlert>(context, '/v1/alerts');
  assert.is(alerts.length, 6);
  assert.equal(await listed(context, '/v1/alerts?limit=2'), alerts.slice(0, 2));
  assert.equal(await listed(context, `/v1/alerts?limit=2&before=${alerts[1]?.id}`), alerts.slice(2, 4));
  assert.equal(await listed(context, `/v1/alerts?before=${alerts[3]?.timestamp}`), alerts.slice(4));
  assert.equal(await listed(context, `/v1/alerts?before=alert_unknown`), []);
  const shouted = alerts[1]?.id.toUpperCase();
  assert.equal(await listed(context, `/v1/alerts?limit=2&before=${shouted}`), alerts.slice(2, 4));
  // The plus of an offset, as it arrives if a client does not encode it.
  const local = new Date(Date.parse(alerts[3]?.timestamp ?? '') + 7_200_000).toISOString().slice(0, -1);
  assert.equal(await listed(context, `/v1/alerts?before=${local}+02:00`), alerts.slice(4));
  assert.equal(await listed(context, `/v1/alerts?before=2000-01-01+10:00`), [], 'a space before a time');
  assert.equal(await listed(context, `${href}/alerts?before=${alerts[3]?.id}`), alerts.slice(4, 5));
  const deliveries = await listed<WireDelivery>(context, '/v1/deliveries');
  assert.equal(
    deliveries.map(({ alert }) => alert),
    alerts.map(({ id }) => id),
  );
  assert.equal(await listed(context, '/v1/deliveries?limit=1'), deliveries.slice(0, 1));
  assert.equal(await listed(context, `/v1/deliveries?before=${deliveries[1]?.id}`), deliveries.slice(2));
  assert.equal(await listed(context, `/v1/deliveries?before=${alerts[1]?.timestamp}`), deliveries.slice(2));
});

test('deliveries are listed by state', async (context) => {
  const { acme, clock } = context;
  const lengths = async () => {
    const states = ['', '?state=pending', '?state=delivered', '?state=dead', '?state='];
    return Promise.all(states.map(async (query) => (await listed(context, `/v1/deliveries${query}`)).length));
  };
  ok(await acme.write.patch('/v1/case', { members: ['ann@example.com'] }));
  const { token } = await newSnitch(acme);
  await checkIn(context, token);
  assert.equal(await lengths(), [1, 1, 0, 0, 1]);
  await settleAll(context, { kind: 'delivered', at: clock.now });
  assert.equal(await lengths(), [1, 0, 1, 0, 1]);
  await checkIn(context, token, '?s=1');
  await settleAll(context, { kind: 'dead', error: 'answered 500' });
  assert.equal(await lengths(), [2, 0, 1, 1, 2]);
  for (const state of ['failed', 'Dead', 'pending,dead', '1']) {
    invalidOn(await acme.read.get(`/v1/deliveries?state=${state}`), 'state');
  }
});

test('a delivery shows how often it was tried, what went wrong and when it is tried next', async (context) => {
  const { acme, clock } = context;
  const { id } = ok<WireWebhook>(await acme.write.post('/v1/webhooks', { url: 'https://hook.example.com/' }));
  const first = ok<WireDelivery>(await acme.write.post(`/v1/webhooks/${id}/test`));
  await settleAll(context, { kind: 'retry', at: clock.now + 10_000, error: 'answered 500' });
  const [failed] = await listed<WireDelivery>(context, '/v1/deliveries');
  const next_attempt_at = '2026-11-18T10:20:40.123Z';
  assert.equal(failed, { ...first, attempts: 1, last_error: 'answered 500', next_attempt_at });
  clock.now += 10_000;
  await settleAll(context, { kind: 'delivered', at: clock.now });
  const [delivered] = await listed<WireDelivery>(context, '/v1/deliveries');
  const done = { next_attempt_at: null, delivered_at: next_attempt_at, state: 'delivered' };
  assert.equal(delivered, { ...first, ...done, attempts: 2 });
});

test('a retry by hand makes a dead or waiting delivery due now', async (context) => {
  const { acme, clock } = context;
  ok(await acme.write.patch('/v1/case', { members: ['ann@example.com'] }));
  const { token } = await newSnitch(acme);
  await checkIn(context, token);
  for (const settlement of [
    { kind: 'dead', error: 'no such mailbox' },
    { kind: 'retry', at: clock.now + HOUR, error: 'busy' },
  ] as const) {
    await settleAll(context, settlement);
    clock.now += 1_000;
    const [before] = await listed<WireDelivery>(context, '/v1/deliveries');
    const retried = ok<WireDelivery>(await acme.write.post(`/v1/deliveries/${before?.id}/retry`));
    assert.is(retried.state, 'pending');
    assert.is(retried.next_attempt_at, new Date(clock.now).toISOString());
    assert.equal(await listed(context, '/v1/deliveries'), [retried]);
  }
});

test('a delivered one is not sent again', async (context) => {
  const { acme, clock } = context;
  ok(await acme.write.patch('/v1/case', { members: ['ann@example.com'] }));
  const { token } = await newSnitch(acme);
  await checkIn(context, token);
  await settleAll(context, { kind: 'delivered', at: clock.now });
  const before = await listed<WireDelivery>(context, '/v1/deliveries');
  invalidOn(await acme.write.post(`/v1/deliveries/${before[0]?.id}/retry`), 'state');
  assert.equal(await listed(context, '/v1/deliveries'), before);
});

test('an unknown id is not found; an invalid limit or before is refused', async ({ acme }) => {
  for (const id of ['0', '999', 'x', '-1', '1.5', '1e3', '9'.repeat(15), '9'.repeat(30), '%00', '1%20']) {
    refused(await acme.write.post(`/v1/deliveries/${id}/retry`), 404, 'resource_not_found', id);
  }
  for (const path of ['/v1/alerts', '/v1/deliveries']) {
    for (const limit of ['0', '1001', '-5', 'x', '1.0', '%31x']) {
      invalidOn(await acme.read.get(`${path}?limit=${limit}`), 'limit');
    }
    for (const before of ['x', '2026-13-01', 'now', '%00']) {
      invalidOn(await acme.read.get(`${path}?before=${before}`), 'before');
    }
    ok(await acme.read.get(`${path}?limit=1000&before=2026-11-18`));
  }
});

test.run();
