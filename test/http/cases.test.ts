/** The administrator's view: every case, with its limits. */
import { setTimeout } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireApiKey, WireCase, WireSnitch } from '../../src/api/wire.ts';
import type { ImportedSnitch } from '../../src/store/ownership.ts';
import { Client } from './client.ts';
import { blank, empty, invalid, invalidOn, ok, refused } from './expect.ts';
import { checkIn, type Fixture, hooks, newSnitch, startFixture } from './fixture.ts';

const test = suite<Fixture>('cases');
test.before.each(hooks.start);
test.after.each(hooks.close);

test('a case needs no more than a name', async ({ admin, clock }) => {
  clock.now += 1_000;
  const made = ok<WireCase>(await admin.post('/v1/cases', { name: 'Größe & Co 🚀' }));
  assert.match(made.id, /^case_[a-z2-7]{16}$/);
  assert.equal(made, {
    id: made.id,
    name: 'Größe & Co 🚀',
    timezone: 'UTC',
    members: [],
    reminders: 'period',
    max_snitches: null,
    error_notices: true,
    on_hold: false,
    created_at: '2026-11-18T10:20:31.123Z',
  });
  assert.equal(ok(await admin.get(`/v1/cases/${made.id}`)), made);
  const listed = ok<WireCase[]>(await admin.get('/v1/cases'));
  assert.is(listed.length, 3);
  assert.equal(listed[0], made, 'newest first');
});

test('takes every setting, on create and on update', async ({ admin }) => {
  const settings = {
    name: 'Full',
    timezone: 'Europe/Berlin',
    members: ['ann@example.com'],
    reminders: 'daily' as const,
    max_snitches: 5,
    error_notices: false,
    on_hold: true,
  };
  const made = ok<WireCase>(await admin.post('/v1/cases', settings));
  assert.equal({ ...made, ...settings }, made);
  let expected = ok<WireCase>(await admin.post('/v1/cases', { name: 'Bare' }));
  for (const [field, value] of [
    ...Object.entries(settings),
    ['max_snitches', null],
    ['max_snitches', 0],
  ] as const) {
    const change = { [field]: value };
    expected = { ...expected, ...change };
    assert.equal(ok(await admin.patch(`/v1/cases/${expected.id}`, change)), expected);
    assert.equal(ok(await admin.get(`/v1/cases/${expected.id}`)), expected);
  }
  assert.equal(
    ok(await admin.patch(`/v1/cases/${expected.id}`, expected)),
    expected,
    'a whole one can be sent back',
  );
});

test('what is wrong is refused on its attribute, and nothing is kept', async ({ admin, acme }) => {
  const before = await admin.get('/v1/cases');
  const bad: Record<string, unknown[]> = {
    name: [5, [], 'a\nb', 'n'.repeat(256)],
    timezone: ['', 'Mars', 5, null],
    members: ['ann', 5, [5]],
    reminders: ['never', null],
    max_snitches: [-1, 1.5, '5', true, [], {}, Number.MAX_SAFE_INTEGER + 2],
    error_notices: [null, 'yes', 0, 1],
    on_hold: [null, 'no', 0],
  };
  for (const [attribute, values] of Object.entries(bad)) {
    for (const value of values) {
      invalidOn(await admin.post('/v1/cases', { name: 'n', [attribute]: value }), attribute);
      invalidOn(await admin.patch(`/v1/cases/${acme.id}`, { [attribute]: value }), attribute);
    }
  }
  for (const number of ['1e400', '-1e400', '9007199254740993']) {
    invalidOn(
      await admin.ask('POST', '/v1/cases', { body: `{"name":"n","max_snitches":${number}}` }),
      'max_snitches',
    );
  }
  for (const name of [undefined, null, '', ' '])
    invalid(await admin.post('/v1/cases', { name }), blank('name'));
  invalidOn(await admin.post('/v1/cases', { on_hold: 5 }), 'name', 'on_hold');
  assert.is((await admin.get('/v1/cases')).text, before.text);
});

test('max_snitches is the plan limit, error_notices and on_hold take effect at once', async (context) => {
  const { admin, acme } = context;
  const path = `/v1/cases/${acme.id}`;
  const { token } = await newSnitch(acme);
  ok(await admin.patch(path, { max_snitches: 1 }));
  refused(await acme.write.post('/v1/snitches', { name: 'n', interval: 'daily' }), 402, 'plan_limit_reached');
  ok(await admin.patch(path, { max_snitches: 0 }));
  assert.is(ok<WireSnitch[]>(await acme.write.get('/v1/snitches')).length, 1, 'those that exist stay');
  ok(await admin.patch(path, { max_snitches: 2, error_notices: false }));
  ok(await acme.write.post('/v1/snitches', { name: 'n', interval: 'daily' }));
  await checkIn(context, token, '?s=1');
  assert.is(ok<WireSnitch>(await acme.read.get(`/v1/snitches/${token}`)).status, 'healthy');
  ok(await admin.patch(path, { on_hold: true }));
  refused(await acme.read.get('/v1/snitches'), 402, 'account_on_hold');
  ok(await admin.patch(path, { on_hold: false }));
  ok(await acme.read.get('/v1/snitches'));
});

test('DELETE takes the case with its keys and snitches, and leaves the others', async (context) => {
  const { admin, acme, rival, nobody } = context;
  const [gone, kept] = [await newSnitch(acme), await newSnitch(rival)];
  const path = `/v1/cases/${acme.id}`;
  empty(await admin.delete(path));
  refused(await acme.write.get('/v1/snitches'), 401, 'api_key_invalid');
  refused(await acme.read.get('/v1/case'), 401, 'api_key_invalid');
  assert.is((await nobody.get(`/c/${gone.token}`)).status, 404);
  for (const answer of [
    await admin.get(path),
    await admin.patch(path, { name: 'n' }),
    await admin.delete(path),
  ]) {
    refused(answer, 404, 'resource_not_found');
  }
  refused(await admin.get(`${path}/api_keys`), 404, 'resource_not_found');
  refused(await admin.post(`${path}/api_keys`, { name: 'n' }), 404, 'resource_not_found');
  assert.equal(
    ok<WireCase[]>(await admin.get('/v1/cases')).map(({ id }) => id),
    [rival.id],
  );
  assert.equal(ok(await rival.write.get('/v1/snitches')), [kept]);
});

test('each step of a deletion is small, however large the case, because check-ins wait for it', async () => {
  const left: number[] = [];
  const context = await startFixture({
    through: (store) => ({
      ...store,
      deleteCase: async (id) => {
        left.push((await store.listSnitches(id, { after: 0, limit: 1_000, tags: [] })).snitches.length);
        return store.deleteCase(id);
      },
    }),
  });
  try {
    const { admin, acme, store, clock } = context;
    const imported = Array.from(
      { length: 450 },
      (_, index): ImportedSnitch => ({
        ...{ name: `job ${index}`, notes: '', tags: [], alertEmail: [] },
        ...{ interval: 'daily', alertType: 'basic', token: null },
      }),
    );
    await store.importSnitches(acme.id, { imported, owner: null }, clock.now);
    empty(await admin.delete(`/v1/cases/${acme.id}`));
    assert.equal(left, [50]);
  } finally {
    await context.close();
  }
});

test('the sweep finishes the deletion of a very large case after the answer, even if nobody asks again', async () => {
  const context = await startFixture({
    // As if there were so many that the time for the answer is over first.
    through: (store) => ({ ...store, emptyCaseSlice: () => setTimeout(20, true) }),
  });
  try {
    const { admin, acme, store, clock } = context;
    empty(await admin.delete(`/v1/cases/${acme.id}`));
    assert.ok(await store.getCase(acme.id));
    empty(await admin.delete(`/v1/cases/${acme.id}`));
    while (await store.deletionSlice(clock.now));
    refused(await admin.get(`/v1/cases/${acme.id}`), 404, 'resource_not_found');
    refused(await admin.delete(`/v1/cases/${acme.id}`), 404, 'resource_not_found');
  } finally {
    await context.close();
  }
});

test('a new case can be used with the key that is made for it', async ({ admin, port }) => {
  const { id } = ok<WireCase>(await admin.post('/v1/cases', { name: 'New' }));
  const { key } = ok<WireApiKey>(await admin.post(`/v1/cases/${id}/api_keys`, { name: 'first' }));
  using client = new Client(port, key ?? '');
  const snitch = ok<WireSnitch>(await client.post('/v1/snitches', { name: 'n', interval: 'daily' }));
  assert.equal(ok(await client.get('/v1/snitches')), [snitch]);
});

test('an unknown id is not found', async ({ admin }) => {
  for (const id of ['unknown', 'case_aaaaaaaaaaaaaaaa', '%00', '%zz', '..', 'x'.repeat(5_000)]) {
    refused(await admin.get(`/v1/cases/${id}`), 404, 'resource_not_found');
    refused(await admin.patch(`/v1/cases/${id}`, { name: 'n' }), 404, 'resource_not_found');
    refused(await admin.delete(`/v1/cases/${id}`), 404, 'resource_not_found');
  }
});

test.run();
