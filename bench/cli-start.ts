/**
 * How long `snitch list` takes against a running daemon with 20 snitches, beside `node -e 0`: alternating rounds,
 * medians, and their ratio. Run `node build.mjs` first.
 *
 *   node bench/cli-start.ts [rounds]
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { median } from './quantile.ts';

const ROUNDS = Number(process.argv[2] ?? 40);
const PROGRAM = join(import.meta.dirname, '../dist/snitch.mjs');
const dataDir = mkdtempSync(join(tmpdir(), 'snitch-bench-'));
const env = { PATH: process.env.PATH, HOME: dataDir, SNITCH_DATA_DIR: dataDir, SNITCH_LISTEN: '127.0.0.1:0' };

const daemon = spawn(process.execPath, [PROGRAM, 'serve'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
try {
  const url = await listening();
  await createSnitches(url, 20);
  report(measure());
} finally {
  daemon.kill('SIGTERM');
  await once(daemon, 'exit');
  rmSync(dataDir, { recursive: true });
}

async function listening(): Promise<string> {
  for await (const line of createInterface({ input: daemon.stdout })) {
    if (line.includes('"msg":"listening"')) return (JSON.parse(line) as { url: string }).url;
  }
  throw new Error('the daemon ended before it listened');
}

async function createSnitches(url: string, count: number): Promise<void> {
  const key = /^api_key: *(\S+)/m.exec(readFileSync(join(dataDir, 'credentials.yaml'), 'utf8'))?.[1];
  const headers = { authorization: `Basic ${btoa(`${key}:`)}`, 'content-type': 'application/json' };
  for (let number = 1; number <= count; number += 1) {
    const body = JSON.stringify({ name: `job ${number}`, interval: 'daily', tags: ['bench'] });
    const response = await fetch(`${url}/v1/snitches`, { method: 'POST', headers, body });
    if (!response.ok) throw new Error(`create answered ${response.status}`);
  }
}

/** Milliseconds of each round. */
interface Measured {
  bare: number[];
  list: number[];
}

/** Alternating, so that whatever else the machine does affects both alike. */
function measure(): Measured {
  const bare: number[] = [];
  const list: number[] = [];
  for (let round = -2; round < ROUNDS; round += 1) {
    const one = time(['-e', '0']);
    const other = time([PROGRAM, 'list'], 22);
    // The first rounds fill the cache of the disk and that of V8.
    if (round < 0) continue;
    bare.push(one);
    list.push(other);
  }
  return { bare, list };
}

function time(args: string[], lines = 0): number {
  const start = performance.now();
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { env, encoding: 'utf8' });
  const took = performance.now() - start;
  if (status !== 0 || (lines > 0 && stdout.split('\n').length !== lines)) {
    throw new Error(`node ${args.join(' ')} ended with ${status}: ${stdout}${stderr}`);
  }
  return took;
}

function report({ bare, list }: Measured): void {
  const [one, other] = [median(bare), median(list)];
  console.log(`node -e 0     median ${one.toFixed(1)} ms`);
  console.log(`snitch list   median ${other.toFixed(1)} ms   (20 snitches, ${ROUNDS} rounds)`);
  console.log(`ratio         ${(other / one).toFixed(2)}   (aim: at most 2)`);
}
