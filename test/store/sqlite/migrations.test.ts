import { rmSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { migrations } from '../../../src/store/migrations/index.ts';
import { migrate, NewerDatabase } from '../../../src/store/sqlite/migrate.ts';
import { newCase, openIn, openSqlite, queryDirectory, temporaryDirectory } from '../fixture.ts';
import { contentOf } from './content.ts';

interface World {
  dir: string;
  db: Database.Database;
}

const FIRST = 'CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL);';
const SECOND = `ALTER TABLE notes ADD COLUMN author TEXT; UPDATE notes SET author = 'ann';`;
const THIRD = 'CREATE INDEX notes_by_author ON notes (author);';

const suiteOfMigrations = suite<World>('migrations');

suiteOfMigrations.before.each((world) => {
  const dir = temporaryDirectory();
  const db = new Database(join(dir, 'notes.db'));
  db.pragma('journal_mode = WAL');
  Object.assign(world, { dir, db });
});

suiteOfMigrations.after.each(({ dir, db }) => {
  db.close();
  rmSync(dir, { recursive: true });
});

suiteOfMigrations('a fresh database gets all of them, in order', ({ db }) => {
  migrate(db, [FIRST, SECOND, THIRD]);
  assert.is(db.pragma('user_version', { simple: true }), 3);
  db.exec(`INSERT INTO notes (text, author) VALUES ('x', 'bob')`);
});

suiteOfMigrations('an older database gets those that it has not seen, and keeps its rows', ({ db }) => {
  migrate(db, [FIRST]);
  db.exec(`INSERT INTO notes (text) VALUES ('kept')`);
  migrate(db, [FIRST, SECOND, THIRD]);
  assert.is(db.pragma('user_version', { simple: true }), 3);
  assert.equal(db.prepare('SELECT * FROM notes').all(), [{ id: 1, text: 'kept', author: 'ann' }]);
});

suiteOfMigrations('a database of the present version is left alone', ({ db }) => {
  migrate(db, [FIRST, SECOND]);
  const before = contentOf(db);
  migrate(db, [FIRST, SECOND]);
  assert.equal(contentOf(db), before);
});

suiteOfMigrations('a newer database is refused, with both versions named', ({ db }) => {
  migrate(db, [FIRST, SECOND, THIRD]);
  const before = contentOf(db);
  try {
    migrate(db, [FIRST]);
    assert.unreachable();
  } catch (error) {
    assert.instance(error, NewerDatabase);
    assert.match((error as Error).message, /version 3\b.*\b1\b/);
  }
  assert.equal(contentOf(db), before);
});

suiteOfMigrations('one that fails leaves the database as it was before all of them', ({ db }) => {
  migrate(db, [FIRST]);
  db.exec(`INSERT INTO notes (text) VALUES ('kept')`);
  const before = contentOf(db);
  assert.throws(() => migrate(db, [FIRST, SECOND, `${THIRD} INSERT INTO nowhere VALUES (1);`]), /nowhere/);
  assert.equal(contentOf(db), before);
  migrate(db, [FIRST, SECOND, THIRD]);
  assert.is(db.pragma('user_version', { simple: true }), 3);
});

suiteOfMigrations('the first one that fails leaves a fresh database empty', ({ db }) => {
  const before = contentOf(db);
  assert.throws(() => migrate(db, [`${FIRST} CREATE TABLE notes (x);`]), /notes/);
  assert.equal(contentOf(db), before);
});

suiteOfMigrations.run();

const versions = suite('versions of the store');

versions('a new store has the newest version, and opens again with its rows', async () => {
  await using opened = await openSqlite();
  const { store, reopen, query } = opened;
  assert.equal(await query('PRAGMA user_version'), [{ user_version: migrations.length }]);
  const created = await newCase(store);
  const reopened = await reopen();
  assert.equal(await reopened.listCases(), [created]);
});

versions('a store of a newer program is refused and left as it is', async () => {
  await using opened = await openSqlite();
  const { dataDir, store } = opened;
  await newCase(store);
  await store.close();
  queryDirectory(dataDir, 'PRAGMA user_version = 99');
  for (let attempt = 0; attempt < 2; attempt += 1) {
    assert.throws(
      () => openIn(dataDir),
      (error: Error) =>
        error instanceof NewerDatabase &&
        error.message.includes('version 99') &&
        error.message.includes(`up to ${migrations.length}`),
    );
  }
  assert.equal(queryDirectory(dataDir, 'SELECT COUNT(*) AS count FROM cases'), [{ count: 1 }]);
  assert.equal(queryDirectory(dataDir, 'PRAGMA user_version'), [{ user_version: 99 }]);
});

versions.run();
