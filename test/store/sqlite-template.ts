/** What an empty store on SQLite begins with, made once in a process: all migrations take longer than most tests. */
import { writeFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import { migrations } from '../../src/store/migrations/index.ts';
import { databasePath } from '../../src/store/sqlite/connection.ts';
import { migrate } from '../../src/store/sqlite/migrate.ts';
import { closing } from '../closing.ts';

let template: Buffer | null = null;

/** Puts an empty database of the present schema into a directory that has none. */
export function beginDatabase(dataDir: string): void {
  template ??= migrated();
  writeFileSync(databasePath(dataDir), template, { mode: 0o600, flag: 'wx' });
}

function migrated(): Buffer {
  using db = closing(new Database(':memory:'));
  migrate(db, migrations);
  return db.serialize();
}
