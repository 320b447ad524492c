/** `deadline` and `missing_since` of a snitch: what a list in the order of urgency needs. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireSnitch } from '../../src/api/wire.ts';
import type { WireExplanation } from '../../src/api/wire-explanation.ts';
import { ok } from './expect.ts';
import { type Fixture, HOUR, hooks, MINUTE, newSnitch, START, snitchNow } from './fixture.ts';

const test = suite<Fixture>('when a snitch is due');
test.before.each(hooks.start);
test.after.each(hooks.close);

/** 10:20:30 lies in the hour until 11:00, and the check-in is due by the end of the next one. */
const DUE = '2026-11-18T12:00:00.000Z';

/** What the snitch itself, the list and `explain` say, which must agree. */
async function dueOf({ acme }: Fixture, { token, href }: WireSnitch) {
  const { status, deadline, missing_since } = await snitchNow(acme, token);
  const listed = ok<WireSnitch[]>(await acme.read.get('/v1/snitches')).find((one) => one.token === token);
  assert.equal(
    [listed?.deadline, listed?.missing_since],
    [deadline, missing_since],
    'the list says the same',
  );
  const explained = ok<WireExplanation>(await acme.read.get(`${href}/explain`));
  assert.is(explained.deadline?.at ?? null, deadline, 'explain says the same');
  assert.is(explained.missing_since, missing_since, 'explain says the same');
  return [status, deadline, missing_since];
}

async function sweepAt({ clock, store }: Fixture, now: number): Promise<void> {
  clock.now = now;
  await store.applyDue(now, null, 100);
}

test('the deadline is there while a check-in is awaited', async (context) => {
  const snitch = await newSnitch(context.acme, { interval: 'hourly' });
  assert.equal(await dueOf(context, snitch), ['pending', null, null]);
  await context.acme.write.get(`/c/${snitch.token}`);
  assert.equal(await dueOf(context, snitch), ['healthy', DUE, null]);
  await context.acme.write.get(`/c/${snitch.token}?s=1`);
  assert.equal(await dueOf(context, snitch), ['errored', DUE, null]);
  await context.acme.write.post(`${snitch.href}/pause`);
  assert.equal(await dueOf(context, snitch), ['paused', null, null]);
});

test('a failed snitch says which deadline it missed, through reminders and pauses', async (context) => {
  const { acme } = context;
  const snitch = await newSnitch(acme, { interval: 'hourly' });
  await acme.write.get(`/c/${snitch.token}`);
  await sweepAt(context, START + 2 * HOUR);
  assert.equal(await dueOf(context, snitch), ['failed', null, DUE]);
  await sweepAt(context, START + 4 * HOUR);
  assert.equal(await dueOf(context, snitch), ['failed', null, DUE]);
  await acme.write.post(`${snitch.href}/pause`);
  assert.equal(await dueOf(context, snitch), ['paused', null, null]);
  await acme.write.post(`${snitch.href}/unpause`);
  assert.equal(await dueOf(context, snitch), ['failed', null, DUE]);
  context.clock.now += MINUTE;
  await acme.write.get(`/c/${snitch.token}`);
  const [status, deadline, missingSince] = await dueOf(context, snitch);
  assert.equal([status, missingSince], ['healthy', null]);
  assert.ok(deadline);
});

test('each silence has its own deadline, however long it lasts', async (context) => {
  const { acme, store } = context;
  const snitch = await newSnitch(acme, { interval: 'hourly' });
  await acme.write.get(`/c/${snitch.token}`);
  await sweepAt(context, START + 2 * HOUR);
  await acme.write.get(`/c/${snitch.token}`);
  await sweepAt(context, START + 5 * HOUR);
  assert.equal(await dueOf(context, snitch), ['failed', null, '2026-11-18T14:00:00.000Z']);
  await store.prune({ checkIns: 10, olderThan: context.clock.now + 1, now: context.clock.now });
  assert.equal(await dueOf(context, snitch), ['failed', null, '2026-11-18T14:00:00.000Z']);
});

test('an answer to a change has them as well', async (context) => {
  const { acme } = context;
  const snitch = await newSnitch(acme, { interval: 'hourly' });
  assert.equal([snitch.deadline, snitch.missing_since], [null, null]);
  await acme.write.get(`/c/${snitch.token}`);
  await sweepAt(context, START + 2 * HOUR);
  const renamed = ok<WireSnitch>(await acme.write.patch(snitch.href, { name: 'other' }));
  assert.equal([renamed.deadline, renamed.missing_since], [null, DUE]);
});

test.run();
