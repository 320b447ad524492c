/**
 * What an operator sees: `/metrics` shows what happens, and `/readyz` says when a part makes no progress.
 * Also on PostgreSQL.
 */
import { statfsSync, statSync } from 'node:fs';
import Database from 'better-sqlite3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireCase, WireSnitch } from '../../src/api/wire.ts';
import { databasePath } from '../../src/store/sqlite/connection.ts';
import { behave, type Receiver, startReceiver } from '../delivery/receiver.ts';
import { type Mailbox, startMailbox } from '../end-to-end/mailbox.ts';
import { queryDirectory } from '../store/fixture.ts';
import { ON_POSTGRES } from '../store/postgres/open.ts';
import { until } from '../until.ts';
import { LocalDaemon, MovableClock } from './local-daemon.ts';

const SECOND = 1_000;

interface Context {
  daemon: LocalDaemon;
  mailbox: Mailbox;
  receivers: Receiver[];
}

const test = suite<Context>('what an operator sees');

/** Tests that take the file away or lock it. For failures of PostgreSQL see `store/postgres/faults.test.ts`. */
const testOnFile: typeof test | (() => void) = ON_POSTGRES ? () => undefined : test;

const monotonicNow = performance.now;

test.before.each(async (context) => {
  context.mailbox = await startMailbox();
  context.receivers = [await startReceiver(), await startReceiver(behave.status(500))];
  const clock = new MovableClock('2026-03-10T11:59:00Z');
  context.daemon = new LocalDaemon(clock, { SMTP_URL: context.mailbox.url });
  await context.daemon.start();
});

test.after.each(async ({ daemon, mailbox, receivers }) => {
  performance.now = monotonicNow;
  await daemon.dispose();
  await mailbox.stop();
  for (const receiver of receivers) receiver.close();
});

/** Moves the clock that measures inactivity ahead, as if this much time had passed without a sign of life. */
function passUnseen(milliseconds: number): void {
  performance.now = () => monotonicNow.call(performance) + milliseconds;
}

/** The value of `name`, with or without labels: `snitch_snitches{status="failed"}`; 0 if there is none yet. */
async function metric({ daemon }: Context, name: string): Promise<number> {
  const answer = await fetch(`${daemon.url}/metrics`);
  const text = await answer.text();
  assert.is(answer.status, 200, text);
  assert.match(text, `# TYPE ${name.split('{')[0]?.replace(/_(count|sum)$/, '')} `);
  const line = text.split('\n').find((one) => one.startsWith(`${name} `));
  return Number(line?.slice(name.length + 1) ?? 0);
}

async function becomes(context: Context, name: string, wanted: (value: number) => boolean, what: string) {
  await until(async () => wanted(await metric(context, name)), `${name} ${what}`, 20_000);
}

async function createSnitch({ daemon }: Context, name: string, interval = 'daily'): Promise<string> {
  return (await daemon.call<WireSnitch>('POST', '/v1/snitches', { name, interval })).token;
}

async function expectReady({ daemon }: Context): Promise<void> {
  const ready = async () => (await daemon.readiness()).status === 200;
  await until(ready, 'the daemon is ready', 20_000);
}

async function expectNotReady({ daemon }: Context, why: RegExp): Promise<void> {
  let seen = { status: 0, text: '' };
  const notReady = async () => {
    seen = await daemon.readiness();
    return seen.status === 503;
  };
  await until(notReady, 'the daemon is not ready', 20_000);
  assert.match(seen.text, why);
  assert.is((await fetch(`${daemon.url}/healthz`)).status, 200, 'it lives all the same');
}

/** Takes a table away during `work`: whatever needs it fails, and works again afterwards. */
async function without({ daemon }: Context, table: string, work: () => Promise<void>): Promise<void> {
  queryDirectory(daemon.dataDir, `ALTER TABLE ${table} RENAME TO away`);
  try {
    await work();
  } finally {
    queryDirectory(daemon.dataDir, `ALTER TABLE away RENAME TO ${table}`);
  }
}

test('check-ins, snitches by status, commits and syncs are counted', async (context) => {
  const { daemon } = context;
  const commits = await metric(context, 'snitch_commit_calls_count');
  const syncs = await metric(context, 'snitch_store_syncs');
  const tokens = [];
  for (const name of ['one', 'two', 'three']) tokens.push(await createSnitch(context, name));
  assert.is(await metric(context, 'snitch_snitches{status="pending"}'), 3);
  await daemon.checkIn(tokens[0] ?? '');
  await daemon.checkIn(tokens[1] ?? '', '?s=1');
  assert.is(await daemon.checkIn('nosuchtoken'), 404);
  assert.is(await metric(context, 'snitch_check_ins_total{answer="recorded"}'), 2);
  assert.is(await metric(context, 'snitch_check_ins_total{answer="unknown"}'), 1);
  assert.is(await metric(context, 'snitch_snitches{status="pending"}'), 1);
  assert.is(await metric(context, 'snitch_snitches{status="healthy"}'), 1);
  assert.is(await metric(context, 'snitch_snitches{status="errored"}'), 1);
  await daemon.call('POST', `/v1/snitches/${tokens[0]}/pause`);
  assert.is(await metric(context, 'snitch_snitches{status="paused"}'), 1);
  assert.ok((await metric(context, 'snitch_commit_calls_count')) >= commits + 6);
  assert.ok((await metric(context, 'snitch_commit_calls_sum')) >= commits + 6);
  assert.ok((await metric(context, 'snitch_commit_seconds_sum')) > 0);
  assert.ok((await metric(context, 'snitch_store_syncs')) > syncs);
});

/** Targets: one that answers well, one that fails, and a recipient. */
async function addTargets({ daemon, receivers }: Context): Promise<void> {
  for (const { url } of receivers) await daemon.call('POST', '/v1/webhooks', { url });
  await daemon.call<WireCase>('PATCH', '/v1/case', { members: ['ann@example.com'] });
}

test('the outbox shows its depth and the age of its oldest alert', async (context) => {
  await addTargets(context);
  assert.is(await metric(context, 'snitch_outbox_deliveries'), 0);
  assert.is(await metric(context, 'snitch_outbox_oldest_seconds'), 0);
  await context.daemon.checkIn(await createSnitch(context, 'job'), '?s=1');
  await context.mailbox.waitFor(1, 20 * SECOND);
  await becomes(context, 'snitch_outbox_deliveries', (count) => count === 1, 'counts what failed');
  await becomes(context, 'snitch_outbox_oldest_seconds', (age) => age > 0.5, 'grows');
});

test('deliveries are counted by channel and result', async (context) => {
  await addTargets(context);
  await context.daemon.checkIn(await createSnitch(context, 'job'), '?s=1');
  for (const labels of [
    'channel="webhook",result="delivered"',
    'channel="webhook",result="retry"',
    'channel="email",result="delivered"',
  ]) {
    await becomes(context, `snitch_deliveries_total{${labels}}`, (count) => count === 1, 'counts');
  }
});

testOnFile(
  'sweep lag grows while the sweep fails; after a while the daemon is not ready',
  async (context) => {
    const { daemon } = context;
    await daemon.checkIn(await createSnitch(context, 'job', '1_minute'));
    await expectReady(context);
    assert.is(await metric(context, 'snitch_sweep_lag_seconds'), 0);
    // Only the sweep needs this table.
    await without(context, 'reschedules', async () => {
      await daemon.clock.set('2026-03-10T12:02:00Z');
      await becomes(context, 'snitch_sweep_lag_seconds', (lag) => lag > 30, 'grows');
      assert.is((await daemon.readiness()).status, 200, 'a failed sweep alone is tried again');
      passUnseen(31 * SECOND);
      await expectNotReady(context, /no sweep has ended for \d+ s/);
      assert.is(await metric(context, 'snitch_ready'), 0);
    });
    await expectReady(context);
    assert.is(await metric(context, 'snitch_ready'), 1);
    await becomes(context, 'snitch_sweep_lag_seconds', (lag) => lag === 0, 'ends');
    assert.ok((await metric(context, 'snitch_blind_seconds')) > 100, 'the jump of the clock counts as blind');
  },
);

testOnFile('the room on the disk, the size of the database and the last sweep are told', async (context) => {
  await expectReady(context);
  const { bavail, blocks, bsize } = statfsSync(context.daemon.dataDir);
  assert.is(await metric(context, 'snitch_disk_size_bytes'), blocks * bsize);
  const free = await metric(context, 'snitch_disk_free_bytes');
  assert.ok(free > 0 && free < blocks * bsize, `${free} of ${bavail * bsize}`);
  assert.ok(
    (await metric(context, 'snitch_database_bytes')) >= statSync(databasePath(context.daemon.dataDir)).size,
  );
  const first = await metric(context, 'snitch_last_sweep_timestamp_seconds');
  await becomes(context, 'snitch_last_sweep_timestamp_seconds', (at) => at > first + 0.5, 'goes on');
  const sinceNow = Math.abs(context.daemon.clock.now() / 1_000 - first);
  assert.ok(sinceNow < 3_600, 'by the clock of the daemon');
});

testOnFile('an outbox that cannot be read makes the daemon not ready', async (context) => {
  await expectReady(context);
  await without(context, 'deliveries', async () => {
    passUnseen(61 * SECOND);
    await expectNotReady(context, /the outbox was not looked at for \d+ s/);
  });
  await expectReady(context);
});

testOnFile(
  'a store that cannot write makes the daemon not ready, and refuses check-ins instead of losing them',
  async (context) => {
    const { daemon } = context;
    const token = await createSnitch(context, 'job');
    const other = new Database(databasePath(daemon.dataDir));
    try {
      other.pragma('wal_autocheckpoint = 0');
      other.exec('BEGIN IMMEDIATE');
      assert.is(await daemon.checkIn(token), 503);
      await expectNotReady(context, /the store cannot write since 2026-03-10T/);
      assert.is(await metric(context, 'snitch_check_ins_total{answer="refused"}'), 1);
      other.exec('ROLLBACK');
      assert.is(await daemon.checkIn(token), 202);
      await expectReady(context);
    } finally {
      other.close();
    }
  },
);

test.run();
