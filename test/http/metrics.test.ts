/** `/metrics` as a scraper reads it: names that say what they are, and series that are there from the start. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireApiKey } from '../../src/api/wire.ts';
import { RateLimiter } from '../../src/http/endpoint/rate-limit.ts';
import { AnswerTimes } from '../../src/http/metrics/answer-times.ts';
import { ok } from './expect.ts';
import { only, readExposition, seriesOf } from './exposition.ts';
import { type Fixture, hooks, newSnitch, withFixture } from './fixture.ts';

const test = suite<Fixture>('metrics');
test.before.each(hooks.start);
test.after.each(hooks.close);

interface Scraped {
  helps: Map<string, string>;
  types: Map<string, string>;
  values: Map<string, number>;
}

async function scrape({ nobody }: Fixture): Promise<Scraped> {
  const { status, text } = await nobody.get('/metrics');
  assert.is(status, 200, text);
  const helps = new Map<string, string>();
  const types = new Map<string, string>();
  const values = new Map<string, number>();
  for (const line of text.split('\n')) {
    const [, helped, help] = /^# HELP (\S+) (.+)$/.exec(line) ?? [];
    if (helped && help) helps.set(helped, help);
    const [, name, type] = /^# TYPE (\S+) (\S+)$/.exec(line) ?? [];
    if (name && type) types.set(name, type);
    const [, series, value] = /^([^#\s].*) (\S+)$/.exec(line) ?? [];
    if (series) values.set(series, Number(value));
  }
  return { helps, types, values };
}

test('a counter, and nothing else, ends in _total', async (context) => {
  const { types } = await scrape(context);
  assert.ok(types.size > 20);
  const wrong = [...types].filter(([name, type]) => name.endsWith('_total') !== (type === 'counter'));
  assert.equal(wrong, []);
});

test('the help of our own metrics names what is counted and in which unit', async (context) => {
  const { helps, types } = await scrape(context);
  const own = [...types].filter(([name]) => name.startsWith('snitch_'));
  assert.ok(own.length >= 10);
  for (const [name, type] of own) {
    const help = helps.get(name) ?? '';
    assert.match(help, /^[A-Z].*\.$/, name);
    if (type === 'counter') assert.match(help, /^Total number of /, name);
    if (name.endsWith('_seconds')) assert.match(help, /\bseconds\b/i, name);
  }
});

test('syncs of the disk are a counter, and still told under their old name', async (context) => {
  const before = await scrape(context);
  assert.is(before.types.get('snitch_store_syncs_total'), 'counter');
  await newSnitch(context.acme);
  const { values } = await scrape(context);
  const syncs = values.get('snitch_store_syncs_total') ?? 0;
  assert.ok(syncs > (before.values.get('snitch_store_syncs_total') ?? Number.NaN), String(syncs));
  assert.is(values.get('snitch_store_syncs'), syncs);
});

test('every channel with every result has its series before anything was sent', async (context) => {
  const { values } = await scrape(context);
  for (const channel of ['webhook', 'email']) {
    for (const result of ['delivered', 'retry', 'dead', 'released']) {
      assert.is(values.get(`snitch_deliveries_total{channel="${channel}",result="${result}"}`), 0);
    }
  }
  for (const answer of ['recorded', 'unknown', 'refused']) {
    assert.is(values.get(`snitch_check_ins_total{answer="${answer}"}`), 0);
  }
});

test('the last of each reported value is told, by names and not by token, and goes with its snitch', async (context) => {
  const { token } = await newSnitch(context.acme, { name: 'a "backup"' });
  await context.nobody.get(`/c/${token}?v.bytes=7&v.rows=1`);
  await context.nobody.get(`/c/${token}?v.bytes=0.5`);
  const own = (values: Map<string, number>) =>
    [...values].filter(([name]) => name.startsWith('snitch_value{'));
  const series = own((await scrape(context)).values);
  assert.equal(series.map(([name, value]) => [/value="(\w+)"/.exec(name)?.[1], value]).sort(), [
    ['bytes', 0.5],
    ['rows', 1],
  ]);
  assert.ok(series.every(([name]) => name.includes('snitch="a \\"backup\\""') && !name.includes(token)));
  await context.acme.write.delete(`/v1/snitches/${token}`);
  assert.equal(own((await scrape(context)).values), []);
});

test('the names of snitches are for this host alone, also where the rest is public', async () => {
  await withFixture({ metricsArePublic: true }, async ({ acme, nobody }) => {
    const { token } = await newSnitch(acme, { name: 'payroll' });
    await nobody.get(`/c/${token}?v.bytes=7`);
    assert.match(
      (await nobody.get('/metrics')).text,
      /^snitch_value\{case="Acme",snitch="payroll",value="bytes"\} 7$/m,
    );
    for (const headers of [{ host: 'evil.example' }, { 'x-forwarded-for': '192.0.2.1' }] as Record<
      string,
      string
    >[]) {
      const { status, text } = await nobody.ask('GET', '/metrics', { headers });
      assert.is(status, 200);
      assert.match(text, 'snitch_snitches{status="healthy"} 1');
      assert.not.match(text, /payroll|Acme|snitch_value/);
    }
  });
});

test('snitches of one name and value do not make two equal series', async (context) => {
  for (const bytes of [1, 2]) {
    const { token } = await newSnitch(context.acme);
    await context.nobody.get(`/c/${token}?v.bytes=${bytes}`);
  }
  const found = readExposition((await context.nobody.get('/metrics')).text);
  assert.is(seriesOf(found, 'snitch_value').length, 1);
});

test('what was recorded is counted by how long it took, and nothing else', async (context) => {
  const { token } = await newSnitch(context.acme);
  const times = async () => {
    const found = readExposition((await context.nobody.get('/metrics')).text);
    const series = seriesOf(found, 'snitch_check_in_seconds');
    const last = series.findIndex(({ labels }) => labels.le === '+Inf');
    const buckets = series.slice(0, last + 1).map(({ value }) => value);
    assert.equal(
      buckets,
      buckets.toSorted((one, other) => one - other),
      'each has all that is in those before',
    );
    return { buckets, sum: series[last + 1]?.value ?? Number.NaN, count: series[last + 2]?.value };
  };
  assert.equal([(await times()).sum, (await times()).count], [0, 0]);
  await context.nobody.get(`/c/${token}`);
  await context.nobody.get('/c/unknown');
  await context.nobody.get(`/c/${token}/start`);
  const { buckets, sum, count } = await times();
  assert.equal([buckets.at(-1), count], [2, 2]);
  assert.ok(sum > 0);
});

test('what strangers ask for by name is never counted as a refused check-in, which calls the operator', async () => {
  const limiter = new RateLimiter({ perMinute: 60, burst: 1, blockS: 60 });
  await withFixture({ limiter }, async (context) => {
    const { acme, nobody } = context;
    const { key = '' } = ok<WireApiKey>(
      await acme.write.post('/v1/api_keys', { name: 'hosts', scope: 'provision' }),
    );
    const statuses = [
      (await nobody.ask('GET', '/c/-/job', { headers: { origin: 'https://evil.example.com' } })).status,
      (await nobody.get(`/c/${acme.write.key}/job`)).status,
    ];
    for (let count = 0; count < 5; count += 1) statuses.push((await nobody.get('/c/-/job')).status);
    assert.equal(statuses, [403, 403, 401, 401, 401, 401, 429]);
    assert.is((await nobody.get(`/c/${key}/job`)).status, 404);
    // This is the job of somebody, whose check-in is lost.
    assert.is((await nobody.get(`/c/${key}/job?create=1`)).status, 422);
    const { values } = await scrape(context);
    assert.is(values.get('snitch_check_ins_total{answer="unknown"}'), 8);
    assert.is(values.get('snitch_check_ins_total{answer="refused"}'), 1);
  });
});

test('a time falls into the first bucket that reaches so far', () => {
  const times = new AnswerTimes({ name: 'x_seconds', help: 'X.' });
  for (const milliseconds of [0, 1, 1.1, 10_000, 10_001, 1e9]) times.observe(milliseconds);
  const found = readExposition(times.text());
  const upTo = (le: string) => only(found, 'x_seconds', { le });
  assert.equal(['0.001', '0.002', '5', '10', '+Inf'].map(upTo), [2, 3, 3, 4, 6]);
});

test('it is ready for as long as nothing is wrong', async (context) => {
  const ready = async () => (await scrape(context)).values.get('snitch_ready');
  assert.is(await ready(), 1);
  context.problems.push('the store cannot write');
  assert.is(await ready(), 0);
});

test('the build says which version runs', async (context) => {
  const { values } = await scrape(context);
  assert.is(values.get(`snitch_build_info{version="0",node="${process.versions.node}"}`), 1);
});

test.run();
