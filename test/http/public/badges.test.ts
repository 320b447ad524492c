/** `/v1/badges`, and the pictures that anybody may see who knows their addresses. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireSnitch } from '../../../src/api/wire.ts';
import type { WireBadge } from '../../../src/api/wire-badge.ts';
import { MOST_BADGES } from '../../../src/core/badges/badge.ts';
import { ShownBadges } from '../../../src/http/public/badges/shown.ts';
import { until } from '../../until.ts';
import type { Answer } from '../client.ts';
import { empty, invalid, invalidOn, ok, refused } from '../expect.ts';
import {
  checkIn,
  type Fixture,
  HOUR,
  hooks,
  newSnitch,
  START,
  sweep,
  type Team,
  withFixture,
} from '../fixture.ts';
import { busyCase, leaksIn, PUBLIC_TAG } from './busy-case.ts';
import { put, type Shown } from './status-page/page.ts';

const test = suite<Fixture>('badges');
test.before.each(hooks.start);
test.after.each(hooks.close);

const make = async ({ write }: Team, body: object) => ok<WireBadge>(await write.post('/v1/badges', body));

/** Where the picture is on the server of the test. */
const pathOf = ({ url }: WireBadge) => new URL(url).pathname;

interface Endpoint {
  schemaVersion: number;
  label: string;
  message: string;
  color: string;
  isError: boolean;
}

const endpoint = async ({ nobody }: Fixture, badge: WireBadge) =>
  ok<Endpoint>(await nobody.get(pathOf(badge).replace('.svg', '.json')));

/** What the badge shows, once it is one of the expected texts: it may lag for a moment. */
async function says(context: Fixture, badge: WireBadge, message: string): Promise<Endpoint> {
  await until(async () => (await endpoint(context, badge)).message === message);
  return endpoint(context, badge);
}

test('a badge is made, read, listed and deleted', async ({ acme, rival }) => {
  const { token } = await newSnitch(acme);
  const made = await make(acme, { token, label: 'backup' });
  assert.match(made.id, /^badge_[a-z2-7]{16}$/);
  assert.equal(made, {
    id: made.id,
    url: `https://snitch.example.com/b/${made.id}.svg`,
    token,
    tag: null,
    name: 'nightly-backup',
    public_name: null,
    label: 'backup',
    created_at: new Date(START).toISOString(),
  });
  const path = `/v1/badges/${made.id}`;
  assert.equal(ok(await acme.read.get(path)), made);
  assert.equal(ok(await acme.read.get('/v1/badges')), [made]);
  assert.equal(ok(await rival.read.get('/v1/badges')), []);
  refused(await rival.write.get(path), 404, 'resource_not_found');
  refused(await rival.write.delete(path), 404, 'resource_not_found');
  refused(await acme.read.post('/v1/badges', { token }), 403, 'api_key_forbidden');
  refused(await acme.read.delete(path), 403, 'api_key_forbidden');
  empty(await acme.write.delete(path));
  refused(await acme.write.delete(path), 404, 'resource_not_found');
  assert.equal(ok(await acme.read.get('/v1/badges')), []);
});

test('the answer says of each attribute what is wrong with it', async ({ acme, rival }) => {
  const { token } = await newSnitch(acme);
  const post = (body: unknown) => acme.write.post('/v1/badges', body);
  invalidOn(await post({}), 'token');
  invalidOn(await post([]), 'body');
  invalidOn(await post({ token: 7, label: 7 }), 'token', 'label');
  invalidOn(await post({ token, tag: 'x' }), 'tag');
  invalidOn(await post({ tag: 'x'.repeat(101) }), 'tag');
  invalidOn(await post({ tag: ['x'] }), 'tag');
  invalidOn(await post({ tag: ' ' }), 'tag');
  invalidOn(await post({ token, label: 'a\nb' }), 'label');
  invalidOn(await post({ token, label: 'a\ud800' }), 'label');
  invalidOn(await post({ token, label: '\u202e\u200b' }), 'label');
  invalidOn(await post({ token, label: 'x'.repeat(101) }), 'label');
  const foreign = await newSnitch(rival);
  invalid(await post({ token: foreign.token }), { attribute: 'token', message: 'names no snitch' });
  assert.is((await make(acme, { token, tag: null, label: ' ' })).label, null);
});

test('the status is told in the words of the status page, as a picture and for shields.io', async (context) => {
  const { acme, nobody, clock } = context;
  const { token, href } = await newSnitch(acme);
  const badge = await make(acme, { token });
  const pending = await endpoint(context, badge);
  assert.equal(pending, {
    schemaVersion: 1,
    label: 'nightly-backup',
    message: 'pending',
    color: 'lightgrey',
    isError: false,
  });
  await checkIn(context, token);
  assert.is((await says(context, badge, 'well')).color, 'brightgreen');
  const picture = await nobody.get(pathOf(badge));
  assert.is(picture.status, 200);
  assert.match(picture.text, /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" .*<\/svg>$/);
  assert.match(picture.text, '<title>nightly-backup: well</title>');
  await checkIn(context, token, '?s=3&m=disk-full');
  assert.equal(await says(context, badge, 'error'), {
    ...pending,
    message: 'error',
    color: 'orange',
    isError: true,
  });
  clock.now += 3 * HOUR;
  await sweep(context);
  assert.is((await says(context, badge, 'missing')).isError, true);
  empty(await acme.write.post(`${href}/pause`));
  assert.is((await says(context, badge, 'paused')).color, 'lightgrey');
  ok(await acme.write.patch(href, { name: 'renamed' }));
  await until(async () => (await endpoint(context, badge)).label === 'renamed');
});

test('headers let caches keep a badge for seconds, and forbid it to run or load anything', async (context) => {
  const { acme, nobody } = context;
  const { token } = await newSnitch(acme);
  const badge = await make(acme, { token });
  const answer = await nobody.get(pathOf(badge));
  const { etag = '' } = answer.headers;
  assert.is(answer.headers['content-type'], 'image/svg+xml; charset=utf-8');
  assert.is(answer.headers['cache-control'], 'public, max-age=5');
  assert.is(answer.headers['x-content-type-options'], 'nosniff');
  assert.match(String(answer.headers['content-security-policy']), /^default-src 'none'; .*sandbox$/);
  assert.match(etag, /^"[\w-]{22}"$/);
  const asked = (given: string) => nobody.ask('GET', pathOf(badge), { headers: { 'if-none-match': given } });
  for (const given of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
    const same = await asked(given);
    assert.equal([same.status, same.text, same.headers.etag], [304, '', etag], given);
  }
  assert.is((await asked('"other"')).status, 200);
  await checkIn(context, token);
  await until(async () => (await asked(etag)).status === 200);
  const head = await nobody.ask('HEAD', pathOf(badge));
  assert.equal([head.status, head.text], [200, '']);
  const foreign = { origin: 'https://elsewhere.example.com', 'sec-fetch-site': 'cross-site' };
  assert.is((await nobody.ask('GET', pathOf(badge), { headers: foreign })).status, 200);
  refused(await nobody.post(pathOf(badge), {}), 405, 'method_not_allowed');
});

/** Without the time, which differs with each answer. */
const seen = ({ status, headers: { date: _, ...headers }, text }: Answer) => ({ status, headers, text });

test('a badge that was taken away is answered like one that never was', async (context) => {
  const { acme, nobody } = context;
  const { token, href } = await newSnitch(acme);
  const never = seen(await nobody.get('/b/badge_aaaaaaaaaaaaaaaa.svg'));
  assert.is(never.status, 404);
  const [one, other] = [await make(acme, { token }), await make(acme, { token })];
  assert.is.not(one.id, other.id, 'the same snitch may have two, of which one is taken away');
  for (const badge of [one, other]) assert.is((await nobody.get(pathOf(badge))).status, 200);
  const gone = async (badge: WireBadge) => seen(await nobody.get(pathOf(badge)));
  empty(await acme.write.delete(`/v1/badges/${one.id}`));
  await until(async () => (await gone(one)).status === 404);
  assert.equal(await gone(one), never);
  assert.is((await gone(other)).status, 200);
  empty(await acme.write.delete(href));
  await until(async () => (await gone(other)).status === 404);
  assert.equal(await gone(other), never);
  assert.equal(ok(await acme.read.get('/v1/badges')), []);
  for (const name of ['x', `${one.id}.png`, `${token}.svg`, `..%2f${one.id}.svg`, `${one.id}.svg%00`]) {
    assert.is((await nobody.get(`/b/${name}`)).status, 404, name);
  }
});

test('deleting a case deletes its badges', async (context) => {
  const { acme, admin, nobody } = context;
  const badge = await make(acme, { tag: 'web' });
  assert.is((await nobody.get(pathOf(badge))).status, 200);
  empty(await admin.delete(`/v1/cases/${acme.id}`));
  await until(async () => (await nobody.get(pathOf(badge))).status === 404);
});

test('a badge shows no token, address, note or message, and its address takes no check-in', async (context) => {
  const { acme, nobody } = context;
  const secrets = {
    notes: 'secret-note',
    alert_email: ['ann@example.com'],
    tags: ['secret-tag'],
  };
  const { token } = await newSnitch(acme, secrets);
  await checkIn(context, token, '?s=1&m=secret-message');
  const badge = await make(acme, { token });
  const texts = await Promise.all(
    ['.svg', '.json'].map(async (form) => {
      const { text, headers } = await nobody.get(pathOf(badge).replace('.svg', form));
      return `${badge.url} ${text} ${JSON.stringify(headers)}`;
    }),
  );
  for (const text of texts) {
    for (const secret of [token, token.slice(0, 8), 'secret', 'example.com/c', 'ann@']) {
      assert.not.ok(text.includes(secret), secret);
    }
  }
  for (const guess of [badge.id, badge.id.replace('badge_', '')]) {
    assert.is((await nobody.get(`/c/${guess}`)).status, 404);
  }
});

test('a badge of a tag shows the worst of its snitches', async (context) => {
  const { acme, rival, clock } = context;
  const badge = await make(acme, { tag: 'web' });
  assert.equal([badge.token, badge.tag], [null, 'web']);
  assert.equal(
    [(await endpoint(context, badge)).label, (await endpoint(context, badge)).message],
    ['web', 'unknown'],
  );
  const foreign = await newSnitch(rival, { tags: ['web'] });
  await checkIn(context, foreign.token, '?s=1');
  const [late, well] = [
    await newSnitch(acme, { tags: ['web'] }),
    await newSnitch(acme, { name: 'weekly', tags: ['x', 'web'], interval: 'weekly' }),
  ];
  await says(context, badge, 'pending');
  await checkIn(context, well.token);
  await says(context, badge, 'well');
  await checkIn(context, late.token);
  clock.now += 3 * HOUR;
  await sweep(context);
  await says(context, badge, 'missing');
  empty(await acme.write.post(`${late.href}/pause`));
  await says(context, badge, 'well');
  ok(await acme.write.patch(well.href, { tags: ['other'] }));
  await says(context, badge, 'paused');
  empty(await acme.write.delete(late.href));
  await says(context, badge, 'unknown');
});

/** What the status page says of each, by name. */
async function saidByPage({ nobody }: Fixture): Promise<Map<string, string>> {
  const page = ok<Shown>(await nobody.get('/s/acme.json'));
  return new Map(page.groups.flatMap(({ snitches }) => snitches.map((one) => [one.name, one.state])));
}

test('badges say of each snitch what the status page says, and tell nothing that was not released', async (context) => {
  const { acme, nobody } = context;
  const { secrets, released, tokens } = await busyCase(context);
  const all = ok<WireSnitch[]>(await acme.read.get(`/v1/snitches?tags=${PUBLIC_TAG}`));
  ok(await acme.write.post('/v1/silences', { tokens: [tokens.missing], duration: 3_600, note: 'new disk' }));
  await put(context, { tags: [PUBLIC_TAG] });
  const badges = await Promise.all(all.map(({ token }) => make(acme, { token })));
  const page = await saidByPage(context);
  const found = await Promise.all(badges.map((badge) => endpoint(context, badge)));
  assert.equal(found.map(({ label }) => label).sort(), [...released].sort());
  for (const { label, message } of found)
    assert.is(message, page.get(label)?.replace('planned', 'planned work'));
  assert.equal(new Set(page.values()), new Set(['well', 'planned', 'error', 'paused', 'pending']));
  const tag = await make(acme, { tag: PUBLIC_TAG });
  assert.is((await endpoint(context, tag)).message, 'error', 'what is planned work is no alarm of the tag');
  const answers = await Promise.all(
    [...badges, tag].flatMap((badge) => [
      nobody.get(pathOf(badge)),
      nobody.get(pathOf(badge).replace('.svg', '.json')),
    ]),
  );
  const texts = answers.map(({ text, headers }) => `${JSON.stringify(headers)}\n${text}`);
  assert.equal(leaksIn(texts, secrets), []);
});

test('a silence that ends lets the badge alarm again, of a snitch and of a tag', async (context) => {
  const { acme, clock } = context;
  const { token } = await newSnitch(acme, { tags: ['web'] });
  await checkIn(context, token, '?s=1');
  const badges = [await make(acme, { token }), await make(acme, { tag: 'web' })];
  for (const badge of badges) await says(context, badge, 'error');
  const silence = ok<{ id: string }>(await acme.write.post('/v1/silences', { tags: ['web'], duration: 60 }));
  for (const badge of badges)
    assert.equal(await says(context, badge, 'planned work').then(({ color, isError }) => [color, isError]), [
      'blue',
      false,
    ]);
  await acme.write.delete(`/v1/silences/${silence.id}`);
  clock.now += 1;
  for (const badge of badges) await says(context, badge, 'error');
});

test('while its case is on hold, there is neither page nor badge', async (context) => {
  const { acme, admin, nobody } = context;
  const { token } = await newSnitch(acme, { tags: ['public'] });
  await put(context);
  const badges = [await make(acme, { token }), await make(acme, { tag: 'public' })];
  const paths = ['/s/acme', ...badges.map(pathOf)];
  const all = (status: number) => async () => {
    const answers = await Promise.all(paths.map((path) => nobody.get(path)));
    return answers.every((answer) => answer.status === status);
  };
  await until(all(200));
  ok(await admin.patch(`/v1/cases/${acme.id}`, { on_hold: true }));
  await until(all(404));
  ok(await admin.patch(`/v1/cases/${acme.id}`, { on_hold: false }));
  await until(all(200));
});

test('a tag of very many snitches is looked through to its end', async (context) => {
  const { store, acme } = context;
  const fields = {
    notes: '',
    tags: ['fleet'],
    alertEmail: [],
    interval: 'daily',
    alertType: 'basic',
  } as const;
  const imported = Array.from({ length: 1_201 }, (_, at) => ({
    ...fields,
    tags: [...fields.tags],
    alertEmail: [],
    name: `n${at}`,
    token: `imported${at}`,
  }));
  await store.importSnitches(acme.id, { imported, owner: null }, START);
  const { id } = await store.createBadge(
    acme.id,
    { subject: { kind: 'tag', tag: 'fleet' }, label: null },
    START,
  );
  const said = async () => {
    const forms = await new ShownBadges(store, () => START).get(id);
    return (JSON.parse(String(forms?.json.body)) as Endpoint).message;
  };
  assert.is(await said(), 'pending');
  await checkIn(context, 'imported1200', '?s=1');
  assert.is(await said(), 'error');
});

test('labels from outside stay text', async (context) => {
  const { acme, nobody } = context;
  const names = [
    `"><script>alert(1)</script>`,
    `&lt;b&gt; ]]> <!-- <![CDATA[`,
    `' onload='x`,
    '\u202eevil\u2066',
    'שלום עולם',
    '🎉👩‍👩‍👧 \uffff\ufdd0 é',
    `${'W'.repeat(255)}`,
  ];
  for (const name of names) {
    const { token } = await newSnitch(acme, { name });
    const { text } = await nobody.get(pathOf(await make(acme, { token })));
    const tags = [...text.matchAll(/<(\/?[a-zA-Z!][^\s/>]*)/g)].map(([, tag]) => tag);
    const known = /^\/?(svg|title|filter|feGaussianBlur|linearGradient|stop|clipPath|rect|g|text)$/;
    assert.equal(
      tags.filter((tag) => !known.test(tag ?? '')),
      [],
      name,
    );
    assert.not.match(text, / on\w+="/);
    assert.not.match(text, /[\p{Cc}\p{Cf}\p{Cs}\p{Noncharacter_Code_Point}]/u);
    assert.ok(text.length < 10_000, 'the picture stays small');
    assert.is(text.replace(/&(amp|lt|gt|quot|apos);/g, '').includes('&'), false, 'it is well-formed');
  }
});

test('check-in addresses that begin with /b/ go on working', () =>
  withFixture({ checkInPath: '/b' }, async (context) => {
    const { acme, nobody } = context;
    const { token } = await newSnitch(acme);
    const badge = await make(acme, { token });
    assert.is((await nobody.get(`/b/${token}`)).status, 202);
    assert.is((await nobody.post(`/b/${token}/fail`)).status, 200);
    await says(context, badge, 'error');
    assert.is((await nobody.get(pathOf(badge))).status, 200);
    assert.is((await nobody.get(`${pathOf(badge)}?style=flat`)).status, 200);
  }));

test('a case has no more than so many', async ({ acme, store }) => {
  const input = { subject: { kind: 'tag', tag: 'web' }, label: null } as const;
  await Promise.all(Array.from({ length: MOST_BADGES - 1 }, () => store.createBadge(acme.id, input, START)));
  const answers = await Promise.all([1, 2].map(() => acme.write.post('/v1/badges', { tag: 'web' })));
  assert.equal(answers.map(({ status }) => status).sort(), [200, 422]);
  assert.is(ok<WireBadge[]>(await acme.read.get('/v1/badges')).length, MOST_BADGES);
});

test('however often a badge is fetched, the store is asked a few times', async ({ store, acme }) => {
  const { token } = await newSnitch(acme);
  const { id } = await store.createBadge(acme.id, { subject: { kind: 'snitch', token }, label: null }, START);
  let looks = 0;
  const findBadge: typeof store.findBadge = (given) => {
    looks += 1;
    return store.findBadge(given);
  };
  const shown = new ShownBadges({ ...store, findBadge }, () => START);
  const began = performance.now();
  const all = await Promise.all(Array.from({ length: 2_000 }, () => shown.get(id)));
  for (let each = 0; each < 2_000; each += 1) all.push(await shown.get(id));
  const took = performance.now() - began;
  assert.ok(
    all.every((one) => one?.svg.body === all[0]?.svg.body),
    'the same bytes',
  );
  assert.ok(looks >= 1 && looks <= 2 + took / 400, `${looks} looks in ${took} ms`);
});

test('pictures are kept while they are the same, but not more than a thousand of them', async ({
  acme,
  store,
}) => {
  const { token } = await newSnitch(acme);
  const { id } = await make(acme, { token });
  const badge = await store.findBadge(id);
  // Here every id finds a badge, so that a thousand need not be made.
  const shown = new ShownBadges({ ...store, findBadge: async () => badge }, () => START);
  const drawn = await shown.get(id);
  const others = async (first: number, last: number) => {
    for (let each = first; each <= last; each += 1) await shown.get(`badge_${each}`);
  };
  await others(1, 999);
  assert.is((await shown.get(id))?.svg, drawn?.svg, 'still kept as the last of a thousand');
  await others(1_000, 2_000);
  assert.is.not((await shown.get(id))?.svg, drawn?.svg, 'drawn again');
});

test.run();
