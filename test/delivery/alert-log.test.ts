/** What is logged about alarms: a line when one is decided, one when it is delivered, and few in a storm. */
import { mock } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { logAlarms } from '../../src/delivery/alert-log.ts';
import { BoundedLog } from '../../src/delivery/outbox/bounded-log.ts';
import { until } from '../until.ts';
import { type MailServer, startMailServer } from './mail-server.ts';
import { Outbox } from './outbox.ts';

const test = suite<{ outbox: Outbox; mail: MailServer; end: () => void }>('the log of alarms');

test.before.each(async (context) => {
  context.outbox = await Outbox.open({ members: ['ann@example.com'] });
  context.mail = await startMailServer();
  const info = (what: unknown, message?: string) =>
    context.outbox.lines.push({
      level: 'info',
      what: what as Record<string, unknown>,
      message: message ?? '',
    });
  context.end = logAlarms(context.outbox.store, { info: info as never });
});

test.after.each(async ({ outbox, mail, end }) => {
  end();
  await outbox.dispose();
  await mail.close();
});

test('a line when an alarm is decided, and one when it is delivered; at info none for a recovery', async ({
  outbox,
  mail,
}) => {
  const infos = () => outbox.lines.filter(({ level }) => level === 'info');
  const [token = ''] = await outbox.raise(1, { names: ['nightly'] });
  assert.equal(
    infos().map(({ message, what: { alert, ...what } }) => [message, typeof alert, what]),
    [['alert decided', 'string', { type: 'snitch.errored', snitch: 'nightly', token, deliveries: 1 }]],
  );
  const smtp = { url: mail.url, from: 'snitch@example.org' };
  outbox.deliverer({ smtp, limits: { email: { groupWait: 1 } } });
  await until(() => infos().length === 2, 'the delivery is told');
  const [decided, told] = infos();
  assert.is(told?.message, 'delivered');
  assert.is(told?.what.alert, decided?.what.alert);
  assert.equal(
    [told?.what.target, told?.what.snitch, told?.what.type],
    ['ann@example.com', 'nightly', 'snitch.errored'],
  );
  await outbox.checkIn(token, 'healthy');
  await until(() => mail.received.length === 2, 'the recovery comes');
  await until(
    () => outbox.lines.some(({ level, message }) => level === 'debug' && message === 'delivered'),
    'debug',
  );
  assert.is(infos().length, 2);
});

test('if there is nobody to tell, the line says so', async ({ outbox }) => {
  await outbox.store.updateCase(outbox.owner.id, { members: [] }, outbox.clock());
  await outbox.raise(1);
  assert.match(outbox.lines[0]?.message ?? '', 'there is nobody to tell');
});

test('in a storm the first hundred have a line each, and the others are counted', async ({ outbox, end }) => {
  await outbox.raise(1_000);
  assert.is(outbox.lines.length, 100);
  end();
  assert.is(outbox.lines.length, 101);
  assert.equal(outbox.lines.at(-1)?.what, { more: 900 });
  assert.match(outbox.lines.at(-1)?.message ?? '', /^alerts decided: /);
});

test('at the end of the window the rest is counted in a line, and single lines resume', async () => {
  const lines: string[] = [];
  const info = (what: unknown, message?: string) => lines.push(`${message} ${JSON.stringify(what)}`);
  const log = new BoundedLog({ logger: { info: info as never }, counted: 'told', lines: 2, within: 50 });
  for (const id of [1, 2, 3, 4]) log.info({ id }, 'one', id);
  await sleep(0);
  assert.is(lines.length, 2);
  // The timer does not keep the process alive; this wait does.
  await until(() => lines.length === 3, 'the rest is counted');
  assert.is(lines[2], 'told: too many for a line each {"more":7}');
  log.info({ id: 5 }, 'one');
  log.flush();
  assert.is(lines[3], 'one {"id":5}');
});

test('lines do not extend the window that they fall into', () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  try {
    const lines: string[] = [];
    const info = (_what: unknown, message?: string) => lines.push(message ?? '');
    const log = new BoundedLog({ logger: { info: info as never }, counted: 'told', lines: 2, within: 100 });
    const tell = (count: number) => {
      for (let index = 0; index < count; index += 1) log.info({}, 'one');
    };
    tell(1);
    for (const pause of [30, 30]) {
      mock.timers.tick(pause);
      tell(1);
    }
    mock.timers.tick(40);
    assert.equal(lines.splice(0), ['one', 'one', 'told: too many for a line each']);
    mock.timers.tick(1);
    tell(9);
    mock.timers.tick(98);
    tell(9);
    assert.equal(lines, ['one', 'one'], 'the second window is as long as the first');
  } finally {
    mock.timers.reset();
  }
});

test.run();
