/** From the SQLite file of a data directory to an empty PostgreSQL database. */
import type Database from 'better-sqlite3';
import type { PostgresAddress } from '../../core/database/postgres-url.ts';
import type { Session } from '../postgres/hosts/session.ts';
import { databasePath } from '../sqlite/connection.ts';
import { lockDataDir } from '../sqlite/lock.ts';
import { TableDigest } from './digest.ts';
import { inWords } from './faults.ts';
import { type Moved, MoveFailed, type MoveOptions, type Progress } from './move.ts';
import * as rows from './postgres-rows.ts';
import { connect } from './postgres-session.ts';
import { begin, carryLiveness, commit } from './postgres-target.ts';
import * as source from './sqlite-source.ts';
import { describeTables, type Table } from './tables.ts';
import { Tally } from './tally.ts';

export interface ToPostgresOptions extends MoveOptions {
  /** The data directory of the daemon, which must not be running. */
  dataDir: string;
  address: PostgresAddress;
  /** The address for people, without the password. */
  shown: string;
  /** The version of this program. */
  version: string;
}

/**
 * Copies all tables in one transaction, reads them back and compares them, and only then commits. Nothing changes at
 * the source, which no daemon can open meanwhile.
 *
 * @throws MoveFailed, CopyFailed: the target is then as empty as it was
 */
export async function moveToPostgres(options: ToPostgresOptions): Promise<Moved> {
  const { dataDir, address, shown, onProgress } = options;
  onProgress({ doing: 'checking' });
  try {
    source.refuseAbsent(dataDir);
    using unlocking = new DisposableStack();
    unlocking.defer(lockDataDir(dataDir));
    using reading = new DisposableStack();
    const db = reading.adopt(source.openSource(dataDir), (opened) => opened.close());
    const session = await connect(address, null);
    try {
      onProgress({ doing: 'preparing' });
      await begin(session, shown);
      return await fill({ db, session, ...options });
    } catch (error) {
      if (!session.isBroken) await session.client.query('ROLLBACK').catch(() => undefined);
      throw error;
    } finally {
      await session.end();
    }
  } catch (error) {
    throw inWords(error, { target: shown, source: databasePath(dataDir) });
  }
}

interface Filling extends ToPostgresOptions {
  db: Database.Database;
  session: Session;
}

async function fill({ db, session, shown, version, onProgress }: Filling): Promise<Moved> {
  const tables = describeTables(db);
  const tally = new Tally();
  for (const table of tables) tally.add(table, await copy(table, { db, session, tally, onProgress }));
  for (const table of tables.filter(({ isNumbered }) => isNumbered))
    await rows.setLastNumber(session.client, table, source.lastNumber(db, table));
  for (const table of tables) await verify(table, { session, tally, onProgress });
  const aliveAt = source.livenessIn(db);
  if (aliveAt !== null) await carryLiveness(session, aliveAt, version);
  onProgress({ doing: 'finishing' });
  // Otherwise, a daemon that starts at once would be slow until the server finds out how large the tables are.
  await session.client.query('ANALYZE');
  await commit(session, shown);
  return tally.moved(aliveAt);
}

async function copy(
  table: Table,
  { db, session, tally, onProgress }: Pick<Filling, 'db' | 'session' | 'onProgress'> & { tally: Tally },
): Promise<TableDigest> {
  const of = source.countRows(db, table);
  const told = (done: number): Progress => ({ doing: 'copying', table: table.name, done, of });
  onProgress(told(0));
  const write = rows.writerOf(session.client, table);
  const digest = new TableDigest();
  for (const part of source.readRows(db, table, tally)) {
    for (const row of part) digest.add(row);
    await write(part);
    onProgress(told(digest.rows));
  }
  if (digest.rows !== of)
    throw new MoveFailed(
      `${table.name} has ${of} rows, and ${digest.rows} of them could be read: nothing was moved`,
    );
  return digest;
}

async function verify(
  table: Table,
  { session, tally, onProgress }: Pick<Filling, 'session' | 'onProgress'> & { tally: Tally },
): Promise<void> {
  const of = await rows.countRows(session.client, table);
  const told = (done: number): Progress => ({ doing: 'verifying', table: table.name, done, of });
  onProgress(told(0));
  const digest = new TableDigest();
  for await (const part of rows.readRows(session.client, table)) {
    for (const row of part) digest.add(row);
    onProgress(told(digest.rows));
  }
  tally.compare(table, digest, of);
}
