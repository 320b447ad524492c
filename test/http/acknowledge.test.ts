/** `/v1/snitches/<token>/acknowledge`. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireSnitch } from '../../src/api/wire.ts';
import { invalid, invalidOn, malformed, ok, refused } from './expect.ts';
import { checkIn, type Fixture, HOUR, hooks, MINUTE, newSnitch, snitchNow, sweep } from './fixture.ts';

const test = suite<Fixture>('acknowledge');
test.before.each(hooks.start);
test.after.each(hooks.close);

const NOTHING = { attribute: 'status', message: 'only a failed or errored snitch can be acknowledged' };

async function failedSnitch(context: Fixture): Promise<WireSnitch> {
  const snitch = await newSnitch(context.acme);
  await checkIn(context, snitch.token);
  context.clock.now += 3 * HOUR;
  await sweep(context);
  return snitchNow(context.acme, snitch.token);
}

async function erroredSnitch(context: Fixture): Promise<WireSnitch> {
  const snitch = await newSnitch(context.acme);
  await checkIn(context, snitch.token, '?s=1');
  return snitchNow(context.acme, snitch.token);
}

const pathOf = ({ href }: WireSnitch) => `${href}/acknowledge`;
const inList = async ({ acme }: Fixture, token: string) =>
  ok<WireSnitch[]>(await acme.write.get('/v1/snitches')).find((one) => one.token === token);

test('the answer is the snitch with who has seen it, and so are the snitch itself and the list', async (context) => {
  const { acme, clock } = context;
  for (const snitch of [await failedSnitch(context), await erroredSnitch(context)]) {
    assert.is(snitch.acknowledged, null);
    const answer = ok<WireSnitch>(await acme.write.post(pathOf(snitch), { note: 'on it', by: 'Ann' }));
    const acknowledged = { at: new Date(clock.now).toISOString(), note: 'on it', by: 'Ann' };
    assert.equal(answer, { ...snitch, acknowledged });
    assert.equal(await snitchNow(acme, snitch.token), answer);
    assert.equal(await inList(context, snitch.token), answer);
  }
});

test('the answer says that the snitch is silenced, as the snitch itself does', async (context) => {
  const { acme, clock } = context;
  const { token, href } = await erroredSnitch(context);
  const from = new Date(clock.now).toISOString();
  const to = new Date(clock.now + 12 * HOUR).toISOString();
  ok(await acme.write.post('/v1/silences', { all: true, from, to }));
  for (const answer of [
    ok<WireSnitch>(await acme.write.post(`${href}/acknowledge`)),
    ok<WireSnitch>(await acme.write.delete(`${href}/acknowledge`)),
  ]) {
    assert.is(answer.silenced?.until, to);
    assert.equal({ ...answer, acknowledged: null }, await snitchNow(acme, token));
  }
});

test('every field is optional: the name of the key says who', async (context) => {
  const { acme } = context;
  for (const body of [undefined, {}, { note: null, by: '' }, { unknown: [1] }]) {
    const snitch = await erroredSnitch(context);
    const { acknowledged } = ok<WireSnitch>(await acme.write.post(pathOf(snitch), body));
    assert.is(acknowledged?.by, 'write key');
    assert.is(acknowledged?.note, null);
  }
});

test('a second acknowledgement keeps who came first, and replaces the note', async (context) => {
  const { acme, clock } = context;
  const snitch = await failedSnitch(context);
  const first = ok<WireSnitch>(await acme.write.post(pathOf(snitch), { note: 'on it', by: 'Ann' }));
  clock.now += MINUTE;
  assert.equal(ok<WireSnitch>(await acme.write.post(pathOf(snitch), { by: 'Bob' })), first);
  const { acknowledged } = ok<WireSnitch>(await acme.write.post(pathOf(snitch), { by: 'Bob', note: 'disk' }));
  assert.equal(acknowledged, { ...first.acknowledged, note: 'disk' });
});

test('a snitch that is neither failed nor errored cannot be acknowledged', async (context) => {
  const { acme } = context;
  const pending = await newSnitch(acme);
  invalid(await acme.write.post(pathOf(pending)), NOTHING);
  const healthy = await newSnitch(acme);
  await checkIn(context, healthy.token);
  invalid(await acme.write.post(pathOf(healthy)), NOTHING);
  const paused = await erroredSnitch(context);
  await acme.write.post(`${paused.href}/pause`);
  invalid(await acme.write.post(pathOf(paused)), NOTHING);
  for (const one of [pending, healthy, paused]) {
    assert.is(ok<WireSnitch>(await acme.write.delete(pathOf(one))).acknowledged, null, 'taking back is safe');
  }
});

test('it ends with the next status, and an errored snitch that goes missing alerts again', async (context) => {
  const { acme, clock } = context;
  const snitch = await erroredSnitch(context);
  await acme.write.post(pathOf(snitch));
  clock.now += 3 * HOUR;
  await sweep(context);
  const missing = await snitchNow(acme, snitch.token);
  assert.is(missing.status, 'failed');
  assert.is(missing.acknowledged, null);
  const alerts = ok<{ type: string }[]>(await acme.write.get(`${snitch.href}/alerts`));
  assert.equal(
    alerts.map(({ type }) => type),
    ['snitch.missing', 'snitch.errored'],
  );
  await acme.write.post(pathOf(snitch));
  await checkIn(context, snitch.token);
  assert.is((await snitchNow(acme, snitch.token)).acknowledged, null);
});

test('explain says who has seen it, and that no reminder comes', async (context) => {
  const { acme } = context;
  const snitch = await failedSnitch(context);
  await acme.write.post(pathOf(snitch), { note: 'on it', by: 'Ann' });
  type Explained = { reasons: string[]; next_alert: unknown; acknowledged: unknown };
  const { reasons, next_alert } = ok<Explained>(await acme.write.get(`${snitch.href}/explain`));
  assert.is(next_alert, null);
  const words =
    'It was acknowledged by Ann at 2026-11-18 13:20:30 (UTC): on it. There are no reminders and no escalation until its status changes.';
  assert.ok(reasons.includes(words), reasons.join('\n'));
  assert.not.ok(reasons.some((one) => /wants no reminders/.test(one)));
});

test('bad input is refused and acknowledges nothing', async (context) => {
  const { acme, rival } = context;
  const snitch = await failedSnitch(context);
  invalidOn(
    await acme.write.post(pathOf(snitch), { note: 'x'.repeat(501), by: 'x'.repeat(101) }),
    'note',
    'by',
  );
  invalidOn(await acme.write.post(pathOf(snitch), { note: 'two\nlines' }), 'note');
  invalidOn(await acme.write.post(pathOf(snitch), ['on it']), 'body');
  malformed(await acme.write.ask('POST', pathOf(snitch), { body: '{"note":' }));
  refused(await acme.read.post(pathOf(snitch)), 403, 'api_key_forbidden');
  refused(await acme.read.delete(pathOf(snitch)), 403, 'api_key_forbidden');
  refused(await rival.write.post(pathOf(snitch)), 404, 'resource_not_found');
  refused(await rival.write.delete(pathOf(snitch)), 404, 'resource_not_found');
  refused(await context.nobody.post(pathOf(snitch)), 401, 'api_key_invalid');
  assert.is((await snitchNow(acme, snitch.token)).acknowledged, null);
});

test.run();
