/**
 * Several nodes on one PostgreSQL database, as processes of the built program: what one of them takes, all of them know,
 * and what one of them loses, the others make up for. Time limit: 300 s.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parse } from 'yaml';
import type { WireSnitch } from '../../src/api/wire.ts';
import type { WireNode } from '../../src/api/wire-node.ts';
import { newDataDir } from '../data-directory.ts';
import { runUnless } from '../skipped.ts';
import { type Cluster, startCluster } from '../store/postgres/clusters/cluster.ts';
import { WITHOUT_POSTGRES } from '../store/postgres/clusters/programs.ts';
import { until } from '../until.ts';
import { type DaemonProcess, startProcess } from './daemon-process.ts';
import { startWebhookReceiver } from './webhook-receiver.ts';

interface Context {
  cluster: Cluster;
}

const test = suite<Context>('several nodes');

test.before(async (context) => {
  context.cluster = await startCluster();
});
test.after(({ cluster }) => cluster[Symbol.asyncDispose]());

const NOBODY = { adminKey: '', apiKey: '' };

interface NodeOptions {
  database: string;
  dataDir?: string;
  keysOf?: Pick<DaemonProcess, 'adminKey' | 'apiKey'>;
}

function startNode({ cluster }: Context, { database, ...options }: NodeOptions): Promise<DaemonProcess> {
  return startProcess({ ...options, env: { SNITCH_STORE_URL: cluster.url(database) } });
}

async function createSnitch(node: DaemonProcess, name: string): Promise<WireSnitch> {
  const answer = await node.call('POST', '/v1/snitches', { name, interval: 'daily' });
  assert.is(answer.status, 200);
  return (await answer.json()) as WireSnitch;
}

async function checkIn(node: DaemonProcess, token: string): Promise<number> {
  return (await fetch(`${node.url}/c/${token}`, { method: 'POST' })).status;
}

async function countOfCheckIns(node: DaemonProcess, token: string): Promise<number> {
  const answer = await node.call('GET', `/v1/snitches/${token}/check_ins`);
  return ((await answer.json()) as unknown[]).length;
}

test('three nodes that start at once on an empty database make one set of credentials', async (context) => {
  const database = await context.cluster.newDatabase();
  const dataDirs = [newDataDir(), newDataDir(), newDataDir()];
  const start = (dataDir: string) => startNode(context, { database, dataDir, keysOf: NOBODY });
  const [a, b, c] = await Promise.all(dataDirs.map(start));
  await using one = a as DaemonProcess;
  await using two = b as DaemonProcess;
  await using three = c as DaemonProcess;
  assert.is(dataDirs.filter((dataDir) => existsSync(join(dataDir, 'credentials.yaml'))).length, 1);
  assert.is(dataDirs.filter((dataDir) => existsSync(join(dataDir, 'snitch.db'))).length, 0);
  const keys = await context.cluster.query('SELECT scope FROM api_keys ORDER BY scope', [], database);
  assert.equal(keys, [{ scope: 'admin' }, { scope: 'write' }]);
  for (const node of [one, two, three]) assert.is((await fetch(`${node.url}/readyz`)).status, 200);
  const credentials = dataDirs
    .map((dataDir) => join(dataDir, 'credentials.yaml'))
    .find((file) => existsSync(file));
  const { admin_key } = parse(readFileSync(credentials ?? '', 'utf8')) as { admin_key: string };
  const listed = (await (await two.call('GET', '/v1/nodes', undefined, admin_key)).json()) as WireNode[];
  assert.equal(
    listed.map(({ stopped_at, version }) => [stopped_at, version]),
    Array.from({ length: 3 }, () => [null, listed[0]?.version]),
  );
  assert.is(listed.filter(({ answers }) => answers).length, 1);
});

test('after a kill -9 of one node nothing is lost, and alerts come from the other', async (context) => {
  const database = await context.cluster.newDatabase();
  const receiver = await startWebhookReceiver();
  try {
    await using one = await startNode(context, { database });
    await using two = await startNode(context, { database, keysOf: one });
    const { token } = await createSnitch(one, 'backup');
    const hook = await one.call('POST', '/v1/webhooks', { url: receiver.url });
    assert.is(hook.status, 200);
    for (const node of [one, two, one, two]) assert.is(await checkIn(node, token), 202);
    assert.is(await countOfCheckIns(two, token), 4);
    // A node that dies before its first sign of life beside the second is taken to have died before the second began.
    const unsure = () =>
      context.cluster.query('SELECT 1 FROM nodes WHERE unsure_from IS NOT NULL', [], database);
    await until(async () => (await unsure()).length === 0, 'both are known to have lived together');
    await one.end('SIGKILL');
    assert.is(await checkIn(two, token), 202);
    assert.is(await countOfCheckIns(two, token), 5);
    const failed = await fetch(`${two.url}/c/${token}?s=1`, { method: 'POST' });
    assert.is(failed.status, 202);
    const isTold = async () => receiver.posts.some(({ body }) => body.type === 'snitch.errored');
    // The node that died had served this receiver; its claims are released once it is known to be dead.
    await until(isTold, 'the alert comes from the node that is left', 60_000);
    const windows = await context.cluster.query('SELECT 1 FROM blind_windows', [], database);
    assert.equal(windows, []);
  } finally {
    await receiver.stop();
  }
});

test('a stream on one node shows what is changed on the other', async (context) => {
  const database = await context.cluster.newDatabase();
  await using one = await startNode(context, { database });
  await using two = await startNode(context, { database, keysOf: one });
  const ending = new AbortController();
  const authorization = `Basic ${Buffer.from(`${one.apiKey}:`).toString('base64')}`;
  const stream = await fetch(`${two.url}/v1/stream`, { headers: { authorization }, signal: ending.signal });
  try {
    const { token } = await createSnitch(one, 'made elsewhere');
    let text = '';
    for await (const piece of stream.body ?? []) {
      text += Buffer.from(piece).toString();
      if (text.includes(token)) break;
    }
    assert.match(text, 'event: snitch');
  } finally {
    ending.abort();
  }
});

test('while the database is away a node says so, and accuses nobody afterwards', async (context) => {
  const database = await context.cluster.newDatabase();
  await using node = await startNode(context, { database });
  const { token } = await createSnitch(node, 'nightly');
  assert.is(await checkIn(node, token), 202);
  await context.cluster.server.stop('SIGQUIT');
  try {
    assert.is(await checkIn(node, token), 503);
    await until(async () => (await fetch(`${node.url}/readyz`)).status === 503, 'the node is not ready');
    const { problems } = (await (await fetch(`${node.url}/readyz`)).json()) as { problems: string[] };
    assert.ok(problems.includes('the database does not answer, or takes no writes'));
  } finally {
    await context.cluster.server.start();
  }
  await until(async () => (await fetch(`${node.url}/readyz`)).status === 200, 'the node is ready');
  const windows = await context.cluster.query<{ refused: boolean }>(
    'SELECT ended_at - started_at > 0 AS refused FROM blind_windows',
    [],
    database,
  );
  assert.ok(windows.length > 0);
  assert.ok(windows.every(({ refused }) => refused));
  assert.is(await checkIn(node, token), 202);
});

runUnless(WITHOUT_POSTGRES, test, 'several nodes');
