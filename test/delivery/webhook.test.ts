import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { Webhook as Verifier } from 'standardwebhooks';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createWebhookSender, type WebhookSender } from '../../src/delivery/channels/webhook.ts';
import type { Resolve } from '../../src/delivery/http/address-guard.ts';
import type { Outcome } from '../../src/delivery/outbox/outcome.ts';
import { closing, ending } from '../closing.ts';
import { until } from '../until.ts';
import { AT, aNotice, anAlert, aWebhook } from './alerts.ts';
import { startMailServer } from './mail-server.ts';
import { type Behaviour, behave, type Receiver, startReceiver } from './receiver.ts';

const TIMEOUT = 300;

const test = suite<{ sender: WebhookSender; receiver: Receiver }>('webhook');

test.before.each(async (context) => {
  context.sender = createWebhookSender({ allowPrivate: true, version: '3.1.4' });
  context.receiver = await startReceiver();
});

test.after.each(async ({ sender, receiver }) => {
  await sender.close();
  receiver.close();
});

function errorOf(outcome: Outcome): string {
  assert.is(outcome.kind, 'retry', JSON.stringify(outcome));
  return (outcome as { error: string }).error;
}

test('posts exactly the payload of the contract', async ({ sender, receiver }) => {
  const alert = anAlert({ snitch: { notes: 'Zürich\n🚀', tags: ['db', 'prod'] } });
  assert.equal(await sender.send(aWebhook(`${receiver.url}?x=1`), alert, Date.now()), { kind: 'delivered' });
  const [received] = receiver.received;
  assert.is(received?.method, 'POST');
  assert.is(received?.path, '/hook?x=1');
  assert.is(received?.headers['content-type'], 'application/json');
  assert.is(received?.headers['user-agent'], 'Snitch/3');
  assert.equal(JSON.parse(received?.body ?? ''), {
    type: 'snitch.missing',
    timestamp: '2026-11-21T05:04:03.210Z',
    data: {
      snitch: {
        token: 'c2354d53d3',
        name: 'nightly-backup',
        notes: 'Zürich\n🚀',
        tags: ['db', 'prod'],
        status: 'missing',
        previous_status: 'healthy',
      },
    },
  });
});

test('the reason of an alert is next to the snitch, with times in the zone of the case', async (context) => {
  const { sender, receiver } = context;
  const details = { reason: { kind: 'noCheckIn', by: Date.UTC(2026, 10, 21, 5, 4) } } as const;
  await sender.send(aWebhook(receiver.url), anAlert({ details }), 0, { timezone: 'Europe/Berlin' });
  const { data } = JSON.parse(receiver.received[0]?.body ?? '') as { data: Record<string, unknown> };
  assert.equal(Object.keys(data), ['snitch', 'reason']);
  assert.is(data.reason, 'no check-in by 2026-11-21 06:04:00 (Europe/Berlin)');
});

test('every attempt carries the same id, its own time, and a signature that verifies', async (context) => {
  const { sender, receiver } = context;
  const old = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
  const now = Date.now();
  const rotated = { previousSecret: old, previousSecretUntil: now + 86_400_000 };
  const webhook = aWebhook(receiver.url, rotated);
  await sender.send(webhook, anAlert({ id: 'alert_7' }), now);
  await new Promise((resolve) => setTimeout(resolve, 20));
  await sender.send(webhook, anAlert({ id: 'alert_7' }), now + 10_000);
  const timestamps = receiver.received.map(({ headers, body }) => {
    assert.is(headers['webhook-id'], 'alert_7');
    for (const secret of [webhook.secret, old]) new Verifier(secret).verify(body, headers as never);
    return Number(headers['webhook-timestamp']);
  });
  const second = Math.floor(now / 1000);
  assert.equal(timestamps, [second, Math.floor((now + 10_000) / 1000)]);
  assert.is(receiver.connections, 1, 'the connection is used again');
});

test('credentials in the URL become a Basic header', async ({ sender, receiver }) => {
  const cases: [string, string][] = [
    ['key-alone', 'key-alone:'],
    ['us%40er:p%3Ass%20w%C3%B6rd', 'us@er:p:ss wörd'],
    [':only-a-password', ':only-a-password'],
    ['bad%zzescape:x', 'bad%zzescape:x'],
  ];
  for (const [userInfo, decoded] of cases) {
    receiver.received.length = 0;
    await sender.send(aWebhook(receiver.url.replace('//', `//${userInfo}@`)), anAlert(), 0);
    const { headers } = receiver.received[0]!;
    assert.is(headers.authorization, `Basic ${Buffer.from(decoded).toString('base64')}`);
    assert.is(headers.host, `127.0.0.1:${receiver.port}`);
  }
  receiver.received.length = 0;
  await sender.send(aWebhook(receiver.url), anAlert(), 0);
  assert.is(receiver.received[0]?.headers.authorization, undefined);
});

test('only a status of 200 to 209 is success', async ({ sender, receiver }) => {
  for (const status of [200, 201, 202, 204, 205, 208, 209]) {
    receiver.behaviour = behave.status(status);
    assert.is((await sender.send(aWebhook(receiver.url), anAlert(), 0)).kind, 'delivered', String(status));
  }
  for (const status of [210, 226, 300, 304, 400, 401, 404, 410, 429, 500, 503, 599]) {
    receiver.behaviour = behave.status(status);
    const error = errorOf(await sender.send(aWebhook(receiver.url), anAlert(), 0));
    assert.match(error, new RegExp(`^answered ${status}\\b`));
  }
});

test('redirects are failures and are not followed', async ({ sender, receiver }) => {
  using other = await startReceiver();
  for (const status of [301, 302, 303, 307, 308]) {
    receiver.behaviour = behave.status(status, {
      location: `http://user:secret@127.0.0.1:${other.port}/to?token=x`,
    });
    const error = errorOf(await sender.send(aWebhook(receiver.url), anAlert(), 0));
    assert.is(error, `redirected to http://127.0.0.1:${other.port}/to; redirects are not followed`);
  }
  receiver.behaviour = behave.status(302, { location: '/elsewhere' });
  const error = errorOf(await sender.send(aWebhook(receiver.url), anAlert(), 0));
  assert.is(error, `redirected to http://127.0.0.1:${receiver.port}/elsewhere; redirects are not followed`);
  assert.is(other.received.length, 0);
});

test('Retry-After is understood in both forms', async ({ sender, receiver }) => {
  const now = Date.UTC(2026, 0, 1);
  const waits: [string, number | undefined][] = [
    ['120', 120_000],
    ['0', 0],
    ['1.5', 1_500],
    [new Date(now + 3_600_000).toUTCString(), 3_600_000],
    [new Date(now - 3_600_000).toUTCString(), 0],
    ['soon', undefined],
    ['-5', undefined],
  ];
  for (const [header, wait] of waits) {
    receiver.behaviour = behave.status(503, { 'retry-after': header });
    const outcome = await sender.send(aWebhook(receiver.url), anAlert(), now);
    assert.is(errorOf(outcome), 'answered 503 Service Unavailable');
    const { retryAfter } = outcome as { retryAfter?: number };
    if (header === '-5') assert.ok(retryAfter === undefined || retryAfter === 0);
    else assert.is(retryAfter, wait, header);
  }
});

test('an answer that does not end in time is a failure, however it dawdles', async ({ receiver }) => {
  const options = { allowPrivate: true, version: '1.0.0', timeout: TIMEOUT };
  await using sender = ending(createWebhookSender(options), (one) => one.close());
  const slow: Record<string, Behaviour> = { hang: behave.hang(), drip: behave.drip() };
  for (const [name, behaviour] of Object.entries(slow)) {
    receiver.behaviour = behaviour;
    const error = errorOf(await sender.send(aWebhook(receiver.url), anAlert(), 0));
    assert.is(error, 'no complete answer within 0.3 s', name);
  }
});

test('a closed sender gives up its sends, and ends its connections', async ({ sender, receiver }) => {
  let closed = 0;
  receiver.behaviour = (response) => {
    response.on('close', () => {
      closed += 1;
    });
  };
  const sending = sender.send(aWebhook(receiver.url), anAlert(), 0);
  await until(() => receiver.received.length === 1, 'it is being sent');
  await sender.close();
  errorOf(await sending);
  await until(() => closed === 1, 'the connection is closed');
});

test('a retired sender finishes its sends, and accepts no more', async ({ sender, receiver }) => {
  let answer = () => {};
  receiver.behaviour = (response) => {
    answer = () => response.end('ok');
  };
  const sending = sender.send(aWebhook(receiver.url), anAlert(), 0);
  await until(() => receiver.received.length === 1, 'it is being sent');
  sender.retire();
  answer();
  assert.equal(await sending, { kind: 'delivered' });
  errorOf(await sender.send(aWebhook(receiver.url), anAlert(), 0));
  assert.is(receiver.received.length, 1);
});

test('a failure status counts even if the rest of the answer only drips', async ({ receiver }) => {
  await using sender = ending(createWebhookSender({ allowPrivate: true, version: '1.0.0' }), (one) =>
    one.close(),
  );
  receiver.behaviour = behave.drip(500);
  assert.is(
    errorOf(await sender.send(aWebhook(receiver.url), anAlert(), 0)),
    'answered 500 Internal Server Error',
  );
});

test('at most 64 KiB of an answer are read', async ({ sender, receiver }) => {
  receiver.behaviour = behave.endless();
  assert.is((await sender.send(aWebhook(receiver.url), anAlert(), 0)).kind, 'delivered');
  receiver.behaviour = behave.status(200);
  assert.is((await sender.send(aWebhook(receiver.url), anAlert(), 0)).kind, 'delivered');
  assert.is(receiver.connections, 2, 'the connection with the endless answer was dropped');
});

test('an answer below the limit is read to its end, and one above it is not', async ({
  sender,
  receiver,
}) => {
  const connectionsAfter = async (kilobytes: number) => {
    receiver.behaviour = (response) => response.end('x'.repeat(kilobytes * 1024));
    for (let count = 0; count < 2; count += 1) {
      assert.is((await sender.send(aWebhook(receiver.url), anAlert(), 0)).kind, 'delivered');
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return receiver.connections;
  };
  assert.is(await connectionsAfter(40), 1, 'the connection is used again');
  assert.is(await connectionsAfter(200), 2, 'the second answer came over a new one');
});

test('a truncated answer is a failure', async ({ sender, receiver }) => {
  for (const behaviour of [behave.closeMidBody(), behave.closeBeforeAnswer()]) {
    receiver.behaviour = behaviour;
    const error = errorOf(await sender.send(aWebhook(receiver.url), anAlert(), 0));
    assert.match(error, /^connection closed by 127\.0\.0\.1:\d+ before its answer was complete$/);
  }
});

test('an absent target is described in words', async ({ sender, receiver }) => {
  const { port } = receiver;
  receiver.close();
  assert.is(
    errorOf(await sender.send(aWebhook(`http://u:p@127.0.0.1:${port}/`), anAlert(), 0)),
    `connection refused by 127.0.0.1:${port}`,
  );
  const unknown = errorOf(await sender.send(aWebhook('http://no-such-host.invalid/'), anAlert(), 0));
  assert.match(unknown, /no-such-host\.invalid/);
  const refused = errorOf(await sender.send(aWebhook('http://169.254.169.254/latest'), anAlert(), 0));
  assert.is(refused, '169.254.169.254 is a link-local address, which webhooks must not reach');
});

test('waiting for a name server that never answers is bounded too', async () => {
  const silent = (() => undefined) as unknown as Resolve;
  const options = { allowPrivate: true, version: '1.0.0', timeout: TIMEOUT, resolve: silent };
  await using sender = ending(createWebhookSender(options), (one) => one.close());
  const error = errorOf(await sender.send(aWebhook('http://hook.test/'), anAlert(), 0));
  assert.is(error, 'no complete answer within 0.3 s');
});

test('an answer that is not HTTP, or not TLS, is described in words', async ({ sender, receiver }) => {
  const server = createServer((socket) => {
    socket.on('error', () => undefined).end('SSH-2.0-OpenSSH_9.2\r\n');
  }).listen(0, '127.0.0.1');
  using _server = closing(server);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const garbage = errorOf(await sender.send(aWebhook(`http://127.0.0.1:${port}/`), anAlert(), 0));
  assert.match(garbage, /^the answer from 127\.0\.0\.1:\d+ is not HTTP/);
  const plain = errorOf(await sender.send(aWebhook(receiver.url.replace('http', 'https')), anAlert(), 0));
  assert.match(plain, /TLS/);
});

test('a certificate that cannot be trusted is a failure', async ({ sender }) => {
  await using tls = await startMailServer({ secure: true });
  const error = errorOf(await sender.send(aWebhook(`https://127.0.0.1:${tls.port}/`), anAlert(), 0));
  assert.match(error, /^the certificate of 127\.0\.0\.1:\d+ is not valid: /);
});

test('no error ever shows credentials or control characters', async ({ sender, receiver }) => {
  const url = receiver.url.replace('//', '//operator:hunter2hunter2@');
  const basic = Buffer.from('operator:hunter2hunter2').toString('base64');
  receiver.behaviour = behave.status(302, { location: `http://evil.test/hunter2hunter2/${basic}/%1b[31m` });
  const error = errorOf(await sender.send(aWebhook(url), anAlert(), 0));
  assert.not.match(error, /hunter2|b3BlcmF0b3I/);
  receiver.behaviour = behave.status(302, { location: `http://evil.test/${'x'.repeat(5_000)}` });
  assert.ok(errorOf(await sender.send(aWebhook(url), anAlert(), 0)).length <= 300);
});

test('a delivery that can never succeed is dead', async ({ sender }) => {
  assert.equal(await sender.send(null, anAlert(), 0), { kind: 'dead', error: 'the webhook was deleted' });
  assert.is((await sender.send(aWebhook('ftp://files.test/'), anAlert(), 0)).kind, 'dead');
  assert.is((await sender.send(aWebhook('not a url'), anAlert(), 0)).kind, 'dead');
});

test('a notice is posted in the shape that the list of alerts shows', async ({ sender, receiver }) => {
  const snitches = [{ token: 't1', name: 'backup', deadlineAt: AT }];
  const notice = aNotice({ postponed: ['backup'], snitches });
  assert.equal(await sender.send(aWebhook(receiver.url), notice, Date.now()), { kind: 'delivered' });
  const at = new Date(AT).toISOString();
  assert.equal(JSON.parse(receiver.received[0]?.body ?? ''), {
    type: 'service.blind',
    timestamp: at,
    data: {
      notice: {
        from: new Date(AT - 5_400_000).toISOString(),
        to: new Date(AT - 1_000).toISOString(),
        postponed: ['backup'],
        postponed_count: 1,
        snitches: [{ token: 't1', name: 'backup', deadline: at }],
      },
    },
  });
  assert.ok(receiver.received[0]?.headers['webhook-signature']);
});

test('a stop gives up what is in flight', async ({ sender, receiver }) => {
  receiver.behaviour = behave.hang();
  const stop = new AbortController();
  const sent = sender.send(aWebhook(receiver.url), anAlert(), 0, { stop: stop.signal });
  setTimeout(() => stop.abort(), 20);
  assert.is(errorOf(await sent), 'given up because the service is stopping');
});

test.run();
