/** What the store has acknowledged is remembered outside the database, and missed if it is gone from it. */
import fs, { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import Database from 'better-sqlite3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  Acknowledged,
  countCommits,
  forgetAcknowledged,
  type Loss,
} from '../../../src/store/sqlite/acknowledged.ts';
import { closing } from '../../closing.ts';
import { NOW, newCase, openIn, SECOND, temporaryDirectory } from '../fixture.ts';

interface World {
  dir: string;
  /** Where it is remembered. */
  file: string;
}

const test = suite<World>('what was acknowledged');

test.before.each((world) => {
  const dir = temporaryDirectory();
  Object.assign(world, { dir, file: join(dir, 'snitch.acknowledged') });
});

test.after.each(({ dir }) => rmSync(dir, { recursive: true }));

/** A database with this many commits, one a second. */
function databaseAt(commits: number, lineage = 'f'.repeat(16)): Database.Database {
  const db = new Database(':memory:');
  db.exec('CREATE TABLE settings (name TEXT PRIMARY KEY, value)');
  db.prepare(`INSERT INTO settings VALUES ('commit', ?)`).run(
    `${lineage} ${commits} ${NOW + commits * SECOND}`,
  );
  return db;
}

function commitOf(db: Database.Database): unknown {
  return db.prepare(`SELECT value FROM settings WHERE name = 'commit'`).pluck().get();
}

const fail = (error: unknown) => {
  throw error;
};

/** Opens the database, makes this many acknowledged commits, and closes it. */
function work({ dir }: World, db: Database.Database, commits: number): Loss | null {
  using acknowledged = closing(new Acknowledged(db, dir, NOW + 99 * SECOND, fail));
  for (let count = 0; count < commits; count += 1) {
    const commit = acknowledged.stamp(NOW + 100 * SECOND + count);
    acknowledged.committed(commit);
    acknowledged.synced(commit);
  }
  return acknowledged.loss;
}

test('a database gets a name of its own, once', () => {
  const db = new Database(':memory:');
  db.exec('CREATE TABLE settings (name TEXT PRIMARY KEY, value)');
  countCommits(db, NOW);
  const first = commitOf(db);
  assert.match(String(first), new RegExp(`^[0-9a-f]{16} 0 ${NOW}$`));
  countCommits(db, NOW + 1);
  assert.is(commitOf(db), first);
});

test('a new database counts its commits from the first one on', async ({ dir, file }) => {
  {
    await using store = openIn(dir);
    await newCase(store);
    using db = closing(new Database(join(dir, 'snitch.db'), { readonly: true }));
    const made = String(commitOf(db));
    assert.match(made, /^[0-9a-f]{16} [1-9]/);
    assert.is(readFileSync(file, 'latin1').slice(0, made.length), made, 'before anybody is told');
  }
  using db = closing(new Database(join(dir, 'snitch.db'), { readonly: true }));
  assert.match(String(commitOf(db)), /^[0-9a-f]{16} [1-9]/);
});

test('commits are counted in the database, and one that was not made does not count', ({ dir }) => {
  const db = databaseAt(5);
  using acknowledged = closing(new Acknowledged(db, dir, NOW, fail));
  assert.is(acknowledged.stamp(NOW).number, 6);
  const again = acknowledged.stamp(NOW + 7);
  assert.equal([again.number, commitOf(db)], [6, `${'f'.repeat(16)} 6 ${NOW + 7}`]);
  acknowledged.committed(again);
  assert.is(acknowledged.stamp(NOW).number, 7);
});

test('nothing is missed while all is there, and commits beyond what was acknowledged are no loss', (world) => {
  const db = databaseAt(5);
  assert.is(work(world, db, 3), null);
  assert.is(work(world, db, 0), null);
  assert.is(work(world, databaseAt(9), 0), null, 'one commit more');
  assert.is(statSync(world.file).mode & 0o777, 0o600);
  assert.is(statSync(world.file).size, 128, 'within one sector');
});

test('what a database held when it was opened is missed later, even if nothing was written since', (world) => {
  work(world, databaseAt(5), 1);
  assert.is(work(world, databaseAt(9), 0), null);
  assert.equal(work(world, databaseAt(8), 0)?.window.start, NOW + 8 * SECOND);
});

test('a loss is told from the last commit that is left on, until something was written after it', (world) => {
  work(world, databaseAt(5), 3);
  const older = databaseAt(6);
  const loss = {
    window: { start: NOW + 6 * SECOND, end: NOW + 99 * SECOND },
    until: NOW + 100 * SECOND + 2,
  };
  assert.equal(work(world, older, 0), loss);
  assert.equal(work(world, older, 0), loss, 'and again');
  work(world, older, 1);
  assert.match(String(commitOf(older)), / 9 /, 'the next commit is no second eighth');
  assert.is(work(world, older, 0), null);
});

test('a window does not begin later than it ends, where the clock was set back', (world) => {
  work(world, databaseAt(5), 3);
  using acknowledged = closing(new Acknowledged(databaseAt(4), world.dir, NOW, fail));
  assert.equal(acknowledged.loss?.window, { start: NOW, end: NOW });
});

test('no commits are missed in another database, nor in one that was put in the place of this one', (world) => {
  work(world, databaseAt(5), 3);
  assert.is(work(world, databaseAt(1, 'a'.repeat(16)), 0), null);
  work(world, databaseAt(5), 3);
  forgetAcknowledged(world.dir);
  forgetAcknowledged(world.dir);
  assert.is(work(world, databaseAt(1), 0), null);
});

test('a file that another version has written is read', (world) => {
  for (let number = 7; number < 40; number += 1) {
    const text = `${'f'.repeat(16)} ${number} ${NOW}`;
    const sum = crc32(text).toString(16).padStart(8, '0');
    writeFileSync(world.file, `${text} ${sum}\n`.padEnd(127, ' ').concat('\n'));
    assert.is(work(world, databaseAt(6), 0)?.until, NOW, text);
  }
});

test('a file that cannot be read tells of no loss', (world) => {
  for (const spoil of [
    (text: string) => text.replace(' 8 ', ' 9 '),
    (text: string) => text.slice(0, 20),
    (text: string) => `${text.slice(0, 40)}\n`,
    (text: string) => text.replace('\n', ' '),
    () => '',
    () => 'f'.repeat(64),
  ]) {
    work(world, databaseAt(5), 3);
    writeFileSync(world.file, spoil(readFileSync(world.file, 'latin1')));
    assert.is(work(world, databaseAt(1), 0), null, spoil.toString());
    forgetAcknowledged(world.dir);
  }
});

test('the store works even where the file cannot be used', ({ dir, file }) => {
  mkdirSync(file);
  const told: unknown[] = [];
  using acknowledged = closing(new Acknowledged(databaseAt(5), dir, NOW, (error) => told.push(error)));
  const commit = acknowledged.stamp(NOW);
  acknowledged.committed(commit);
  acknowledged.synced(commit);
  assert.is(told.length, 1);
});

/** The names of the files that are synced while `work` runs, by the call that leaves out times and modes. */
async function dataSyncs(work: () => Promise<void>): Promise<string[]> {
  const synced: string[] = [];
  const { fdatasync } = fs;
  fs.fdatasync = Object.assign((fd: number, done: fs.NoParamCallback) => {
    synced.push(basename(fs.readlinkSync(`/proc/self/fd/${fd}`)));
    fdatasync(fd, done);
  }, fdatasync);
  syncBuiltinESMExports();
  try {
    await work();
  } finally {
    fs.fdatasync = fdatasync;
    syncBuiltinESMExports();
  }
  return synced;
}

test('the file is synced after the commits, once for many', async ({ dir }) => {
  const acknowledged = new Acknowledged(databaseAt(5), dir, NOW, fail);
  try {
    const commitSome = () => {
      for (let count = 0; count < 10; count += 1) acknowledged.synced(acknowledged.stamp(NOW));
    };
    const synced = await dataSyncs(async () => {
      commitSome();
      // The timer of the store keeps no process alive, but this one does.
      await sleep(1_500);
      commitSome();
      await sleep(1_500);
    });
    assert.equal(synced, ['snitch.acknowledged', 'snitch.acknowledged']);
  } finally {
    acknowledged.close();
  }
});

test.run();
