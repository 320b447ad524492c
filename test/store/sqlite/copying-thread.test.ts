/** The thread that copies the log: what it does, and what becomes of it when it dies, hangs or cannot begin. */
import { copyFileSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import Database from 'better-sqlite3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { CopyingThread } from '../../../src/store/sqlite/background-copy.ts';
import { openDatabase } from '../../../src/store/sqlite/connection.ts';
import type { CopyingAnswer, CopyingWork } from '../../../src/store/sqlite/copying-thread.ts';
import { closing } from '../../closing.ts';
import { until } from '../../until.ts';
import { rejection, temporaryDirectory } from '../fixture.ts';

interface World {
  dataDir: string;
  path: string;
  db: Database.Database;
  /** Closed after each test. */
  threads: CopyingThread[];
}

const thread = suite<World>('the thread that copies');

thread.before.each((world) => {
  const dataDir = temporaryDirectory();
  const db = openDatabase(dataDir);
  db.exec('CREATE TABLE work (text TEXT)');
  Object.assign(world, { dataDir, path: join(dataDir, 'snitch.db'), db, threads: [] });
});

thread.after.each(async ({ dataDir, db, threads }) => {
  for (const one of threads) await one.end();
  db.close();
  rmSync(dataDir, { recursive: true });
});

type Options = ConstructorParameters<typeof CopyingThread>[2];

function threadFor({ path, threads }: World, options?: Options, isInPlace = () => true): CopyingThread {
  const one = new CopyingThread(path, isInPlace, options);
  threads.push(one);
  return one;
}

function write({ db }: World, count = 1): void {
  for (let index = 0; index < count; index += 1) {
    db.prepare('INSERT INTO work VALUES (?)').run('x'.repeat(900));
  }
}

/** What a copy of the database file has, which has no log. */
function rowsWithoutLog({ dataDir, path }: World): unknown {
  const copy = join(dataDir, 'copy.db');
  copyFileSync(path, copy);
  const db = new Database(copy);
  try {
    return db.prepare('SELECT count(*) FROM work').pluck().get();
  } finally {
    db.close();
  }
}

const tasks = () => readdirSync('/proc/self/task').length;

/** Copies everything, as soon as the thread that was given up has ended, and the next one had its time to begin. */
async function copiesAgain(one: CopyingThread): Promise<void> {
  await until(async () => {
    const copied = await one.copy().catch((error: Error) => error);
    if (copied instanceof Error) assert.match(copied.message, /has not ended yet|did not answer/);
    else assert.equal(copied, { left: 0 });
    return !(copied instanceof Error);
  }, 'the next thread copies');
}

thread('brings the log into the database while others write, again and again', async (world) => {
  const one = threadFor(world);
  write(world, 50);
  assert.equal(await one.copy(), { left: 0 });
  assert.is(rowsWithoutLog(world), 50);
  const copying = one.copy();
  write(world, 300);
  await copying;
  write(world);
  assert.equal(await one.copy(), { left: 0 });
  assert.is(rowsWithoutLog(world), 351);
});

thread('leaves what somebody reads an older state of', async (world) => {
  const one = threadFor(world);
  write(world, 10);
  using reader = closing(new Database(world.path, { readonly: true }));
  reader.exec('BEGIN');
  assert.is(reader.prepare('SELECT count(*) FROM work').pluck().get(), 10);
  write(world, 40);
  const { left } = await one.copy();
  assert.ok(left >= 40, `${left} pages`);
  reader.close();
  assert.equal(await one.copy(), { left: 0 });
  assert.is(rowsWithoutLog(world), 50);
});

thread('ends when it was not needed for some time, and is started again', async (world) => {
  const before = tasks();
  const one = threadFor(world, { kept: 1 });
  for (let time = 0; time < 2; time += 1) {
    write(world, 10);
    assert.equal(await one.copy(), { left: 0 });
    while (tasks() > before) await sleep(2);
  }
  assert.is(rowsWithoutLog(world), 20);
});

thread('does not begin on files that are not those of the store', async (world) => {
  const one = threadFor(world, {}, () => false);
  assert.match(String(await rejection(one.copy())), 'not where they were');
  let asked = 0;
  const replaced = threadFor(world, {}, () => ++asked < 2);
  assert.match(String(await rejection(replaced.copy())), 'not where they were');
});

thread('says why it cannot open the database, and can when it is there again', async (world) => {
  const one = threadFor(world);
  renameSync(world.path, `${world.path}.away`);
  const refusal = (await rejection(one.copy())) as NodeJS.ErrnoException;
  assert.is(refusal.code, 'SQLITE_CANTOPEN');
  renameSync(`${world.path}.away`, world.path);
  write(world, 7);
  await copiesAgain(one);
  assert.is(rowsWithoutLog(world), 7);
});

const PROGRAM = new URL('../../../src/store/sqlite/copying-thread.ts', import.meta.url);
const READY = `require('node:worker_threads').parentPort.postMessage({ kind: 'ready' });`;

/** How a thread can fail: its code, and what is reported. */
const FAILING: Record<string, [code: string, says: string]> = {
  'one that dies at its start': ['process.exit(3)', 'the thread ended'],
  'one that dies at its work': [
    `${READY} require('node:worker_threads').parentPort.once('message', () => process.exit(0))`,
    'the thread ended',
  ],
  'one that throws': [`${READY} throw new Error('out of luck')`, 'out of luck'],
  'one that hangs': [`${READY} for (;;);`, 'did not answer within 2 s'],
};

thread('one that ended before anybody looked is given up at once', async (world) => {
  const startThread = (workerData: CopyingWork) => {
    const code = `${READY} require('node:worker_threads').parentPort.once('message', () => {})`;
    const worker = new Worker(code, { eval: true, workerData });
    // The process was busy meanwhile, and gets all messages of the thread at once.
    const once = worker.once.bind(worker) as (
      name: string,
      listener: (...given: unknown[]) => void,
    ) => Worker;
    const held = (name: string, listener: (...given: unknown[]) => void) =>
      name === 'message'
        ? once(name, (answer) => {
            listener(answer);
            worker.emit('error', new Error('out of luck'));
            worker.emit('exit', 1);
          })
        : once(name, listener);
    return Object.assign(worker, { once: held });
  };
  const one = threadFor(world, { startThread, patience: 2_000 });
  write(world, 3);
  assert.match(String(await rejection(one.copy())), 'out of luck');
});

for (const [what, [code, says]] of Object.entries(FAILING)) {
  thread(`${what} is given up, and the next one works`, async (world) => {
    let started = 0;
    const startThread = (workerData: CopyingWork) => {
      started += 1;
      return started === 1
        ? new Worker(code, { eval: true, workerData })
        : new Worker(PROGRAM, { workerData });
    };
    const one = threadFor(world, { startThread, patience: what.includes('hangs') ? 2_000 : 30_000 });
    write(world, 3);
    assert.match(String(await rejection(one.copy())), says);
    await copiesAgain(one);
    assert.is(rowsWithoutLog(world), 3);
  });
}

/** The first answer of a thread that takes SQLite from `addon`. */
function answerWith(addon: string, path: string): Promise<CopyingAnswer> {
  const worker = new Worker(PROGRAM, { workerData: { path, addon } satisfies CopyingWork });
  return new Promise<CopyingAnswer>((resolve, reject) => {
    worker.once('message', resolve).once('error', reject);
  }).finally(() => worker.terminate());
}

thread('a second SQLite in the process is refused before it opens anything', async ({ dataDir, path }) => {
  const [, addon = ''] = /(\/\S+\.node)$/m.exec(readFileSync('/proc/self/maps', 'utf8')) ?? [];
  const other = join(dataDir, 'other.node');
  copyFileSync(addon, other);
  assert.equal(await answerWith(addon, path), { kind: 'ready' });
  const refused = await answerWith(other, path);
  assert.is(refused.kind, 'failed');
  assert.match(refused.kind === 'failed' ? refused.message : '', 'replaced');
});

thread.run();
