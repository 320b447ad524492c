/** The case as its own keys see it: GET and PATCH `/v1/case`. */
import { setTimeout } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireAlert, WireCase, WireDelivery } from '../../src/api/wire.ts';
import { blank, invalid, invalidOn, ok } from './expect.ts';
import { checkIn, type Fixture, HOUR, hooks, newSnitch, snitchNow, startFixture, sweep } from './fixture.ts';

const test = suite<Fixture>('case');
test.before.each(hooks.start);
test.after.each(hooks.close);

test('GET shows the case', async ({ acme }) => {
  assert.equal(ok(await acme.read.get('/v1/case')), {
    id: acme.id,
    name: 'Acme',
    timezone: 'UTC',
    members: [],
    reminders: 'period',
    max_snitches: null,
    error_notices: true,
    on_hold: false,
    created_at: '2026-11-18T10:20:30.123Z',
  });
});

test('GET says in headers what the key may do, and which version answers', async ({ acme }) => {
  for (const [key, scope] of [
    [acme.read, 'read'],
    [acme.write, 'write'],
  ] as const) {
    const { headers } = await key.get('/v1/case');
    assert.is(headers['snitch-scope'], scope);
    assert.is(headers['snitch-version'], '0');
  }
});

test('PATCH changes name, timezone, members and reminders, each alone', async ({ acme, rival }) => {
  let expected = ok<WireCase>(await acme.write.get('/v1/case'));
  const other = ok(await rival.write.get('/v1/case'));
  const changes: Partial<WireCase>[] = [
    { name: 'Größe & Söhne 🚀' },
    { name: '🚀'.repeat(255) },
    { timezone: 'Europe/Berlin' },
    { timezone: 'America/Argentina/Buenos_Aires' },
    { members: ['ann@example.com', 'bob@example.com'] },
    { members: [] },
    { reminders: 'hourly' },
    { reminders: 'daily' },
    { reminders: 'off' },
    { reminders: 'period', timezone: 'UTC' },
    {},
  ];
  for (const change of changes) {
    expected = { ...expected, ...change };
    assert.equal(ok(await acme.write.patch('/v1/case', change)), expected);
    assert.equal(ok(await acme.write.get('/v1/case')), expected);
  }
  assert.equal(ok(await acme.write.patch('/v1/case', undefined)), expected);
  assert.equal(ok(await rival.write.get('/v1/case')), other);
});

test('members come as an array, as one string, or as null', async ({ acme }) => {
  const expected = ['ann@example.com', 'bob@example.com'];
  for (const members of [
    expected,
    ' ann@example.com , bob@example.com',
    [' ann@example.com', 'bob@example.com '],
  ]) {
    assert.equal(ok<WireCase>(await acme.write.patch('/v1/case', { members })).members, expected);
  }
  assert.equal(ok<WireCase>(await acme.write.patch('/v1/case', { members: null })).members, []);
});

test('what only the administrator may change is ignored, so that a whole case can be sent back', async ({
  acme,
}) => {
  const before = ok<WireCase>(await acme.write.get('/v1/case'));
  const forbidden = {
    id: 'x',
    max_snitches: 1,
    error_notices: false,
    on_hold: true,
    created_at: 'x',
    other: 1,
  };
  assert.equal(ok(await acme.write.patch('/v1/case', { ...before, ...forbidden, name: 'New' })), {
    ...before,
    name: 'New',
  });
});

test('a time zone is kept as it is spelled, however it was written', async ({ acme }) => {
  for (const [given, kept] of [
    ['europe/berlin', 'Europe/Berlin'],
    ['AMERICA/NEW_YORK', 'America/New_York'],
    ['utc', 'UTC'],
  ]) {
    const changed = ok<WireCase>(await acme.write.patch('/v1/case', { timezone: given }));
    assert.is(changed.timezone, kept);
  }
});

test('what is wrong is refused, one entry for each attribute, and nothing is changed', async ({ acme }) => {
  const before = ok<WireCase>(await acme.write.get('/v1/case'));
  for (const name of [null, '', '  ']) invalid(await acme.write.patch('/v1/case', { name }), blank('name'));
  const bad: Record<string, unknown[]> = {
    name: [5, [], {}, true, 'a\u0000b', 'a\nb', '\ud800', 'n'.repeat(256), '🚀'.repeat(256)],
    timezone: [
      null,
      '',
      5,
      'Mars/Olympus',
      'PST',
      '+02:00',
      'Europe',
      'UTC\n',
      '../etc/passwd',
      ['UTC'],
      'x'.repeat(50_000),
    ],
    members: [
      5,
      true,
      {},
      'ann',
      ['ann@'],
      [5],
      [null],
      'a@example.com;b@example.com',
      ['a@x>\r\nRCPT TO:<b@x'],
    ],
    reminders: [null, '', 'weekly', 'Daily', 5, ['daily'], true],
  };
  for (const [attribute, values] of Object.entries(bad)) {
    for (const value of values) {
      invalidOn(await acme.write.patch('/v1/case', { [attribute]: value }), attribute);
    }
  }
  const all = { name: '', timezone: 'x', members: 'x', reminders: 'x' };
  invalidOn(await acme.write.patch('/v1/case', all), 'name', 'timezone', 'members', 'reminders');
  invalidOn(await acme.write.patch('/v1/case', { name: 'New', timezone: 'x' }), 'timezone');
  assert.equal(ok(await acme.write.get('/v1/case')), before);
});

test('the messages of a line of text are those of a snitch', async ({ acme }) => {
  const messages: [unknown, string][] = [
    [5, 'must be a string'],
    ['a\nb', 'must not contain control characters'],
    ['a\ud800', 'must be well-formed Unicode'],
    ['n'.repeat(256), 'is too long (maximum is 255 characters)'],
  ];
  for (const [name, message] of messages) {
    const validation = { attribute: 'name', message };
    invalid(await acme.write.patch('/v1/case', { name }), validation);
    invalid(await acme.write.post('/v1/snitches', { name, interval: 'daily' }), validation);
  }
});

test('a changed time zone restarts the deadlines of all snitches from now', async (context) => {
  const { acme, clock } = context;
  const { token } = await newSnitch(acme, { interval: 'hourly' });
  await checkIn(context, token);
  clock.now += HOUR;
  ok(await acme.write.patch('/v1/case', { timezone: 'Asia/Kolkata' }));
  clock.now += 50 * 60_000;
  await sweep(context);
  assert.is((await snitchNow(acme, token)).status, 'healthy');
  clock.now += 2 * HOUR;
  await sweep(context);
  assert.is((await snitchNow(acme, token)).status, 'failed');
});

test('alerts go to the members, or to the list of the snitch instead', async (context) => {
  const { acme } = context;
  ok(await acme.write.patch('/v1/case', { members: ['ann@example.com', 'bob@example.com'] }));
  const [one, two] = [await newSnitch(acme), await newSnitch(acme, { alert_email: ['cy@example.com'] })];
  for (const [{ token, href }, expected] of [
    [one, ['ann@example.com', 'bob@example.com']],
    [two, ['cy@example.com']],
  ] as const) {
    await checkIn(context, token);
    const [alert] = ok<WireAlert[]>(await acme.read.get(`${href}/alerts`));
    assert.equal(alert?.deliveries.map(({ target }: WireDelivery) => target).sort(), expected);
  }
});

test('a change of rules for very many snitches is answered before the last one has been updated', async () => {
  const endless = await startFixture({
    through: (store) => ({ ...store, rescheduleSlice: () => setTimeout(20, true) }),
  });
  try {
    const { acme, admin } = endless;
    assert.is(
      ok<WireCase>(await acme.write.patch('/v1/case', { timezone: 'Asia/Tokyo' })).timezone,
      'Asia/Tokyo',
    );
    assert.is(ok<WireCase>(await admin.patch(`/v1/cases/${acme.id}`, { timezone: 'UTC' })).timezone, 'UTC');
  } finally {
    await endless.close();
  }
});

test.run();
