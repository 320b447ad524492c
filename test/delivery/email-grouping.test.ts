import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { DelivererOptions } from '../../src/delivery/deliverer.ts';
import { until } from '../until.ts';
import { type MailServer, startMailServer } from './mail-server.ts';
import { Outbox } from './outbox.ts';

/** In place of the real five seconds. */
const GROUP_WAIT = 400;

const ANN = 'ann@example.com';
const BOB = 'bob@example.com';

const test = suite<{ outbox: Outbox; mail: MailServer }>('email grouping');

test.before.each(async (context) => {
  context.outbox = await Outbox.open({ members: [ANN] });
  context.mail = await startMailServer();
});

test.after.each(async ({ outbox, mail }) => {
  await outbox.dispose();
  await mail.close();
});

function options(mail: MailServer): Partial<DelivererOptions> {
  return {
    smtp: { url: mail.url, from: 'snitch@example.org' },
    limits: { email: { groupWait: GROUP_WAIT, timeout: 3_000 } },
  };
}

const subjects = (mail: MailServer, recipient = ANN) =>
  mail.received
    .filter(({ recipients }) => recipients.includes(recipient))
    .map(({ parsed }) => parsed.subject ?? '');

test('a lone alert to an idle recipient does not wait for others', async ({ outbox, mail }) => {
  outbox.deliverer({ ...options(mail), limits: { email: { groupWait: 3_600_000 } } });
  await outbox.raise(1);
  await until(() => mail.received.length === 1, 'the mail comes');
  assert.match(subjects(mail)[0] ?? '', /^\[Error\] job-1 reported exit status 1 at /);
});

test('a few that come together: one at once, the others one by one after the group wait', async (context) => {
  const { outbox, mail } = context;
  await outbox.raise(4);
  outbox.deliverer(options(mail));
  await until(() => mail.received.length === 4, 'all come');
  expectOneAndThenTheOthers(mail.received.map(({ at }) => at));
  assert.equal(
    [...subjects(mail)].sort().map((text) => text.slice(0, 13)),
    ['[Error] job-1', '[Error] job-2', '[Error] job-3', '[Error] job-4'],
  );
});

test('a recipient is idle again after a quiet time', async ({ outbox, mail }) => {
  outbox.deliverer(options(mail));
  await outbox.raise(1);
  await until(() => mail.received.length === 1, 'the mail comes');
  await sleep(3 * GROUP_WAIT);
  await outbox.raise(3);
  await until(() => mail.received.length === 4, 'all come');
  expectOneAndThenTheOthers(mail.received.slice(1).map(({ at }) => at));
});

function expectOneAndThenTheOthers(times: readonly number[]): void {
  const [first = 0, second = 0] = times;
  assert.ok(second - first >= GROUP_WAIT * 0.9, 'the others wait for more of their kind');
  assert.ok((times.at(-1) ?? 0) - second < second - first, 'within a group nobody waits again');
}

test('more than five after a send become one digest, and nothing is left out', async ({ outbox, mail }) => {
  outbox.deliverer(options(mail));
  await outbox.raise(1);
  await until(() => mail.received.length === 1, 'the first mail comes');
  await outbox.raise(6);
  await until(() => mail.received.length === 2, 'the digest comes');
  assert.is(subjects(mail)[1], '[Digest] 6 alerts of Operations: 6 with errors');
  for (let index = 2; index <= 7; index += 1) {
    assert.match(mail.received[1]?.parsed.text ?? '', `job-${index} [prod], exit status 1`);
  }
  await until(async () => (await outbox.deliveries('delivered')).length === 7, 'all are settled');
});

test('exactly five stay single', async ({ outbox, mail }) => {
  outbox.deliverer(options(mail));
  await outbox.raise(1);
  await until(() => mail.received.length === 1, 'the first mail comes');
  await outbox.raise(5);
  await until(() => mail.received.length === 6, 'five single mails come');
  assert.not.ok(subjects(mail).some((subject) => subject.startsWith('[Digest]')));
});

test('an outage of many snitches is at most two emails to each recipient', async (context) => {
  const { mail } = context;
  await context.outbox.dispose();
  const recipients = [ANN, BOB, 'eve@example.com'];
  context.outbox = await Outbox.open({ members: recipients });
  const { outbox } = context;
  outbox.deliverer(options(mail));
  const began = performance.now();
  await outbox.raise(400);
  // A digest has the alerts of its wait, and storing all the errors may take longer than one wait here.
  const most = 2 + Math.floor((performance.now() - began) / GROUP_WAIT);
  await until(async () => (await outbox.deliveries('delivered')).length === 1_200, 'all are settled', 20_000);
  for (const recipient of recipients) {
    const told = subjects(mail, recipient);
    assert.ok(told.length <= most, `${recipient}: ${told.join('; ')}`);
    const counts = told.map((subject) => Number(/^\[Digest\] (\d+)/.exec(subject)?.[1] ?? 1));
    assert.is(
      counts.reduce((sum, count) => sum + count, 0),
      400,
    );
  }
});

test('a digest gets everything that waits, however many store calls that takes', async ({ outbox, mail }) => {
  await outbox.raise(150);
  outbox.deliverer(options(mail));
  await until(async () => (await outbox.deliveries('delivered')).length === 150, 'all are settled');
  assert.is(mail.received.length, 1);
  assert.match(subjects(mail)[0] ?? '', '[Digest] 150 alerts of Operations: 150 with errors');
});

test('a recipient of two cases gets a digest of each', async ({ outbox, mail }) => {
  const other = await outbox.createCase({ name: 'Research', timezone: 'Asia/Kathmandu', members: [ANN] });
  outbox.deliverer(options(mail));
  await outbox.raise(1);
  await until(() => mail.received.length === 1, 'the first mail comes');
  await outbox.raise(7);
  await outbox.raise(8, { owner: other });
  await until(() => mail.received.length === 3, 'two digests come');
  assert.equal(subjects(mail).slice(1).sort(), [
    '[Digest] 7 alerts of Operations: 7 with errors',
    '[Digest] 8 alerts of Research: 8 with errors',
  ]);
  const research = mail.received.find(({ parsed }) => parsed.subject?.includes('Research'));
  assert.match(research?.parsed.text ?? '', 'Asia/Kathmandu, UTC+05:45');
});

test('a recovery threads under its alarm', async ({ outbox, mail }) => {
  outbox.deliverer(options(mail));
  const [token] = await outbox.raise(1);
  await until(() => mail.received.length === 1, 'the alarm comes');
  await outbox.checkIn(token!, 'healthy');
  await until(() => mail.received.length === 2, 'the recovery comes');
  const [alarm, recovery] = mail.received.map(({ parsed }) => parsed);
  assert.match(recovery?.subject ?? '', /^\[Recovered\] job-1 checked in again at /);
  assert.is(recovery?.inReplyTo, alarm?.messageId);
});

test('a bad recipient delays nobody: refused is dead at once, deferred is retried', async (context) => {
  const { outbox } = context;
  await context.mail.close();
  const codes: Record<string, number> = { 'gone@example.com': 550, 'full@example.com': 452 };
  context.mail = await startMailServer({
    onRcptTo: ({ address }, _session, callback) => {
      const responseCode = codes[address];
      callback(responseCode ? Object.assign(new Error('no'), { responseCode }) : null);
    },
  });
  await outbox.store.updateCase(outbox.owner.id, { members: [...Object.keys(codes), ANN] }, outbox.clock());
  outbox.deliverer(options(context.mail));
  await outbox.raise(1);
  await until(
    async () => (await outbox.deliveries()).every(({ attempts }) => attempts === 1),
    'all are tried',
  );
  await until(
    async () =>
      (await outbox.deliveries()).every((one) => one.lastError !== null || one.deliveredAt !== null),
    'all are settled',
  );
  const fates = Object.fromEntries((await outbox.deliveries()).map(({ target, state }) => [target, state]));
  assert.equal(fates, { 'gone@example.com': 'dead', 'full@example.com': 'pending', [ANN]: 'delivered' });
  const dead = (await outbox.deliveries('dead'))[0];
  assert.match(dead?.lastError ?? '', /refused the recipient: 550 no/);
});

test('while the mail server is away alerts wait together, and come when it is back', async (context) => {
  const { outbox, mail } = context;
  const { port } = mail;
  await mail.close();
  const deliverer = outbox.deliverer(options(mail));
  await outbox.raise(8);
  await until(
    async () => (await outbox.deliveries()).every(({ lastError }) => lastError !== null),
    'all have failed',
  );
  assert.ok(
    (await outbox.deliveries()).every(
      ({ lastError }) => lastError === `connection refused by 127.0.0.1:${port}`,
    ),
  );
  context.mail = await startMailServer();
  deliverer.reconfigure({
    smtp: { url: context.mail.url, from: 'snitch@example.org' },
    webhooks: { allowPrivate: true },
  });
  outbox.offset += 12_000;
  deliverer.wake();
  await until(async () => (await outbox.deliveries('delivered')).length === 8, 'all are delivered');
  assert.ok(context.mail.received.length <= 2);
});

test.run();
