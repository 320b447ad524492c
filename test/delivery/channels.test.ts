/** Channels end to end: from the alert in the store, by the outbox, to a server that answers as the service does. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { ChannelFields, ChannelKind } from '../../src/core/channel.ts';
import { DEFAULT_EVENTS } from '../../src/core/channel.ts';
import { SERVICES } from '../../src/delivery/channels/services.ts';
import { cases } from '../cases.ts';
import { until } from '../until.ts';
import { Outbox } from './outbox.ts';
import { type Behaviour, type Receiver, startReceiver } from './receiver.ts';
import { settingsAt } from './service-settings.ts';

interface Context {
  outbox: Outbox;
  server: Receiver;
}

const test = suite<Context>('channels in the outbox');

test.before.each(async (context) => {
  context.outbox = await Outbox.open();
  context.server = await startReceiver(took);
});

test.after.each(async ({ outbox, server }) => {
  await outbox.dispose();
  server.close();
});

/** What a service answers when it has accepted a message, by the path of the request. */
const TAKEN: [RegExp, number, string][] = [
  [/sendMessage$/, 200, '{"ok":true,"result":{"message_id":17}}'],
  [/m\.room\.message/, 200, '{"event_id":"$root"}'],
  [/^\/services\/|^\/hooks\/s3/, 200, 'ok'],
  [/^\/hooks\/1/, 200, '{"success":true}'],
  [/api\/v1\/messages/, 200, '{"result":"success","id":42}'],
  [/1\/messages\.json/, 200, '{"status":1}'],
  [/enqueue|v2\/alerts(\/|$)(?!.*am)/, 202, '{"status":"success"}'],
  [/^\/workflows/, 202, ''],
];

const took: Behaviour = (response, { path }) => {
  const isAlertmanager = path === '/api/v2/alerts';
  const [, status, body] = (!isAlertmanager && TAKEN.find(([pattern]) => pattern.test(path))) || [
    null,
    200,
    '{}',
  ];
  response.writeHead(status).end(body);
};

function add({ outbox, server }: Context, kind: ChannelKind, changes: Partial<ChannelFields> = {}) {
  const settings = settingsAt(server.url.replace(/\/hook$/, ''))[kind];
  const fields = { settings, events: DEFAULT_EVENTS, tags: [], ...changes };
  return outbox.store.createChannel(outbox.owner.id, { kind, name: null, fields }, outbox.clock());
}

const allSettled = (outbox: Outbox) => async () => (await outbox.deliveries('pending')).length === 0;
const bodies = ({ received }: Receiver) => received.map(({ body }) => JSON.parse(body));
const quick = { limits: { service: { groupWait: 50 } } };

test('every kind over HTTP gets an alarm and its recovery', async (context) => {
  const { outbox, server } = context;
  for (const { kind } of SERVICES) await add(context, kind);
  outbox.deliverer(quick);
  const [token = ''] = await outbox.raise(1, { names: ['nightly'] });
  await until(allSettled(outbox), 'the alarm is settled');
  await outbox.checkIn(token, 'healthy');
  await until(allSettled(outbox), 'the recovery is settled');
  const delivered = await outbox.deliveries('delivered');
  assert.is(delivered.length, 2 * SERVICES.length, JSON.stringify(await outbox.deliveries('dead')));
  // A host that stood still for ten seconds has given up answers that were on their way.
  const attempts = delivered.reduce((sum, one) => sum + one.attempts, 0);
  assert.is(server.received.length, attempts);
  const telegram = server.received.filter(({ path }) => path.endsWith('sendMessage'));
  assert.is(JSON.parse(telegram.at(-1)?.body ?? '{}').reply_parameters.message_id, 17);
  const matrix = server.received.filter(({ path }) => path.includes('m.room.message'));
  assert.is(JSON.parse(matrix.at(-1)?.body ?? '{}')['m.relates_to'].event_id, '$root');
  // Clients make no sound for a notice.
  assert.equal([...new Set(matrix.map(({ body }) => JSON.parse(body).msgtype))], ['m.text', 'm.notice']);
  assert.not.match(JSON.stringify(outbox.lines), /s3cr3t/);
});

test('a test of an incident service opens an incident and closes it', async (context) => {
  const { outbox, server } = context;
  const { id } = await add(context, 'pagerduty');
  outbox.deliverer(quick);
  await outbox.store.createTestDelivery(
    outbox.owner.id,
    { channel: 'pagerduty', target: id },
    outbox.clock(),
  );
  await until(allSettled(outbox), 'it is settled');
  assert.equal(
    bodies(server).map(({ event_action, payload }) => [event_action, payload?.severity]),
    [
      ['trigger', 'info'],
      ['resolve', undefined],
    ],
  );
});

test('Opsgenie is given time between a create and its close, in a test and in an outage', async (context) => {
  const { outbox, server } = context;
  const { id } = await add(context, 'opsgenie');
  // Opsgenie works on a create only after it has answered it.
  server.behaviour = (response) => void setTimeout(() => response.writeHead(202).end('{}'), 300);
  outbox.deliverer(quick);
  await outbox.store.createTestDelivery(outbox.owner.id, { channel: 'opsgenie', target: id }, outbox.clock());
  await until(allSettled(outbox), 'the test is settled');
  const [token = ''] = await outbox.raise(1);
  await outbox.checkIn(token, 'healthy');
  await until(allSettled(outbox), 'the recovery is settled');
  assert.equal(
    server.received.map(({ path }) => path.includes('/close?')),
    [false, true, false, true],
  );
  const [opened, closed, raised, recovered] = server.received.map(({ at }) => at);
  for (const [from = 0, to = 0] of [
    [opened, closed],
    [raised, recovered],
  ]) {
    assert.ok(to - from >= 1_500 + 290, `${to - from} ms`);
  }
});

const PAGE = '<!DOCTYPE html>\n<html><title>Sign in</title></html>';

test('an answer from a proxy in front of the service does not count: the alert is tried again', async (context) => {
  const { outbox, server } = context;
  const served = SERVICES.map(({ kind }) => kind);
  const proxied: ChannelKind[] = [
    'ntfy',
    'gotify',
    'mattermost',
    'rocketchat',
    'zulip',
    'matrix',
    'alertmanager',
  ];
  const cases: [ChannelKind[], number, string, RegExp][] = [
    [served, 200, PAGE, /^a web page came in place of an answer: 200 OK$/],
    [served, 202, `\n<html>${'x'.repeat(9_000)}`, /^a web page came in place of an answer: 202 Accepted$/],
    [['ntfy', 'slack'], 200, `<?xml version="1.0" encoding="UTF-8"?>\n${PAGE}`, /^a web page/],
    [['ntfy'], 200, `<!-- built on Monday -->\n<!-- by hand -->${PAGE}`, /^a web page/],
    [proxied, 404, PAGE, /^a web page came in place of an answer: 404 Not Found$/],
    [proxied, 404, '404 page not found\n', /^answered 404 Not Found: 404 page not found$/],
    [proxied, 404, 'default backend - 404', /^answered 404 Not Found: default backend - 404$/],
  ];
  outbox.deliverer(quick);
  for (const [kinds, status, body, words] of cases) {
    server.behaviour = (response) => response.writeHead(status).end(body);
    for (const kind of kinds) {
      const { id } = await add(context, kind);
      await outbox.store.createTestDelivery(outbox.owner.id, { channel: kind, target: id }, outbox.clock());
      const settled = async () => {
        for (const state of ['pending', 'delivered', 'dead'] as const) {
          const found = (await outbox.deliveries(state)).find(({ target }) => target === id);
          if (found && (state !== 'pending' || found.lastError !== null)) return found;
        }
        return null;
      };
      await until(async () => (await settled()) !== null, `${kind} was tried`);
      const outcome = await settled();
      assert.is(outcome?.state, 'pending', `${kind} ${status} ${body.slice(0, 30)}`);
      assert.match(outcome?.lastError ?? '', words, kind);
      await outbox.store.deleteChannel(outbox.owner.id, id);
    }
  }
});

/**
 * Lets six attempts fail, each when it is due.
 *
 * @param before called before each of them but the first
 * @returns the delivery then, how long that took on the clock, and what sends it
 */
async function failSixTimes({ outbox }: Context, before = (_attempt: number) => {}) {
  const began = outbox.clock();
  const running = outbox.deliverer(quick);
  await outbox.raise(1);
  const tried = async () =>
    [...(await outbox.deliveries('pending')), ...(await outbox.deliveries('dead'))][0];
  for (let attempt = 1; ; attempt += 1) {
    await until(async () => {
      const delivery = await tried();
      return delivery?.attempts === attempt && !delivery.sending;
    }, `attempt ${attempt}`);
    const delivery = await tried();
    if (attempt === 6) return { delivery, lasted: outbox.clock() - began, running };
    assert.is(delivery?.state, 'pending');
    before(attempt + 1);
    outbox.offset += delivery!.nextAttemptAt! - outbox.clock() + 1_000;
    running.wake();
  }
}

test('a 404 from a proxy that lasts longer than a restart is reported as a refusal', async (context) => {
  const { outbox, server } = context;
  const { id } = await add(context, 'gotify');
  server.behaviour = (response) => response.writeHead(404).end('404 page not found');
  const { delivery, lasted } = await failSixTimes(context);
  assert.is(delivery?.state, 'dead');
  assert.ok(lasted > 15 * 60_000, 'after some twenty minutes');
  const refused = (await outbox.store.getChannel(outbox.owner.id, id))?.refused;
  assert.is(refused?.error, 'answered 404 Not Found: 404 page not found');
});

test('a 404 from a proxy that comes back before its service, after a long outage, is no refusal yet', async (context) => {
  const { outbox, server } = context;
  const { id } = await add(context, 'gotify');
  server.behaviour = (response) => response.destroy();
  const { delivery, running } = await failSixTimes(context, (attempt) => {
    if (attempt === 6) server.behaviour = (response) => response.writeHead(404).end('404 page not found');
  });
  assert.equal(
    [delivery?.state, delivery?.lastError],
    ['pending', 'answered 404 Not Found: 404 page not found'],
  );
  assert.is((await outbox.store.getChannel(outbox.owner.id, id))?.refused, null);
  outbox.offset += delivery!.nextAttemptAt! - outbox.clock() + 1_000;
  running.wake();
  await until(async () => (await outbox.deliveries('dead')).length === 1, 'it lasts, and is a refusal');
});

test('a web page that keeps coming as the answer is reported as a refusal: the address is wrong', async (context) => {
  const { outbox, server } = context;
  const { id } = await add(context, 'slack');
  server.behaviour = (response) => response.writeHead(200).end(PAGE);
  const { delivery, lasted } = await failSixTimes(context);
  assert.is(delivery?.state, 'dead');
  assert.ok(lasted > 15 * 60_000, 'after some twenty minutes');
  const refused = (await outbox.store.getChannel(outbox.owner.id, id))?.refused;
  assert.is(refused?.error, 'a web page came in place of an answer: 200 OK');
});

test('a hosted service that does not know the address refuses for good, with or without a page', async (context) => {
  const { outbox, server } = context;
  server.behaviour = (response) => response.writeHead(404).end(PAGE);
  await add(context, 'google_chat');
  outbox.deliverer(quick);
  await outbox.raise(1);
  await until(async () => (await outbox.deliveries('dead')).length === 1, 'it is dead');
});

test('a permanent refusal is dead at once, shown without its secret, and noted at the channel', async (context) => {
  const { outbox, server } = context;
  server.behaviour = (response, { path }) => response.writeHead(404).end(`no_service at ${path}`);
  const { id } = await add(context, 'slack');
  outbox.deliverer(quick);
  await outbox.raise(1);
  await until(async () => (await outbox.deliveries('dead')).length === 1, 'it is dead');
  const [dead] = await outbox.deliveries('dead');
  assert.is(dead?.attempts, 1);
  assert.match(dead?.lastError ?? '', /^answered 404 Not Found: no_service at \*\*\*/);
  const refused = (await outbox.store.getChannel(outbox.owner.id, id))?.refused;
  assert.is(refused?.error, dead?.lastError);
  assert.not.match(JSON.stringify([outbox.lines, dead, refused]), /s3cr3t/);
  server.behaviour = took;
  await outbox.store.retryDelivery(outbox.owner.id, dead?.id as number, outbox.clock());
  await until(async () => (await outbox.deliveries('delivered')).length === 1, 'a retry by hand goes out');
  assert.is((await outbox.store.getChannel(outbox.owner.id, id))?.refused, null);
});

test('other targets hear of a refusal once, and again only after something was delivered', async (context) => {
  const { outbox, server } = context;
  await outbox.store.updateCase(outbox.owner.id, { members: ['ann@example.com'] }, outbox.clock());
  server.behaviour = (response, received) =>
    received.path.startsWith('/services/')
      ? response.writeHead(410).end('channel_is_archived')
      : took(response, received);
  await add(context, 'slack', { events: ['errored'] });
  await add(context, 'ntfy', { events: ['reporting'] });
  await add(context, 'pagerduty', { events: ['missing'] });
  outbox.deliverer(quick);
  for (let alarm = 1; alarm <= 3; alarm += 1) {
    await outbox.raise(1);
    await until(
      async () =>
        (await outbox.deliveries('dead')).filter(({ channel }) => channel === 'slack').length === alarm,
      'it is dead',
    );
  }
  await until(async () => server.received.some(({ path }) => path === '/'), 'it is told by ntfy');
  const notices = (await outbox.store.listAlerts(outbox.owner.id, null, { limit: 99, before: null })).filter(
    ({ alert }) => alert.type === 'service.refused',
  );
  assert.is(notices.length, 1);
  assert.equal(notices[0]?.deliveries.map(({ channel }) => channel).sort(), ['email', 'ntfy']);
  const said = JSON.parse(server.received.find(({ path }) => path === '/')?.body ?? '{}');
  assert.match(said.title, /^\[Channel\] slack no longer gets alerts: slack refuses/);
  assert.match(said.message, 'answered 410 Gone: channel_is_archived');
  assert.not.match(said.message, /s3cr3t/);
});

test('after a temporary refusal the next attempt waits as long as the service asks', async (context) => {
  const { outbox, server } = context;
  server.behaviour = (response) =>
    response.writeHead(429).end('{"ok":false,"parameters":{"retry_after":900}}');
  await add(context, 'telegram');
  const running = outbox.deliverer({ ...quick, monotonic: () => performance.now() + outbox.offset });
  await outbox.raise(1);
  await until(async () => (await outbox.deliveries())[0]?.lastError !== null, 'the failure is settled');
  const [waiting] = await outbox.deliveries('pending');
  assert.ok(Math.abs(waiting!.nextAttemptAt! - outbox.clock() - 900_000) < 60_000);
  server.behaviour = took;
  outbox.offset += 1_000_000;
  running.wake();
  await until(allSettled(outbox), 'it is said in the end');
  assert.is((await outbox.deliveries('delivered')).length, 1);
});

test('a chat that moved is found at its new place, by later alerts too', async (context) => {
  const { outbox, server } = context;
  server.behaviour = (response, received) =>
    JSON.parse(received.body).chat_id === -1001
      ? response.writeHead(400).end('{"ok":false,"parameters":{"migrate_to_chat_id":-1009}}')
      : took(response, received);
  const { id } = await add(context, 'telegram');
  outbox.deliverer(quick);
  await outbox.raise(1);
  await until(allSettled(outbox), 'it is settled');
  assert.is((await outbox.store.getChannel(outbox.owner.id, id))?.settings.chat, '-1009');
  await outbox.raise(1);
  await until(allSettled(outbox), 'the next one is settled');
  assert.equal(
    bodies(server).map(({ chat_id }) => chat_id),
    [-1001, -1009, -1009],
  );
  assert.is((await outbox.deliveries('delivered')).length, 2);
});

test('Discord is sent an alarm without a title that links to a server it cannot know', async (context) => {
  const { outbox, server } = context;
  // It refuses the whole message if the host has no dot.
  server.behaviour = (response, received) =>
    JSON.parse(received.body).embeds[0].url === undefined
      ? took(response, received)
      : response.writeHead(400).end('{"embeds": ["0"]}');
  await add(context, 'discord');
  const words = 'Acknowledge';
  outbox.deliverer({ ...quick, linkOf: ({ id }) => ({ url: `http://snitch:8080/a/${id}.sig_1`, words }) });
  await outbox.raise(1);
  await until(allSettled(outbox), 'it is settled');
  const [delivered] = await outbox.deliveries('delivered');
  assert.is(delivered?.attempts, 1);
  const [, { content, embeds }] = bodies(server);
  assert.match(content, /reported/);
  assert.match(embeds[0].description, /\nAcknowledge: http:\/\/snitch:8080\/a\/alert_\w+\.sig_1$/);
});

test('a recovery never overtakes an alarm that waits for its next attempt', async (context) => {
  const { outbox, server } = context;
  let broken = true;
  server.behaviour = (response, received) => {
    if (broken) response.writeHead(503).end();
    else took(response, received);
  };
  await add(context, 'pagerduty');
  const running = outbox.deliverer(quick);
  const [token = ''] = await outbox.raise(1);
  await until(async () => (await outbox.deliveries())[0]?.lastError !== null, 'the alarm failed');
  broken = false;
  await outbox.checkIn(token, 'healthy');
  const before = server.received.length;
  await new Promise((resolve) => setTimeout(resolve, 300));
  assert.is(server.received.length, before, 'the recovery waits');
  outbox.offset += 120_000;
  running.wake();
  await until(allSettled(outbox), 'both are told');
  assert.equal(
    bodies(server)
      .slice(before)
      .map(({ event_action }) => event_action),
    ['trigger', 'resolve'],
  );
});

test('a recovery is not sent to a target that refused the alarm, until both are retried', async (context) => {
  const { outbox, server } = context;
  await add(context, 'slack');
  await add(context, 'ntfy');
  await add(context, 'pagerduty');
  server.behaviour = (response, received) =>
    received.path.startsWith('/services/')
      ? response.writeHead(404).end('no_service')
      : took(response, received);
  const running = outbox.deliverer(quick);
  const [token = ''] = await outbox.raise(1);
  await until(allSettled(outbox), 'the alarm is settled');
  server.behaviour = took;
  await outbox.checkIn(token, 'healthy');
  await until(allSettled(outbox), 'the recovery is settled');
  const slack = () => server.received.filter(({ path }) => path.startsWith('/services/'));
  assert.is(slack().length, 1, 'only the alarm was tried');
  const dead = await outbox.deliveries('dead');
  assert.equal(
    dead.map(({ channel, attempts, lastError }) => [channel, attempts, lastError]),
    [
      ['slack', 1, 'answered 404 Not Found: no_service'],
      ['slack', 0, 'its alarm did not arrive there'],
    ],
  );
  for (const { id } of dead) await outbox.store.retryDelivery(outbox.owner.id, id, outbox.clock());
  running.wake();
  await until(allSettled(outbox), 'both are sent');
  assert.equal(
    slack()
      .slice(1)
      .map(({ body }) => JSON.parse(body).text.slice(0, 6)),
    ['[Error', '[Recov'],
  );
});

test('an alarm that only some targets behind Apprise accept is repeated a few times, and its end is told', async (context) => {
  const { outbox, server } = context;
  server.behaviour = (response) => response.writeHead(424).end('{"error":"some notifications failed"}');
  await add(context, 'apprise');
  const running = outbox.deliverer(quick);
  const [token = ''] = await outbox.raise(1);
  for (let attempts = 1; (await outbox.deliveries('dead')).length === 0; attempts += 1) {
    const isOver = async () =>
      (await outbox.deliveries()).some((one) => one.attempts === attempts && !one.sending);
    await until(isOver, `attempt ${attempts} is over`);
    outbox.offset += 3_600_000;
    running.wake();
  }
  assert.is(server.received.length, 6);
  server.behaviour = took;
  await outbox.checkIn(token, 'healthy');
  await until(allSettled(outbox), 'the recovery is settled');
  assert.match(bodies(server).at(-1)?.title, /^\[Recovered\]/);
});

test('a storm is at most 3 messages a minute to a chat, and nothing in it is lost', async (context) => {
  const { outbox, server } = context;
  await add(context, 'slack');
  outbox.deliverer({ limits: { service: { groupWait: 100 } } });
  const storm = cases(5_000);
  let raised = 0;
  // On a busy host the first two messages may already contain everything: the third needs more alerts.
  while (raised < storm || (server.received.length < 3 && raised < 20_000)) {
    await outbox.raise(500);
    raised += 500;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  await until(async () => server.received.length >= 3, 'three are sent');
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  assert.is(server.received.length, 3);
  const counted = bodies(server)
    .map(({ text }) => Number(/^\[Digest\] (\d+) alerts/.exec(text)?.[1] ?? 1))
    .reduce((sum, count) => sum + count, 0);
  const told = async () => (await outbox.deliveries('delivered')).length;
  // The alerts in the last message are settled a moment after it was received.
  await until(async () => (await told()) >= counted, 'what was in the messages counts as told');
  assert.is(await told(), counted, 'each delivery that counts as told was in a message');
  assert.is(counted + (await outbox.deliveries('pending')).length, raised);
});

test('deliveries that wait for a deleted channel are dead, and say so', async (context) => {
  const { outbox, server } = context;
  const { id } = await add(context, 'ntfy');
  await outbox.raise(1);
  await outbox.store.deleteChannel(outbox.owner.id, id);
  outbox.deliverer(quick);
  await until(async () => (await outbox.deliveries('dead')).length === 1, 'it is dead');
  assert.is((await outbox.deliveries('dead'))[0]?.lastError, 'the channel was deleted');
  assert.is(server.received.length, 0);
});

test('a redirect is not followed with the secret, and private addresses can be closed', async (context) => {
  const { outbox, server } = context;
  server.behaviour = (response) => response.writeHead(307, { location: `${server.url}/elsewhere` }).end();
  await add(context, 'gotify');
  const open = outbox.deliverer(quick);
  await outbox.raise(1);
  await until(async () => (await outbox.deliveries('dead')).length === 1, 'it is dead');
  assert.is(server.received.length, 1);
  await open.stop();
  outbox.deliverer({ ...quick, webhooks: { allowPrivate: false } });
  await outbox.raise(1);
  await until(async () => (await outbox.deliveries('pending'))[0]?.lastError != null, 'it is refused');
  assert.match((await outbox.deliveries('pending'))[0]?.lastError ?? '', /loopback/);
  assert.is(server.received.length, 1);
});

test.run();
