/**
 * Somebody floods with one check-in token: the database stays small, and the team gets few and true messages.
 * Also on PostgreSQL.
 */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireAlert, WireCheckIn, WireSnitch } from '../../src/api/wire.ts';
import type { WireExplanation } from '../../src/api/wire-explanation.ts';
import { type Receiver, startReceiver } from '../delivery/receiver.ts';
import { type Mailbox, startMailbox } from '../end-to-end/mailbox.ts';
import { ON_POSTGRES } from '../store/postgres/open.ts';
import { until } from '../until.ts';
import { LocalDaemon, MovableClock } from './local-daemon.ts';

const MINUTE = 60_000;
/** Where each check-in of one snitch waits for the one before it in another process, hundreds take long enough. */
const FLOOD = ON_POSTGRES ? 600 : 3_000;
const KEPT = 40;

interface Context {
  daemon: LocalDaemon;
  mailbox: Mailbox;
  receiver: Receiver;
}

const test = suite<Context>('a flood of check-ins');

test.before.each(async (context) => {
  context.mailbox = await startMailbox();
  context.receiver = await startReceiver();
  const settings = { SMTP_URL: context.mailbox.url, RETENTION_CHECK_INS: String(KEPT) };
  context.daemon = new LocalDaemon(new MovableClock('2026-03-10T12:01:00Z'), settings);
  await context.daemon.start();
});

test.after.each(async ({ daemon, mailbox, receiver }) => {
  await daemon.dispose();
  await mailbox.stop();
  receiver.close();
});

/** `s=1` and `s=0` in turn, with output; ends with an error. */
async function flood({ daemon }: Context, token: string): Promise<void> {
  const body = 'o'.repeat(10_000);
  for (let sent = 0; sent <= FLOOD; sent += 20) {
    const batch = Array.from({ length: sent === FLOOD ? 1 : 20 }, async (_, index) => {
      const answer = await fetch(`${daemon.url}/c/${token}?s=${(index + 1) % 2}`, { method: 'POST', body });
      await answer.arrayBuffer();
      assert.is(answer.status, 202);
    });
    await Promise.all(batch);
  }
}

function megabytes({ daemon }: Context): number {
  const sizes = readdirSync(daemon.dataDir).map((name) => statSync(join(daemon.dataDir, name)).size);
  return sizes.reduce((sum, size) => sum + size, 0) / 1_000_000;
}

test('its writes and its alerts are bounded, and the outage at its end is reported', async (context) => {
  const { daemon, mailbox, receiver } = context;
  await daemon.call('POST', '/v1/webhooks', { url: receiver.url });
  await daemon.call('PATCH', '/v1/case', { members: ['ann@example.com'] });
  const fields = { name: 'flooded', interval: 'hourly', notes: 'n'.repeat(9_000) };
  const { token, href } = await daemon.call<WireSnitch>('POST', '/v1/snitches', fields);
  await flood(context, token);

  const alertsNow = () => daemon.call<WireAlert[]>('GET', `${href}/alerts?limit=1000`);
  const alerts = await alertsNow();
  assert.is(alerts.length, 13);
  // Check-ins of the same millisecond are listed in any order.
  const flapping = alerts.flatMap((alert) => (alert.flapping ? [alert.flapping] : []));
  assert.equal(
    flapping.map(({ phase, changes }) => [phase, changes]),
    [['begun', 13]],
  );
  assert.is((await daemon.call<WireCheckIn[]>('GET', `${href}/check_ins?limit=1000`)).length, KEPT);
  const { reasons } = await daemon.call<WireExplanation>('GET', `${href}/explain`);
  assert.match(reasons.join('\n'), 'It changes too often: its changes are counted');

  await daemon.clock.move(11 * MINUTE);
  await until(async () => (await alertsNow()).length === 14, 'the end of it is told', 30_000);
  const [last] = await alertsNow();
  assert.equal(
    [last?.type, last?.snitch?.status, last?.flapping?.phase],
    ['snitch.errored', 'errored', 'over'],
  );
  await until(() => receiver.received.length === 14, 'the webhook has all', 30_000);
  assert.equal(
    [...new Set(receiver.received.flatMap(({ body }) => Object.keys(JSON.parse(body))))],
    ['type', 'timestamp', 'data'],
  );
  // It has its own mail, or is a line in a digest if earlier ones were still waiting.
  await until(
    () =>
      mailbox.mails.some(({ subject, message }) =>
        /is quiet after \d+ changes|exit status 1 at .* \(was flapping: \d+ changes\)/.test(
          `${subject}\n${message.text}`,
        ),
      ),
    'a mail tells how it ended',
    30_000,
  );
  assert.ok(mailbox.mails.length <= 14);
  await daemon.stop();
  // PostgreSQL reuses the space of deleted rows only after a vacuum, which no test waits for.
  if (!ON_POSTGRES) assert.ok(megabytes(context) < 3, `${megabytes(context)} MB`);
});

test.run();
