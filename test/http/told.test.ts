/** What `explain` says of telling: only what the deliveries know. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireAudience, WireDelivery } from '../../src/api/wire.ts';
import type { WireExplanation } from '../../src/api/wire-explanation.ts';
import type { Settlement } from '../../src/core/delivery.ts';
import { ok } from './expect.ts';
import { checkIn, type Fixture, HOUR, hooks, newSnitch, startFixture, sweep } from './fixture.ts';

const test = suite<Fixture>('what became of telling');
test.before.each(hooks.start);
test.after.each(hooks.close);

async function settleNext({ store, clock }: Fixture, settlement: Settlement): Promise<void> {
  const { now } = clock;
  const request = { now, leaseUntil: now + HOUR, perTarget: 1, limit: 1, busy: [], after: '' };
  const [claim] = await store.claimDeliveries({ ...request, channel: 'email' });
  assert.ok(claim);
  await store.settleDelivery(claim.id, claim.fence, settlement);
}

async function reasonsOf({ acme }: Fixture, href: string): Promise<string> {
  return ok<WireExplanation>(await acme.read.get(`${href}/explain`)).reasons.join('\n');
}

test('with nobody to tell, nothing claims that somebody was told', async (context) => {
  const { token, href } = await newSnitch(context.acme);
  await checkIn(context, token, '?s=1');
  const reasons = await reasonsOf(context, href);
  assert.match(
    reasons,
    'Nobody could be told of its last alert (errored, 2026-11-18 10:20:30 (UTC)): no channel, member or webhook took it.',
  );
  assert.match(reasons, 'Nobody would be told of an alert: the case has no member and no webhook');
  assert.not.match(reasons, /team (was|is) told/);
});

test('each fate of a delivery is told: waiting, tried in vain, failed, delivered', async (context) => {
  const { acme, clock } = context;
  ok(await acme.write.patch('/v1/case', { members: ['ann@example.com', 'bob@example.com'] }));
  const { token, href } = await newSnitch(acme);
  await checkIn(context, token, '?s=1');
  const waiting = await reasonsOf(context, href);
  assert.match(
    waiting,
    'Nobody has been told of its last alert (errored, 2026-11-18 10:20:30 (UTC)) so far.',
  );
  assert.match(waiting, 'Not told yet: ann@example.com by email waits to be sent; bob@example.com by email');
  await settleNext(context, { kind: 'retry', at: clock.now + HOUR, error: 'connection refused' });
  assert.match(
    await reasonsOf(context, href),
    'ann@example.com by email, 1 attempt, next at 2026-11-18 11:20:30 (UTC): connection refused',
  );
  await settleNext(context, { kind: 'delivered', at: clock.now + 2_000 });
  clock.now += HOUR;
  const due = await reasonsOf(context, href);
  assert.match(due, 'ann@example.com by email, 1 attempt, next soon: connection refused');
  await settleNext(context, { kind: 'dead', error: 'no such mailbox' });
  const ended = await reasonsOf(context, href);
  assert.match(ended, 'Told: bob@example.com by email at 2026-11-18 10:20:32 (UTC).');
  assert.match(ended, 'Refused by the mail server for ann@example.com: no such mailbox.');
  assert.not.match(ended, /Nobody/);
});

test('an alert that was decided while the clock ran ahead does not stay the last one', async (context) => {
  const { acme, clock } = context;
  const { token, href } = await newSnitch(acme);
  await checkIn(context, token, '?s=1');
  clock.now += 40 * 24 * HOUR;
  await checkIn(context, token);
  clock.now -= 40 * 24 * HOUR - 60_000;
  await checkIn(context, token, '?s=1');
  const reasons = await reasonsOf(context, href);
  assert.match(reasons, 'its last alert (errored, 2026-11-18 10:21:30 (UTC))');
});

test('where email is off, addresses reach nobody, and the case says so', async () => {
  const context = await startFixture({ sendsEmail: false });
  try {
    const { acme } = context;
    ok(await acme.write.patch('/v1/case', { members: ['ann@example.com'] }));
    const audience = ok<WireAudience>(await acme.read.get('/v1/audience'));
    assert.equal(audience, {
      ...{ emails: ['ann@example.com'], webhooks: [], channels: [], failing: [], sends_email: false },
      nobody: 'email is off on this server, and the case has no webhook and no channel',
    });
    const { token, href } = await newSnitch(acme);
    await checkIn(context, token);
    const reasons = await reasonsOf(context, href);
    assert.match(reasons, 'Nobody would be told of an alert: email is off on this server');
    assert.match(reasons, 'it counts as missing');
    ok(await acme.write.post('/v1/webhooks', { url: 'https://hook.example.com/' }));
    assert.match(await reasonsOf(context, href), 'the team is told that it is missing');
  } finally {
    await context.close();
  }
});

test('a delivery names its snitch, also after a retry by hand', async (context) => {
  const { acme } = context;
  ok(await acme.write.patch('/v1/case', { members: ['ann@example.com'] }));
  const { token } = await newSnitch(acme);
  await checkIn(context, token, '?s=1');
  await settleNext(context, { kind: 'dead', error: 'no such mailbox' });
  const [dead] = ok<WireDelivery[]>(await acme.read.get('/v1/deliveries'));
  assert.equal(
    [dead?.type, dead?.snitch, dead?.last_error],
    ['snitch.errored', { token, name: 'nightly-backup' }, 'no such mailbox'],
  );
  const again = ok<WireDelivery>(await acme.write.post(`/v1/deliveries/${dead?.id}/retry`));
  assert.equal([again.state, again.sending, again.snitch?.name], ['pending', false, 'nightly-backup']);
});

test('a run that hangs is told from one that never began', async (context) => {
  const { acme, clock, nobody } = context;
  const { token, href } = await newSnitch(acme);
  await checkIn(context, token);
  assert.ok((await nobody.get(`/c/${token}/start`)).status < 300);
  clock.now += 3 * HOUR;
  await sweep(context);
  assert.match(
    await reasonsOf(context, href),
    'a run that started at 2026-11-18 10:20:30 (UTC) has not ended.',
  );
});

test('a name with quotes and escapes is told as it is', async (context) => {
  const { acme } = context;
  const name = 'a"b\\\\c","name":"x" ü🚀';
  ok(await acme.write.patch('/v1/case', { members: ['ann@example.com'] }));
  const { token } = await newSnitch(acme, { name, notes: 'n'.repeat(9_000) });
  await checkIn(context, token, '?s=1');
  const [delivery] = ok<WireDelivery[]>(await acme.read.get('/v1/deliveries'));
  assert.is(delivery?.snitch?.name, name);
});

test.run();
