import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import { until } from '../until.ts';
import { type MailServer, startMailServer } from './mail-server.ts';
import { Outbox } from './outbox.ts';

const STUCK = ['one@slow.example', 'two@slow.example', 'three@slow.example', 'four@slow.example'];
const SLOW_AFTER = 100;

const test = suite<{ outbox: Outbox; mail: MailServer; held: (() => void)[] }>('fairness between recipients');

test.before.each(async (context) => {
  context.held = [];
  context.outbox = await Outbox.open({ members: STUCK });
  context.mail = await startMailServer({
    onRcptTo({ address }, _session, callback) {
      if (STUCK.includes(address)) context.held.push(callback);
      else callback();
    },
  });
});

test.after.each(async ({ outbox, mail, held }) => {
  for (const answer of held) answer();
  await outbox.dispose();
  await mail.close();
});

test('recipients that wait for a place in the slow lane do not delay the others', async (context) => {
  const { outbox, mail, held } = context;
  outbox.deliverer({
    smtp: { url: mail.url, from: 'snitch@example.org' },
    limits: { email: { fast: 3, slow: 2, slowAfter: SLOW_AFTER, groupWait: 10 } },
    grace: 100,
  });
  await outbox.raise(3);
  await until(() => held.length === STUCK.length, 'each is sent its first mail');
  await sleep(3 * SLOW_AFTER);
  for (const answer of held.splice(0)) answer();
  await until(() => held.length === 2, 'two are sent the next in the slow lane, and two wait for it');
  const owner = await outbox.createCase({ members: ['ann@example.com'] });
  await outbox.raise(1, { owner });
  const hers = () => mail.received.some(({ recipients }) => recipients.includes('ann@example.com'));
  await until(hers, 'another recipient gets her mail');
});

test.run();
