/** How many of the things that people make a case can have (`decisions: Limits on resources`). */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireApiKey, WireCase, WireWebhook } from '../../src/api/wire.ts';
import { empty, invalid, ok } from './expect.ts';
import { type Fixture, hooks } from './fixture.ts';

const test = suite<Fixture>('limits on resources');
test.before.each(hooks.start);
test.after.each(hooks.close);

const full = (attribute: string) => ({
  attribute,
  message: 'are too many: 100 is the most, so delete one first',
});
const addresses = (count: number) =>
  Array.from({ length: count }, (_, index) => `person${index}@example.com`);

test('a case has at most 100 webhooks, however many are asked for at once', async ({ acme, rival }) => {
  const url = 'https://example.com/hook';
  const answers = await Promise.all(
    Array.from({ length: 110 }, () => acme.write.post('/v1/webhooks', { url })),
  );
  assert.is(answers.filter(({ status }) => status === 200).length, 100);
  for (const answer of answers) if (answer.status !== 200) invalid(answer, full('webhooks'));
  ok(await rival.write.post('/v1/webhooks', { url }));
  const kept = ok<WireWebhook[]>(await acme.read.get('/v1/webhooks'));
  assert.is(kept.length, 100);
  empty(await acme.write.delete(`/v1/webhooks/${kept[0]?.id}`));
  ok(await acme.write.post('/v1/webhooks', { url }));
  invalid(await acme.write.post('/v1/webhooks', { url }), full('webhooks'));
  const id = kept[1]?.id ?? '';
  ok(await acme.write.post(`/v1/webhooks/${id}/rotate_secret`));
});

test('a case has at most 100 keys, whoever makes them, and so has the server', async ({
  acme,
  admin,
  rival,
}) => {
  const doors = [
    { client: acme.write, path: '/v1/api_keys', had: 2 },
    { client: admin, path: `/v1/cases/${rival.id}/api_keys`, had: 2 },
    { client: admin, path: '/v1/api_keys', had: 1 },
  ];
  for (const { client, path, had } of doors) {
    for (let count = had; count < 100; count += 1) ok(await client.post(path, { name: `key ${count}` }));
    invalid(await client.post(path, { name: 'one more' }), full('api_keys'));
  }
  const made = ok<WireApiKey[]>(await acme.read.get('/v1/api_keys')).find((key) => key.name === 'key 50');
  invalid(await admin.post(`/v1/cases/${acme.id}/api_keys`, { name: 'x' }), full('api_keys'));
  empty(await acme.write.delete(`/v1/api_keys/${made?.id}`));
  ok(await admin.post(`/v1/cases/${acme.id}/api_keys`, { name: 'x' }));
});

test('a case that had more before there was a limit keeps them', async ({ acme, store, clock }) => {
  const settings = { caseId: acme.id, name: 'old', scope: 'read' } as const;
  for (let count = 0; count < 120; count += 1) {
    await store.createApiKey(settings, clock.now);
    await store.createWebhook(acme.id, 'https://example.com/', clock.now);
  }
  assert.is(ok<unknown[]>(await acme.read.get('/v1/api_keys')).length, 122);
  const kept = ok<WireWebhook[]>(await acme.read.get('/v1/webhooks'));
  assert.is(kept.length, 120);
  invalid(await acme.write.post('/v1/api_keys', { name: 'one more' }), full('api_keys'));
  invalid(await acme.write.post('/v1/webhooks', { url: 'https://example.com/' }), full('webhooks'));
  ok(await acme.read.get(`/v1/webhooks/${kept[7]?.id}`));
  empty(await acme.write.delete(`/v1/webhooks/${kept[7]?.id}`));
});

test('a case has at most 200 members', async ({ acme, admin }) => {
  const members = addresses(200);
  const changed = ok<WireCase>(await acme.write.patch('/v1/case', { members }));
  assert.equal(changed.members, members);
  const refusal = { attribute: 'members', message: 'has too many addresses (maximum is 200)' };
  invalid(await acme.write.patch('/v1/case', { members: addresses(201) }), refusal);
  invalid(await admin.post('/v1/cases', { name: 'x', members: addresses(201) }), refusal);
  assert.equal(ok<WireCase>(await acme.read.get('/v1/case')).members, members);
});

test.run();
