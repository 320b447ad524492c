import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireSnitch } from '../../src/api/wire.ts';
import { blank, invalid, invalidOn, ok, refused } from './expect.ts';
import { checkIn, type Fixture, HOUR, hooks, newSnitch, snitchNow, sweep } from './fixture.ts';

const test = suite<Fixture>('update a snitch');
test.before.each(hooks.start);
test.after.each(hooks.close);

const smartMinutes = { attribute: 'alert_type', message: 'smart is not available for minute intervals' };

const FULL = {
  name: 'report',
  interval: 'weekly',
  alert_type: 'smart',
  alert_email: ['ann@example.com'],
  notes: 'Ask Ann.',
  tags: ['prod', 'db'],
};

test('changes each field alone and leaves the others, 200', async ({ acme }) => {
  const changes: Partial<WireSnitch>[] = [
    { name: 'other' },
    { alert_type: 'basic' },
    { alert_email: ['bob@example.com', 'cy@example.com'] },
    { notes: 'Ask Bob.' },
    { tags: ['b', 'a'] },
  ];
  for (const change of changes) {
    const before = await newSnitch(acme, FULL);
    const updated = ok<WireSnitch>(await acme.write.patch(before.href, change));
    assert.equal(updated, { ...before, ...change });
    assert.equal(await snitchNow(acme, before.token), updated);
  }
  const before = await newSnitch(acme, FULL);
  const updated = ok<WireSnitch>(await acme.write.patch(before.href, { interval: 'monthly' }));
  assert.equal(updated, { ...before, interval: 'monthly', type: { interval: 'monthly' } });
});

test('an empty object, or no body at all, changes nothing', async ({ acme }) => {
  const before = await newSnitch(acme, FULL);
  assert.equal(ok(await acme.write.patch(before.href, {})), before);
  assert.equal(ok(await acme.write.patch(before.href, undefined)), before);
  const headers = { 'content-type': 'application/json' };
  assert.equal(ok(await acme.write.ask('PATCH', before.href, { body: '', headers })), before);
});

test('a whole object can be sent back', async (context) => {
  const { acme, clock } = context;
  const { href, token } = await newSnitch(acme, FULL);
  await checkIn(context, token);
  clock.now += HOUR;
  const whole = await snitchNow(acme, token);
  assert.equal(ok(await acme.write.patch(href, whole)), whole);
  const renamed = { ...whole, name: 'renamed', status: 'paused', token: 'x', href: 'x', checked_in_at: null };
  assert.equal(ok(await acme.write.patch(href, renamed)), { ...whole, name: 'renamed' });
});

test('an object of another snitch sent to this path changes this one only', async ({ acme }) => {
  const [one, other] = [await newSnitch(acme, { name: 'one' }), await newSnitch(acme, { name: 'other' })];
  const changed = ok<WireSnitch>(await acme.write.patch(one.href, { ...other, notes: 'n' }));
  assert.equal(changed, { ...one, name: 'other', notes: 'n' });
  assert.equal(await snitchNow(acme, other.token), other);
});

test('null clears notes, tags and addresses; [] clears tags and addresses', async ({ acme }) => {
  const cleared: [Record<string, unknown>, Partial<WireSnitch>][] = [
    [{ notes: null }, { notes: '' }],
    [{ notes: '' }, { notes: '' }],
    [{ tags: [] }, { tags: [] }],
    [{ tags: null }, { tags: [] }],
    [{ tags: ['', ' '] }, { tags: [] }],
    [{ alert_email: null }, { alert_email: [] }],
    [{ alert_email: [] }, { alert_email: [] }],
    [{ alert_email: '' }, { alert_email: [] }],
  ];
  for (const [change, expected] of cleared) {
    const before = await newSnitch(acme, FULL);
    assert.equal(ok(await acme.write.patch(before.href, change)), { ...before, ...expected });
  }
});

test('an array of tags replaces all tags; addresses come as a string too', async ({ acme }) => {
  const { href } = await newSnitch(acme, FULL);
  const change = { tags: ['z', 'db', 'z'], alert_email: ' b@example.com,a@example.com ' };
  const updated = ok<WireSnitch>(await acme.write.patch(href, change));
  assert.equal(updated.tags, ['z', 'db']);
  assert.equal(updated.alert_email, ['b@example.com', 'a@example.com']);
});

test('a blank name or interval is refused, and nothing is changed', async ({ acme }) => {
  const before = await newSnitch(acme, FULL);
  for (const nothing of [null, '', '  ']) {
    const change = { name: nothing, interval: nothing, notes: 'changed' };
    invalid(await acme.write.patch(before.href, change), blank('name'), blank('interval'));
  }
  invalidOn(await acme.write.patch(before.href, { interval: 'never', tags: ['changed'] }), 'interval');
  invalidOn(await acme.write.patch(before.href, { name: 'changed', notes: 5 }), 'notes');
  assert.equal(await snitchNow(acme, before.token), before);
});

test('smart does not go with a minute interval, whichever of them is already stored', async ({ acme }) => {
  const minutes = await newSnitch(acme, { interval: '5_minute' });
  invalid(await acme.write.patch(minutes.href, { alert_type: 'smart' }), smartMinutes);
  invalid(
    await acme.write.patch(minutes.href, { alert_type: 'smart', name: '' }),
    smartMinutes,
    blank('name'),
  );
  const smart = await newSnitch(acme, { interval: 'daily', alert_type: 'smart' });
  invalid(await acme.write.patch(smart.href, { interval: '5_minute' }), smartMinutes);
  invalid(await acme.write.patch(smart.href, { interval: '5_minute', tags: 7 }), smartMinutes, {
    attribute: 'tags',
    message: 'must be an array of strings',
  });
  assert.equal(await snitchNow(acme, minutes.token), minutes);
  assert.equal(await snitchNow(acme, smart.token), smart);
  ok(await acme.write.patch(minutes.href, { alert_type: 'smart', interval: 'daily' }));
  ok(await acme.write.patch(smart.href, { alert_type: 'basic', interval: '5_minute' }));
});

test('a body that is no object is refused on body', async ({ acme }) => {
  const before = await newSnitch(acme);
  for (const json of [[], [{ name: 'x' }], 'name', 7, true, null]) {
    invalid(await acme.write.patch(before.href, json), {
      attribute: 'body',
      message: 'must be a JSON object',
    });
  }
  assert.equal(await snitchNow(acme, before.token), before);
});

test('changes no state', async (context) => {
  const { acme, clock } = context;
  const { token, href } = await newSnitch(acme, { interval: 'hourly' });
  await checkIn(context, token);
  clock.now += 3 * HOUR;
  await sweep(context);
  assert.is((await snitchNow(acme, token)).status, 'failed');
  const change = { name: 'other', interval: 'daily', alert_type: 'smart' };
  assert.is(ok<WireSnitch>(await acme.write.patch(href, change)).status, 'failed');
});

test('a changed interval restarts the deadline from now', async (context) => {
  const { acme, clock } = context;
  const { token, href } = await newSnitch(acme, { interval: 'hourly' });
  await checkIn(context, token);
  ok(await acme.write.patch(href, { interval: 'daily' }));
  clock.now += 5 * HOUR;
  await sweep(context);
  assert.is((await snitchNow(acme, token)).status, 'healthy');
});

test('PUT is not PATCH', async ({ acme }) => {
  const { href } = await newSnitch(acme);
  const answer = await acme.write.put(href, FULL);
  refused(answer, 405, 'method_not_allowed');
  assert.is(answer.headers.allow, 'GET, PATCH, DELETE, HEAD');
});

test.run();
