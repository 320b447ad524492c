/**
 * The dashboard with 100, 1,000 and 10,000 snitches, on a fake terminal of 160 × 50 that only counts: how long it takes
 * from a key to its frame, frames a second while a key is held, and the processor time and memory that changes cost.
 *
 *   npm run bench:dashboard -- [--seconds 5] [--changes 100] [--sizes 100,1000,10000]
 */
import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ReadStream, WriteStream } from 'node:tty';
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { register } from 'tsx/esm/api';
import type { Client } from '../src/api/client.ts';
import type { WireSnitch, WireStatus } from '../src/api/wire.ts';
import { quantile } from './quantile.ts';

// React is several times slower with the checks of its development build, which nobody runs.
process.env.NODE_ENV = 'production';
// Node alone cannot read JSX.
register();
const { startApp } = await import('../src/tui/app.tsx');
const { UNICODE } = await import('../src/tui/drawing/glyphs.ts');

const { values: given } = parseArgs({
  options: {
    seconds: { type: 'string', default: '5' },
    changes: { type: 'string', default: '100' },
    sizes: { type: 'string', default: '100,1000,10000' },
  },
});
setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
const seconds = Number(given.seconds);
const changesPerSecond = Number(given.changes);

/** How often the daemon reports changes, in milliseconds. */
const GATHER = 100;

const INTERVALS: readonly string[] = ['5_minute', '15_minute', 'hourly', 'daily', 'weekly', 'monthly'];
const HEALTHY = ['healthy', 'healthy', 'healthy', 'healthy'] as const;
const STATUSES = [...HEALTHY, 'failed', 'errored', 'paused', 'pending'] as const;

function snitchAt(
  index: number,
  now: number,
  status: WireStatus = STATUSES[index % STATUSES.length] ?? 'healthy',
): WireSnitch {
  const token = `token-${index}`;
  const isAwaited = status === 'healthy' || status === 'errored';
  const soon = new Date(now + ((index * 7919) % 86_400) * 1_000).toISOString();
  const interval = INTERVALS[index % INTERVALS.length] ?? 'daily';
  return {
    token,
    href: `/v1/snitches/${token}`,
    name: `job-${(index * 7919) % 100_003}-on-host-${index % 97}`,
    tags: [`team-${index % 9}`, index % 2 ? 'production' : 'staging'],
    notes: '',
    status,
    checked_in_at: new Date(now - (index % 3_600) * 1_000).toISOString(),
    check_in_url: `http://127.0.0.1:7676/c/${token}`,
    interval,
    type: { interval },
    alert_type: 'basic',
    alert_email: [],
    deadline: isAwaited ? soon : null,
    missing_since: status === 'failed' ? new Date(now - index * 1_000).toISOString() : null,
    created_at: new Date(now - 1e9).toISOString(),
  };
}

/** A server that answers from memory, and streams the changes it is told to. */
function fakeServer(count: number) {
  const snitches = Array.from({ length: count }, (_, index) => snitchAt(index, Date.now()));
  const stream = new PassThrough();
  let position = 0;
  const change = (number: number) => {
    let events = '';
    for (let one = 0; one < number; one += 1) {
      const index = Math.floor(Math.random() * count);
      const status = STATUSES[Math.floor(Math.random() * STATUSES.length)] ?? 'healthy';
      snitches[index] = { ...snitchAt(index, Date.now(), status), checked_in_at: new Date().toISOString() };
      events += `event: snitch\ndata: ${JSON.stringify(snitches[index])}\n\n`;
    }
    position += 1;
    stream.write(`${events}id: run:${position}\nevent: informed\ndata: {}\n\n`);
  };
  const now = Date.now();
  const time = (at: number) => ({ at: new Date(at).toISOString(), local: '' });
  const client = {
    listSnitches: async () => snitches,
    stream: async () => {
      stream.write('id: run:0\nevent: reset\ndata: {}\n\n');
      return stream;
    },
    now: Date.now,
    getCase: async () => ({ name: 'default' }),
    explain: async () => ({
      timezone: 'UTC',
      period: { start: new Date(now - 60_000).toISOString(), end: new Date(now + 60_000).toISOString() },
      deadline: time(now + 3_600_000),
    }),
    listCheckIns: async () =>
      Array.from({ length: 20 }, (_, n) => ({
        at: new Date(now - n * 300_000).toISOString(),
        outcome: 'healthy',
      })),
  };
  // Only those methods of a client that the dashboard uses.
  return { client: client as unknown as Client, change };
}

function fakeTerminal() {
  const stdin = Object.assign(new PassThrough(), {
    isTTY: true,
    setRawMode: () => stdin,
    ref: () => stdin,
    unref: () => stdin,
  });
  const stdout = Object.assign(new EventEmitter(), {
    isTTY: true,
    columns: 160,
    rows: 50,
    writable: true,
    frames: 0,
    bytes: 0,
    write: (text: string, done?: unknown) => {
      const size = Buffer.byteLength(text);
      stdout.bytes += size;
      if (size > 12) {
        stdout.frames += 1;
        stdout.emit('frame');
      }
      if (typeof done === 'function') done();
      return true;
    },
  });
  return { stdin, stdout };
}

type Keyboard = ReturnType<typeof fakeTerminal>['stdin'];
type Screen = ReturnType<typeof fakeTerminal>['stdout'];

async function measure(count: number) {
  const { client, change } = fakeServer(count);
  const { stdin, stdout } = fakeTerminal();
  const look = { glyphs: UNICODE, styling: 'color' as const };
  const terminal = { stdin: stdin as unknown as ReadStream, stdout: stdout as unknown as WriteStream };
  const server = 'http://127.0.0.1:7676';
  const app = startApp({
    connect: () => client,
    server,
    readonly: false,
    ...terminal,
    look,
    clock: Date.now,
    env: {},
    program: '',
  });
  await sleep(1_500);
  const latencies = await keyLatencies(stdin, stdout);
  const filtering = await keyLatencies(stdin, stdout, '/job-1', '\u001b');
  const held = await holdKey(stdin, stdout);
  const busy = await underChanges(change, stdout);
  app.close();
  return { snitches: count, ...latencies, 'filter p95 ms': filtering['key p95 ms'], ...held, ...busy };
}

/** One key at a time, each until its frame is written. */
async function keyLatencies(stdin: Keyboard, stdout: Screen, keys = 'jjjGkkkgjjjj', end = '') {
  const times: number[] = [];
  for (let round = 0; round < 5; round += 1) {
    for (const key of keys) {
      const pressed = performance.now();
      const framed = new Promise((resolve) => stdout.once('frame', resolve));
      stdin.write(key);
      if (await Promise.race([framed.then(() => true), sleep(200, false)]))
        times.push(performance.now() - pressed);
      await sleep(20);
    }
    if (end !== '') {
      stdin.write(end);
      await sleep(60);
    }
  }
  const at = (share: number) => Number(quantile(times, share).toFixed(1));
  return { 'key p50 ms': at(0.5), 'key p95 ms': at(0.95), 'key max ms': at(1) };
}

/** Repeats a key faster than any keyboard does. */
async function holdKey(stdin: Keyboard, stdout: Screen) {
  const before = stdout.frames;
  const began = performance.now();
  for (let count = 0; performance.now() - began < 2_000; count += 1) {
    stdin.write(count % 20 < 10 ? 'j' : 'k');
    await sleep(5);
  }
  return { 'frames/s': Math.round((stdout.frames - before) / ((performance.now() - began) / 1_000)) };
}

async function underChanges(change: (number: number) => void, stdout: Screen) {
  collectGarbage();
  const heapBefore = process.memoryUsage().heapUsed;
  const bytesBefore = stdout.bytes;
  const cpu = process.cpuUsage();
  const began = performance.now();
  while (performance.now() - began < seconds * 1_000) {
    change(Math.round((changesPerSecond * GATHER) / 1_000));
    await sleep(GATHER);
  }
  const elapsed = performance.now() - began;
  const { user, system } = process.cpuUsage(cpu);
  collectGarbage();
  return {
    'CPU %': Math.round((user + system) / 10 / elapsed),
    'heap growth MB': Number(((process.memoryUsage().heapUsed - heapBefore) / 1e6).toFixed(1)),
    'written kB/s': Math.round((stdout.bytes - bytesBefore) / elapsed),
  };
}

const rows = [];
for (const size of given.sizes.split(',')) rows.push(await measure(Number(size)));
console.log(`160 × 50 terminal, ${changesPerSecond} changes a second for ${seconds} s`);
console.table(rows);
process.exit(0);
