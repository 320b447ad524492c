import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireAlert, WireChannel, WireDelivery, WireWebhook } from '../../src/api/wire.ts';
import type { WireExplanation } from '../../src/api/wire-explanation.ts';
import { inTimeZone, weekdayTime } from '../../src/text/times.ts';
import { invalidOn, ok, refused } from './expect.ts';
import { checkIn, type Fixture, HOUR, MINUTE, newSnitch, startFixture } from './fixture.ts';

const test = suite<Fixture>('routes');

test.before.each(async (context) => {
  Object.assign(context, await startFixture());
});
test.after.each((context) => context.close());

const OFFICE = { timezone: 'Asia/Tokyo', days: ['mon', 'tue'], from: '08:00', to: '18:00' };

async function patch({ acme }: Fixture, id: string, body: unknown): Promise<WireChannel> {
  return ok(await acme.write.patch(`/v1/channels/${encodeURIComponent(id)}`, body));
}

async function webhook({ acme }: Fixture, url: string): Promise<string> {
  return ok<WireWebhook>(await acme.write.post('/v1/webhooks', { url })).id;
}

test('webhooks and members have a route too, and their other settings are changed elsewhere', async (context) => {
  const { acme } = context;
  ok(await acme.write.patch('/v1/case', { members: ['Ann@example.com'] }));
  const hook = await webhook(context, 'https://hook.example.com/x');
  const route = { events: ['errored', 'blind'], tags: ['db'], after: 1_800, hours: OFFICE };
  for (const id of [hook, 'ann@example.com']) {
    const changed = await patch(context, id, route);
    const { events, tags, after, hours } = changed;
    assert.equal({ events, tags, after, hours }, route);
    // A client may send back all of what it read.
    assert.equal(await patch(context, changed.id, changed), changed);
    const path = `/v1/channels/${encodeURIComponent(id)}`;
    assert.equal(ok(await acme.read.get(path)), changed);
    invalidOn(await acme.write.patch(path, { settings: { url: 'https://other.example.com/' } }), 'settings');
    invalidOn(await acme.write.patch(path, { name: 'other' }), 'name');
    invalidOn(await acme.write.patch(path, { after: -1 }), 'after');
    invalidOn(await acme.write.patch(path, { hours: { ...OFFICE, timezone: 'Mars' } }), 'hours');
    refused(await acme.read.patch(path, { after: 1 }), 403, 'api_key_forbidden');
    refused(await context.rival.write.patch(path, { after: 1 }), 404, 'resource_not_found');
  }
  const [shown] = ok<WireWebhook[]>(await acme.read.get('/v1/webhooks'));
  assert.is(shown?.notices, true, 'blind means notices');
  const plain = await patch(context, hook, {
    events: ['missing', 'errored', 'reporting', 'paused'],
    after: null,
  });
  assert.is(plain.after, 0);
  assert.is(ok<WireWebhook[]>(await acme.read.get('/v1/webhooks'))[0]?.notices, undefined);
});

/** Whom an alarm goes to and when, according to `explain` and to the deliveries of the alarm itself. */
async function foreseenAndSent(context: Fixture, body: Record<string, unknown>) {
  const { acme, clock, store } = context;
  const { token, href } = await newSnitch(acme, { interval: 'hourly', ...body });
  await checkIn(context, token);
  const { notify, reasons, next_alert } = ok<WireExplanation>(await acme.read.get(`${href}/explain`));
  clock.now = Date.parse(next_alert?.at ?? '');
  await store.applyDue(clock.now, null, 100);
  const [alert] = ok<WireAlert[]>(await acme.read.get(`${href}/alerts?limit=1`));
  assert.is(alert?.type, 'snitch.missing');
  return { notify, reasons, href, sent: alert?.deliveries ?? [] };
}

test('explain says of the next alarm what is then written for it', async (context) => {
  const { acme, clock } = context;
  ok(
    await acme.write.patch('/v1/case', {
      members: ['ann@example.com', 'bob@example.com', 'eve@example.com'],
    }),
  );
  await patch(context, 'ann@example.com', { after: 1_800 });
  await patch(context, 'eve@example.com', { tags: ['db'] });
  await patch(context, await webhook(context, 'https://one.example.com/'), { hours: OFFICE });
  await patch(context, await webhook(context, 'https://two.example.com/'), { events: ['errored'] });
  const topic = { kind: 'ntfy', settings: { topic: 'ops' } };
  for (const route of [
    { name: 'pager', after: 5_400 },
    { name: 'both', after: 600, hours: OFFICE },
    {
      name: 'always',
      hours: {
        ...OFFICE,
        from: '00:00',
        to: '24:00',
        days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'],
      },
    },
    { name: 'dba', tags: ['db'] },
  ]) {
    ok(await acme.write.post('/v1/channels', { ...topic, ...route }));
  }
  for (const tags of [[], ['db']]) {
    const { notify, reasons, sent } = await foreseenAndSent(context, { name: `job ${tags}`, tags });
    const foreseen = [...notify.emails, ...notify.webhooks, ...(notify.channels ?? [])].sort();
    assert.equal(sent.map(({ target }) => target).sort(), foreseen);
    for (const { target, waits, next_attempt_at: next } of sent) {
      const at = Date.parse(next ?? '');
      const said = reasons.filter((reason) => reason.startsWith(`An alarm goes to ${target} `));
      assert.is(said.length, waits ? 1 : 0, `${target}: ${said}`);
      assert.is(waits !== undefined, at > clock.now);
      if (waits === 'after') assert.match(said[0] ?? '', `at ${inTimeZone(at, 'UTC')}.`);
      if (waits === 'hours')
        assert.match(said[0] ?? '', `from ${weekdayTime(at, 'Asia/Tokyo')} (Asia/Tokyo) on`);
    }
    const none = reasons.filter((reason) => reason.startsWith('An alarm would not go to'));
    assert.is(none.length, 9 - foreseen.length);
  }
});

test('while an alarm waits, explain says until when, and a recovery before that drops both', async (context) => {
  const { acme, clock, store } = context;
  ok(
    await acme.write.post('/v1/channels', {
      ...{ kind: 'ntfy', name: 'pager', settings: { topic: 'ops' }, after: 1_800 },
    }),
  );
  const { href, sent } = await foreseenAndSent(context, {});
  const due = clock.now;
  const at = inTimeZone(due + 30 * MINUTE, 'UTC');
  assert.is(sent[0]?.waits, 'after');
  clock.now = due + 5 * MINUTE;
  const { reasons } = ok<WireExplanation>(await acme.read.get(`${href}/explain`));
  assert.match(
    reasons.join('\n'),
    `Not told yet: pager by ntfy is told if it lasts and nobody acknowledges it by ${at}.`,
  );
  assert.is(reasons.filter((reason) => reason.includes('pager')).length, 1, 'it is said once');
  const metrics = async () => (await acme.read.get('/metrics')).text;
  assert.match(await metrics(), /^snitch_outbox_waiting_deliveries 1$/m);
  assert.match(await metrics(), /^snitch_outbox_oldest_seconds 0$/m);
  await checkIn(context, href.split('/').at(-1) ?? '');
  const dropped = ok<WireDelivery[]>(await acme.read.get('/v1/deliveries?state=dropped'));
  assert.equal(
    dropped.map(({ last_error, type }) => [type, last_error]),
    [
      ['snitch.missing', 'it recovered before'],
      ['snitch.reporting', 'it went missing before'],
    ],
  );
  assert.equal(ok(await acme.read.get('/v1/deliveries?state=dead')), []);
  invalidOn(await acme.write.post(`/v1/deliveries/${dropped[0]?.id}/retry`), 'state');
  assert.match(await metrics(), /^snitch_outbox_waiting_deliveries 0$/m);
  clock.now = due + HOUR;
  await store.applyDue(clock.now, null, 100);
  assert.is(ok<WireAlert[]>(await acme.read.get(`${href}/alerts`)).length, 3);
});

test('a webhook that wants notices goes on to get them when something else of its route changes', async ({
  acme,
}) => {
  const { id } = ok<WireWebhook>(
    await acme.write.post('/v1/webhooks', { url: 'https://hook.example.com/', notices: true }),
  );
  ok(await acme.write.patch(`/v1/channels/${id}`, { tags: ['db'] }));
  assert.is(ok<WireWebhook>(await acme.read.get(`/v1/webhooks/${id}`)).notices, true);
});

test.run();
