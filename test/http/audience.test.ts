/** Whom the alerts of a case reach, judging by past deliveries, and which snitches alert nobody. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireAudience, WireChannel } from '../../src/api/wire.ts';
import type { WireExplanation } from '../../src/api/wire-explanation.ts';
import type { Settlement } from '../../src/core/delivery.ts';
import type { Channel } from '../../src/core/routing.ts';
import { ok } from './expect.ts';
import { checkIn, type Fixture, HOUR, hooks, newSnitch } from './fixture.ts';

const test = suite<Fixture>('whom alerts reach');
test.before.each(hooks.start);
test.after.each(hooks.close);

async function settleAll({ store, clock }: Fixture, channel: Channel, settlement: Settlement): Promise<void> {
  const { now } = clock;
  const request = { now, leaseUntil: now + HOUR, perTarget: 9, limit: 9, busy: [], after: '' };
  const claims = await store.claimDeliveries({ ...request, channel });
  assert.ok(claims.length > 0);
  for (const { id, fence } of claims) await store.settleDelivery(id, fence, settlement);
}

const audience = async ({ acme }: Fixture, names = 2) =>
  ok<WireAudience>(await acme.read.get(`/v1/audience?unreached=${names}`));
const explained = async ({ acme }: Fixture, href: string) =>
  ok<WireExplanation>(await acme.read.get(`${href}/explain`));

const slack = (tags: string[] = []) => ({
  kind: 'slack',
  settings: { url: 'https://hooks.slack.com/services/T0/B0/s3cr3ts3cr3t' },
  ...(tags.length > 0 ? { tags } : {}),
});

test('a case without members and targets reaches nobody, with and without snitches', async (context) => {
  const empty = await audience(context);
  assert.equal(empty.unreached, { names: [], more: false, all: true });
  assert.match(empty.nobody ?? '', 'the case has no member and no webhook or channel');
  await newSnitch(context.rival, { name: 'of another case' });
  for (const name of ['a', 'b', 'c']) await newSnitch(context.acme, { name });
  assert.equal((await audience(context)).unreached, { names: ['a', 'b'], more: true, all: true });
  await newSnitch(context.acme, { name: 'd', alert_email: ['dba@example.com'] });
  assert.equal((await audience(context)).unreached, { names: ['a', 'b'], more: true, all: false });
  ok(await context.acme.write.patch('/v1/case', { members: ['ann@example.com'] }));
  const reached = await audience(context);
  assert.equal([reached.unreached, reached.nobody], [{ names: [], more: false, all: false }, null]);
  const bad = await context.acme.read.get('/v1/audience?unreached=1000');
  assert.is(bad.status, 422);
  assert.not('unreached' in ok<WireAudience>(await context.acme.read.get('/v1/audience')));
});

test('a snitch that no channel takes is named, by the case and by itself', async (context) => {
  ok(await context.acme.write.post('/v1/channels', slack(['db'])));
  const web = await newSnitch(context.acme, { name: 'web1', tags: ['web'] });
  const db = await newSnitch(context.acme, { name: 'db1', tags: ['web', 'db'] });
  assert.equal((await audience(context)).unreached, { names: ['web1'], more: false, all: false });
  const reasons = (await explained(context, web.href)).reasons.join('\n');
  assert.match(reasons, 'Nobody would be told of an alert: nobody takes it: ');
  assert.match(reasons, 'the channel slack: it takes only snitches tagged db');
  assert.not.match((await explained(context, db.href)).reasons.join('\n'), 'Nobody');
});

test('all snitches are checked, even if there are more than one query reads', async (context) => {
  const { acme, store } = context;
  ok(await acme.write.post('/v1/channels', slack(['db'])));
  const fields = { notes: '', alertEmail: [], interval: 'daily', alertType: 'basic' } as const;
  const make = (name: string, tags: string[]) =>
    store.createSnitch(acme.id, { ...fields, name, tags, alertEmail: [] }, context.clock.now);
  await Promise.all(Array.from({ length: 4_100 }, (_, index) => make(`db${index}`, ['db'])));
  assert.equal((await audience(context)).unreached, { names: [], more: false, all: false });
  await make('last', []);
  assert.equal((await audience(context)).unreached, { names: ['last'], more: false, all: false });
});

test('a refused channel reaches nobody until its settings change and something is delivered', async (context) => {
  const { acme, clock } = context;
  const { id } = ok<WireChannel>(await acme.write.post('/v1/channels', slack()));
  const { token, href } = await newSnitch(acme);
  await checkIn(context, token, '?s=1');
  await settleAll(context, 'slack', {
    kind: 'dead',
    error: 'answered 404 Not Found: no_service',
    refusedAt: clock.now,
  });
  const refused = await audience(context);
  assert.is(refused.unreached?.all, true);
  assert.is(
    refused.nobody,
    'slack refused the last message: answered 404 Not Found: no_service, and nobody else is told',
  );
  const { reasons, notify } = await explained(context, href);
  assert.match(reasons.join('\n'), 'Nobody could be told of its last alert (errored,');
  assert.match(reasons.join('\n'), 'Refused by slack (slack): answered 404 Not Found: no_service.');
  assert.match(reasons.join('\n'), 'Nobody would be told of an alert: slack refused the last message');
  assert.is(notify.failing?.[0]?.name, 'slack');
  ok(await acme.write.post('/v1/webhooks', { url: 'https://hook.example.com/' }));
  const other = (await explained(context, href)).reasons.join('\n');
  assert.match(other, 'An alarm would go to slack, which refused the last message: answered 404');
  assert.not.match(other, 'Nobody would be told');
  ok(await acme.write.patch(`/v1/channels/${id}`, slack()));
  assert.equal((await audience(context)).failing, [], 'new settings may have mended it');
  ok(await acme.write.post(`/v1/channels/${id}/test`));
  await settleAll(context, 'slack', { kind: 'delivered', at: clock.now, told: { reference: null } });
  assert.equal((await audience(context)).failing, []);
});

test('a webhook and an address whose last delivery died reach nobody until something is delivered there', async (context) => {
  const { acme, clock } = context;
  ok(await acme.write.patch('/v1/case', { members: ['Ann@example.com'] }));
  ok(await acme.write.post('/v1/webhooks', { url: 'https://user:pass@hook.example.com/' }));
  const { token } = await newSnitch(acme);
  await checkIn(context, token, '?s=1');
  await settleAll(context, 'email', { kind: 'dead', error: '550 no such mailbox' });
  assert.equal((await audience(context)).unreached, { names: [], more: false, all: false });
  const last = 'answered 500 Internal Server Error (attempt 11 was the last)';
  await settleAll(context, 'webhook', { kind: 'dead', error: last });
  const lost = await audience(context);
  assert.is(lost.unreached?.all, true);
  assert.match(lost.nobody ?? '', 'https://hook.example.com/ could not be reached: answered 500');
  assert.match(lost.nobody ?? '', 'Ann@example.com refused the last message: 550 no such mailbox');
  assert.not.match(JSON.stringify(lost), 'pass');
  clock.now += HOUR;
  await checkIn(context, token);
  await settleAll(context, 'webhook', { kind: 'delivered', at: clock.now });
  const well = await audience(context);
  assert.equal([well.unreached?.all, well.failing?.map(({ name }) => name)], [false, ['Ann@example.com']]);
});

test('a target works again however many deliveries went elsewhere since', async (context) => {
  const { acme, clock, store } = context;
  ok(await acme.write.patch('/v1/case', { members: ['ann@example.com', 'bob@example.com'] }));
  const { token } = await newSnitch(acme);
  await checkIn(context, token, '?s=1');
  await settleAll(context, 'email', { kind: 'dead', error: '550 no such mailbox' });
  ok(await acme.write.patch('/v1/case', { members: ['ann@example.com'] }));
  await checkIn(context, token);
  await settleAll(context, 'email', { kind: 'delivered', at: clock.now });
  ok(await acme.write.patch('/v1/case', { members: [] }));
  const { id } = ok<{ id: string }>(await acme.write.post('/v1/channels', slack()));
  // More than are read at once.
  const count = 1_001;
  const route = { channel: 'slack', target: id } as const;
  await Promise.all(Array.from({ length: count }, () => store.createTestDelivery(acme.id, route, clock.now)));
  const { now } = clock;
  const request = { now, leaseUntil: now + HOUR, perTarget: count, limit: count, busy: [], after: '' };
  const claims = await store.claimDeliveries({ ...request, channel: 'slack' });
  const delivered = { kind: 'delivered', at: now } as const;
  const settled = await Promise.all(claims.map((one) => store.settleDelivery(one.id, one.fence, delivered)));
  assert.is(settled.filter(Boolean).length, count);
  ok(await acme.write.patch('/v1/case', { members: ['ann@example.com', 'bob@example.com'] }));
  const failing = (await audience(context)).failing;
  assert.equal(
    failing?.map(({ name }) => name),
    ['bob@example.com'],
  );
});

test('a delivery that was never sent does not count against its target', async (context) => {
  const { acme } = context;
  ok(await acme.write.patch('/v1/case', { members: ['ann@example.com'] }));
  const { token } = await newSnitch(acme);
  await checkIn(context, token, '?s=1');
  await settleAll(context, 'email', { kind: 'dead', error: 'email is off: set smtp.url and smtp.from' });
  assert.equal((await audience(context)).failing, []);
});

test.run();
