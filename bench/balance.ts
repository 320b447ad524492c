/**
 * What a check-in costs two nodes and their database if the proxy sends each snitch to the same node, and if it does
 * not: both with the HAProxy of docs/cluster.md, in alternating rounds.
 *
 *   node bench/balance.ts [--clients 64] [--seconds 10] [--snitches 500] [--rounds 2]
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { WireSnitch } from '../src/api/wire.ts';
import { type ProxyHost, startProxy } from '../test/end-to-end/cluster-page/proxy.ts';
import { type DaemonProcess, startProcess } from '../test/end-to-end/daemon-process.ts';
import { HOST } from '../test/end-to-end/nginx-process.ts';
import { type Cluster, startCluster } from '../test/store/postgres/clusters/cluster.ts';
import { processorTime, processorTimeOfAll } from './program/processor-time.ts';

const { values: given } = parseArgs({
  options: {
    clients: { type: 'string', default: '64' },
    seconds: { type: 'string', default: '10' },
    snitches: { type: 'string', default: '500' },
    rounds: { type: 'string', default: '2' },
  },
});
const [clients = 0, seconds = 0, snitches = 0, rounds = 0] = [
  given.clients,
  given.seconds,
  given.snitches,
  given.rounds,
].map(Number);

const WAYS = {
  'each snitch at its node': (text: string) => text,
  'in turn': (text: string) => text.replace(/balance hash .*\n *hash-type .*/, 'balance roundrobin'),
};

interface Counted {
  at: number;
  checkIns: number;
  /** How many of them were written in one message to the database, without reading first. */
  atOnce: number;
  nodes: number;
  database: number;
}

/** How long the cost of the idle nodes and database is measured, in milliseconds; it is subtracted. */
const IDLE = 3_000;

/** Without the third node of the page, which does not exist here. */
function ofTwo(text: string): string {
  return text.replace(/^ *server node3.*\n/gm, '');
}

async function checkIn(proxy: ProxyHost, agent: Agent, token: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const { port, ca } = proxy;
  const options = { host: '127.0.0.1', port, ca, servername: HOST, headers: { host: HOST }, agent };
  request({ ...options, method: 'POST', path: `/c/${token}` }, (answer) => {
    answer.resume().on('end', () => resolve(answer.statusCode ?? 0));
  })
    .on('error', reject)
    .end();
  const status = await promise;
  if (status !== 202) throw new Error(`a check-in was answered with ${status}`);
}

interface Place {
  cluster: Cluster;
  database: string;
  nodes: readonly DaemonProcess[];
  tokens: readonly string[];
}

async function counted({ cluster, database, nodes }: Place): Promise<Counted> {
  const [row] = await cluster.query<{ check_ins: number; at_once: number }>(
    `SELECT (SELECT sum(check_in_count) FROM snitch_states)::float8 AS check_ins,
       (SELECT sum(rows) FROM counted.pg_stat_statements WHERE query LIKE 'WITH ruled AS %')::float8 AS at_once`,
    [],
    database,
  );
  return {
    at: performance.now(),
    checkIns: row?.check_ins ?? 0,
    atOnce: row?.at_once ?? 0,
    nodes: nodes.reduce((sum, { pid }) => sum + processorTime(pid), 0),
    database: processorTimeOfAll(cluster.server.pid),
  };
}

async function measure(place: Place, directory: string, change: (text: string) => string): Promise<string> {
  const ports = place.nodes.map(({ url }) => Number(new URL(url).port));
  await using proxy = await startProxy(directory, ports, (text) => change(ofTwo(text)));
  const agent = new Agent({ keepAlive: true });
  const idle = await counted(place);
  await sleep(IDLE);
  const begun = await counted(place);
  let isOver = false;
  const client = async () => {
    while (!isOver)
      await checkIn(proxy, agent, place.tokens[Math.floor(Math.random() * place.tokens.length)] ?? '');
  };
  const running = Promise.all(Array.from({ length: clients }, client));
  // At first, what each node knows about the snitches is from the previous round.
  await sleep(seconds * 500);
  const before = await counted(place);
  await sleep(seconds * 1_000);
  const after = await counted(place);
  isOver = true;
  await running;
  agent.destroy();
  const done = after.checkIns - before.checkIns;
  const each = (of: 'nodes' | 'database') => {
    const quiet = ((begun[of] - idle[of]) / (begun.at - idle.at)) * (after.at - before.at);
    return `${Math.round(((after[of] - before[of] - quiet) / done) * 1e6)} µs`;
  };
  const share = Math.round(((after.atOnce - before.atOnce) / done) * 100);
  return [Math.round(done / seconds), `${share} %`, each('nodes'), each('database')].join(' | ');
}

const directory = mkdtempSync(join(tmpdir(), 'snitch-balance-'));
try {
  const configuration = ["shared_preload_libraries = 'pg_stat_statements'"];
  await using cluster = await startCluster({ configuration });
  const database = await cluster.newDatabase();
  await cluster.query(
    'CREATE SCHEMA counted; CREATE EXTENSION pg_stat_statements SCHEMA counted',
    [],
    database,
  );
  const env = {
    SNITCH_STORE_URL: `postgres://postgres@127.0.0.1:${cluster.port}/${database}`,
    SNITCH_RATE_LIMIT_PER_MINUTE: '0',
  };
  await using one = await startProcess({ env });
  await using two = await startProcess({ env, keysOf: one });
  const tokens: string[] = [];
  for (let index = 0; index < snitches; index += 1) {
    const made = await one.call('POST', '/v1/snitches', { name: `job ${index}`, interval: 'daily' });
    tokens.push(((await made.json()) as WireSnitch).token);
  }
  const place = { cluster, database, nodes: [one, two], tokens };
  console.log(
    '| Check-ins go | a second | Written at once | Processor time of the nodes | of the database |',
  );
  console.log('|---|---|---|---|---|');
  for (let round = 0; round < rounds; round += 1)
    for (const [way, change] of Object.entries(WAYS))
      console.log(`| ${way} | ${await measure(place, directory, change)} |`);
} finally {
  rmSync(directory, { recursive: true, force: true });
}
