/** `GET /v1/metrics`: the series of each snitch, as a scraper reads them. Time limit: 120 s. */
import { type IncomingMessage, request } from 'node:http';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { labelValue } from '../../src/http/metrics/series-text.ts';
import type { Store } from '../store/acting.ts';
import { basic } from './client.ts';
import { ok, refused } from './expect.ts';
import { type Exposition, only, readExposition, seriesOf } from './exposition.ts';
import {
  checkIn,
  type Fixture,
  HOUR,
  hooks,
  MINUTE,
  newSnitch,
  sweep,
  type Team,
  withFixture,
} from './fixture.ts';

const test = suite<Fixture>('the metrics of snitches');
test.before.each(hooks.start);
test.after.each(hooks.close);

async function scrape({ read }: Team, query = ''): Promise<Exposition> {
  const { status, text, headers } = await read.get(`/v1/metrics${query}`);
  assert.is(status, 200, text);
  assert.is(headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8');
  return readExposition(text);
}

/** The status that the series of a snitch tell, which must be exactly one. */
function statusOf(exposition: Exposition, name: string): string | undefined {
  const series = seriesOf(exposition, 'snitch_status', { name });
  assert.is(series.length, 5);
  const set = series.filter(({ value }) => value === 1);
  assert.is(set.length, 1);
  assert.ok(series.every(({ value }) => value === 0 || value === 1));
  return set[0]?.labels.status;
}

function namesIn(exposition: Exposition): string[] {
  return seriesOf(exposition, 'snitch_silenced').map(({ labels }) => labels.name ?? '');
}

test('a snitch that waits for its first check-in has a status and no times', async ({ acme }) => {
  await newSnitch(acme);
  const found = await scrape(acme);
  assert.is(statusOf(found, 'nightly-backup'), 'pending');
  for (const [name, { series }] of found) if (name.endsWith('_seconds')) assert.equal(series, [], name);
});

test('status, deadline, times and duration follow what the job does', async (context) => {
  const { acme, clock } = context;
  const { token } = await newSnitch(acme, { name: 'job' });
  await checkIn(context, token, '/start');
  clock.now += 90_500;
  await checkIn(context, token);
  const ended = clock.now;
  const healthy = await scrape(acme);
  assert.is(statusOf(healthy, 'job'), 'healthy');
  assert.is(only(healthy, 'snitch_last_duration_seconds'), 90.5);
  assert.is(only(healthy, 'snitch_last_check_in_timestamp_seconds'), ended / 1_000);
  assert.is(only(healthy, 'snitch_last_success_timestamp_seconds'), ended / 1_000);
  const due = Date.UTC(2026, 10, 18, 12);
  assert.is(only(healthy, 'snitch_deadline_timestamp_seconds'), due / 1_000);
  assert.is(only(healthy, 'snitch_time_to_deadline_seconds'), (due - clock.now) / 1_000);
  clock.now += MINUTE;
  await checkIn(context, token, '/start');
  await checkIn(context, token, '/1');
  const errored = await scrape(acme);
  assert.is(statusOf(errored, 'job'), 'errored');
  assert.is(only(errored, 'snitch_last_check_in_timestamp_seconds'), clock.now / 1_000);
  assert.is(only(errored, 'snitch_last_success_timestamp_seconds'), ended / 1_000);
  clock.now += 3 * HOUR;
  await sweep(context);
  const failed = await scrape(acme);
  assert.is(statusOf(failed, 'job'), 'failed');
  assert.is(only(failed, 'snitch_deadline_timestamp_seconds'), due / 1_000, 'the one that it missed');
  assert.is(only(failed, 'snitch_time_to_deadline_seconds'), (due - clock.now) / 1_000);
  assert.is((await acme.write.post(`/v1/snitches/${token}/pause`)).status, 204);
  const paused = await scrape(acme);
  assert.is(statusOf(paused, 'job'), 'paused');
  assert.is(only(paused, 'snitch_time_to_deadline_seconds'), null);
});

test('the duration stays known while the next run is under way, and goes with a run whose start was not reported', async (context) => {
  const { acme, clock } = context;
  const { token } = await newSnitch(acme);
  await checkIn(context, token, '/start');
  clock.now += 5_000;
  await checkIn(context, token);
  for (const suffix of ['/start', '/log']) {
    clock.now += MINUTE;
    await checkIn(context, token, suffix);
    assert.is(only(await scrape(acme), 'snitch_last_duration_seconds'), 5, suffix);
  }
  clock.now += MINUTE;
  await checkIn(context, token);
  assert.is(only(await scrape(acme), 'snitch_last_duration_seconds'), 120);
  clock.now += MINUTE;
  await checkIn(context, token);
  assert.is(only(await scrape(acme), 'snitch_last_duration_seconds'), null);
});

test('silenced, acknowledged and held are told, so that alarms can be left out by them', async (context) => {
  const { acme, clock } = context;
  const host = await newSnitch(acme, { name: 'host', tags: ['web'] });
  const job = await newSnitch(acme, { name: 'job', needs: [host.token] });
  for (const { token } of [host, job]) await checkIn(context, token);
  const flags = async (name: string) => {
    const found = await scrape(acme);
    return ['silenced', 'acknowledged', 'held'].filter(
      (flag) => only(found, `snitch_${flag}`, { name }) === 1,
    );
  };
  assert.equal([await flags('host'), await flags('job')], [[], []]);
  clock.now += 3 * HOUR;
  await sweep(context);
  assert.equal([await flags('host'), await flags('job')], [[], ['held']]);
  ok(await acme.write.post(`/v1/snitches/${host.token}/acknowledge`));
  assert.equal(await flags('host'), ['acknowledged']);
  const to = new Date(clock.now + HOUR).toISOString();
  ok(await acme.write.post('/v1/silences', { tags: ['web'], to }));
  assert.equal(await flags('host'), ['silenced', 'acknowledged']);
  clock.now += HOUR + 1_000;
  assert.equal(await flags('host'), ['acknowledged'], 'the silence is over');
});

test('the last of each reported value has its series, which goes with the snitch', async (context) => {
  const { acme } = context;
  const { token } = await newSnitch(acme, { tags: ['db'] });
  await newSnitch(acme, { name: 'says nothing' });
  await checkIn(context, token, '?v.bytes=7&v.rows=1');
  await checkIn(context, token, '?v.bytes=-0.5');
  const values = async (query = '') =>
    seriesOf(await scrape(acme, query), 'snitch_reported_value').map(({ labels, value }) => [
      labels.name,
      labels.tags,
      labels.value,
      value,
    ]);
  assert.equal((await values()).toSorted(), [
    ['nightly-backup', ',db,', 'bytes', -0.5],
    ['nightly-backup', ',db,', 'rows', 1],
  ]);
  assert.is((await values('?tags=db')).length, 2);
  assert.equal(await values('?tags=db,web'), []);
  assert.is((await acme.write.delete(`/v1/snitches/${token}`)).status, 204);
  assert.equal(await values(), []);
});

const HOSTILE = [
  'with "quotes"',
  String.raw`back\slash\n and \"`,
  '"} 1',
  'a{b="c"} 2 # TYPE x gauge',
  '{{ $labels.name }} %s $x',
  'naïve – 備份 – 👩‍💻',
  '\u202Egnp.exe\u2028next',
  ' leads and trails ',
  `${'\\'.repeat(99)}"`,
];

test('names and tags are told as they are, whatever is in them', async ({ acme }) => {
  for (const name of HOSTILE) await newSnitch(acme, { name, tags: [name, 'every'] });
  const told = seriesOf(await scrape(acme), 'snitch_silenced');
  assert.equal(
    told.map(({ labels }) => labels.name),
    HOSTILE,
  );
  for (const [index, name] of HOSTILE.entries()) {
    const tags = told[index]?.labels.tags ?? '';
    assert.ok(tags.startsWith(',') && tags.endsWith(','));
    assert.ok(tags.includes(',every,') && tags.includes(`,${name},`), tags);
  }
});

test('what would end a line or a label is escaped in a name from before it was refused', () => {
  assert.is(labelValue('a\nb"c\\d\0e'), 'a\\nb\\"c\\\\d\uFFFDe');
  assert.is(labelValue('\u001b[31mred\r\t'), '\u001b[31mred\r\t');
  assert.is(labelValue(''), '');
});

test('snitches of one name are told apart by a number that opens nothing', async (context) => {
  const { acme } = context;
  const tokens = [];
  for (let count = 0; count < 3; count += 1) tokens.push((await newSnitch(acme)).token);
  const { text } = await acme.read.get('/v1/metrics');
  const ids = seriesOf(readExposition(text), 'snitch_silenced').map(({ labels }) => labels.id);
  assert.is(new Set(ids).size, 3);
  for (const token of tokens) assert.not.ok(text.includes(token));
  for (const id of ids) assert.is((await context.nobody.get(`/c/${id}`)).status, 404);
});

test('another order of the tags begins no new series', async ({ acme }) => {
  const { token } = await newSnitch(acme, { tags: ['b', 'a'] });
  const before = await scrape(acme);
  ok(await acme.write.patch(`/v1/snitches/${token}`, { tags: ['a', 'b'] }));
  assert.equal(await scrape(acme), before);
  assert.is(seriesOf(before, 'snitch_silenced')[0]?.labels.tags, ',a,b,');
});

test('only the snitches of the case, with all of the tags', async ({ acme, rival }) => {
  await newSnitch(rival, { name: 'theirs', tags: ['web'] });
  await newSnitch(acme, { name: 'one', tags: ['web'] });
  await newSnitch(acme, { name: 'both', tags: ['db', 'web'] });
  await newSnitch(acme, { name: 'none' });
  assert.equal(namesIn(await scrape(acme)), ['one', 'both', 'none']);
  assert.equal(namesIn(await scrape(acme, '?tags=web')), ['one', 'both']);
  assert.equal(namesIn(await scrape(acme, '?tags=web,db')), ['both']);
  assert.equal(namesIn(await scrape(acme, '?tags[]=db&tags[]=web')), ['both']);
  assert.equal(namesIn(await scrape(acme, '?tags=')), ['one', 'both', 'none']);
  assert.equal(namesIn(await scrape(acme, '?tags=other')), []);
});

/** That many snitches; every second one is tagged `odd`. */
async function many({ acme, store, clock }: Fixture, count: number, from = 0): Promise<string[]> {
  const names = Array.from({ length: count }, (_, index) => `job ${from + index}`);
  const fields = { notes: '', interval: 'daily', alertType: 'basic' } as const;
  const make = (name: string, index: number) =>
    store.createSnitch(
      acme.id,
      { ...fields, name, alertEmail: [], tags: index % 2 ? ['odd', 'all'] : ['all'] },
      clock.now,
    );
  await Promise.all(names.map(make));
  return names;
}

test('several hundred snitches come in slices, each once', async (context) => {
  const names = await many(context, 450);
  const all = await scrape(context.acme);
  assert.is(seriesOf(all, 'snitch_status').length, 5 * 450);
  assert.equal(namesIn(all).toSorted(), names.toSorted());
  assert.is(new Set(namesIn(await scrape(context.acme, '?tags=odd'))).size, 225);
});

/** Counts the slices of reported values, which are read last of all. */
async function withCounted(use: (fixture: Fixture, reads: { last: number }) => Promise<void>): Promise<void> {
  const reads = { last: 0 };
  const through = (store: Store): Store => ({
    ...store,
    listReported: (...given) => {
      reads.last += 1;
      return store.listReported(...given);
    },
  });
  await withFixture({ through }, (fixture) => use(fixture, reads));
}

/** Asks for the metrics, and reads nothing of the answer. */
async function begin({ port }: Fixture, key: string): Promise<IncomingMessage> {
  const headers = { authorization: basic(key) };
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  request({ host: '127.0.0.1', port, path: '/v1/metrics', headers, agent: false }, resolve)
    .on('error', reject)
    .end();
  const response = await promise;
  response.on('error', () => undefined);
  return response.pause();
}

test('10,000 snitches are written as fast as they are read, and one more is refused with a word of what to do', async () => {
  await withCounted(async (context, reads) => {
    const { acme, store, clock } = context;
    for (let from = 0; from < 10_000; from += 1_000) await many(context, 1_000, from);
    const { apiKey, key } = await store.createApiKey(
      { caseId: acme.id, name: 'slow', scope: 'read' },
      clock.now,
    );
    const slow = await begin(context, key);
    const { status, text } = await acme.read.get('/v1/metrics');
    assert.is(status, 200);
    assert.is(text.match(/^snitch_silenced\{/gm)?.length, 10_000);
    assert.is(reads.last, 1, 'the end was read for the one that took it');
    const cut = new Promise((resolve) => slow.once('close', resolve));
    assert.is((await acme.write.delete(`/v1/api_keys/${apiKey.id}`)).status, 204);
    slow.resume();
    await cut;
    assert.not.ok(slow.complete, 'it ended with its key');
    assert.is(reads.last, 1);
    await many(context, 1, 10_000);
    const tooMany = await acme.read.get('/v1/metrics');
    refused(tooMany, 422, 'resource_invalid');
    assert.match(tooMany.text, /tags must be given: the case has more than 10,000 snitches, .* \?tags=web/);
    const tooManyTagged = await acme.read.get('/v1/metrics?tags=all');
    refused(tooManyTagged, 422, 'resource_invalid');
    assert.match(tooManyTagged.text, 'name another tag as well, as ?tags=all,web');
    assert.is(namesIn(await scrape(acme, '?tags=all,odd')).length, 5_000);
  });
});

test('any key of the case reads them, also as a bearer token; others are refused as everywhere', async (context) => {
  const { acme, rival, admin, nobody, store, clock } = context;
  await newSnitch(acme);
  const ask = (authorization: string) => nobody.ask('GET', '/v1/metrics', { headers: { authorization } });
  for (const { key } of [acme.read, acme.write]) {
    for (const header of [basic(key ?? ''), `Bearer ${key}`, `bearer  ${key} `]) {
      assert.equal(namesIn(readExposition((await ask(header)).text)), ['nightly-backup'], header);
    }
  }
  assert.equal(namesIn(readExposition((await ask(`Bearer ${rival.read.key}`)).text)), []);
  for (const header of [
    'Bearer',
    'Bearer ',
    'Bearer x',
    `Bearer ${acme.read.key}x`,
    `Bearer ${basic('x')}`,
  ]) {
    refused(await ask(header), 401, 'api_key_invalid', header);
  }
  refused(await nobody.get('/v1/metrics'), 401, 'api_key_invalid');
  refused(await admin.get('/v1/metrics'), 403, 'api_key_forbidden');
  const { key } = await store.createApiKey({ caseId: acme.id, name: 'p', scope: 'provision' }, clock.now);
  refused(await ask(`Bearer ${key}`), 403, 'api_key_forbidden');
  refused(await acme.write.post('/v1/metrics', {}), 405, 'method_not_allowed');
  const head = await acme.read.ask('HEAD', '/v1/metrics');
  assert.equal([head.status, head.text], [200, '']);
});

test('a key works as a bearer token for metrics only', async ({ acme, nobody }) => {
  const headers = { authorization: `Bearer ${acme.write.key}` };
  for (const path of ['/v1/snitches', '/v1/case', '/v1/metricsx', '/v1/metrics/x']) {
    refused(await nobody.ask('GET', path, { headers }), 401, 'api_key_invalid', path);
  }
});

test.run();
