import { rmSync } from 'node:fs';
import Database from 'better-sqlite3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { databasePath, openDatabase } from '../../../src/store/sqlite/connection.ts';
import { LogSync } from '../../../src/store/sqlite/log-sync.ts';
import { closing } from '../../closing.ts';
import { temporaryDirectory } from '../fixture.ts';
import { ControlledSync } from './controlled-sync.ts';

interface World {
  dataDir: string;
  db: Database.Database;
  sync: ControlledSync;
  log: LogSync;
}

const logSync = suite<World>('sync of the log');

logSync.before.each((world) => {
  const dataDir = temporaryDirectory();
  const db = openDatabase(dataDir);
  const sync = new ControlledSync();
  const log = new LogSync(db, databasePath(dataDir), { syncFile: sync.syncFile, checkpointAfter: 1 });
  Object.assign(world, { dataDir, db, sync, log });
});

logSync.after.each(({ dataDir, db, log }) => {
  db.close();
  log.close();
  rmSync(dataDir, { recursive: true });
});

/** 0: SQLite never syncs. 1: it syncs the header of a log that it starts, before the first frame. */
const syncsOfSqlite = ({ db }: World) => db.pragma('synchronous', { simple: true });

function write({ db, log }: World): void {
  db.exec(`INSERT INTO settings (name, value) VALUES ('liveness', 1)
           ON CONFLICT (name) DO UPDATE SET value = value + 1`);
  log.committed(1, () => {});
}

logSync('a log that could not be started anew is started by SQLite with a sync of its own', async (world) => {
  const { sync, dataDir, log } = world;
  using outside = closing(new Database(databasePath(dataDir)));
  write(world);
  await sync.end();
  assert.is(sync.fileIn(dataDir), 'database');
  outside.exec('BEGIN IMMEDIATE');
  await sync.end();
  outside.exec('ROLLBACK');
  outside.close();
  await sync.end();
  assert.is(log.holding, false);
  assert.is(syncsOfSqlite(world), 1);
});

logSync('SQLite syncs the header of a log that it starts, except while the log is copied', async (world) => {
  const { sync } = world;
  assert.is(syncsOfSqlite(world), 1);
  write(world);
  assert.is(syncsOfSqlite(world), 1);
  await sync.end();
  assert.is(syncsOfSqlite(world), 0, 'the database is synced without it');
  await sync.end();
  assert.is(syncsOfSqlite(world), 1);
  await sync.end();
  assert.is(sync.waiting, 0);
});

logSync('nothing is trusted after a failure, and nobody waits for ever', async (world) => {
  const { log, sync } = world;
  const answers: unknown[] = [];
  log.committed(1, (error) => answers.push(error));
  log.fail(new Error('damaged'));
  log.committed(1, (error) => answers.push(error));
  await log.idle();
  assert.is(log.failure?.message, 'damaged');
  assert.is((await log.failed).message, 'damaged');
  assert.is(answers.length, 1, 'what is in a sync already waits for its end');
  sync.free();
});

logSync.run();
