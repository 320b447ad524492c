/** Everything goes from SQLite to PostgreSQL and back, and is the same then. Time limit: 120 s. */
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parsePostgresUrl } from '../../../src/core/database/postgres-url.ts';
import type { Moved, MoveFailed } from '../../../src/store/move/move.ts';
import { LEFT, MOVED } from '../../../src/store/move/tables.ts';
import { moveToPostgres } from '../../../src/store/move/to-postgres.ts';
import { moveToSqlite } from '../../../src/store/move/to-sqlite.ts';
import { closing } from '../../closing.ts';
import { newDataDir, removeDataDir } from '../../data-directory.ts';
import { runUnless } from '../../skipped.ts';
import { rejection } from '../fixture.ts';
import { type Cluster, startCluster } from '../postgres/clusters/cluster.ts';
import { WITHOUT_POSTGRES } from '../postgres/clusters/programs.ts';
import {
  ALIVE_AT,
  allTables,
  contentOfDatabase,
  contentOfFile,
  differences,
  emptyTables,
  makeRich,
} from './rich.ts';

interface Context {
  cluster: Cluster;
  dataDir: string;
  path: string;
}

const test = suite<Context>('a move');
const onProgress = () => undefined;

test.before(async (context) => {
  context.cluster = await startCluster();
});
test.after(({ cluster }) => cluster[Symbol.asyncDispose]());
test.before.each((context) => {
  context.dataDir = newDataDir();
  context.path = join(context.dataDir, 'snitch.db');
  makeRich(context.path);
});
test.after.each(({ dataDir }) => removeDataDir(dataDir));

function digest(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

function addressOf({ cluster }: Context, database: string) {
  return { address: parsePostgresUrl(cluster.url(database)), shown: 'the target' };
}

function toPostgres(context: Context, database: string): Promise<Moved> {
  const { dataDir } = context;
  return moveToPostgres({ dataDir, ...addressOf(context, database), version: '1', onProgress });
}

function toSqlite(context: Context, database: string, file: string): Promise<Moved> {
  return moveToSqlite({ ...addressOf(context, database), dataDir: null, file, onProgress });
}

test('every table of both databases is moved, or named with a reason to stay', async (context) => {
  const named = [...MOVED, ...Object.keys(LEFT)];
  assert.equal([...new Set(named)].length, named.length);
  assert.equal(
    allTables(context.path).filter((table) => !named.includes(table)),
    [],
  );
  const database = await context.cluster.newDatabase();
  await toPostgres(context, database);
  const rows = await context.cluster.query<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'`,
    [],
    database,
  );
  assert.equal(rows.map(({ name }) => name).sort(), named.sort());
});

test('what goes to PostgreSQL and back is the same, row by row', async (context) => {
  const { cluster, dataDir, path } = context;
  assert.equal(emptyTables(path), [], 'a table without rows proves nothing');
  const before = digest(path);
  const database = await cluster.newDatabase();
  const moved = await toPostgres(context, database);
  const expected = contentOfFile(path);
  assert.equal(differences(await contentOfDatabase(cluster, database), expected), []);
  const count = Object.values(expected).reduce((sum, rows) => sum + rows.length, 0);
  assert.equal([moved.rows, moved.tables, moved.aliveAt], [count, MOVED.length, ALIVE_AT]);
  assert.ok(moved.withNul > 0);
  assert.is(digest(path), before, 'the source is as it was');

  const file = join(dataDir, 'back.db');
  const back = await toSqlite(context, database, file);
  assert.equal(differences(contentOfFile(file, { withNul: true }), expected), []);
  assert.equal([back.rows, back.withNul, back.aliveAt], [count, 0, ALIVE_AT]);
  assert.is(statSync(file).mode & 0o777, 0o600);
  assert.equal(
    readdirSync(dataDir).filter((name) => name.startsWith('back')),
    ['back.db'],
  );
  assert.equal(
    differences(await contentOfDatabase(cluster, database), expected),
    [],
    'and so is this source',
  );
});

test('the next row gets a number that was never given, in both directions', async (context) => {
  const { cluster, dataDir, path } = context;
  const database = await cluster.newDatabase();
  await toPostgres(context, database);
  const insert = `INSERT INTO reliefs (case_id, needed_id, tags, gone, cursor) VALUES ('c', 1, '[]', 0, 0) RETURNING id`;
  const [relief] = await cluster.query<{ id: string }>(insert, [], database);
  assert.is(relief?.id, '79');
  const columns = `(token, case_id, name, notes, tags, alert_email, created_at)`;
  const [snitch] = await cluster.query<{ id: string }>(
    `INSERT INTO snitches ${columns} VALUES ('t', 'c', 'n', '', '[]', '', 0) RETURNING id`,
    [],
    database,
  );
  assert.is(snitch?.id, '5001');
  await cluster.query('DELETE FROM reliefs', [], database);
  const file = join(dataDir, 'back.db');
  await toSqlite(context, database, file);
  using db = closing(new Database(file));
  const sequence = db.prepare('SELECT seq FROM sqlite_sequence WHERE name = ?').pluck();
  assert.equal([sequence.get('reliefs'), sequence.get('snitches')], [79, 5001]);
  assert.is(db.prepare(insert).pluck().get(), 80);
  using source = closing(new Database(path, { readonly: true }));
  assert.is(source.prepare(`SELECT seq FROM sqlite_sequence WHERE name = 'reliefs'`).pluck().get(), 78);
});

test('the last sign of life is moved as that of a node that has ended, in both directions', async (context) => {
  const { cluster, dataDir } = context;
  const database = await cluster.newDatabase();
  await toPostgres(context, database);
  const nodes = await cluster.query(
    'SELECT alive_at::text AS alive, stopped_at::text AS stopped FROM nodes',
    [],
    database,
  );
  assert.equal(nodes, [{ alive: String(ALIVE_AT), stopped: String(ALIVE_AT) }]);
  await cluster.query('UPDATE nodes SET alive_at = alive_at + 5000', [], database);
  const file = join(dataDir, 'back.db');
  assert.is((await toSqlite(context, database, file)).aliveAt, ALIVE_AT + 5_000);
  using db = closing(new Database(file, { readonly: true }));
  const liveness = db.prepare(`SELECT value FROM settings WHERE name = 'liveness'`).pluck().get();
  assert.is(liveness, String(ALIVE_AT + 5_000));
});

test('only an empty database is filled, and one that was migrated is empty', async (context) => {
  const { cluster } = context;
  const database = await cluster.newDatabase();
  await toPostgres(context, database);
  const content = await contentOfDatabase(cluster, database);
  const again = (await rejection(toPostgres(context, database))) as MoveFailed;
  assert.match(again.message, /the target is not empty: it has rows in .*createdb/);
  assert.equal(differences(await contentOfDatabase(cluster, database), content), []);

  await cluster.query(`TRUNCATE ${[...MOVED, 'nodes'].join(', ')}`, [], database);
  await toPostgres(context, database);
  const filled = await contentOfDatabase(cluster, database);
  assert.equal(differences(filled, content), [], 'the tables were there already');

  const foreign = await cluster.newDatabase();
  await cluster.query('CREATE TABLE orders (id BIGINT)', [], foreign);
  const refused = (await rejection(toPostgres(context, foreign))) as MoveFailed;
  assert.match(refused.message, 'tables that Snitch did not make (orders)');
});

test('a database of a newer or an older program is refused, on both sides', async (context) => {
  const { cluster, dataDir, path } = context;
  const database = await cluster.newDatabase();
  await toPostgres(context, database);
  await cluster.query('UPDATE schema_version SET version = version + 1', [], database);
  const file = join(dataDir, 'back.db');
  for (const attempt of [toPostgres, toSqlite]) {
    const refused = (await rejection(attempt(context, database, file))) as Error;
    assert.match(refused.message, 'run the newer snitch that made it');
  }
  await cluster.query('UPDATE schema_version SET version = version - 2', [], database);
  const older = (await rejection(toSqlite(context, database, file))) as Error;
  assert.match(older.message, 'of this version once, which upgrades the database');
  assert.not(existsSync(file));

  const empty = await cluster.newDatabase();
  assert.match(
    ((await rejection(toSqlite(context, empty, file))) as Error).message,
    'has nothing of Snitch in it',
  );
  using db = closing(new Database(path));
  const version = Number(db.pragma('user_version', { simple: true }));
  db.pragma(`user_version = ${version - 1}`);
  assert.match(
    ((await rejection(toPostgres(context, empty))) as Error).message,
    'which upgrades the database',
  );
  db.pragma(`user_version = ${version + 1}`);
  assert.match(((await rejection(toPostgres(context, empty))) as Error).message, 'newer snitch');
});

test('a file is never replaced, nor placed next to the log of another database', async (context) => {
  const { cluster, dataDir } = context;
  const database = await cluster.newDatabase();
  await toPostgres(context, database);
  const file = join(dataDir, 'back.db');
  writeFileSync(file, 'precious');
  assert.match(((await rejection(toSqlite(context, database, file))) as Error).message, 'exists already');
  assert.is(readFileSync(file, 'utf8'), 'precious');
  writeFileSync(join(dataDir, 'other.db-wal'), 'a log');
  const other = join(dataDir, 'other.db');
  assert.match(
    ((await rejection(toSqlite(context, database, other))) as Error).message,
    'the log of another database',
  );
  const nowhere = join(dataDir, 'no', 'such', 'place.db');
  assert.match(
    ((await rejection(toSqlite(context, database, nowhere))) as Error).message,
    'there is no directory',
  );
  chmodSync(dataDir, 0o700);
});

test('a target that stores something else than was written is noticed, and stays empty', async (context) => {
  const { cluster } = context;
  const database = await cluster.newDatabase();
  await toPostgres(context, database);
  await cluster.query(`TRUNCATE ${[...MOVED, 'nodes'].join(', ')}`, [], database);
  await cluster.query(
    `CREATE FUNCTION spoil() RETURNS trigger LANGUAGE plpgsql AS
       $$ BEGIN NEW.name := upper(NEW.name); RETURN NEW; END $$;
     CREATE TRIGGER spoiled BEFORE INSERT ON cases FOR EACH ROW EXECUTE FUNCTION spoil()`,
    [],
    database,
  );
  const refused = (await rejection(toPostgres(context, database))) as Error;
  assert.match(refused.message, 'cases came out with other content at the target: nothing was moved');
  const rows = await cluster.query('SELECT 1 FROM snitches', [], database);
  assert.equal(rows, []);
});

runUnless(WITHOUT_POSTGRES, test, 'a move');
