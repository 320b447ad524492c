// Time limit: 120 s.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { migrations } from '../../../src/store/migrations/index.ts';
import { databasePath } from '../../../src/store/sqlite/connection.ts';
import { type Bundled, bundled } from '../../bundled.ts';
import { closing } from '../../closing.ts';
import { unless, without } from '../../skipped.ts';
import { openIn, queryDirectory, temporaryDirectory } from '../fixture.ts';
import { type Content, contentOf, contentOfFile, filesBeside } from './content.ts';
import { BACKUP, CASE, rowsOfVersion1, writeVersion1 } from './version-1.ts';

const UPGRADER = fileURLToPath(new URL('upgrader.ts', import.meta.url));
const HERE = fileURLToPath(new URL('.', import.meta.url));
const LATEST = migrations.length;
const COPY = 'snitch.db.before-upgrade-from-1';

/** Each of them changes what a crash leaves on the disk. */
const CHANGES = ['pwrite64', 'rename', 'unlink', 'ftruncate'];

/** What the upgrade asked of the system: the `number`th call of this name, for this file. */
interface Call {
  name: string;
  number: number;
  file: string;
}

interface World {
  /** Bundled, because it starts faster than file by file. */
  upgrader: Bundled;
  dir: string;
  /** A database of the first version, to be copied for every crash. */
  template: string;
  before: Content;
}

const crash = suite<World>('crashes during an upgrade');
const traced = unless(without('strace', '-V'), crash);

crash.before((world) => {
  world.upgrader = bundled(UPGRADER);
});

crash.after(({ upgrader }) => upgrader[Symbol.dispose]());

crash.before.each((world) => {
  const dir = temporaryDirectory();
  const template = join(dir, 'template');
  Object.assign(world, { dir, template, before: writeVersion1(template) });
});

crash.after.each(({ dir }) => rmSync(dir, { recursive: true, force: true }));

const upgraderIn = ({ upgrader }: World, dataDir: string) => [process.execPath, upgrader.path, dataDir];

/** What an upgrade without a fault does to its files. */
function traceUpgrade(world: World): Call[] {
  const { dir, template } = world;
  const [dataDir, output] = [join(dir, 'traced'), join(dir, 'trace')];
  cpSync(template, dataDir, { recursive: true });
  const trace = ['-f', '-y', '-qq', '-e', `trace=${[...CHANGES, 'fsync'].join()}`, '-o', output];
  const { error, status } = spawnSync('strace', [...trace, ...upgraderIn(world, dataDir)], {
    cwd: HERE,
    stdio: 'ignore',
  });
  if (error) throw error;
  assert.is(status, 0, 'the upgrade runs while it is traced');
  const lines = readFileSync(output, 'utf8').split('\n');
  const thread = lines.find((line) => line.includes(dataDir))?.split(' ')[0];
  const counts = new Map<string, number>();
  return lines.flatMap((line) => {
    const [, id, name = '', file = ''] = /^(\d+) +(\w+)\((?:\d+<|")([^">]+)/.exec(line) ?? [];
    if (id !== thread) return [];
    const number = (counts.get(name) ?? 0) + 1;
    counts.set(name, number);
    return file.startsWith(dataDir) ? [{ name, number, file: basename(file) }] : [];
  });
}

/**
 * Leaves out most of a row of writes to one file without a sync between them, because crashes among these are alike. The
 * first two, every tenth and the last of such a row stay.
 */
function tellingOf(calls: readonly Call[]): Call[] {
  const same = (one: Call, other: Call | undefined) => one.name === other?.name && one.file === other.file;
  let place = 0;
  return calls.filter((call, index) => {
    place = same(call, calls[index - 1]) ? place + 1 : 0;
    return place < 2 || place % 10 === 0 || !same(call, calls[index + 1]);
  });
}

interface Fault {
  call: Call;
  /** In strace's words: `signal=KILL`, `error=EIO`. */
  what: string;
}

/** Upgrades a copy of the template with that fault, and answers with the data directory that is left. */
async function upgradeWith({ call, what }: Fault, world: World) {
  const { dir, template } = world;
  const dataDir = join(dir, `${call.name}-${call.number}`);
  cpSync(template, dataDir, { recursive: true });
  const inject = `inject=${call.name}:${what}:when=${call.number}`;
  const trace = ['-f', '-qq', '-e', `trace=${call.name}`, '-e', inject, '-o', '/dev/null'];
  const child = spawn('strace', [...trace, ...upgraderIn(world, dataDir)], { cwd: HERE, stdio: 'ignore' });
  const [status, signal] = (await once(child, 'exit')) as [number | null, string | null];
  return { dataDir, status, signal };
}

/** The copy is absent or whole, the database is as before or as after. */
function verifyLeft(dataDir: string, before: Content, when: string): void {
  const copy = join(dataDir, COPY);
  if (existsSync(copy)) assert.equal(contentOfFile(copy), before, `the copy, ${when}`);
  const looked = `${dataDir}-looked-at`;
  cpSync(dataDir, looked, { recursive: true });
  using db = closing(new Database(databasePath(looked)));
  const left = contentOf(db);
  db.close();
  rmSync(looked, { recursive: true });
  if (left.version === 1) assert.equal(left, before, `the database, ${when}`);
  else assert.equal([left.version, existsSync(copy)], [LATEST, true], `the version and the copy, ${when}`);
}

async function verifyNextStart(dataDir: string, before: Content, when: string): Promise<void> {
  await using store = openIn(dataDir);
  assert.is((await store.getSnitch(CASE, BACKUP))?.name, 'nightly-backup', when);
  await store.close();
  const now = rowsOfVersion1(dataDir, before);
  // What the present program counts, the old one did not.
  const counted = (rows: unknown[]) =>
    rows.filter((row) => (row as { name?: string }).name !== 'commit').length;
  for (const [table, rows] of Object.entries(before.rows)) {
    assert.is(counted(now[table] ?? []), rows.length, `rows of ${table}, ${when}`);
  }
  assert.equal(queryDirectory(dataDir, 'PRAGMA user_version'), [{ user_version: LATEST }], when);
  assert.equal(queryDirectory(dataDir, 'PRAGMA integrity_check'), [{ integrity_check: 'ok' }], when);
  assert.equal(filesBeside(dataDir), [COPY], when);
  assert.equal(contentOfFile(join(dataDir, COPY)), before, `the copy after the next start, ${when}`);
}

/** Two at a time: most of it is the start of processes. */
async function withEach(faults: readonly Fault[], verify: (fault: Fault) => Promise<void>): Promise<void> {
  const waiting = faults[Symbol.iterator]();
  const work = async () => {
    for (const fault of waiting) await verify(fault);
  };
  await Promise.all([work(), work()]);
}

traced('killed at any write: before or after, with all rows, and the next start goes on', async (world) => {
  const calls = traceUpgrade(world);
  const changes = tellingOf(calls).filter(({ name }) => name !== 'fsync');
  const written = new Set(changes.map(({ file }) => file));
  for (const file of ['snitch.db', 'snitch.db-wal', `${COPY}.partial`]) assert.ok(written.has(file), file);
  let upgraded = 0;
  await withEach(
    changes.map((call) => ({ call, what: 'signal=KILL' })),
    async (fault) => {
      const when = `killed at ${fault.call.name} ${fault.call.number} of ${fault.call.file}`;
      const { dataDir, signal } = await upgradeWith(fault, world);
      assert.is(signal, 'SIGKILL', when);
      verifyLeft(dataDir, world.before, when);
      if (existsSync(join(dataDir, COPY))) upgraded += 1;
      await verifyNextStart(dataDir, world.before, when);
    },
  );
  assert.ok(upgraded > 5 && upgraded < changes.length - 5, `${upgraded} of ${changes.length} had a copy`);
});

traced('a sync that fails: refused, or done, and never between', async (world) => {
  const calls = traceUpgrade(world);
  const syncs = calls.filter(({ name }) => name === 'fsync');
  const copying = syncs.filter(({ file }) => file.startsWith(COPY));
  assert.ok(copying.length > 0 && copying.length < syncs.length);
  await withEach(
    syncs.map((call) => ({ call, what: 'error=EIO' })),
    async (fault) => {
      const when = `sync ${fault.call.number} of ${fault.call.file} failed`;
      const { dataDir, status, signal } = await upgradeWith(fault, world);
      assert.is(signal, null, when);
      if (copying.includes(fault.call)) assert.is(status, 1, `${when}, and the start went on`);
      verifyLeft(dataDir, world.before, when);
      await verifyNextStart(dataDir, world.before, when);
    },
  );
});

traced('the copy is on the disk, under its name, before the database changes', (world) => {
  const calls = traceUpgrade(world);
  const order = calls.map(({ name, file }) => `${name} ${file}`);
  const synced = order.lastIndexOf(`fsync ${COPY}.partial`);
  const named = order.indexOf(`rename ${COPY}.partial`);
  const kept = order.indexOf(`fsync ${basename(join(world.dir, 'traced'))}`, named);
  const changed = order.findIndex((call) => /^pwrite64 snitch\.db(-wal)?$/.test(call));
  assert.ok(order.lastIndexOf(`pwrite64 ${COPY}.partial`) < synced, 'synced after the last write');
  assert.ok(synced >= 0 && synced < named && named < kept && kept < changed, order.join('\n'));
});

crash.run();
