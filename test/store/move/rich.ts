/** A database in which every table has rows, with values easily lost in a move, and readers of its content. */
import Database from 'better-sqlite3';
import pg from 'pg';
import { migrations } from '../../../src/store/migrations/index.ts';
import { LEFT, MOVED } from '../../../src/store/move/tables.ts';
import { migrate } from '../../../src/store/sqlite/migrate.ts';
import { closing, ending } from '../../closing.ts';
import type { Cluster } from '../postgres/clusters/cluster.ts';

interface Column {
  name: string;
  type: string;
  notnull: number;
  pk: number;
}

/** The rows of each table as texts: the JSON of their values, sorted. */
export type Content = Record<string, string[]>;

/** Texts that one of the formats on the way could take for something else. */
const TEXTS = [
  'plain',
  '',
  'NULL',
  '\\N',
  '{a,"b"}',
  '\\x00ff',
  `'quoted' "twice" back\\slash\ttab\nline`,
  'ünï 漢字 🎉 \u202E',
  '{"json":[1,null,true,"\\u0000"]}',
  '007',
  'a NUL \0 in it',
  'x'.repeat(3_000),
];

/** What PostgreSQL calls its whole numbers of eight bytes. */
const BIGINT = 20;

const BIG = 9_007_199_254_740_993n;

/** When the daemon of the database lived last. */
export const ALIVE_AT = 1_750_000_000_000;

function tablesOf(db: Database.Database): string[] {
  return db
    .prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name`)
    .pluck()
    .all() as string[];
}

function columnsOf(db: Database.Database, table: string): Column[] {
  return db.prepare('SELECT name, type, "notnull", pk FROM pragma_table_info(?)').all(table) as Column[];
}

/** @param row 0 has null wherever that is allowed; the others have each of the texts somewhere */
function trapIn({ name, type, notnull, pk }: Column, index: number, row: number): unknown {
  if (pk > 0 && type !== 'TEXT') return BigInt(1_000 + row);
  if (row === 0 && notnull === 0 && pk === 0) return null;
  if (type === 'TEXT') {
    const text = TEXTS[(row + index) % TEXTS.length] ?? '';
    // A key with a NUL is no key in PostgreSQL either.
    return `${pk > 0 ? text.replaceAll('\0', '') : text} ${name} ${row}`;
  }
  if (type === 'BLOB') return Buffer.from([0, 255, row, 92, 39, 0]);
  return row === 1 ? BIG : row === 2 ? -1n : BigInt(row);
}

/** Makes a database with the schema of this program, and many rows in each of its tables. */
export function makeRich(path: string): void {
  using db = closing(new Database(path));
  db.pragma('journal_mode = WAL');
  migrate(db, migrations);
  for (const table of tablesOf(db)) {
    const columns = columnsOf(db, table);
    const insert = db.prepare(
      `INSERT INTO "${table}" (${columns.map(({ name }) => `"${name}"`).join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
    );
    for (let row = 0; row <= TEXTS.length; row += 1)
      insert.run(...columns.map((column, index) => trapIn(column, index, row)));
  }
  const setting = db.prepare('INSERT INTO settings (name, value) VALUES (?, ?)');
  setting.run('liveness', String(ALIVE_AT));
  setting.run('canary', '5');
  setting.run('commit', '0123456789abcdef 17 5');
  // Numbers of rows that are gone must not be given again.
  db.prepare(`UPDATE sqlite_sequence SET seq = 5000 WHERE name = 'snitches'`).run();
  db.prepare('DELETE FROM reliefs').run();
  db.prepare(`UPDATE sqlite_sequence SET seq = 77 WHERE name = 'reliefs'`).run();
  const { lastInsertRowid } = db
    .prepare(`INSERT INTO reliefs (case_id, needed_id, tags, gone, cursor) VALUES ('c', 1, '[]', 0, 0)`)
    .run();
  if (Number(lastInsertRowid) !== 78) throw new Error('SQLite gives numbers in another way than expected');
}

/** Tables without a row: the fixture would prove nothing about them. */
export function emptyTables(path: string): string[] {
  using db = closing(new Database(path, { readonly: true }));
  return tablesOf(db).filter((table) => db.prepare(`SELECT 1 FROM "${table}"`).get() === undefined);
}

export function allTables(path: string): string[] {
  using db = closing(new Database(path, { readonly: true }));
  return tablesOf(db);
}

/** @param withNul keeps NUL characters, instead of what is put in their place for PostgreSQL */
export function contentOfFile(path: string, { withNul = false } = {}): Content {
  using db = closing(new Database(path, { readonly: true }));
  const content: Content = {};
  for (const table of tablesOf(db).filter((name) => !(name in LEFT))) {
    const rows = db.prepare(`SELECT * FROM "${table}"`).safeIntegers().all() as Record<string, unknown>[];
    const ofFile = ({ name }: Record<string, unknown>) =>
      table === 'settings' && ['canary', 'commit'].includes(String(name));
    const texts = rows.filter((row) => !ofFile(row)).map(textOf);
    content[table] = (
      withNul ? texts : texts.map((text) => text.replaceAll('\\u0000 in it', '\uFFFD in it'))
    ).sort();
  }
  return content;
}

export async function contentOfDatabase(cluster: Cluster, database: string): Promise<Content> {
  const content: Content = {};
  const place = { host: cluster.socketDirectory, port: cluster.port, user: 'postgres', database, ssl: false };
  await using client = ending(new pg.Client(place), (opened) => opened.end());
  await client.connect();
  for (const table of MOVED) {
    const { rows, fields } = await client.query<Record<string, unknown>>(`SELECT * FROM "${table}"`);
    const whole = new Set(fields.filter(({ dataTypeID }) => dataTypeID === BIGINT).map(({ name }) => name));
    const typed = ([name, value]: [string, unknown]): [string, unknown] =>
      whole.has(name) && value !== null ? [name, BigInt(String(value))] : [name, value];
    content[table] = rows.map((row) => textOf(Object.fromEntries(Object.entries(row).map(typed)))).sort();
  }
  return content;
}

/** The tables in which two databases differ. */
export function differences(one: Content, other: Content): string[] {
  const tables = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...tables].filter((table) => JSON.stringify(one[table]) !== JSON.stringify(other[table]));
}

function textOf(row: Record<string, unknown>): string {
  const names = Object.keys(row).sort();
  return JSON.stringify(
    names.map((name) => {
      const value = row[name];
      if (Buffer.isBuffer(value)) return [name, 'bytes', value.toString('hex')];
      return typeof value === 'bigint' ? [name, 'whole', String(value)] : [name, value];
    }),
  );
}
