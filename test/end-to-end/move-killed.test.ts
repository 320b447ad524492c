/**
 * A move that is killed in any phase leaves its target empty or complete, and the same command then succeeds. With the
 * built program on a terminal, whose progress says which phase it is. CHAOS=full kills it amid the last table too.
 * Time limit: 300 s.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { runSnitch } from '../cli/snitch-process.ts';
import { compileCache } from '../compile-cache.ts';
import { ownDirectory } from '../data-directory.ts';
import { runUnless } from '../skipped.ts';
import { contentOfDatabase, contentOfFile, differences, makeRich } from '../store/move/rich.ts';
import { type Cluster, startCluster } from '../store/postgres/clusters/cluster.ts';
import { type Link, openLink } from '../store/postgres/clusters/link.ts';
import { WITHOUT_POSTGRES } from '../store/postgres/clusters/programs.ts';

interface Context {
  cluster: Cluster;
  link: Link;
}

const SNITCH = fileURLToPath(new URL('../../bin/snitch', import.meta.url));

/** The tables amid which it is killed: one in the middle of the order, and perhaps the last. */
const TABLES = process.env.CHAOS === 'full' ? ['check_ins', 'badges'] : ['check_ins'];

const PHASES = [
  ...['checking the source', 'preparing the target'],
  ...TABLES.map((table) => `copying ${table}`),
  ...TABLES.map((table) => `verifying ${table}`),
  'making it last',
];

const test = suite<Context>('a move that is killed');

test.before(async (context) => {
  context.cluster = await startCluster();
  context.link = await openLink(context.cluster.port);
});
test.after(async ({ cluster, link }) => {
  await link[Symbol.asyncDispose]();
  await cluster[Symbol.asyncDispose]();
});

/** How long a byte takes each way: long enough for a phase to be seen and hit, and longer where the host was too busy. */
const DELAYS_MS = [4, 20, 100];

/** The program that `script` runs in its terminal. */
function grandchildOf(pid: number | undefined): number | null {
  const [child] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ');
  return child ? Number(child) : null;
}

/** Runs it on a terminal and kills it once it says `phase`. @returns what was on the screen */
async function killedAt(
  phase: string,
  args: readonly string[],
  env: Record<string, string>,
): Promise<string> {
  const command = ['exec', SNITCH, 'move', ...args]
    .map((word) => `'${word}'`)
    .join(' ')
    .replace(`'exec'`, 'exec');
  const child: ChildProcess = spawn('script', ['--quiet', '--return', '--command', command, '/dev/null'], {
    env: {
      PATH: process.env.PATH,
      HOME: '/nonexistent',
      TERM: 'xterm',
      SHELL: '/bin/sh',
      ...compileCache(),
      ...env,
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  let screen = '';
  let isKilled = false;
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    screen += text;
    if (isKilled || !screen.includes(phase)) return;
    isKilled = true;
    const pid = grandchildOf(child.pid);
    if (pid !== null) process.kill(pid, 'SIGKILL');
  });
  await once(child, 'close');
  assert.ok(isKilled, `"${phase}" was seen:\n${screen}`);
  return screen;
}

/**
 * Kills moves until one was cut in that phase. One that was complete before the kill is checked as well, and the next is
 * slower. The last phase ends with what makes the move count, so that there either may come first.
 * @param isCut kills one, looks at what it left and at what the same command then does
 */
async function cutAt(phase: string, link: Link, isCut: (phase: string) => Promise<boolean>): Promise<void> {
  for (const delayMs of DELAYS_MS) {
    link.delay(delayMs);
    if ((await isCut(phase)) || phase === 'making it last') return;
  }
  assert.unreachable(`"${phase}" was over before the kill, ${DELAYS_MS.length} times`);
}

test('on the way to PostgreSQL', async ({ cluster, link }) => {
  using place = ownDirectory();
  const path = join(place.path, 'snitch.db');
  makeRich(path);
  const expected = contentOfFile(path);
  const env = { SNITCH_DATA_DIR: place.path };
  const isCut = async (phase: string): Promise<boolean> => {
    const database = await cluster.newDatabase();
    const args = ['--to', `postgres://postgres@127.0.0.1:${link.port}/${database}`];
    const screen = await killedAt(phase, args, env);
    const again = await runSnitch(['move', ...args], env);
    if (again.code !== 0) assert.match(again.stderr, 'is not empty', `${phase}: ${screen}`);
    assert.equal(differences(await contentOfDatabase(cluster, database), expected), [], phase);
    return again.code === 0;
  };
  for (const phase of PHASES) await cutAt(phase, link, isCut);
});

test('on the way back to SQLite', async ({ cluster, link }) => {
  using place = ownDirectory();
  const path = join(place.path, 'snitch.db');
  makeRich(path);
  const database = await cluster.newDatabase();
  const url = `postgres://postgres@127.0.0.1:${link.port}/${database}`;
  const there = await runSnitch(['move', '--to', url], { SNITCH_DATA_DIR: place.path });
  assert.is(there.code, 0, there.stderr);
  const expected = contentOfFile(path);
  const env = { SNITCH_DATA_DIR: place.path, SNITCH_STORE_URL: url };
  let moves = 0;
  const isCut = async (phase: string): Promise<boolean> => {
    moves += 1;
    const name = `back-${moves}.db`;
    const file = join(place.path, name);
    const args = ['--to', `sqlite:${file}`];
    await killedAt(phase, args, env);
    const wasCut = !existsSync(file);
    if (wasCut) assert.is((await runSnitch(['move', ...args], env)).code, 0, phase);
    assert.equal(differences(contentOfFile(file, { withNul: true }), expected), [], phase);
    const left = readdirSync(place.path).filter(
      (found) => found.startsWith(name) && !/-(wal|shm)$/.test(found),
    );
    if (wasCut) assert.equal(left, [name]);
    return wasCut;
  };
  for (const phase of PHASES) await cutAt(phase, link, isCut);
});

runUnless(WITHOUT_POSTGRES, test, 'a move that is killed');
