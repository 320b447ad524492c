/** Daemons on one database, one of whose hosts has a wrong clock. Time limit: 120 s. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parse } from 'yaml';
import { loadConfig } from '../../src/config/config.ts';
import { type Daemon, startDaemon } from '../../src/daemon/daemon.ts';
import { newDataDir, removeDataDir } from '../data-directory.ts';
import { runUnless } from '../skipped.ts';
import { type Cluster, startCluster } from '../store/postgres/clusters/cluster.ts';
import { WITHOUT_POSTGRES } from '../store/postgres/clusters/programs.ts';
import { until } from '../until.ts';

const HOUR = 3_600_000;

interface Context {
  cluster: Cluster;
  right: Node;
  wrong: Node;
  /** How far the clock of one of the two is ahead, in milliseconds; it can change while the daemon runs. */
  off: { ms: number };
}

interface Node {
  daemon: Daemon;
  dataDir: string;
  log: { msg: string }[];
}

const test = suite<Context>('a wrong clock');

async function start(storeUrl: string, clock: () => number): Promise<Node> {
  const dataDir = newDataDir();
  const env = { SNITCH_LISTEN: '127.0.0.1:0', SNITCH_DATA_DIR: dataDir, SNITCH_STORE_URL: storeUrl };
  const log: Node['log'] = [];
  const logger = pino({ base: null }, { write: (line: string) => void log.push(JSON.parse(line)) });
  return { daemon: await startDaemon(await loadConfig({ env }), logger, { clock }), dataDir, log };
}

test.before(async (context) => {
  context.cluster = await startCluster();
  const url = context.cluster.url(await context.cluster.newDatabase());
  context.off = { ms: -3 * HOUR };
  context.right = await start(url, Date.now);
  context.wrong = await start(url, () => Date.now() + context.off.ms);
});

test.after(async ({ cluster, right, wrong }) => {
  for (const node of [right, wrong]) {
    await node?.daemon.stop();
    if (node) removeDataDir(node.dataDir);
  }
  await cluster[Symbol.asyncDispose]();
});

interface Snitch {
  token: string;
  status: string;
  checked_in_at: string | null;
}

async function call<Answer>(
  { right }: Context,
  { daemon }: Node,
  method: string,
  path: string,
  body?: object,
) {
  const { api_key } = parse(readFileSync(join(right.dataDir, 'credentials.yaml'), 'utf8')) as {
    api_key: string;
  };
  const response = await fetch(`${daemon.url}${path}`, {
    method,
    headers: { authorization: `Basic ${Buffer.from(`${api_key}:`).toString('base64')}` },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  assert.ok(response.ok, `${method} ${path}: ${text}`);
  return { answer: JSON.parse(text === '' ? 'null' : text) as Answer, response };
}

/** Checks in at the node with the wrong clock, and asserts that the recorded time is right. */
async function checksInOnTime(context: Context, named: string): Promise<string> {
  const { right, wrong } = context;
  const wish = { name: named, interval: 'hourly' };
  const { answer: snitch } = await call<Snitch>(context, right, 'POST', '/v1/snitches', wish);
  const before = Date.now();
  await (await fetch(`${wrong.daemon.url}/c/${snitch.token}`)).arrayBuffer();
  const after = Date.now();
  const { answer } = await call<Snitch>(context, right, 'GET', `/v1/snitches/${snitch.token}`);
  const at = Date.parse(answer.checked_in_at ?? '');
  // The clocks of nodes may be a second apart, and the API gives whole seconds.
  assert.ok(at >= before - 2_000 && at <= after + 1_000, `${named}: off by ${(at - before) / 1_000} s`);
  return snitch.token;
}

test('a check-in gets the time of the database, whichever way the clock is wrong, and while it jumps', async (context) => {
  const { off } = context;
  const tokens = [await checksInOnTime(context, 'from the first one on')];
  for (const ms of [0, 2 * HOUR, -26 * HOUR, 7 * 60_000]) {
    off.ms = ms;
    tokens.push(await checksInOnTime(context, `right after a jump to ${ms} ms`));
  }
  for (const token of tokens) {
    const { answer } = await call<Snitch>(context, context.right, 'GET', `/v1/snitches/${token}`);
    assert.is(answer.status, 'healthy');
  }
});

test('deadlines that the node with the wrong clock sets use that time too', async (context) => {
  const { off, right, wrong } = context;
  for (const ms of [-5 * HOUR, 5 * HOUR]) {
    off.ms = ms;
    const wish = { name: `off by ${ms}`, interval: '15_minute' };
    const before = Date.now();
    const { answer: snitch } = await call<Snitch>(context, wrong, 'POST', '/v1/snitches', wish);
    await (await fetch(`${wrong.daemon.url}/c/${snitch.token}`)).arrayBuffer();
    const path = `/v1/snitches/${snitch.token}/explain`;
    const { answer } = await call<{ deadline: { at: string } }>(context, right, 'GET', path);
    const deadline = Date.parse(answer.deadline.at);
    assert.ok(deadline > before && deadline <= before + 31 * 60_000, JSON.stringify(answer));
  }
});

test('a node with a wrong clock is ready, accepts check-ins, and reports the difference', async (context) => {
  const { off, right, wrong } = context;
  off.ms = -3 * HOUR;
  const readyz = async ({ daemon }: Node) => {
    const response = await fetch(`${daemon.url}/readyz`);
    return {
      status: response.status,
      body: (await response.json()) as object,
      date: response.headers.get('date'),
    };
  };
  const of = await readyz(wrong);
  assert.is(of.status, 200);
  assert.match(
    JSON.stringify(of.body),
    /"warnings":\["the clock of this host is (3 h|2 h 59 min) behind that of the database/,
  );
  assert.ok(Math.abs(Date.parse(of.date ?? '') - Date.now()) < HOUR, 'the header is not of the wrong clock');
  assert.not.match(JSON.stringify((await readyz(right)).body), /warnings/);
  await until(
    () => wrong.log.some(({ msg }) => /clock of this host is .* that of the database/.test(msg)),
    'the log says so',
  );
  const metrics = await (await fetch(`${wrong.daemon.url}/metrics`)).text();
  const ahead = Number(/^snitch_node_clock_ahead_seconds (\S+)$/m.exec(metrics)?.[1]);
  assert.ok(Math.abs(ahead + 3 * 3_600) < 60, `${ahead}`);
  const connections = /^snitch_database_connections\{state="(?:in_use|idle)"\} [0-9]+$/gm;
  assert.is(metrics.match(connections)?.length, 2, metrics);
  assert.match(metrics, /^snitch_database_connections_max 14$/m);
  assert.match(metrics, /^# TYPE snitch_database_connection_wait_seconds_total counter\n\S+ [0-9.]+$/m);
});

runUnless(WITHOUT_POSTGRES, test, 'daemons on hosts with wrong clocks');
