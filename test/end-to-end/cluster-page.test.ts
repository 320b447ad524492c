/**
 * docs/cluster.md followed to the letter: its files and commands, with real clusters, a real HAProxy, a real nginx and
 * three daemons. Then a node is killed, and then the primary. Time limit: 300 s.
 */

import { once } from 'node:events';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parse, stringify } from 'yaml';
import type { WireSnitch } from '../../src/api/wire.ts';
import { SnitchProcess } from '../cli/snitch-process.ts';
import { freePort } from '../free-port.ts';
import { runUnless } from '../skipped.ts';
import { WITHOUT_POSTGRES } from '../store/postgres/clusters/programs.ts';
import { until } from '../until.ts';
import { blocksBelow, type DatabaseHost, Hosts, onlyBlockBelow, PASSWORD } from './cluster-page/hosts.ts';
import { type ProxyHost, startProxy, WITHOUT_HAPROXY } from './cluster-page/proxy.ts';
import { type DaemonProcess, startProcess } from './daemon-process.ts';
import { CLIENT, Nginx, withoutTools } from './nginx-process.ts';

interface Context {
  hosts: Hosts;
  db1: DatabaseHost;
  db2: DatabaseHost;
  nodes: DaemonProcess[];
  proxy: ProxyHost;
  token: string;
  /** Several snitches with that one among them: the proxy spreads them over the nodes. */
  tokens: readonly string[];
}

const test = suite<Context>('the page on clusters');

/** Where this test has what the page puts into `/etc/snitch` and `/etc/credstore`. */
function environment({ hosts, db1, db2 }: Context, database = 'snitch'): Record<string, string> {
  const [config, credentials] = [join(hosts.root, `${database}.yaml`), join(hosts.root, 'credentials')];
  mkdirSync(credentials, { recursive: true });
  writeFileSync(join(credentials, 'store-password'), `${PASSWORD}\n`, { mode: 0o600 });
  const settings = parse(onlyBlockBelow('The nodes', 'yaml')) as { store: { url: string } };
  settings.store.url = settings.store.url
    .replace('db1.example.com,db2.example.com', `localhost:${db1.server.port},localhost:${db2.server.port}`)
    .replace('/snitch?', `/${database}?`)
    .replace('/etc/snitch/db-ca.crt', join(hosts.root, 'ca.crt'));
  writeFileSync(config, stringify({ ...settings, trusted_proxies: ['127.0.0.1'] }));
  return { SNITCH_CONFIG: config, CREDENTIALS_DIRECTORY: credentials };
}

/** Enough for each of three nodes to have some, whatever their tokens are. */
const SNITCHES = 24;

const DAY = 86_400_000;

const CHAPTERS = {
  primary: 'The primary',
  standby: 'The standby',
  away: 'The primary is lost',
  back: 'The old primary comes back',
  alone: 'The standby is lost',
  past: 'Back to a point in time',
};

test.before(async (context) => {
  context.hosts = new Hosts();
  const { hosts } = context;
  context.db1 = await hosts.addDatabase('db1');
  context.db2 = await hosts.addDatabase('db2');
  const { db1, db2 } = context;
  await hosts.run(onlyBlockBelow('Certificates', ''), db1);
  const [install = '', make = ''] = blocksBelow(CHAPTERS.primary, '');
  await hosts.run(install, db1);
  hosts.configure(db1, CHAPTERS.primary, 'snitch.conf');
  await hosts.run(make, db1);
  const [installToo = '', copy = '', synchronous = ''] = blocksBelow(CHAPTERS.standby, '');
  await hosts.run(installToo, db2);
  hosts.configure(db2, CHAPTERS.primary, 'snitch.conf');
  await hosts.run(copy, db2);
  await until(() => following(context, db1), 'the standby follows the primary');
  assert.match(await hosts.run(synchronous, db1), /db2\s+\| streaming/);
});

test.before(async (context) => {
  const env = environment(context);
  const ports = [await freePort(), await freePort(), await freePort()];
  const nodes: DaemonProcess[] = [];
  context.nodes = nodes;
  for (const port of ports)
    nodes.push(
      await startProcess({
        env: { ...env, SNITCH_LISTEN: `127.0.0.1:${port}` },
        ...(nodes[0] && { keysOf: nodes[0] }),
      }),
    );
  const [first] = nodes;
  assert.ok(first);
  const tokens: string[] = [];
  for (let index = 0; index < SNITCHES; index += 1) {
    const made = await first.call('POST', '/v1/snitches', { name: `nightly ${index}`, interval: 'daily' });
    assert.is(made.status, 200);
    tokens.push(((await made.json()) as WireSnitch).token);
  }
  context.tokens = tokens;
  context.token = tokens[0] ?? '';
  context.proxy = await startProxy(context.hosts.root, ports);
});

test.after(async ({ proxy, nodes, hosts }) => {
  await proxy?.[Symbol.asyncDispose]();
  for (const node of nodes ?? []) await node.end('SIGKILL');
  await hosts[Symbol.asyncDispose]();
});

/** The first value of the answer as text, or nothing. The queries of the page are run unchanged; this one is for the test. */
function ask({ hosts }: Context, host: DatabaseHost, sql: string, database = 'postgres'): Promise<string> {
  return hosts.ask(host, sql, database);
}

async function following(context: Context, primary: DatabaseHost): Promise<boolean> {
  return (await ask(context, primary, 'SELECT state FROM pg_stat_replication')) === 'streaming';
}

async function doctor(context: Context, node = 0): Promise<Map<string, string>> {
  const { dataDir, url } = context.nodes[node] as DaemonProcess;
  const env = { ...environment(context), SNITCH_DATA_DIR: dataDir, SNITCH_URL: url };
  const { stdout } = await new SnitchProcess(['doctor', '--json'], env).ended();
  const { findings } = JSON.parse(stdout) as { findings?: { check: string; message: string }[] };
  const listed = findings ?? (JSON.parse(stdout) as { check: string; message: string }[]);
  return new Map(listed.map(({ check, message }) => [check, message]));
}

async function countOfCheckIns(context: Context, host: DatabaseHost): Promise<number> {
  return Number(await ask(context, host, 'SELECT sum(check_in_count) FROM snitch_states', 'snitch'));
}

/** The pause between two check-ins of a client, in milliseconds: more would only keep the host busy. */
const PAUSE = 50;

/** Checks in through the proxy with several clients at once during `work`. @returns the answers */
async function underLoad(
  { proxy, tokens }: { proxy: Pick<ProxyHost, 'status'>; tokens: readonly string[] },
  work: () => Promise<void>,
): Promise<Map<number, number>> {
  const answers = new Map<number, number>();
  let isOver = false;
  let sent = 0;
  const client = async () => {
    while (!isOver) {
      sent += 1;
      const status = await proxy.status(`/c/${tokens[sent % tokens.length]}`);
      answers.set(status, (answers.get(status) ?? 0) + 1);
      await sleep(PAUSE);
    }
  };
  const clients = [1, 2, 3, 4].map(client);
  try {
    await work();
  } finally {
    isOver = true;
  }
  await Promise.all(clients);
  return answers;
}

test('all three are ready, and commits wait for the standby', async (context) => {
  const found = await doctor(context);
  assert.match(found.get('nodes') ?? '', /^3 nodes: /);
  assert.match(found.get('replication') ?? '', /^synchronous: db2 \(sync\)$/);
  assert.is(await context.proxy.status(`/c/${context.token}`), 202);
  assert.is(await context.proxy.status('/metrics'), 404);
  const metrics = await (await fetch(`${context.nodes[1]?.url}/metrics`)).text();
  assert.match(metrics, /^snitch_database_bytes [1-9]\d{6,}$/m);
});

/** How many check-ins each of the nodes has received. */
function taken({ nodes }: Context): Promise<number[]> {
  return Promise.all(
    nodes.map(async ({ url }) => {
      const metrics = await (await fetch(`${url}/metrics`)).text();
      const counts = [...metrics.matchAll(/^snitch_check_ins_total\S* (\d+)$/gm)].map(([, count]) =>
        Number(count),
      );
      return counts.reduce((sum, count) => sum + count, 0);
    }),
  );
}

test('a snitch checks in at one node, whatever it says, and all nodes have some of them', async (context) => {
  const { proxy, token, tokens } = context;
  const before = await taken(context);
  // With a suffix the answer is that of other services.
  for (const suffix of ['', '/start', '', '/start', '/0', '/log'])
    assert.is(await proxy.status(`/c/${token}${suffix}`), suffix === '' ? 202 : 200);
  const after = await taken(context);
  assert.equal(after.map((count, index) => count - (before[index] ?? 0)).toSorted(), [0, 0, 6]);
  for (const each of tokens) assert.is(await proxy.status(`/c/${each}`), 202);
  const all = await taken(context);
  assert.ok(all.every((count, index) => count > (after[index] ?? 0)));
});

test('when a node is killed, no check-in is refused', async (context) => {
  const before = await countOfCheckIns(context, context.db1);
  const answers = await underLoad(context, async () => {
    await until(async () => (await countOfCheckIns(context, context.db1)) > before + 20, 'check-ins go on');
    await context.nodes[1]?.end('SIGKILL');
    const killed = await countOfCheckIns(context, context.db1);
    await until(async () => (await countOfCheckIns(context, context.db1)) > killed + 20, 'check-ins go on');
  });
  assert.equal([...answers.keys()], [202]);
  const stored = (await countOfCheckIns(context, context.db1)) - before;
  assert.ok(stored >= (answers.get(202) ?? 0), 'each that was acknowledged is there');
});

/** Restarts the node that was killed, at its place. */
async function revive(context: Context, index: number): Promise<void> {
  const { dataDir, url } = context.nodes[index] as DaemonProcess;
  const env = { ...environment(context), SNITCH_LISTEN: new URL(url).host };
  const keysOf = context.nodes[0] as DaemonProcess;
  context.nodes[index] = await startProcess({ dataDir, env, keysOf });
}

test('behind nginx no check-in is refused either, a node is dead from the beginning, and another is killed', async (context) => {
  const { hosts, nodes, token, db1 } = context;
  const upstreams = nodes.map(({ url }, index) => [`10.0.0.1${index + 1}:7676`, new URL(url).host]);
  const block = onlyBlockBelow('nginx instead of HAProxy', 'nginx');
  const nginx = await Nginx.startWith(hosts.root, block, Object.fromEntries(upstreams));
  try {
    const stream = await nginx.open('GET', '/v1/stream', { headers: keyOf(nodes[0]) });
    // The connection may lead to the node that is killed, and then ends with it.
    const heard = once(stream, 'data') as Promise<[Buffer]>;
    const bodies = ['', 'm=well'];
    let sent = 0;
    const status = async (path: string) => {
      sent += 1;
      const body = bodies[sent % 2] ?? '';
      return (await nginx.ask(sent % 3 === 0 ? 'GET' : 'POST', path, { body })).status ?? 0;
    };
    const before = await countOfCheckIns(context, db1);
    const answers = await underLoad({ ...context, proxy: { status } }, async () => {
      await until(async () => (await countOfCheckIns(context, db1)) > before + 30, 'check-ins go on');
      await nodes[2]?.end('SIGKILL');
      const killed = await countOfCheckIns(context, db1);
      await until(async () => (await countOfCheckIns(context, db1)) > killed + 30, 'check-ins go on');
    });
    assert.equal([...answers.keys()], [202]);
    const stored = (await countOfCheckIns(context, db1)) - before;
    assert.ok(stored >= (answers.get(202) ?? 0), 'each that was acknowledged is there');
    const path = `/v1/snitches/${token}/check_ins`;
    const listed = await nginx.ask('GET', path, { headers: keyOf(nodes[0]) });
    const [last] = JSON.parse(listed.text) as { source: string }[];
    assert.is(last?.source, CLIENT, 'the address of the client, and not of the proxy');
    assert.is((await nginx.ask('GET', '/metrics')).status, 404);
    const [event] = await heard;
    assert.match(event.toString(), /event: |^:|id: /m);
    stream.destroy();
  } finally {
    await nginx.end();
  }
  for (const index of [1, 2]) await revive(context, index);
});

function keyOf(node: DaemonProcess | undefined): Record<string, string> {
  return { authorization: `Basic ${Buffer.from(`${node?.apiKey}:`).toString('base64')}` };
}

/** Acts as if everything in this database had been written this much earlier. */
const AGED = (days: number) =>
  `UPDATE nodes SET alive_at = alive_at - ${days * DAY}; UPDATE snitch_states SET checked_in_at = checked_in_at - ${days * DAY}, due_at = due_at - ${days * DAY}, look_at = look_at - ${days * DAY}`;

test('a dump is restored into a new database, and the time since causes no alarms', async (context) => {
  const { db1, hosts, nodes, token } = context;
  const [dump = '', restore = ''] = blocksBelow('Backup', '');
  await hosts.run(dump, db1);
  await hosts.run(restore, db1);
  const restored = 'snitch_restored';
  await ask(context, db1, AGED(4), restored);
  await using node = await startProcess({
    env: environment(context, restored),
    keysOf: nodes[0] as DaemonProcess,
  });
  const hasWindow =
    'SELECT count(*) FROM blind_windows WHERE cursor IS NULL AND ended_at - started_at > 3 * 86400000';
  await until(async () => (await ask(context, db1, hasWindow, restored)) === '1', 'the window is closed');
  const found = (await (await node.call('GET', `/v1/snitches/${token}`)).json()) as WireSnitch;
  assert.is(found.status, 'healthy');
  assert.is(await ask(context, db1, "SELECT count(*) FROM alerts WHERE type LIKE '%missing'", restored), '0');
  assert.is((await fetch(`${node.url}/c/${token}`)).status, 202);
});

test('when the primary is killed, check-ins are refused until the standby is promoted, and none is lost', async (context) => {
  const { db1, db2, hosts } = context;
  const before = await countOfCheckIns(context, db1);
  const answers = await underLoad(context, async () => {
    await until(async () => (await countOfCheckIns(context, db1)) > before + 20, 'check-ins go on');
    await db1.server.kill();
    await hosts.run(onlyBlockBelow(CHAPTERS.away, ''), db2);
    const promoted = await countOfCheckIns(context, db2);
    await until(async () => (await countOfCheckIns(context, db2)) > promoted + 20, 'check-ins go on');
  });
  assert.ok(
    [...answers.keys()].every((status) => [202, 503].includes(status)),
    [...answers].join('; '),
  );
  const stored = (await countOfCheckIns(context, db2)) - before;
  assert.ok(stored >= (answers.get(202) ?? 0), `${stored} of ${answers.get(202)} are there`);
});

test('an old primary that is started again gets nothing, and becomes the standby as the page says', async (context) => {
  const { db1, db2, hosts, proxy, token } = context;
  await db1.server.start();
  const old = await countOfCheckIns(context, db1);
  const before = await countOfCheckIns(context, db2);
  for (let index = 0; index < 10; index += 1) assert.is(await proxy.status(`/c/${token}`), 202);
  assert.is(await countOfCheckIns(context, db2), before + 10);
  assert.is(await countOfCheckIns(context, db1), old);
  const [again = '', synchronous = ''] = blocksBelow(CHAPTERS.back, '');
  await hosts.run(again, db1);
  await until(() => following(context, db2), 'the old primary follows');
  await hosts.run(synchronous, db2);
  assert.is(await proxy.status(`/c/${token}`), 202);
  await until(
    async () => /^synchronous: db1/.test((await doctor(context)).get('replication') ?? ''),
    'commits wait for the old primary',
  );
});

test('when the standby is lost, check-ins are refused until the primary no longer waits for it', async (context) => {
  const { db1, db2, hosts, nodes, proxy, token } = context;
  await db1.server.kill();
  assert.is((await fetch(`${nodes[0]?.url}/c/${token}`)).status, 503);
  assert.match((await doctor(context)).get('replication') ?? '', /no synchronous standby is connected/);
  await hosts.run(onlyBlockBelow(CHAPTERS.alone, ''), db2);
  await until(async () => (await proxy.status(`/c/${token}`)) === 202, 'check-ins are taken');
});

test('what was deleted comes back with the moment before, and a copy from before that is refused', async (context) => {
  const { db2, hosts, nodes, token } = context;
  const node = nodes[0] as DaemonProcess;
  const [archive = '', recovery = ''] = blocksBelow(CHAPTERS.past, 'postgresql');
  const [backup = '', prepare = ''] = blocksBelow(CHAPTERS.past, '');
  const configuration = (name: string) => join(db2.etc, 'conf.d', name);
  writeFileSync(configuration('archive.conf'), hosts.adapted(archive, db2));
  await hosts.run('sudo systemctl restart postgresql@15-main', db2);
  await hosts.run(backup, db2);
  await until(
    async () => (await node.call('GET', `/v1/snitches/${token}`)).status === 200,
    'the node goes on',
  );
  const moment = await ask(context, db2, 'SELECT clock_timestamp()');
  const isDeleted = async () => (await node.call('DELETE', `/v1/snitches/${token}`)).status === 204;
  await until(isDeleted, 'the snitch is deleted');
  await ask(context, db2, 'SELECT pg_switch_wal()');
  for (const one of nodes) await one.end('SIGTERM');
  await db2.server.stop();
  await hosts.run(prepare, db2);
  const settings = hosts.adapted(recovery, db2).replace(/(?<=recovery_target_time = ')[^']+/, moment);
  writeFileSync(configuration('recovery.conf'), settings);
  await db2.server.start();
  await until(async () => (await ask(context, db2, 'SELECT pg_is_in_recovery()')) === 'f', 'it is recovered');
  const again = { dataDir: node.dataDir, env: environment(context) };
  {
    await using recovered = await startProcess(again);
    assert.is((await recovered.call('GET', `/v1/snitches/${token}`)).status, 200);
    assert.is((await fetch(`${recovered.url}/c/${token}`)).status, 202);
  }
  await db2.server.stop();
  rmSync(configuration('recovery.conf'));
  renameSync(db2.server.directory, `${db2.server.directory}.recovered`);
  renameSync(`${db2.server.directory}.wrong`, db2.server.directory);
  await db2.server.start();
  assert.match(
    (await doctor(context)).get('store') ?? '',
    /is an old primary.*remove .*postgres-primary\.json/,
  );
});

runUnless(WITHOUT_POSTGRES ?? WITHOUT_HAPROXY ?? withoutTools(), test, 'the page on clusters');
