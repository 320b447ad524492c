/**
 * The benches, shortened, against the built program (dist/snitch.mjs), so that they still work when somebody
 * needs them. Time limit: 300 s.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { cases } from '../../bench/cases/index.ts';
import { readOptions } from '../../bench/options.ts';
import { unless, without } from '../skipped.ts';
import { WITHOUT_POSTGRES } from '../store/postgres/clusters/programs.ts';

const test = suite<{ dir: string }>('the benches, shortened');

const MAIN = join(import.meta.dirname, '../../bench/main.ts');

/** An interrupted bench ends within this time even on a busy host, in milliseconds. */
const PATIENCE = 60_000;

test.before.each((context) => {
  context.dir = mkdtempSync(join(tmpdir(), 'snitch-bench-test-'));
});
test.after.each(({ dir }) => rmSync(dir, { recursive: true }));

interface Bench {
  child: ChildProcess;
  /** Everything it printed, once it has ended. */
  ended: Promise<{ code: number; said: string }>;
}

function start(args: readonly string[], env: NodeJS.ProcessEnv = process.env): Bench {
  const child = spawn(process.execPath, [MAIN, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  }
  return { child, ended: once(child, 'close').then(([code]) => ({ code: Number(code), said })) };
}

/** The table cells for a case in a document that a bench wrote. */
function rowsOf(document: string, name: string): string[][] {
  return readFileSync(document, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith(`| \`${name}\` |`))
    .map((line) => line.split(' |').map((cell) => cell.trim()));
}

const needed = unless(without('wrk', '-v'), test);
const onPostgres = unless(without('wrk', '-v') ?? WITHOUT_POSTGRES, test);

needed('every case comes to its end, with a figure in each of its lines', async ({ dir }) => {
  const [data, document] = [join(dir, 'data'), join(dir, 'measured.md')];
  const { code, said } = await start(['--fast', '--data', data, '--write', document]).ended;
  assert.is(code, 0, said);
  for (const { name, onlyNamed } of cases) {
    if (onlyNamed) continue;
    const rows = rowsOf(document, name);
    assert.ok(rows.length > 0, name);
    for (const [, what, measured] of rows) {
      assert.match(String(measured), /^[\d,.]+(?:\/s| ms| s| MB)$/, `${name}: ${what}`);
    }
    assert.match(said, `${name}: round 1 of 1`);
  }
  assert.equal(readdirSync(data), [], 'nothing is left behind');
});

onPostgres(
  'on PostgreSQL each figure stands beside that of SQLite, and no server is left',
  async ({ dir }) => {
    const [data, document] = [join(dir, 'data'), join(dir, 'measured.md')];
    // The server does not run as root, and must be able to enter its directory below this one.
    chmodSync(dir, 0o711);
    const args = ['--store', 'postgres', '--case', 'first-of-period', '--delay', '1', '--fast'];
    const { code, said } = await start([...args, '--data', data, '--write', document]).ended;
    assert.is(code, 0, said);
    // The cases that run only on SQLite were not measured, and come first in the file.
    const rows = rowsOf(document, 'first-of-period').filter(([, , measured]) => measured !== '–');
    assert.ok(rows.length > 0, said);
    for (const [, what, measured, , beside] of rows) {
      assert.match(String(what), / 1 ms away$/);
      assert.match(String(measured), /^[\d,.]+(?:\/s| µs| ms)$/, what);
      if (!what?.includes('of PostgreSQL')) assert.match(String(beside), /^SQLite: [\d,.]+/, what);
    }
    assert.equal(readdirSync(data), [], 'nothing is left behind');
  },
);

needed('a run that is interrupted keeps what it has measured', async ({ dir }) => {
  const [data, document] = [join(dir, 'data'), join(dir, 'measured.md')];
  const { child, ended } = start(['--fast', '--case', 'size,resident', '--data', data, '--write', document]);
  try {
    for (let waited = 0; !existsSync(document) && waited < PATIENCE; waited += 20) await sleep(20);
  } finally {
    child.kill('SIGINT');
  }
  const { code, said } = await ended;
  assert.is(code, 130, said);
  assert.match(String(rowsOf(document, 'size')[0]?.[2]), / MB$/);
  assert.is(rowsOf(document, 'resident')[0]?.[2], '–');
  assert.equal(readdirSync(data), [], 'nothing is left behind');
});

test('without wrk it says what to install', async ({ dir }) => {
  const tools = join(dir, 'tools');
  mkdirSync(tools);
  symlinkSync(process.execPath, join(tools, 'node'));
  const { code, said } = await start(['--fast'], { PATH: tools }).ended;
  assert.is(code, 2, said);
  assert.match(said, 'apt-get install wrk');
});

needed('what is not understood is refused in words, before anything is made', async ({ dir }) => {
  const data = join(dir, 'data');
  for (const [args, words] of [
    [['--case', 'hto'], 'there is no case hto: there are hot, '],
    [['--rounds', 'many'], '--rounds takes a whole number from 1 on, and not many'],
    [['--store', 'postgres', '--case', 'size'], 'the case size is about SQLite'],
    [['--beside', 'no-such-commit'], 'there is no commit no-such-commit'],
  ] as const) {
    const { code, said } = await start([...args, '--data', data]).ended;
    assert.is(code, 2, said);
    assert.ok(said.includes(words), said);
    assert.not(existsSync(data));
  }
  for (const [args, words] of [
    [['--delay', '2'], /^--delay is of the way to PostgreSQL/],
    [['--sizes', '3'], /^Unknown option '--sizes'/],
  ] as const) {
    assert.throws(() => readOptions(args, 'measured.md'), words);
  }
});

test.run();
