/** What the status page shows, and what it does not. Time limit: 180 s. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ok, refused } from '../../expect.ts';
import { checkIn, type Fixture, HOUR, hooks, MINUTE, newSnitch, START, sweep } from '../../fixture.ts';
import { busyCase, leaksIn, PUBLIC_TAG } from '../busy-case.ts';
import { type Line, pageOf, put, type Shown, shownWhen } from './page.ts';

const test = suite<Fixture>('the status page');
test.before.each(hooks.start);
test.after.each(hooks.close);

const ADDRESSES = ['/s/acme', '/s/acme.json', '/s/acme/feed.xml'];

test('there is none until it is switched on, and then it shows the snitches with its tags', async (context) => {
  const { acme, nobody } = context;
  for (const path of ADDRESSES) assert.is((await nobody.get(path)).status, 404);
  await newSnitch(acme, { name: 'shown', tags: ['public', 'db'] });
  await newSnitch(acme, { name: 'hidden', tags: ['db'] });
  await put(context);
  const page = await pageOf(context);
  assert.equal(
    page.groups.map(({ name, snitches }) => [name, snitches.map((one) => one.name)]),
    [[null, ['shown']]],
  );
  assert.equal([page.total, page.counts.pending, page.left_out], [1, 1, 0]);
  await put(context, { tags: ['*'], groups: ['db'] });
  const all = await pageOf(context);
  assert.equal(
    all.groups.map(({ name, snitches }) => [name, snitches.map((one) => one.name)]),
    [['db', ['hidden', 'shown']]],
  );
});

test('says that all is well only after a check-in, and while no snitch is errored', async (context) => {
  const { token } = await newSnitch(context.acme, { name: 'shown', tags: ['public'] });
  await put(context);
  const said: boolean[] = [(await pageOf(context)).all_well];
  for (const outcome of ['', '?s=1', '?s=0']) {
    await checkIn(context, token, outcome);
    context.clock.now += MINUTE;
    const state = outcome === '?s=1' ? 'error' : 'well';
    const page = await shownWhen(context, ({ counts }) => counts[state] === 1);
    said.push(page.all_well);
  }
  assert.equal(said, [false, true, false, true]);
});

test('tells nothing that was not released', async (context) => {
  const { secrets, released, tokens } = await busyCase(context);
  await put(context, { tags: [PUBLIC_TAG], groups: [PUBLIC_TAG] });
  // The feed shows what happens from now on.
  context.clock.now += HOUR;
  await checkIn(context, tokens.error);
  await checkIn(context, tokens.hidden, '?s=1');
  context.clock.now += 2 * HOUR;
  await sweep(context);
  const answers = await Promise.all(ADDRESSES.map((path) => context.nobody.get(path)));
  for (const { status } of answers) assert.is(status, 200);
  const texts = answers.map(({ text, headers }) => `${JSON.stringify(headers)}\n${text}`);
  assert.ok(secrets.size > 30);
  assert.equal(leaksIn(texts, secrets), []);
  for (const name of released)
    assert.ok(
      texts.slice(0, 2).every((text) => text.includes(name)),
      name,
    );
  assert.match(texts[2] ?? '', 'shown-error is well again');
  assert.equal(
    leaksIn([`<p>${secrets.get('notes of hidden')?.replace('<', '&lt;').replace('>', '&gt;')}`], secrets),
    ['notes of hidden'],
  );
});

test('tells the truth within a second of a change', async (context) => {
  const { acme, clock } = context;
  const { token } = await newSnitch(acme, { name: 'job', tags: ['public'] });
  await put(context);
  const line = ({ groups }: Shown) => groups[0]?.snitches[0];
  const state = async (wanted: string) => {
    const page = await shownWhen(context, (one) => line(one)?.state === wanted);
    assert.is(line(page)?.state, wanted);
    return line(page) as Line;
  };
  await state('pending');
  await checkIn(context, token);
  assert.is((await state('well')).since, new Date(START).toISOString());
  clock.now += 2 * HOUR;
  await sweep(context);
  const missing = await state('missing');
  assert.is(missing.since, new Date(clock.now).toISOString());
  assert.is(missing.marks.at(-1), 'missing');
  await checkIn(context, token, '?s=1');
  assert.is((await state('error')).since, missing.since, 'it is not well since it was missing');
  await checkIn(context, token);
  await state('well');
  await acme.write.post(`/v1/snitches/${token}/pause`);
  await state('paused');
  await acme.write.patch(`/v1/snitches/${token}`, { public_name: 'Shop' });
  assert.is(line(await shownWhen(context, (one) => line(one)?.name === 'Shop'))?.name, 'Shop');
  await acme.write.delete(`/v1/snitches/${token}/tags/public`);
  assert.is((await shownWhen(context, ({ total }) => total === 0)).total, 0);
  await acme.write.post(`/v1/snitches/${token}/tags`, ['public']);
  assert.is((await shownWhen(context, ({ total }) => total === 1)).total, 1);
  await acme.write.delete(`/v1/snitches/${token}`);
  assert.is((await shownWhen(context, ({ total }) => total === 0)).total, 0);
});

test('neither planned silences nor an outage of the service count against a snitch', async (context) => {
  const { acme, clock, store } = context;
  const planned = await newSnitch(acme, { name: 'planned', tags: ['public'] });
  const away = await newSnitch(acme, { name: 'away', tags: ['public'] });
  for (const { token } of [planned, away]) await checkIn(context, token);
  await put(context);
  ok(
    await acme.write.post('/v1/silences', {
      tokens: [planned.token],
      duration: 5 * 3_600,
      note: 'secret reason',
    }),
  );
  const page = await shownWhen(context, (one) => one.counts.planned === 1);
  const [, shown] = page.groups[0]?.snitches ?? [];
  assert.equal([shown?.state, shown?.until], ['planned', new Date(clock.now + 5 * HOUR).toISOString()]);
  assert.is((await context.nobody.get('/s/acme')).text.includes('secret reason'), false);
  await store.openBlindWindow({ start: START + MINUTE, end: START + 4 * HOUR });
  while (await store.postponeSlice(START + 4 * HOUR)) assert.ok(true);
  clock.now = START + 4 * HOUR + MINUTE;
  await sweep(context);
  // A new address, so the page is not taken from the cache.
  await put(context, { slug: 'renewed' });
  const after = await pageOf(context, 'renewed');
  const marks = (name: string) => after.groups[0]?.snitches.find((one) => one.name === name)?.marks.slice(-5);
  assert.equal(marks('away'), ['well', 'away', 'away', 'away', 'well']);
  assert.equal(marks('planned')?.slice(1, 4), ['away', 'away', 'away']);
});

test('a page that is gone is answered with the same bytes as one that never was, and a page can only be read', async (context) => {
  const { acme, nobody, admin } = context;
  const paths = (slug: string) => [`/s/${slug}`, `/s/${slug}.json`, `/s/${slug}/feed.xml`];
  const look = async (slug: string) =>
    Promise.all(
      paths(slug).flatMap((path) =>
        (['GET', 'HEAD'] as const).map(async (method) => {
          const { status, text, headers } = await nobody.ask(method, path);
          const { date: _, ...others } = headers;
          return { status, text, others };
        }),
      ),
    );
  const never = await look('never');
  assert.ok(never.every(({ status }) => status === 404));
  await put(context);
  assert.ok((await look('acme')).every(({ status }) => status === 200));
  for (const path of [...paths('acme'), ...paths('never')]) {
    for (const method of ['PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      assert.is((await nobody.ask(method, path)).status, 405, `${method} ${path}`);
    }
  }
  await put(context, { slug: 'another' });
  assert.equal(await look('acme'), never, 'the old address');
  assert.is((await acme.write.delete('/v1/status_page')).status, 204);
  assert.equal(await look('another'), never, 'taken away');
  refused(await acme.write.get('/v1/status_page'), 404, 'resource_not_found');
  refused(await acme.write.delete('/v1/status_page'), 404, 'resource_not_found');
  await put(context);
  await admin.patch(`/v1/cases/${acme.id}`, { on_hold: true });
  assert.equal(await look('acme'), never, 'on hold');
  await admin.patch(`/v1/cases/${acme.id}`, { on_hold: false });
  assert.is((await nobody.get('/s/acme')).status, 200);
  assert.is((await admin.delete(`/v1/cases/${acme.id}`)).status, 204);
  assert.equal(await look('acme'), never, 'its case is gone');
});

test('is kept by caches for five seconds, and not sent again to those who have it', async (context) => {
  const { acme, nobody } = context;
  for (let index = 0; index < 20; index += 1)
    await newSnitch(acme, { name: `job-${index}`, tags: ['public'] });
  await put(context);
  for (const path of ADDRESSES) {
    const { headers, text } = await nobody.get(path);
    assert.is(headers['cache-control'], 'public, max-age=5');
    const again = await nobody.ask('GET', path, { headers: { 'if-none-match': `"x", ${headers.etag}` } });
    assert.equal([again.status, again.text, again.headers.etag], [304, '', headers.etag], path);
    const other = await nobody.ask('GET', path, { headers: { 'if-none-match': '"x"' } });
    assert.equal([other.status, other.text], [200, text]);
  }
  assert.is((await nobody.get('/s/acme')).headers.refresh, '60');
  const still = await nobody.get('/s/acme?refresh=off');
  assert.is(still.headers.refresh, undefined);
  assert.match(
    still.text,
    'you can <a href="acme?refresh=off">stop that</a>',
    'the bytes are the same, and true of both',
  );
  const slash = await nobody.get('/s/acme/');
  assert.equal([slash.status, slash.headers.location], [308, '../acme']);
});

test('a slug, tags and the rest are checked, and a slug is unique', async (context) => {
  const { acme, rival } = context;
  const attributes = async (body: object) =>
    (await acme.write.put('/v1/status_page', body))
      .json<{ validations?: { attribute: string }[] }>()
      .validations?.map(({ attribute }) => attribute);
  assert.equal(await attributes({}), ['slug', 'tags']);
  for (const slug of ['ab', 'A-page', 'x'.repeat(41), 'a/b', 'ä-page', '', null, 7])
    assert.equal(await attributes({ slug, tags: ['*'] }), ['slug']);
  for (const tags of [[], ['*', 'a'], 'a', [''], null, Array(51).fill('x')])
    assert.equal(await attributes({ slug: 'abc', tags }), ['tags']);
  const others = { title: 'x'.repeat(101), groups: [1], password: 'short', announcement: 'x'.repeat(2_001) };
  assert.equal(await attributes({ slug: 'abc', tags: ['*'], ...others }), Object.keys(others));
  const both = await Promise.all(
    [acme, rival].map(({ write }) => write.put('/v1/status_page', { slug: 'taken', tags: ['*'] })),
  );
  assert.equal(both.map(({ status }) => status).sort(), [200, 422]);
  assert.is((await acme.read.put('/v1/status_page', { slug: 'taken', tags: ['*'] })).status, 403);
  const twice = await Promise.all(
    ['one', 'two'].map((title) => rival.write.put('/v1/status_page', { slug: 'rival', tags: ['*'], title })),
  );
  assert.equal(
    twice.map(({ status }) => status),
    [200, 200],
  );
  const { title } = ok<{ title: string }>(await rival.read.get('/v1/status_page'));
  assert.match((await context.nobody.get('/s/rival')).text, `<h1><bdi>${title}</bdi></h1>`);
});

test('what a PUT leaves out stays, and an announcement can be taken away', async (context) => {
  const { nobody, clock } = context;
  const first = await put(context, {
    title: 'T',
    groups: ['g'],
    announcement: 'Line <one>\nhttps://example.com/?a=1&b=2).',
    password: 'long enough',
  });
  const at = new Date(clock.now).toISOString();
  assert.equal(
    [first.password, first.announcement, first.announced_at, first.url],
    ['***', 'Line <one>\nhttps://example.com/?a=1&b=2).', at, 'https://snitch.example.com/s/acme'],
  );
  clock.now += HOUR;
  assert.equal(ok(await context.acme.write.put('/v1/status_page', { title: 'T' })), first);
  assert.equal(
    ok(await context.acme.write.put('/v1/status_page', { ...first })),
    first,
    'sent back as it was',
  );
  await put(context, { password: null });
  const { text } = await nobody.get('/s/acme');
  assert.match(
    text,
    'Line &lt;one&gt;\n<a href="https://example.com/?a=1&amp;b=2" rel="nofollow noopener noreferrer">https://example.com/?a=1&amp;b=2</a>).',
  );
  assert.match((await nobody.get('/s/acme/feed.xml')).text, 'Announcement: Line &lt;one&gt;');
  await put(context, { announcement: null });
  for (const path of ADDRESSES) assert.is((await nobody.get(path)).text.includes('Line'), false);
});

test('shows what is not well first where there are too many, and says how many are left out', async (context) => {
  const { acme } = context;
  const names = Array.from({ length: 500 }, (_, index) => ({
    name: `job-${index}`,
    interval: 'daily',
    tags: ['public'],
  }));
  ok(await acme.write.post('/v1/imports', { snitches: names }));
  const { token } = await newSnitch(acme, { name: 'the-last', tags: ['public'] });
  await newSnitch(acme, { name: 'more', tags: ['public'] });
  await checkIn(context, token, '?s=1');
  await put(context);
  const page = await pageOf(context);
  assert.equal([page.total, page.left_out, page.counts.error], [502, 202, 1]);
  const shown = page.groups.flatMap(({ snitches }) => snitches.map(({ name }) => name));
  assert.is(shown.length, 300);
  assert.ok(shown.includes('the-last'));
  assert.match((await context.nobody.get('/s/acme')).text, 'This page shows 300 of 502');
});

test('the feed tells what began and ended, each once and under the same id', async (context) => {
  const { acme, clock, nobody } = context;
  const { token } = await newSnitch(acme, { name: 'job & <co>', tags: ['public'] });
  await checkIn(context, token);
  await put(context);
  const entries = async (slug = 'acme') =>
    [
      ...(await nobody.get(`/s/${slug}/feed.xml`)).text.matchAll(
        /<entry>\s*<id>(.*?)<\/id>\s*<title>(.*?)<\/title>/g,
      ),
    ].map(([, id = '', title = '']) => ({ id, title }));
  assert.equal(await entries(), []);
  clock.now += 2 * HOUR;
  await sweep(context);
  clock.now += HOUR;
  await sweep(context);
  await checkIn(context, token);
  await put(context, { slug: 'renamed' });
  const told = await entries('renamed');
  assert.equal(
    told.map(({ title }) => title),
    ['job &amp; &lt;co&gt; is well again', 'job &amp; &lt;co&gt; has not reported'],
  );
  for (const { id } of told) assert.match(id, /^urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  await put(context, { slug: 'acme', title: 'Another' });
  assert.equal(await entries(), told);
});

test.run();
