/**
 * What the executable needs on a host: its size, the time from its start to its first answer, and, for each number of
 * snitches, the memory and processor time of a quiet daemon and the size of its database.
 *
 *   npm run bench:footprint -- [--snitches 0,1000,10000,100000] [--history 10] [--rounds 5] [--quiet-s 15]
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Pool } from 'undici';
import { ending } from '../test/closing.ts';
import { ownDirectory } from '../test/data-directory.ts';
import { type DaemonProcess, startProcess } from '../test/end-to-end/daemon-process.ts';
import { median } from './quantile.ts';

const { values: given } = parseArgs({
  options: {
    snitches: { type: 'string', default: '0,1000,10000,100000' },
    history: { type: 'string', default: '10' },
    rounds: { type: 'string', default: '5' },
    'quiet-s': { type: 'string', default: '15' },
  },
});
const history = Number(given.history);
const rounds = Number(given.rounds);
const quiet = Number(given['quiet-s']);

const DIST = join(import.meta.dirname, '../dist');
const EXECUTABLE = join(DIST, 'snitch');
const CONNECTIONS = 32;
/** How many ticks of /proc/<pid>/stat the kernel counts in a second. */
const TICKS = 100;

const start = (dataDir: string) => startProcess({ dataDir, program: [EXECUTABLE] });
const mb = (bytes: number) => `${(bytes / 1e6).toFixed(bytes < 10e6 ? 1 : 0)} MB`;

/** Does `work` with every number below `count`, a few at a time. */
async function each(count: number, work: (number: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, worker));
}

async function fill(daemon: DaemonProcess, count: number): Promise<void> {
  const connections = new Pool(daemon.url, { connections: CONNECTIONS, pipelining: 1 });
  await using pool = ending(connections, () => connections.close());
  const authorization = `Basic ${Buffer.from(`${daemon.apiKey}:`).toString('base64')}`;
  const tokens: string[] = [];
  await each(count, async (index) => {
    const body = JSON.stringify({ name: `job ${index} on a host`, interval: 'daily', tags: ['nightly'] });
    const answer = await pool.request({
      method: 'POST',
      path: '/v1/snitches',
      headers: { authorization },
      body,
    });
    tokens.push(((await answer.body.json()) as { token: string }).token);
  });
  await each(count * history, async (index) => {
    const { statusCode, body } = await pool.request({
      method: 'GET',
      path: `/c/${tokens[index % count]}?m=1.2+GB+in+3+minutes`,
    });
    await body.dump();
    if (statusCode !== 202) throw new Error(`a check-in was answered ${statusCode}`);
  });
}

/** Bytes of memory: the process's own, and all that is resident, including shared pages of the executable. */
function memoryOf(pid: number): { resident: number; own: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const field = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) * 1024;
  return { resident: field('VmRSS'), own: field('RssAnon') };
}

function processorSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}

/** Milliseconds from the start of the process until it answers. */
async function timeToReady(dataDir: string): Promise<number> {
  const before = performance.now();
  await using daemon = await start(dataDir);
  await (await fetch(`${daemon.url}/readyz`)).arrayBuffer();
  const took = performance.now() - before;
  await daemon.end();
  return took;
}

interface Footprint {
  /** Milliseconds. */
  ready: number;
  /** Bytes. */
  resident: number;
  own: number;
  database: number;
  /** The share of one core that it uses. */
  share: number;
}

async function measure(count: number): Promise<Footprint> {
  using directory = ownDirectory();
  const dataDir = directory.path;
  await using filling = await start(dataDir);
  await fill(filling, count);
  await filling.end();
  const starts: number[] = [];
  for (let round = 0; round < rounds; round += 1) starts.push(await timeToReady(dataDir));
  await using daemon = await start(dataDir);
  await sleep(quiet * 1_000);
  const before = processorSeconds(daemon.pid);
  await sleep(quiet * 1_000);
  const share = (processorSeconds(daemon.pid) - before) / quiet;
  const { resident, own } = memoryOf(daemon.pid);
  await daemon.end();
  const database = statSync(join(dataDir, 'snitch.db')).size;
  return { ready: median(starts), resident, own, share, database };
}

const row = (...cells: (string | number)[]) =>
  console.log(cells.map((cell) => String(cell).padEnd(16)).join(''));

if (!existsSync(EXECUTABLE)) {
  console.error('there is no executable: make it with `npm run build:sea` first');
  process.exit(1);
}
console.log(`executable: ${mb(statSync(EXECUTABLE).size)}`);
for (const name of readdirSync(DIST).filter((file) => file.endsWith('.deb')))
  console.log(`${name}: ${mb(statSync(join(DIST, name)).size)}`);
const bare = Array.from({ length: rounds }, () => {
  const before = performance.now();
  spawnSync(process.execPath, ['-e', '0']);
  return performance.now() - before;
});
console.log(`\`node -e 0\`, for comparison: ${median(bare).toFixed(0)} ms`);
console.log(`each snitch with ${history} check-ins; memory and processor after ${quiet} s of quiet\n`);
row('snitches', 'ready after', 'resident', 'its own', 'one core', 'database');
for (const count of given.snitches.split(',').map(Number)) {
  const { ready, resident, own, share, database } = await measure(count);
  row(count, `${ready.toFixed(0)} ms`, mb(resident), mb(own), `${(share * 100).toFixed(1)} %`, mb(database));
}
