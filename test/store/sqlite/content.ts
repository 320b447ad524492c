/** What a database holds, to be compared before and after an upgrade. */
import { readdirSync } from 'node:fs';
import Database from 'better-sqlite3';
import type { Migrated } from '../../../src/store/sqlite/migrate.ts';
import { type Closing, openIn } from '../fixture.ts';

/** What a migration may change: its version, its schema, and every row by table. */
export interface Content {
  version: unknown;
  schema: unknown[];
  rows: Record<string, unknown[]>;
}

export function contentOf(db: Database.Database): Content {
  const tables = db
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
    .pluck()
    .all() as string[];
  return {
    version: db.pragma('user_version', { simple: true }),
    schema: db.prepare('SELECT sql FROM sqlite_schema ORDER BY name').pluck().all(),
    rows: Object.fromEntries(tables.map((table) => [table, db.prepare(`SELECT * FROM ${table}`).all()])),
  };
}

/** The content of a database that is one file. @throws Error if the file is damaged */
export function contentOfFile(path: string): Content {
  const db = new Database(path, { readonly: true, fileMustExist: true });
  try {
    const answer = db.pragma('integrity_check', { simple: true });
    if (answer !== 'ok') throw new Error(`${path} is damaged: ${answer}`);
    return contentOf(db);
  } finally {
    db.close();
  }
}

/** Opens a database, and notes what was upgraded on the way: `await using store = openUpgraded(dataDir)`. */
export function openUpgraded(dataDir: string): Closing & { migrated: Migrated[] } {
  const migrated: Migrated[] = [];
  return { ...openIn(dataDir, { onMigrated: (one) => migrated.push(one) }), migrated };
}

/** Copies of the database, and any other file next to it except its log. */
export function filesBeside(dataDir: string): string[] {
  return readdirSync(dataDir)
    .filter((name) => name.startsWith('snitch.db') && !/^snitch\.db(-wal|-shm)?$/.test(name))
    .sort();
}
