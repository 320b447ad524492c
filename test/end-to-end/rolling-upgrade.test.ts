/**
 * Programs of three releases as nodes on one database, one upgraded after the other: first to one whose migration leaves
 * the older program everything, and then to one whose migration takes something away. Time limit: 240 s.
 */
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireSnitch } from '../../src/api/wire.ts';
import type { WireNode } from '../../src/api/wire-node.ts';
import { SnitchProcess } from '../cli/snitch-process.ts';
import { compileCache } from '../compile-cache.ts';
import { newDataDir, removeDataDir } from '../data-directory.ts';
import { freePort } from '../free-port.ts';
import { runUnless } from '../skipped.ts';
import { type Cluster, startCluster } from '../store/postgres/clusters/cluster.ts';
import { WITHOUT_POSTGRES } from '../store/postgres/clusters/programs.ts';
import { until } from '../until.ts';
import { type DaemonOptions, type DaemonProcess, startProcess } from './daemon-process.ts';
import { buildLater, type LaterProgram, PRESENT } from './later-program.ts';
import { startWebhookReceiver, type WebhookReceiver } from './webhook-receiver.ts';

interface Context {
  cluster: Cluster;
  directory: string;
  receiver: WebhookReceiver;
  expanded: LaterProgram;
  contracted: LaterProgram;
}

const test = suite<Context>('a rolling upgrade');

test.before(async (context) => {
  const directory = newDataDir();
  const expanding = buildLater(PRESENT, join(directory, 'expanding'), {
    version: '0.9.1',
    kind: 'expands',
    change: 'ALTER TABLE cases ADD COLUMN later TEXT',
  });
  const contracting = expanding.then((before) =>
    buildLater(before, join(directory, 'contracting'), {
      version: '0.9.2',
      kind: 'contracts',
      change: 'ALTER TABLE cases DROP COLUMN later',
    }),
  );
  Object.assign(context, { directory });
  context.receiver = await startWebhookReceiver();
  context.cluster = await startCluster();
  context.expanded = await expanding;
  context.contracted = await contracting;
});
test.after(async ({ cluster, directory, receiver }) => {
  await receiver?.stop();
  await cluster?.[Symbol.asyncDispose]();
  removeDataDir(directory);
});

function start({ cluster }: Context, database: string, options: DaemonOptions = {}): Promise<DaemonProcess> {
  const env = { ...compileCache('daemon'), SNITCH_STORE_URL: cluster.url(database), ...options.env };
  return startProcess({ ...options, env });
}

async function checkIn({ url }: { url: string }, path: string): Promise<number> {
  const response = await fetch(`${url}/c/${path}`, { method: 'POST' });
  await response.arrayBuffer();
  return response.status;
}

async function statusOf(url: string): Promise<number> {
  const response = await fetch(url).catch(() => null);
  await response?.arrayBuffer();
  return response?.status ?? 0;
}

async function countOfCheckIns({ cluster }: Context, database: string): Promise<number> {
  const [row] = await cluster.query<{ count: string }>('SELECT count(*) FROM check_ins', [], database);
  return Number(row?.count);
}

async function listed(node: DaemonProcess): Promise<WireNode[]> {
  return (await (await node.call('GET', '/v1/nodes', undefined, node.adminKey)).json()) as WireNode[];
}

/** An alert that both of them decide or send would be told twice. */
async function alertsOnce({ receiver }: Context, nodes: [DaemonProcess, DaemonProcess], token: string) {
  const told = receiver.posts.length;
  const [one, other] = nodes;
  assert.equal(await Promise.all([checkIn(one, `${token}?s=1`), checkIn(other, `${token}?s=1`)]), [202, 202]);
  await receiver.waitFor(told + 1, 60_000);
  assert.is(await checkIn(other, token), 202);
  await receiver.waitFor(told + 2, 60_000);
  // What a node sent and had not noted when it was killed may be sent again.
  const pending = async () => (await (await one.call('GET', '/v1/deliveries?state=pending')).json()) as [];
  await until(async () => (await pending()).length === 0, 'both alerts are settled');
  const types = receiver.posts.slice(told).map(({ body }) => body.type);
  assert.equal(types, ['snitch.errored', 'snitch.reporting']);
}

async function newSnitch({ receiver }: Context, node: DaemonProcess): Promise<string> {
  assert.is((await node.call('POST', '/v1/webhooks', { url: receiver.url })).status, 200);
  const created = await node.call('POST', '/v1/snitches', { name: 'backup', interval: 'daily' });
  const { token } = (await created.json()) as WireSnitch;
  assert.is(await checkIn(node, token), 202);
  return token;
}

test('one that expands works with the program of the previous release, and both can be restarted', async (context) => {
  const { cluster, expanded } = context;
  const database = await cluster.newDatabase();
  await using older = await start(context, database);
  const token = await newSnitch(context, older);
  const { program } = expanded;
  await using newer = await start(context, database, { keysOf: older, program });
  const told = newer.log.find((line) => line.includes('the database was upgraded'));
  assert.match(told ?? '', `"to":${expanded.schemaVersion}`);
  await alertsOnce(context, [older, newer], token);
  const keys = { keysOf: older, dataDir: older.dataDir };
  await older.end('SIGKILL');
  await using again = await start(context, database, keys);
  await alertsOnce(context, [newer, again], token);
  for (const { url } of [newer, again]) assert.is(await statusOf(`${url}/readyz`), 200);
  const living = (await listed(newer)).filter(({ stopped_at, started_at, alive_at }) => {
    return stopped_at === null && started_at <= alive_at && Date.parse(alive_at) > Date.now() - 5_000;
  });
  assert.ok(living.some(({ version }) => version === expanded.version));
  assert.ok(living.some(({ version }) => version !== expanded.version));
});

test('one that contracts waits for the older ones and says so, and one that was stopped meanwhile writes nothing', async (context) => {
  const { cluster, contracted, expanded, receiver } = context;
  const database = await cluster.newDatabase();
  const { program } = expanded;
  await using older = await start(context, database, { program });
  await using stopped = await start(context, database, { program, keysOf: older });
  const token = await newSnitch(context, older);
  assert.is(await checkIn(stopped, token), 202);
  const ending = new AbortController();
  const url = `http://127.0.0.1:${await freePort()}`;
  const starting = start(context, database, {
    program: contracted.program,
    keysOf: older,
    env: { SNITCH_LISTEN: new URL(url).host },
    signal: ending.signal,
  });
  starting.catch(() => undefined);
  try {
    await until(async () => (await statusOf(`${url}/healthz`)) === 200, 'it listens');
    const readiness = await fetch(`${url}/readyz`);
    assert.is(readiness.status, 503);
    assert.match(await readiness.text(), 'nodes of an older version are at work on the database');
    assert.is(await checkIn({ url }, token), 503);
    const waiting = (await listed(older)).filter(({ waits }) => waits);
    assert.equal(
      waiting.map(({ version, schema_version }) => [version, schema_version]),
      [[contracted.version, contracted.schemaVersion]],
    );
    const env = { SNITCH_STORE_URL: cluster.url(database), SNITCH_DATA_DIR: older.dataDir };
    const { stdout } = await new SnitchProcess(['doctor'], env).ended();
    assert.match(stdout, `(${contracted.version}) waits: its upgrade of the schema`);
    for (const node of [older, stopped]) assert.is(await checkIn(node, token), 202);
    await alertsOnce(context, [older, stopped], token);

    process.kill(stopped.pid, 'SIGSTOP');
    const missed = checkIn(stopped, token);
    missed.catch(() => undefined);
    assert.is(await older.end(), 0);
    const newer = await starting;
    assert.match(newer.log.join('\n'), /nodes of an older version are at work.*tried again each second/);
    assert.match(newer.log.join('\n'), `"to":${contracted.schemaVersion}`);
    assert.is(await statusOf(`${url}/readyz`), 200);
    const before = await countOfCheckIns(context, database);
    const told = receiver.posts.length;
    process.kill(stopped.pid, 'SIGCONT');
    assert.is(await missed, 503, 'what reached it while it stood still');
    await until(async () => (await statusOf(`${stopped.url}/readyz`)) === 503, 'the old one is not ready');
    for (let times = 0; times < 5; times += 1) assert.is(await checkIn(stopped, `${token}?s=1`), 503);
    assert.is(await countOfCheckIns(context, database), before);
    assert.is(receiver.posts.length, told);
    assert.is(await checkIn(newer, token), 202);
  } finally {
    ending.abort();
  }
});

runUnless(WITHOUT_POSTGRES, test, 'a rolling upgrade');
