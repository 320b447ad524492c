/**
 * A real Prometheus watches a real daemon as docs/monitoring.md says, and each alert fires when its cause occurs.
 * Time limit: 240 s.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireSnitch } from '../../src/api/wire.ts';
import { hostText } from '../../src/http/metrics/host-figures.ts';
import { databasePath } from '../../src/store/sqlite/connection.ts';
import { LocalDaemon, MovableClock } from '../chaos/local-daemon.ts';
import { behave, type Receiver, startReceiver } from '../delivery/receiver.ts';
import { readPage } from '../docs/pages.ts';
import { readExposition } from '../http/exposition.ts';
import { runUnless, without } from '../skipped.ts';
import { queryDirectory } from '../store/fixture.ts';
import { withoutMounts } from '../store/sqlite/mounts.ts';
import { readDashboard, sentExpression, targetsIn } from './dashboard.ts';
import { type Alert, alertNames, Prometheus } from './prometheus.ts';

interface Context {
  daemon: LocalDaemon;
  prometheus: Prometheus;
  receivers: Receiver[];
  /** The key of Prometheus. */
  key: { id: string; key: string };
  fired: Set<string>;
}

const MINUTE = 60_000;

/** The daemon needs a mail server in its configuration; nobody gets mail. */
const NO_MAIL = { SMTP_URL: 'smtp://127.0.0.1:9' };

const test = suite<Context>('a Prometheus that watches');

const monotonicNow = performance.now;

/** The daemon has a separate disk that can be filled. */
test.before(async (context) => {
  context.fired = new Set();
  context.receivers = [await startReceiver(behave.status(401)), await startReceiver(behave.status(500))];
  const daemon = new LocalDaemon(new MovableClock(new Date().toISOString()), NO_MAIL);
  context.daemon = daemon;
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64m,mode=0700', 'tmpfs', daemon.dataDir]);
  await daemon.start();
  context.key = await newKey(daemon);
  context.prometheus = await Prometheus.start(daemon.url, context.key.key);
});

test.after(async ({ daemon, prometheus, receivers }) => {
  performance.now = monotonicNow;
  try {
    await prometheus?.[Symbol.asyncDispose]();
    await daemon?.stop();
  } finally {
    if (daemon) spawnSync('umount', ['-l', daemon.dataDir]);
    await daemon?.dispose();
    for (const receiver of receivers) receiver.close();
  }
});

function newKey(daemon: LocalDaemon): Promise<{ id: string; key: string }> {
  return daemon.call('POST', '/v1/api_keys', { name: 'prometheus', scope: 'read' });
}

async function fires(context: Context, name: string): Promise<Alert> {
  const alert = await context.prometheus.fires(name);
  context.fired.add(name);
  for (const text of Object.values(alert.annotations)) assert.not.match(text, /<no value>|<error|\{\{/, text);
  return alert;
}

async function newSnitch({ daemon }: Context, fields: Record<string, unknown>): Promise<string> {
  const { token } = await daemon.call<WireSnitch>('POST', '/v1/snitches', { interval: 'daily', ...fields });
  return token;
}

/** Both addresses as they are now. */
async function bothTexts({ daemon, key }: Context): Promise<string[]> {
  const own = await fetch(`${daemon.url}/metrics`);
  const bearer = { authorization: `Bearer ${key.key}` };
  const ofSnitches = await fetch(`${daemon.url}/v1/metrics`, { headers: bearer });
  return [await own.text(), await ofSnitches.text()];
}

test('both scrape jobs of the example work, and nothing fires', async (context) => {
  const { prometheus } = context;
  await newSnitch(context, { name: 'a "quoted" \\ name', tags: ['web', 'ünïcode', '"'] });
  for (const job of ['snitch', 'snitch-jobs']) await prometheus.has(`up{job="${job}"} == 1`);
  await prometheus.has(String.raw`snitch_status{name="a \"quoted\" \\ name",tags=~".*,ünïcode,.*"}`);
  // Before the first scrape, nothing is known about the daemon.
  await prometheus.rests('SnitchDown');
  assert.equal(await prometheus.query('ALERTS{alertstate="firing"}'), []);
});

test('an error that a job reports, until somebody has seen it', async (context) => {
  const { daemon, prometheus } = context;
  const token = await newSnitch(context, { name: 'reports', tags: ['db'] });
  await daemon.checkIn(token, '?s=1');
  const { labels, annotations } = await fires(context, 'SnitchJobErrored');
  assert.equal(
    [labels.name, labels.tags, annotations.summary],
    ['reports', ',db,', 'reports reported an error'],
  );
  await daemon.call('POST', `/v1/snitches/${token}/acknowledge`);
  await prometheus.rests('SnitchJobErrored');
});

test('a job that is missing, until it is silenced', async (context) => {
  const { daemon, prometheus } = context;
  const token = await newSnitch(context, { name: 'hangs', tags: ['slow'], max_runtime: 1 });
  await daemon.checkIn(token);
  await daemon.checkIn(token, '/start');
  assert.is((await fires(context, 'SnitchJobFailed')).labels.name, 'hangs');
  const to = new Date(daemon.clock.now() + 300 * MINUTE).toISOString();
  await daemon.call('POST', '/v1/silences', { tags: ['slow'], to });
  await prometheus.rests('SnitchJobFailed');
});

test('a target that refuses for good', async (context) => {
  const { daemon, receivers } = context;
  const settings = { server: receivers[0]?.url, token: 'x' };
  await daemon.call('POST', '/v1/channels', { kind: 'gotify', name: 'phone', settings });
  await daemon.checkIn(await newSnitch(context, { name: 'refused' }), '?s=1');
  assert.is((await fires(context, 'SnitchDeliveriesDead')).labels.channel, 'gotify');
});

test('check-ins that are refused', async (context) => {
  const { daemon } = context;
  const token = await newSnitch(context, { name: 'unheard' });
  const other = new Database(databasePath(daemon.dataDir));
  try {
    other.pragma('wal_autocheckpoint = 0');
    other.exec('BEGIN IMMEDIATE');
    assert.is(await daemon.checkIn(token), 503);
    other.exec('ROLLBACK');
  } finally {
    other.close();
  }
  await fires(context, 'SnitchCheckInsRefused');
});

test('a disk that is nearly full', async (context) => {
  const { daemon, prometheus } = context;
  const filler = join(daemon.dataDir, 'filler');
  const { bavail, blocks, bsize } = statfsSync(daemon.dataDir);
  writeFileSync(filler, Buffer.alloc(Math.floor((bavail - 0.06 * blocks) * bsize)));
  await fires(context, 'SnitchDiskNearlyFull');
  rmSync(filler);
  await prometheus.rests('SnitchDiskNearlyFull');
});

test('every panel of the dashboard shows something', async (context) => {
  const { daemon, prometheus } = context;
  const token = await newSnitch(context, { name: 'reports all', interval: 'hourly' });
  await daemon.checkIn(token, '/start');
  await daemon.checkIn(token, '?v.bytes=7');
  for (const { expr, title } of targetsIn(readDashboard())) {
    await prometheus
      .has(sentExpression(expr))
      .catch((error: Error) => assert.unreachable(`${title}: ${error.message}`));
  }
});

test('the queries of the documents are understood', async ({ prometheus }) => {
  const queries = readPage('docs/monitoring.md').blocks.filter(({ language }) => language === 'text');
  assert.ok(queries.length >= 4);
  for (const { text } of queries) assert.ok(Array.isArray(await prometheus.query(text)), text);
});

test('promtool accepts the answers of both addresses', async (context) => {
  for (const text of await bothTexts(context)) {
    const { status, stderr } = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' });
    assert.equal([status, stderr], [0, '']);
    readExposition(text);
  }
});

/** What a node on PostgreSQL reports about its host. */
const ON_POSTGRES = hostText(
  {
    sweptAgo: 0,
    disk: null,
    databaseSize: null,
    clockAheadMs: 0,
    connections: { size: 1, inUse: 0, idle: 0, waiting: 0, waits: 0, waitedMs: 0 },
  },
  Date.now(),
);

test('the table in the documents has exactly the existing metrics', async (context) => {
  const told = [...(await bothTexts(context)), ON_POSTGRES].flatMap((text) =>
    [...readExposition(text)].map(([name, { type, help }]) => `| \`${name}\` | ${type} | ${help} |`),
  );
  const own = [...new Set(told.filter((line) => line.startsWith('| `snitch_')))];
  const rows = readPage('docs/monitoring.md').text.match(/^\| `snitch_.*$/gm) ?? [];
  assert.ok(rows.length > 25);
  assert.equal(rows.toSorted(), own.toSorted());
});

const DUE_EARLIER = `UPDATE snitch_states SET due_at = ?, look_at = ?
  WHERE id = (SELECT id FROM snitches WHERE name = 'soon due')`;

test('an alert that waits, a sweep that has stopped, and a daemon that is not ready because of it', async (context) => {
  const { daemon, receivers } = context;
  await daemon.call('POST', '/v1/webhooks', { url: receivers[1]?.url });
  await daemon.checkIn(await newSnitch(context, { name: 'untold' }), '?s=1');
  await daemon.checkIn(await newSnitch(context, { name: 'soon due', interval: '1_minute' }));
  // Only the sweep needs this table.
  queryDirectory(daemon.dataDir, 'ALTER TABLE reschedules RENAME TO away');
  let ahead = 0;
  const jumping = setInterval(() => {
    ahead += 31_000;
  }, 300);
  try {
    // A clock that jumps would open a blind window, which excuses what is due.
    const due = daemon.clock.now() - 5 * MINUTE;
    queryDirectory(daemon.dataDir, DUE_EARLIER.replaceAll('?', String(due)));
    await fires(context, 'SnitchSweepLate');
    await daemon.clock.move(20 * MINUTE);
    await fires(context, 'SnitchOutboxOld');
    performance.now = () => monotonicNow.call(performance) + ahead;
    await fires(context, 'SnitchNotReady');
  } finally {
    clearInterval(jumping);
    queryDirectory(daemon.dataDir, 'ALTER TABLE away RENAME TO reschedules');
  }
  await context.prometheus.rests('SnitchSweepLate');
  await context.prometheus.rests('SnitchNotReady');
});

test('a key that was deleted, and another one in its file', async (context) => {
  const { daemon, prometheus, key } = context;
  await daemon.call('DELETE', `/v1/api_keys/${key.id}`);
  await fires(context, 'SnitchJobsUnknown');
  writeFileSync(prometheus.keyFile, (await newKey(daemon)).key);
  await prometheus.rests('SnitchJobsUnknown');
});

test('a daemon that is away', async (context) => {
  await context.daemon.stop();
  await fires(context, 'SnitchDown');
});

test('no alert was left out', ({ fired }) => {
  assert.equal([...fired].toSorted(), alertNames().toSorted());
});

runUnless(without('prometheus') ?? without('promtool') ?? withoutMounts(), test, 'a Prometheus that watches');
