/** From a PostgreSQL database to a new SQLite file. */
import type { PostgresAddress } from '../../core/database/postgres-url.ts';
import { migrations } from '../migrations/index.ts';
import type { Session } from '../postgres/hosts/session.ts';
import { NewerSchema } from '../postgres/migrate.ts';
import { TableDigest } from './digest.ts';
import { inWords } from './faults.ts';
import { type Moved, MoveFailed, type MoveOptions, type Progress } from './move.ts';
import * as rows from './postgres-rows.ts';
import { connect, haveAlone, refuseLiving, tablesIn } from './postgres-session.ts';
import * as written from './sqlite-source.ts';
import { lockPlaceOf, refuseToReplace, SqliteTarget } from './sqlite-target.ts';
import { describeTables, LEFT, listOf, MOVED, type Table } from './tables.ts';
import { Tally } from './tally.ts';

export interface ToSqliteOptions extends MoveOptions {
  address: PostgresAddress;
  /** The address for people, without the password. */
  shown: string;
  /** The data directory of the node that is configured here, which may remember its primary. Null for none. */
  dataDir: string | null;
  /** The file to create. */
  file: string;
}

/**
 * Writes all tables into a file that gets its name once everything was read back and compared, and is on the disk.
 * Nothing changes at the source, and no daemon can start there meanwhile.
 *
 * @throws MoveFailed: there is then no file of that name
 */
export async function moveToSqlite(options: ToSqliteOptions): Promise<Moved> {
  const { address, shown, dataDir, file, onProgress } = options;
  onProgress({ doing: 'checking' });
  try {
    refuseToReplace(file);
    using unlocking = new DisposableStack();
    unlocking.defer(lockPlaceOf(file));
    const session = await connect(address, dataDir);
    try {
      await hold(session, shown);
      return await make({ session, ...options });
    } finally {
      if (!session.isBroken) await session.client.query('ROLLBACK').catch(() => undefined);
      await session.end();
    }
  } catch (error) {
    throw inWords(error, { target: file, source: shown });
  }
}

/** From here on nobody can write: what a hanging node still tries to write is refused, and so is the job's check-in. */
async function hold(session: Session, shown: string): Promise<void> {
  const { client } = session;
  await haveAlone(session, shown);
  const present = await tablesIn(session);
  const missing = [...MOVED, 'schema_version', 'nodes'].filter((name) => !present.has(name));
  if (missing.includes('schema_version')) throw new MoveFailed(`${shown} has nothing of Snitch in it yet`);
  await refuseOtherVersion(session, shown);
  // Checked first because the locks would hold up living nodes, and again after the locks.
  await refuseLiving(session, shown);
  const all = [...MOVED, ...Object.keys(LEFT)];
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
  await client.query(`LOCK TABLE ${listOf(all)} IN SHARE MODE`);
  await client.query('SET TRANSACTION READ ONLY');
  await refuseLiving(session, shown);
}

async function refuseOtherVersion({ client }: Session, shown: string): Promise<void> {
  const { rows: found } = await client.query<{ version: number }>('SELECT version FROM schema_version');
  const version = found[0]?.version ?? 0;
  if (version === migrations.length) return;
  if (version > migrations.length)
    throw new MoveFailed(`${shown}: ${new NewerSchema(version, migrations.length).message}`);
  throw new MoveFailed(
    `${shown} has schema version ${version}, and this program moves version ${migrations.length}: start \`snitch serve\` of this version once, which upgrades the database, stop it, and move then`,
  );
}

interface Making extends ToSqliteOptions {
  session: Session;
}

async function make({ session, file, onProgress }: Making): Promise<Moved> {
  onProgress({ doing: 'preparing' });
  const target = new SqliteTarget(file);
  try {
    const tables = describeTables(target.db);
    const tally = new Tally();
    target.begin();
    for (const table of tables) tally.add(table, await copy(table, { session, target, onProgress }));
    for (const table of tables.filter(({ isNumbered }) => isNumbered))
      target.setLastNumber(table, await rows.lastNumber(session.client, table));
    const db = target.reopen();
    for (const table of tables) {
      const of = written.countRows(db, table);
      const told = (done: number): Progress => ({ doing: 'verifying', table: table.name, done, of });
      onProgress(told(0));
      const digest = new TableDigest();
      for (const part of written.readRows(db, table, { withNul: 0 })) {
        for (const row of part) digest.add(row);
        onProgress(told(digest.rows));
        // A lost connection, and so lost locks, is noticed only when the event loop gets a turn.
        await new Promise(setImmediate);
      }
      tally.compare(table, digest, of);
    }
    const aliveAt = await livenessIn(session);
    if (aliveAt !== null) target.setLiveness(aliveAt);
    onProgress({ doing: 'finishing' });
    // The source must still be locked: otherwise somebody may have written to it.
    await session.client.query('SELECT 1');
    target.finish();
    return tally.moved(aliveAt);
  } finally {
    target.abandon();
  }
}

async function copy(
  table: Table,
  { session, target, onProgress }: Pick<Making, 'session' | 'onProgress'> & { target: SqliteTarget },
): Promise<TableDigest> {
  const of = await rows.countRows(session.client, table);
  const told = (done: number): Progress => ({ doing: 'copying', table: table.name, done, of });
  onProgress(told(0));
  const write = target.writerOf(table);
  const digest = new TableDigest();
  for await (const part of rows.readRows(session.client, table)) {
    for (const row of part) digest.add(row);
    write(part);
    onProgress(told(digest.rows));
  }
  return digest;
}

/** The last sign of life of any node: the time after it becomes a blind window at the next start. */
async function livenessIn({ client }: Session): Promise<number | null> {
  const { rows: found } = await client.query<{ at: string | null }>(
    `SELECT coalesce((SELECT max(alive_at) FROM nodes),
       (SELECT value::bigint FROM settings WHERE name = 'liveness')) AS at`,
  );
  const at = found[0]?.at;
  return at == null ? null : Number(at);
}
