import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireSnitch } from '../../src/api/wire.ts';
import { blank, invalid, invalidOn, ok } from './expect.ts';
import { CHECK_IN_BASE, type Fixture, hooks, newSnitch, snitchNow } from './fixture.ts';

const test = suite<Fixture>('create a snitch');
test.before.each(hooks.start);
test.after.each(hooks.close);

const invalidInterval = { attribute: 'interval', message: 'is not a valid interval' };
const smartMinutes = { attribute: 'alert_type', message: 'smart is not available for minute intervals' };

const MINUTES = ['1_minute', '2_minute', '3_minute', '5_minute', '10_minute', '15_minute', '30_minute'];
const HOURS = ['hourly', '2_hour', '3_hour', '4_hour', '6_hour', '8_hour', '12_hour'];
const INTERVALS = [...MINUTES, ...HOURS, 'daily', 'weekly', 'monthly'];

test('answers 200 with the whole new object and no other field', async ({ acme }) => {
  const answer = await acme.write.post('/v1/snitches', { name: 'nightly-backup', interval: 'daily' });
  const created = ok<WireSnitch>(answer);
  const { token } = created;
  assert.match(token, /^[a-z2-7]{26}$/);
  assert.equal(created, {
    token,
    href: `/v1/snitches/${token}`,
    name: 'nightly-backup',
    public_name: null,
    tags: [],
    notes: '',
    status: 'pending',
    reason: null,
    checked_in_at: null,
    last_report: null,
    check_in_url: `${CHECK_IN_BASE}/${token}`,
    interval: 'daily',
    type: { interval: 'daily' },
    alert_type: 'basic',
    alert_email: [],
    schedule: null,
    timezone: null,
    grace: null,
    deadline: null,
    missing_since: null,
    silenced: null,
    max_runtime: null,
    min_runtime: null,
    failures_before_alert: 1,
    expect: null,
    acknowledged: null,
    needs: [],
    held: null,
    created_at: '2026-11-18T10:20:30.123Z',
  });
  assert.equal(await snitchNow(acme, token), created);
});

test('takes every parameter', async ({ acme }) => {
  const given = {
    name: 'report',
    interval: 'weekly',
    alert_type: 'smart',
    alert_email: ['ann@example.com', 'ops+night@mail.example.com'],
    notes: 'Ask Ann.\n\tThen Bob.',
    tags: ['prod', 'db'],
  };
  const created = await newSnitch(acme, given);
  for (const [name, value] of Object.entries(given)) {
    assert.equal(created[name as keyof WireSnitch], value, name);
  }
});

test('strings come back exactly as they were sent', async ({ acme }) => {
  const name = '  Zürich → 東京 🚀 "quoted" \\ </script> \u202e ';
  const notes = ' \r\n\t ünï 🧨\n ';
  const created = await newSnitch(acme, { name, notes, tags: [' a b ', 'A b', 'größe'] });
  assert.is(created.name, name);
  assert.is(created.notes, notes);
  assert.equal(created.tags, [' a b ', 'A b', 'größe']);
});

test('tags keep their order; duplicates collapse to the first and blank ones are dropped', async ({
  acme,
}) => {
  const { tags } = await newSnitch(acme, { tags: ['b', '', 'a', 'b', '   ', 'c', 'a'] });
  assert.equal(tags, ['b', 'a', 'c']);
});

test('null for notes, tags and addresses is the same as none', async ({ acme }) => {
  const created = await newSnitch(acme, { notes: null, tags: null, alert_email: null });
  assert.equal([created.notes, created.tags, created.alert_email], ['', [], []]);
});

test('addresses come as an array or as one string, and are trimmed', async ({ acme }) => {
  const both = ['ann@example.com', 'bob@example.com'];
  for (const alert_email of [
    both,
    [' ann@example.com', 'bob@example.com\n'],
    both.join(),
    both.join(' , '),
  ]) {
    assert.equal((await newSnitch(acme, { alert_email })).alert_email, both);
  }
  for (const alert_email of [[], '', null]) {
    assert.equal((await newSnitch(acme, { alert_email })).alert_email, []);
  }
});

test('what is no address is refused on alert_email', async ({ acme }) => {
  const bad = [
    ['ann'],
    ['ann@example.com', 'bob@'],
    'ann@example.com; bob@example.com',
    ['a@x>\r\nRCPT TO:<evil@x'],
    ['Ann <ann@example.com>'],
    ['a@b@c'],
    [7],
    [['ann@example.com']],
    7,
    true,
    { 0: 'ann@example.com' },
  ];
  for (const alert_email of bad) {
    const given = { name: 'n', interval: 'daily', alert_email };
    invalidOn(await acme.write.post('/v1/snitches', given), 'alert_email');
  }
});

test('every interval is taken, with smart where it is not a minute interval', async ({ acme }) => {
  assert.is(INTERVALS.length, 17);
  for (const interval of INTERVALS) {
    assert.is((await newSnitch(acme, { interval, alert_type: 'basic' })).interval, interval);
    const smart = await acme.write.post('/v1/snitches', { name: 'n', interval, alert_type: 'smart' });
    if (MINUTES.includes(interval)) invalid(smart, smartMinutes);
    else assert.is(ok<WireSnitch>(smart).alert_type, 'smart');
  }
});

test('an interval outside the list is refused', async ({ acme }) => {
  for (const interval of [
    'fortnightly',
    'Daily',
    ' daily',
    '7_minute',
    '1_hour',
    'toString',
    60,
    true,
    ['daily'],
  ]) {
    invalid(await acme.write.post('/v1/snitches', { name: 'n', interval }), invalidInterval);
  }
});

test('a missing or blank name or interval is refused, one entry for each', async ({ acme }) => {
  const { write } = acme;
  for (const nothing of [undefined, null, '', '   ', '\n\t']) {
    const [name, interval] = [blank('name'), blank('interval')];
    invalid(await write.post('/v1/snitches', { name: nothing, interval: nothing }), name, interval);
    invalid(await write.post('/v1/snitches', { name: nothing, interval: 'daily' }), name);
    invalid(await write.post('/v1/snitches', { name: 'n', interval: nothing }), interval);
    invalid(await write.post('/v1/snitches', { name: nothing, interval: 'never' }), name, invalidInterval);
  }
  invalid(await write.post('/v1/snitches'), blank('name'), blank('interval'));
  assert.equal(ok(await write.get('/v1/snitches')), []);
});

test('each failing attribute has one entry, named as in the request', async ({ acme }) => {
  const given = { name: 1, interval: 'x', alert_type: 'x', alert_email: 'x', notes: 1, tags: 'x' };
  const answer = await acme.write.post('/v1/snitches', given);
  invalidOn(answer, 'name', 'interval', 'alert_type', 'alert_email', 'notes', 'tags');
});

test('an alert type is basic or smart; blank is the default', async ({ acme }) => {
  for (const alert_type of [null, '', undefined]) {
    assert.is((await newSnitch(acme, { alert_type })).alert_type, 'basic');
  }
  for (const alert_type of ['clever', 'Smart', 1, [], {}]) {
    invalidOn(
      await acme.write.post('/v1/snitches', { name: 'n', interval: 'daily', alert_type }),
      'alert_type',
    );
  }
});

test('unknown and read-only fields are ignored', async ({ acme }) => {
  const given = {
    token: 'mine',
    href: '/v1/snitches/mine',
    status: 'healthy',
    checked_in_at: '2020-01-01T00:00:00.000Z',
    check_in_url: 'https://elsewhere.example.com',
    created_at: '2020-01-01T00:00:00.000Z',
    case_id: 'other',
    colour: { deep: ['er'] },
  };
  const created = await newSnitch(acme, given);
  assert.not.equal(created.token, 'mine');
  assert.is(created.status, 'pending');
  assert.is(created.checked_in_at, null);
  assert.is(created.created_at, '2026-11-18T10:20:30.123Z');
  assert.not('colour' in created);
});

test('prototype names in a body mean nothing', async ({ acme }) => {
  const body = `{"__proto__":{"name":"n","interval":"daily","admin":true},"constructor":{"prototype":{"name":"n"}}}`;
  const headers = { 'content-type': 'application/json' };
  invalid(await acme.write.ask('POST', '/v1/snitches', { body, headers }), blank('name'), blank('interval'));
  assert.is(({} as Record<string, unknown>).admin, undefined);
});

test.run();
