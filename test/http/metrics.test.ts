/** `/metrics` as a scraper reads it: names that say what they are, and series that are there from the start. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Fixture, hooks, newSnitch } from './fixture.ts';

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

test('the build says which version runs', async (context) => {
  const { values } = await scrape(context);
  assert.is(values.get(`snitch_build_info{version="0",node="${process.versions.node}"}`), 1);
});

test.run();
