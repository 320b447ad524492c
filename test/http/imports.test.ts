/** Many snitches changed or deleted in one request. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireSnitch } from '../../src/api/wire.ts';
import { blank, empty, invalid, invalidOn, ok, refused } from './expect.ts';
import { type Fixture, hooks, newSnitch, snitchNow } from './fixture.ts';

const test = suite<Fixture>('many snitches at once');
test.before.each(hooks.start);
test.after.each(hooks.close);

const PATH = '/v1/imports';

test('each is changed as by PATCH of its own, what is not named stays', async ({ acme }) => {
  const one = await newSnitch(acme, { name: 'one', tags: ['a'], notes: 'n' });
  const two = await newSnitch(acme, { name: 'two' });
  const snitches = [
    { token: one.token, interval: 'daily', tags: [] },
    { token: two.token, name: 'second', href: 'ignored' },
  ];
  const changed = ok<WireSnitch[]>(await acme.write.patch(PATH, { snitches }));
  assert.equal(changed, [
    { ...one, interval: 'daily', type: { interval: 'daily' }, tags: [] },
    { ...two, name: 'second' },
  ]);
  assert.equal(ok(await acme.read.get('/v1/snitches')), changed);
});

test('all or none: what is wrong is told by its place', async ({ acme, rival }) => {
  const { token, ...before } = await newSnitch(acme);
  const foreign = await newSnitch(rival);
  const snitches = [
    { token, name: 'changed' },
    { token, interval: 'yearly', name: '' },
    { token: foreign.token, name: 'stolen' },
    { name: 'no token' },
    null,
    { token: 7 },
  ];
  const unknown = 'is of no snitch of the case';
  invalid(
    await acme.write.patch(PATH, { snitches }),
    { attribute: 'snitches[1].name', message: `can't be blank` },
    { attribute: 'snitches[1].interval', message: 'is not a valid interval' },
    ...[2, 3, 4, 5].map((index) => ({ attribute: `snitches[${index}].token`, message: unknown })),
  );
  assert.equal(await snitchNow(acme, token), { ...before, token });
  assert.is((await snitchNow(rival, foreign.token)).name, foreign.name);
});

test('smart and minute intervals do not go together here either', async ({ acme }) => {
  const { token } = await newSnitch(acme, { alert_type: 'smart', interval: 'daily' });
  invalidOn(
    await acme.write.patch(PATH, { snitches: [{ token, interval: '5_minute' }] }),
    'snitches[0].alert_type',
  );
  assert.is((await snitchNow(acme, token)).interval, 'daily');
});

test('the deletion passes over what is gone, and touches no other case', async ({ acme, rival }) => {
  const one = await newSnitch(acme);
  const two = await newSnitch(acme);
  const foreign = await newSnitch(rival);
  empty(await acme.write.post(`${PATH}/delete`, { tokens: [one.token, 'gone-long-ago', foreign.token] }));
  const left = ok<WireSnitch[]>(await acme.read.get('/v1/snitches'));
  assert.equal(
    left.map(({ token }) => token),
    [two.token],
  );
  assert.is((await snitchNow(rival, foreign.token)).token, foreign.token);
});

test('a read key may do neither, and the number is bounded', async ({ acme }) => {
  const { token } = await newSnitch(acme);
  refused(await acme.read.patch(PATH, { snitches: [{ token, name: 'x' }] }), 403, 'api_key_forbidden');
  refused(await acme.read.post(`${PATH}/delete`, { tokens: [token] }), 403, 'api_key_forbidden');
  const many = Array.from({ length: 501 }, () => 'abcdef');
  invalidOn(await acme.write.post(`${PATH}/delete`, { tokens: many }), 'tokens');
  invalidOn(await acme.write.patch(PATH, { snitches: many }), 'snitches');
  invalid(await acme.write.patch(PATH, {}), {
    attribute: 'snitches',
    message: 'must be an array of snitches',
  });
  invalid(await acme.write.patch(PATH, { snitches: [] }), blank('snitches'));
  assert.is((await snitchNow(acme, token)).token, token);
});

test('an import is refused where the case has no room for all of it', async ({ acme, admin }) => {
  ok(await admin.patch(`/v1/cases/${acme.id}`, { max_snitches: 3 }));
  const snitches = Array.from({ length: 4 }, (_, index) => ({ name: `s${index}`, interval: 'daily' }));
  refused(await acme.write.post(PATH, { snitches }), 402, 'plan_limit_reached');
  assert.equal(ok(await acme.read.get('/v1/snitches')), []);
  assert.is(ok<WireSnitch[]>(await acme.write.post(PATH, { snitches: snitches.slice(1) })).length, 3);
});

test.run();
