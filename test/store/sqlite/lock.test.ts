import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readlinkSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { databasePath } from '../../../src/store/sqlite/connection.ts';
import { DataDirLocked, lockDataDir, lockPath, takeLock } from '../../../src/store/sqlite/lock.ts';
import { until } from '../../until.ts';
import { openIn, queryDirectory, temporaryDirectory } from '../fixture.ts';

const HOLDER = fileURLToPath(new URL('holder.ts', import.meta.url));

interface World {
  dataDir: string;
  children: ChildProcess[];
}

const lock = suite<World>('one daemon per data directory');

lock.before.each((world) => {
  Object.assign(world, { dataDir: temporaryDirectory(), children: [] });
});

lock.after.each(async ({ dataDir, children }) => {
  for (const child of children) await kill(child);
  rmSync(dataDir, { recursive: true });
});

/** Starts a holder, and answers with the first line that it says. */
async function startHolder({ dataDir, children }: World): Promise<{ child: ChildProcess; said: string }> {
  const cwd = fileURLToPath(new URL('.', import.meta.url));
  const child = spawn(process.execPath, [HOLDER, dataDir], {
    cwd,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  for await (const said of createInterface({ input: child.stdout })) return { child, said };
  return { child, said: 'nothing' };
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

const open = ({ dataDir }: World) => openIn(dataDir);

lock('a second store in the same process is refused, and says what to do', async (world) => {
  await using store = open(world);
  assert.throws(
    () => open(world),
    (error: Error) => error instanceof DataDirLocked && error.message.includes(world.dataDir),
  );
  await store.setSetting('maintenance', 'on');
  await store.close();
  await open(world).close();
});

lock('a second process is refused, and the first goes on', async (world) => {
  await using store = open(world);
  assert.is((await startHolder(world)).said, 'DataDirLocked');
  await store.setSetting('maintenance', 'on');
});

lock('whoever is refused keeps no file open, however often it tries', async (world) => {
  const { said } = await startHolder(world);
  assert.is(said, 'holding');
  for (let attempt = 0; attempt < 3; attempt += 1)
    assert.throws(
      () => takeLock(world.dataDir),
      (error: Error) => error instanceof DataDirLocked,
    );
  const links = readdirSync('/proc/self/fd').map((fd) => `/proc/self/fd/${fd}`);
  const open = links.filter((link) => existsSync(link)).map((link) => readlinkSync(link));
  assert.equal(
    open.filter((path) => path.startsWith(world.dataDir)),
    [],
  );
});

lock('kill -9 frees the directory, and what was acknowledged is there', async (world) => {
  const { child, said } = await startHolder(world);
  assert.is(said, 'holding');
  assert.throws(
    () => open(world),
    (error: Error) => error instanceof DataDirLocked,
  );
  await kill(child);
  await using store = open(world);
  assert.is(await store.getSetting('maintenance'), 'on');
});

lock('others may read while a store is open', async (world) => {
  await using store = open(world);
  await store.setSetting('maintenance', 'on');
  assert.equal(queryDirectory(world.dataDir, `SELECT value FROM settings WHERE name = 'maintenance'`), [
    { value: 'on' },
  ]);
  assert.throws(() => open(world), /another snitch daemon/);
});

lock('a store that cannot be opened leaves the directory free', async (world) => {
  writeFileSync(databasePath(world.dataDir), 'no database at all, but long enough to look at '.repeat(40));
  for (let attempt = 0; attempt < 2; attempt += 1) assert.throws(() => open(world), /is damaged/);
});

lock(
  'a lock that is removed while it is in use is taken again before anybody else can have it',
  async (world) => {
    const reports: string[] = [];
    await using store = openIn(world.dataDir, { report: (message) => void reports.push(message) });
    for (const _ of ['once', 'and again']) {
      rmSync(lockPath(world.dataDir));
      await until(() => existsSync(lockPath(world.dataDir)));
      assert.is((await startHolder(world)).said, 'DataDirLocked');
      assert.not(store.isContested());
    }
    assert.is(reports.length, 1, 'it is not said each time');
    assert.match(reports[0] ?? '', /snitch\.lock was removed while it is in use, and is locked again/);
  },
);

lock('a second daemon that was quicker is told of, until it is gone', async (world) => {
  const reports: string[] = [];
  await using store = openIn(world.dataDir, {
    report: (message) => void reports.push(message),
    lookEvery: 5,
  });
  const elsewhere = join(world.dataDir, 'elsewhere');
  mkdirSync(elsewhere);
  const release = lockDataDir(elsewhere);
  renameSync(lockPath(elsewhere), lockPath(world.dataDir));
  await until(() => store.isContested());
  assert.match(reports.join(), /another process has locked the new one.*Stop one of them now$/);
  release();
  await until(() => !store.isContested());
  assert.match(reports[1] ?? '', /is locked again/);
  assert.throws(() => open(world), /another snitch daemon/);
});

lock('a directory that is deleted as a whole gets no new lock', async (world) => {
  await using store = openIn(world.dataDir, { lookEvery: 5 });
  rmSync(world.dataDir, { recursive: true });
  await sleep(100);
  assert.not(existsSync(world.dataDir));
  await store.close();
});

lock('a lock file that is no lock is told in words', (world) => {
  writeFileSync(join(world.dataDir, 'snitch.lock'), 'something else, and long enough to look at '.repeat(40));
  assert.throws(
    () => open(world),
    (error: Error) => error.name === 'DatabaseUnusable' && error.message.includes('snitch.lock'),
  );
});

lock.run();
