import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireAlert, WireSnitch } from '../../src/api/wire.ts';
import { empty, ok, refused } from './expect.ts';
import { checkIn, type Fixture, hooks, newSnitch, snitchNow, type Team } from './fixture.ts';

const test = suite<Fixture>('list, get and delete snitches');
test.before.each(hooks.start);
test.after.each(hooks.close);

async function names({ acme }: Fixture, query = ''): Promise<string[]> {
  const listed = ok<WireSnitch[]>(await acme.write.get(`/v1/snitches${query}`));
  return listed.map(({ name }) => name).sort();
}

test('a case without snitches has an empty list', async ({ acme }) => {
  const answer = await acme.write.get('/v1/snitches');
  assert.is(answer.text, '[]');
  ok(answer);
});

test('a listed snitch is the very object that GET answers with', async (context) => {
  const { acme } = context;
  const fields = {
    interval: 'daily',
    alert_type: 'smart',
    tags: ['a'],
    notes: 'n',
    alert_email: 'a@example.com',
  };
  const one = await newSnitch(acme, fields);
  const two = await newSnitch(acme);
  await checkIn(context, two.token);
  const listed = ok<WireSnitch[]>(await acme.read.get('/v1/snitches'));
  assert.is(listed.length, 2);
  for (const { token } of [one, two]) {
    const got = await acme.read.get(`/v1/snitches/${token}`);
    const item = listed.find((snitch) => snitch.token === token);
    assert.is(JSON.stringify(item), got.text, 'field by field, in the same order');
    assert.ok(item?.check_in_url.endsWith(`/${token}`));
  }
});

test('a list longer than one slice of the store is complete', async ({ acme, store, clock }) => {
  const fields = { notes: '', tags: [], alertEmail: [], interval: 'daily', alertType: 'basic' } as const;
  const each = Array.from({ length: 1_001 }, (_, index) => `snitch ${index}`);
  const made = each.map((name) =>
    store.createSnitch(acme.id, { ...fields, tags: [], alertEmail: [], name }, clock.now),
  );
  await Promise.all(made);
  const listed = ok<WireSnitch[]>(await acme.write.get('/v1/snitches'));
  assert.is(new Set(listed.map(({ name }) => name)).size, 1_001);
  assert.is(listed.length, 1_001);
});

test('with tags, only snitches that have all of them', async (context) => {
  const { acme } = context;
  await newSnitch(acme, { name: 'ab', tags: ['a', 'b'] });
  await newSnitch(acme, { name: 'ba', tags: ['b', 'a', 'c'] });
  await newSnitch(acme, { name: 'a', tags: ['a'] });
  await newSnitch(acme, { name: 'none' });
  const all = ['a', 'ab', 'ba', 'none'];
  const expected: [string, string[]][] = [
    ['?tags=a', ['a', 'ab', 'ba']],
    ['?tags=a,b', ['ab', 'ba']],
    ['?tags=b,a', ['ab', 'ba']],
    ['?tags=a%2Cb', ['ab', 'ba']],
    ['?tags=a,b,c', ['ba']],
    ['?tags=a,a', ['a', 'ab', 'ba']],
    ['?tags=a&tags=b', ['ab', 'ba']],
    ['?tags=d', []],
    ['?tags=a,d', []],
    ['?tags=A', []],
    ['?tags=', all],
    ['?tags', all],
    ['?tags=,', all],
    ['?tags=,a,', ['a', 'ab', 'ba']],
    ['?', all],
    ['?other=a', all],
    ['?tags[]=c', ['ba']],
    ['?tags[]=a&tags[]=b', ['ab', 'ba']],
    ['?tags%5B%5D=a&tags%5B%5D=c', ['ba']],
    ['?tags[0]=a&tags[1]=b', ['ab', 'ba']],
    ['?tags%5B0%5D=b&tags%5B10%5D=c', ['ba']],
    ['?tags[]=a,b&tags=c', ['ba']],
    ['?tags[]=', all],
    ['?tags[x]=c', all],
    ['?tags=a,%20b', ['ab', 'ba']],
    ['?tags=+a+,+b+', ['ab', 'ba']],
    ['?tags=%20', all],
    ['?tags=%09c%20', ['ba']],
    ['/?tags=c', ['ba']],
    ['/', all],
  ];
  for (const [query, found] of expected) assert.equal(await names(context, query), found, query);
});

test('tags in a query may hold spaces and any other character', async (context) => {
  const { acme } = context;
  await newSnitch(acme, { name: 'space', tags: ['two words'] });
  await newSnitch(acme, { name: 'plus', tags: ['c++'] });
  await newSnitch(acme, { name: 'odd', tags: ['größe/100%&=#?'] });
  assert.equal(await names(context, '?tags=two+words'), ['space']);
  assert.equal(await names(context, '?tags=two%20words'), ['space']);
  assert.equal(await names(context, '?tags=c%2B%2B'), ['plus']);
  assert.equal(await names(context, `?tags=${encodeURIComponent('größe/100%&=#?')}`), ['odd']);
});

test('GET answers with the snitch; HEAD with the same and no body', async ({ acme }) => {
  const snitch = await newSnitch(acme);
  const got = await acme.read.get(snitch.href);
  assert.equal(ok(got), snitch);
  for (const path of [snitch.href, '/v1/snitches']) {
    const [head, full] = [await acme.read.ask('HEAD', path), await acme.read.get(path)];
    assert.is(head.status, 200);
    assert.is(head.text, '');
    assert.is(head.headers['content-length'], full.headers['content-length']);
    assert.is(head.headers['content-type'], full.headers['content-type']);
  }
});

test('DELETE answers 204 with nothing, and the snitch is gone', async (context) => {
  const { acme, nobody } = context;
  const [kept, gone] = [await newSnitch(acme), await newSnitch(acme)];
  empty(await acme.write.delete(gone.href));
  refused(await acme.write.get(gone.href), 404, 'resource_not_found');
  refused(await acme.write.delete(gone.href), 404, 'resource_not_found');
  assert.equal(ok(await acme.write.get('/v1/snitches')), [kept]);
  assert.is((await nobody.get(`/c/${gone.token}`)).status, 404);
});

test('alerts that were decided stay after DELETE', async (context) => {
  const { acme } = context;
  const { token, href } = await newSnitch(acme);
  await checkIn(context, token);
  empty(await acme.write.delete(href));
  const [alert] = ok<WireAlert[]>(await acme.write.get('/v1/alerts'));
  assert.is(alert?.snitch?.token, token);
});

test('checked_in_at is the time of the last healthy check-in', async (context) => {
  const { acme, clock } = context;
  const { token } = await newSnitch(acme);
  await checkIn(context, token);
  const healthy = await snitchNow(acme, token);
  assert.is(healthy.status, 'healthy');
  assert.is(healthy.checked_in_at, '2026-11-18T10:20:30.123Z');
  clock.now += 1_000;
  await checkIn(context, token, '?s=1');
  const errored = await snitchNow(acme, token);
  assert.equal(
    { ...errored, last_report: null },
    { ...healthy, status: 'errored', reason: 'exit status 1', last_report: null },
  );
  clock.now += 1_000;
  await checkIn(context, token);
  const again = await snitchNow(acme, token);
  const checkedInAt = '2026-11-18T10:20:32.123Z';
  assert.equal(
    { ...again, last_report: null },
    { ...healthy, checked_in_at: checkedInAt, last_report: null },
  );
});

test('a list by name has those of that name and the one with that token, of the own case', async ({
  acme,
  rival,
}) => {
  const make = (team: Team, name: string, tags: string[] = []) =>
    team.write.post('/v1/snitches', { name, interval: 'daily', tags }).then((made) => ok<WireSnitch>(made));
  const [one, two] = [await make(acme, 'dump, Größe'), await make(acme, 'dump, Größe', ['db'])];
  const other = await make(acme, 'other');
  const foreign = await make(rival, 'dump, Größe');
  const named = async (name: string, more = '') =>
    ok<WireSnitch[]>(await acme.read.get(`/v1/snitches?name=${encodeURIComponent(name)}${more}`));
  assert.equal(await named('dump, Größe'), [one, two]);
  assert.equal(await named('dump, Größe', '&tags=db'), [two]);
  assert.equal(await named(other.token), [other]);
  assert.equal(await named('dump'), []);
  assert.equal(await named(foreign.token), []);
  assert.equal(await named('\0'), []);
  assert.equal(await named(''), [one, two, other]);
});

test('a token that does not exist is not found, whatever it looks like', async ({ acme }) => {
  const long = 'a'.repeat(5_000);
  for (const token of [
    'x',
    'aaaaaaaaaaaaaaaaaaaaaaaaaa',
    '%00',
    '%F0%9F%9A%80',
    '..',
    '.',
    "'--",
    '%',
    '%zz',
    long,
  ]) {
    const path = `/v1/snitches/${token}`;
    refused(await acme.write.get(path), 404, 'resource_not_found', token);
  }
});

test.run();
