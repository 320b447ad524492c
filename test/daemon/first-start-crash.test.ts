/** A first start is killed at every point, in a new process each time. Not with --fast. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parse } from 'yaml';
import { completeFirstStart } from '../../src/daemon/first-start.ts';
import { bundled } from '../bundled.ts';
import { openIn, temporaryDirectory } from '../store/fixture.ts';

const STARTER = join(import.meta.dirname, 'first-starter.ts');
const FILES = ['snitch.lock', 'snitch.db', 'snitch.db-journal', 'snitch.db-wal', 'snitch.acknowledged'];

/** Before it the draft of the file with the keys has a name that differs each time. Nothing else is renamed. */
const NAMING = { name: 'rename', number: 1 };

/** What Node keeps of the program would be renamed too. */
const env = { ...process.env, NODE_DISABLE_COMPILE_CACHE: '1' };

interface Start {
  /** The program, bundled. */
  starter: string;
  dataDir: string;
}

/** Each of these system calls changes what a crash leaves; at most this many of each are tried. */
const CALLS: Record<string, number> = { openat: 6, pwrite64: 10, ftruncate: 2, unlink: 2 };

function straceOf({ starter, dataDir }: Start, ...options: string[]): string[] {
  return ['-f', '-qq', ...options, process.execPath, starter, dataDir];
}

function watched({ dataDir }: Start): string[] {
  return FILES.flatMap((file) => ['-P', join(dataDir, file)]);
}

/** How often each call is made by a first start. */
function countCalls(start: Start): Map<string, number> {
  const output = `${start.dataDir}.trace`;
  const trace = ['-e', `trace=${Object.keys(CALLS).join()}`, '-o', output];
  const { stderr } = spawnSync('strace', straceOf(start, ...watched(start), ...trace), {
    encoding: 'utf8',
    env,
  });
  assert.is(stderr, '');
  const names = readFileSync(output, 'utf8').matchAll(/^\d+ +(\w+)\(/gm);
  const counts = new Map<string, number>();
  for (const [, name = ''] of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

async function killedAt(name: string, number: number, start: Start): Promise<void> {
  const inject = [
    ...(name === NAMING.name ? [] : watched(start)),
    '-e',
    `trace=${name}`,
    '-e',
    `inject=${name}:signal=KILL:when=${number}`,
    '-o',
    '/dev/null',
  ];
  const child = spawn('strace', straceOf(start, ...inject), { stdio: 'ignore', env });
  const [, signal] = await once(child, 'exit');
  assert.is(signal, 'SIGKILL', `${name} ${number} was not reached`);
}

const crash = suite('a first start that is interrupted');

crash('goes on at the next start, wherever it was', async () => {
  using bundle = bundled(STARTER);
  const starter = bundle.path;
  const dir = temporaryDirectory();
  try {
    const counts = countCalls({ starter, dataDir: join(dir, 'traced') });
    assert.ok((counts.get('pwrite64') ?? 0) > 10);
    const moments = Object.entries(CALLS).flatMap(([name, most]) => {
      const count = counts.get(name) ?? 0;
      const tried = Math.min(most, count);
      return Array.from({ length: tried }, (_, index) => ({
        name,
        number: 1 + Math.floor((index * count) / tried),
      }));
    });
    const verify = async ({ name, number }: (typeof moments)[number]) => {
      const dataDir = join(dir, `${name}-${number}`);
      await killedAt(name, number, { starter, dataDir });
      await using store = openIn(dataDir, { clock: Date.now });
      await completeFirstStart(store, { dataDir, url: 'http://localhost', adminKey: null }, Date.now());
      const keys = parse(readFileSync(join(dataDir, 'credentials.yaml'), 'utf8')) as Record<string, string>;
      for (const key of ['admin_key', 'api_key']) {
        assert.ok(await store.findApiKey(keys[key] ?? ''), `${key}, killed at ${name} ${number}`);
      }
    };
    const waiting = [NAMING, ...moments][Symbol.iterator]();
    const work = async () => {
      for (const moment of waiting) await verify(moment);
    };
    await Promise.all([work(), work()]);
    assert.ok(moments.length > 12, `${moments.length} moments`);
  } finally {
    rmSync(dir, { recursive: true });
  }
});

crash.run();
