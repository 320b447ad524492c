/**
 * Check-ins a second of the daemon beside a bare `node:http` server that answers a constant, both driven by the same
 * generator in alternating rounds.
 *
 *   npm run bench:check-in -- [--rounds 5] [--seconds 4] [--connections 64] [--snitches 1000]
 *                             [--slow-disk MS] [--profile]
 *
 * `--slow-disk` delays each sync of the daemon's files (needs strace) and measures a plain GET beside the load;
 * `--profile` tells where the daemon's processor time goes.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import autocannon from 'autocannon';
import { removeDataDir } from '../test/data-directory.ts';
import { type DaemonProcess, startProcess } from '../test/end-to-end/daemon-process.ts';
import { median, quantile } from './quantile.ts';

const { values: given } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '4' },
    connections: { type: 'string', default: '64' },
    snitches: { type: 'string', default: '1000' },
    'slow-disk': { type: 'string' },
    profile: { type: 'boolean', default: false },
  },
});
const rounds = Number(given.rounds);
const duration = Number(given.seconds);
const connections = Number(given.connections);

const BARE_SERVER = `
  const http = require('node:http');
  const headers = ['content-type', 'text/plain; charset=utf-8', 'cache-control', 'no-store', 'content-length', '16'];
  http.createServer((request, response) => {
    response.writeHead(202, headers);
    response.end('Got it, thanks!\\n');
  }).listen(0, '127.0.0.1', function () { console.log(this.address().port); });
`;

async function startBareServer() {
  const child = spawn(process.execPath, ['-e', BARE_SERVER], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [port] = await once(child.stdout, 'data');
  return { url: `http://127.0.0.1:${String(port).trim()}`, end: () => child.kill() };
}

async function createSnitches(daemon: DaemonProcess, count: number): Promise<string[]> {
  const paths: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const answer = await daemon.call('POST', '/v1/snitches', { name: `job-${index}`, interval: 'hourly' });
    const { check_in_url } = (await answer.json()) as { check_in_url: string };
    paths.push(new URL(check_in_url).pathname);
  }
  return paths;
}

interface Load {
  /** Requests a second. */
  rate: number;
  /** Milliseconds. */
  p50: number;
  p99: number;
  slowest: number;
}

interface Latency {
  p50: number;
  p99: number;
}

/** One round of load; each connection walks the snitches from a place of its own. */
async function load(url: string, paths: readonly string[]): Promise<Load> {
  let next = 0;
  const result = await autocannon({
    url,
    connections,
    duration,
    setupClient: (client) => {
      const offset = Math.floor((next++ * paths.length) / connections);
      client.setRequests(paths.map((_, index) => ({ path: paths[(index + offset) % paths.length] ?? '/' })));
    },
  });
  const wrong = result.non2xx + result.errors + result.timeouts;
  if (wrong > 0) throw new Error(`${wrong} requests of a round were not answered with success`);
  return {
    rate: result.requests.average,
    p50: result.latency.p50,
    p99: result.latency.p99,
    slowest: result.latency.max,
  };
}

/** Latencies of a plain GET, one every 5 ms from a thread of its own, for as long as `work` lasts. */
async function watchBeside<T>(url: string, work: () => Promise<T>): Promise<Latency & { result: T }> {
  const watcher = new Worker(WATCHER, { eval: true, workerData: { url } });
  await once(watcher, 'message');
  const result = await work();
  watcher.postMessage('stop');
  const [latencies] = (await once(watcher, 'message')) as [number[]];
  return { result, p50: quantile(latencies, 0.5), p99: quantile(latencies, 0.99) };
}

/** The generator keeps its own thread busy: a GET that waits there would say nothing about the daemon. */
const WATCHER = `
  const { get, Agent } = require('node:http');
  const { parentPort, workerData } = require('node:worker_threads');
  const agent = new Agent({ keepAlive: true });
  const latencies = [];
  const timer = setInterval(() => {
    const before = performance.now();
    get(workerData.url, { agent }, (response) => {
      response.resume().on('end', () => latencies.push(performance.now() - before));
    }).on('error', () => {});
  }, 5);
  parentPort.once('message', () => {
    clearInterval(timer);
    agent.destroy();
    parentPort.postMessage(latencies);
    parentPort.close();
  });
  parentPort.postMessage('ready');
`;

const ms = (value: number) => `${value.toFixed(1)} ms`;
const row = (...cells: (string | number)[]) =>
  console.log(cells.map((cell, index) => String(cell).padEnd(index === 0 ? 24 : 14)).join(''));

function slowDisk(milliseconds: string | undefined): string[] {
  if (milliseconds === undefined) return [];
  const calls = 'fdatasync,fsync';
  const inject = `inject=${calls}:delay_enter=${Number(milliseconds) * 1_000}`;
  return ['strace', '-f', '--seccomp-bpf', '-qq', '-o', '/dev/null', '-e', `trace=${calls}`, '-e', inject];
}

interface Profile {
  nodes: { id: number; callFrame: { functionName: string; url: string } }[];
  samples: number[];
  /** Microseconds. */
  timeDeltas: number[];
}

/** The share of each function's own time in the newest profile of `directory`. */
function printProfile(directory: string): void {
  const [file = ''] = readdirSync(directory);
  const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(join(directory, file), 'utf8')) as Profile;
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const own = new Map<string, number>();
  let total = 0;
  samples.forEach((id, index) => {
    const { functionName, url } = byId.get(id)?.callFrame ?? { functionName: '(idle)', url: '' };
    if (functionName === '(idle)') return;
    const spent = timeDeltas[index] ?? 0;
    const name = `${functionName || '(anonymous)'} ${url.split('/').slice(-2).join('/')}`;
    own.set(name, (own.get(name) ?? 0) + spent);
    total += spent;
  });
  console.log('\nwhere the processor time of the daemon goes:');
  const largest = [...own].toSorted((one, other) => other[1] - one[1]).slice(0, 20);
  for (const [name, time] of largest)
    console.log(`  ${((100 * time) / total).toFixed(1).padStart(5)} %  ${name}`);
}

const profiles = given.profile ? mkdtempSync(join(tmpdir(), 'snitch-profile-')) : null;
const bare = await startBareServer();
const daemon = await startProcess({
  wrapper: slowDisk(given['slow-disk']),
  nodeOptions: profiles ? ['--cpu-prof', `--cpu-prof-dir=${profiles}`] : [],
});
const measured = {
  bare: [] as Load[],
  daemon: [] as Load[],
  beside: [] as Latency[],
  besideBare: [] as Latency[],
};
try {
  const paths = await createSnitches(daemon, Number(given.snitches));
  await load(daemon.url, paths);
  await load(bare.url, paths);
  for (let round = 0; round < rounds; round += 1) {
    if (given['slow-disk'] === undefined) measured.bare.push(await load(bare.url, paths));
    else {
      const { result, ...latency } = await watchBeside(bare.url, () => load(bare.url, paths));
      measured.bare.push(result);
      measured.besideBare.push(latency);
    }
    if (given['slow-disk'] === undefined) measured.daemon.push(await load(daemon.url, paths));
    else {
      const { result, ...latency } = await watchBeside(`${daemon.url}/healthz`, () =>
        load(daemon.url, paths),
      );
      measured.daemon.push(result);
      measured.beside.push(latency);
    }
  }
} finally {
  await daemon.end();
  bare.end();
  removeDataDir(daemon.dataDir);
}

console.log(
  `${connections} connections, ${given.snitches} snitches, ${rounds} rounds of ${duration} s each, medians`,
);
row('', 'requests/s', 'p50', 'p99', 'slowest');
for (const name of ['bare', 'daemon'] as const) {
  const rows = measured[name];
  const of = (field: keyof Load) => median(rows.map((one) => one[field]));
  row(
    name === 'bare' ? 'bare node:http' : 'snitch check-in',
    Math.round(of('rate')),
    ms(of('p50')),
    ms(of('p99')),
    ms(of('slowest')),
  );
}
const ratios = measured.daemon.map(({ rate }, index) => rate / (measured.bare[index]?.rate ?? Number.NaN));
console.log(
  `ratio of medians, snitch to bare: ${(median(measured.daemon.map(({ rate }) => rate)) / median(measured.bare.map(({ rate }) => rate))).toFixed(2)} (rounds: ${ratios.map((ratio) => ratio.toFixed(2)).join(', ')})`,
);
if (measured.beside.length > 0) {
  console.log(`plain GET beside the load, each sync of snitch ${given['slow-disk']} ms slower:`);
  for (const [name, rows] of [
    ['bare node:http', measured.besideBare],
    ['snitch', measured.beside],
  ] as const) {
    row(name, '', ms(median(rows.map(({ p50 }) => p50))), ms(median(rows.map(({ p99 }) => p99))));
  }
}
if (profiles) {
  printProfile(profiles);
  rmSync(profiles, { recursive: true });
}
