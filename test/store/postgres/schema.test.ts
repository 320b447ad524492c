/** The schema is the same on both databases, and so is what the shared statements mean. */
import { rmSync } from 'node:fs';
import type pg from 'pg';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { migrations } from '../../../src/store/migrations/index.ts';
import { toParameter, translated, translatedSchema } from '../../../src/store/postgres/dialect.ts';
import { migrate, NewerSchema } from '../../../src/store/postgres/migrate.ts';
import { NODES } from '../../../src/store/postgres/nodes/schema.ts';
import { admission } from '../../../src/store/postgres/nodes/versions.ts';
import { until } from '../../until.ts';
import { openIn, queryDirectory, rejection, temporaryDirectory } from '../fixture.ts';
import { HERE, poolOf, takeEmpty } from './databases.ts';
import { openOnPostgres, queryOnPostgres } from './open.ts';

const test = suite('the schema on PostgreSQL');

interface Column {
  table: string;
  name: string;
  isNeeded: number;
}

const VERSION = 'schema_version';

async function columnsOnSqlite(dataDir: string): Promise<Column[]> {
  await using _ = openIn(dataDir);
  return queryDirectory<Column>(
    dataDir,
    `SELECT t.name AS "table", c.name, CASE WHEN c."notnull" = 1 OR c.pk > 0 THEN 1 ELSE 0 END AS "isNeeded"
     FROM sqlite_schema AS t JOIN pragma_table_info(t.name) AS c
     WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%' ORDER BY 1, 2`,
  );
}

function columnsOnPostgres(dataDir: string): Promise<Column[]> {
  return queryOnPostgres<Column>(
    dataDir,
    `SELECT table_name AS "table", column_name AS name, is_nullable = 'NO' AS "isNeeded"
     FROM information_schema.columns WHERE table_schema = current_schema() AND table_name <> '${VERSION}'
     ORDER BY table_name COLLATE "C", column_name COLLATE "C"`,
  );
}

test('both have the same tables and columns, and the same of them may be empty', async () => {
  const dataDir = temporaryDirectory();
  try {
    const expected = await columnsOnSqlite(dataDir);
    const clock = () => 0;
    await takeEmpty(dataDir);
    const stores = await Promise.all([1, 2, 3].map(() => openOnPostgres({ dataDir, clock })));
    await Promise.all(stores.map((store) => store.close()));
    assert.ok(expected.length > 150);
    assert.equal(await columnsOnPostgres(dataDir), expected);
    const versions = await queryOnPostgres<{ version: number }>(dataDir, `SELECT version FROM ${VERSION}`);
    assert.equal(versions, [{ version: migrations.length }], 'made once by three that began at once');
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
});

test('both have the same indexes', async () => {
  const dataDir = temporaryDirectory();
  try {
    await (await openOnPostgres({ dataDir, clock: () => 0 })).close();
    await openIn(dataDir).close();
    const onSqlite = queryDirectory<{ name: string }>(
      dataDir,
      `SELECT name FROM sqlite_schema WHERE type = 'index' AND name NOT LIKE 'sqlite_%' ORDER BY name`,
    );
    const onPostgres = await queryOnPostgres<{ name: string }>(
      dataDir,
      `SELECT indexname AS name FROM pg_indexes WHERE schemaname = current_schema()
         AND indexname NOT LIKE '%_pkey' AND indexname NOT LIKE '%_key' ORDER BY indexname COLLATE "C"`,
    );
    assert.equal(onPostgres, onSqlite);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
});

test('a database of a program that is two versions newer is refused, and left as it is', async () => {
  const dataDir = temporaryDirectory();
  try {
    await (await openOnPostgres({ dataDir, clock: () => 0 })).close();
    await queryOnPostgres(dataDir, `UPDATE ${VERSION} SET version = version + 2`);
    const refused = await rejection(openOnPostgres({ dataDir, clock: () => 0 }));
    assert.instance(refused, NewerSchema);
    assert.match(String(refused), `version ${migrations.length + 2}`);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
});

test('a statement is put into the words of PostgreSQL once, and keeps its texts', () => {
  const text = (sql: string) => translated(sql).text;
  assert.is(
    text(`SELECT '?' FROM t WHERE a = +? AND b IN (?, ?)`),
    `SELECT '?' FROM t WHERE a = $1 AND b IN ($2, $3)`,
  );
  assert.is(text('UPDATE t SET n = n + 1 WHERE +c = ?'), 'UPDATE t SET n = n + 1 WHERE c = $1');
  assert.is(
    text('SELECT 1 FROM a CROSS JOIN b AS x ON x.i = a.i CROSS JOIN c AS y'),
    'SELECT 1 FROM a JOIN b AS x ON x.i = a.i CROSS JOIN c AS y',
  );
  assert.is(translated('SELECT 1').name, translated('SELECT 1').name);
  assert.is.not(translated('SELECT 1').name, translated('SELECT 1', 'FOR UPDATE').name);
  assert.is(translatedSchema('id INTEGER PRIMARY KEY, -- TEXT\nb BLOB').includes('TEXT'), false);
  assert.is(toParameter('a\0'), 'a\uFFFD');
});

/** Stands for one that walks through a large table, and leaves nodes of the version before all that they use. */
const LONG = { kind: 'expands', change: 'ALTER TABLE webhooks ADD COLUMN walked TEXT' } as const;

interface Upgrade {
  pool: pg.Pool;
  one: pg.PoolClient;
  other: pg.PoolClient;
}

/** A database as a program of the version before left it, with connections that give up soon, and another one. */
async function withOlderSchema(work: (upgrade: Upgrade) => Promise<void>): Promise<void> {
  const dataDir = temporaryDirectory();
  await takeEmpty(dataDir);
  const pool = await poolOf(dataDir, { options: '-c lock_timeout=3000' });
  const [one, other] = [await pool.connect(), await pool.connect()];
  other.on('error', () => {});
  try {
    await migrate(one, { also: NODES });
    await one.query('ALTER TABLE nodes DROP COLUMN held_socket');
    await one.query('ALTER TABLE schema_version DROP COLUMN oldest');
    await work({ pool, one, other });
  } finally {
    one.release();
    other.release();
    await pool.end();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

const [before, after] = [migrations.length, migrations.length + 1];

/** Begins the long migration on `other`, and returns while it waits for the end of the transaction that is open on `one`. */
async function beginLong({ pool, one, other }: Upgrade): Promise<Promise<unknown>[]> {
  await one.query('BEGIN');
  await one.query('LOCK TABLE webhooks');
  await other.query('SET lock_timeout = 0');
  const migrating = migrate(other, { also: NODES, migrations: [...migrations, LONG] });
  migrating.catch(() => {});
  await until(async () => {
    const { rows } = await pool.query(
      `SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'webhooks'::regclass AND ${HERE}`,
    );
    return rows.length > 0;
  }, 'the migration is at work');
  return [migrating];
}

test('nodes of the previous version live and reconnect while a long migration runs', async () => {
  await withOlderSchema(async (upgrade) => {
    const { pool, one } = upgrade;
    const migrating = await beginLong(upgrade);
    const signs = await pool.query('UPDATE nodes SET alive_at = alive_at').catch((error: Error) => error);
    const connected = await admission(before)(one).catch((error: Error) => error);
    const asked = await pool.query('SELECT version FROM schema_version').catch((error: Error) => error);
    await one.query('COMMIT');
    assert.equal(await Promise.all(migrating), [{ from: before, to: after }]);
    for (const fault of [signs, connected, asked]) assert.not.instance(fault, Error);
  });
});

test('where a long migration is killed, programs of both versions start', async () => {
  await withOlderSchema(async (upgrade) => {
    const { pool, one } = upgrade;
    const migrating = await beginLong(upgrade);
    await pool.query(`SELECT pg_terminate_backend(pid) FROM pg_locks WHERE NOT granted AND ${HERE}`);
    assert.instance(await rejection(Promise.all(migrating)), Error);
    await one.query('COMMIT');
    assert.equal(await migrate(one, { also: NODES }), { from: before, to: before });
    assert.is(await admission(before)(one), undefined);
    const both = [...migrations, LONG];
    assert.equal(await migrate(one, { also: NODES, migrations: both }), { from: before, to: after });
    assert.is(await admission(after)(one), undefined);
  });
});

test.run();
