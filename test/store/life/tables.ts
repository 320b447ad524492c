/** The rows of all tables, and what has changed in them: answers show only a part of what the store keeps. */
import Database from 'better-sqlite3';
import { migrations } from '../../../src/store/migrations/index.ts';
import { describeTables, selectionOf, type Table } from '../../../src/store/move/tables.ts';
import { databasePath } from '../../../src/store/sqlite/connection.ts';
import { migrate } from '../../../src/store/sqlite/migrate.ts';
import { closing } from '../../closing.ts';
import { inOneLine } from '../../kept-text.ts';
import type { Opened } from '../fixture.ts';
import { ON_POSTGRES } from '../postgres/open.ts';
import { shortened } from './answers.ts';
import { Differences } from './differences.ts';
import type { Names } from './names.ts';

type Row = Record<string, unknown>;

/** Columns with the numbers of rows of other tables: nothing follows from the number itself. */
const NUMBERED: Readonly<Record<string, string>> = {
  snitch_id: 'snitch',
  needed_id: 'snitch',
  cursor: 'snitch',
  release_cursor: 'snitch',
  'snitches.id': 'snitch',
  'snitch_states.id': 'snitch',
  'check_ins.id': 'check-in',
  'check_ins.previous_id': 'check-in',
  'snitch_states.last_check_in_id': 'check-in',
  check_in_id: 'check-in',
  'details.checkInId': 'check-in',
  'needs.by': 'snitch',
  'deliveries.id': 'delivery',
  'activity.id': 'entry',
  'blind_windows.id': 'window',
  window_id: 'window',
  'status_pages.id': 'page',
  page_id: 'page',
  'alert_texts.id': 'text',
  'alerts.text_id': 'text',
  'reliefs.id': 'relief',
};

/** Columns that say what a hurried write costs, and nothing that anybody sees. */
const LEFT_OUT = new Set(['alert_texts.hash', 'deliveries.node']);

/** What only the files of SQLite have; and no snitches, which a table that counts them may say or leave out. */
function isLeftOut(table: string, { name, count }: Row): boolean {
  return (table === 'settings' && (name === 'canary' || name === 'commit')) || count === 0;
}

export class Tables implements Disposable {
  readonly #opened: Opened;
  readonly #names: Names;
  readonly #tables = describedTables();
  readonly #differences = new Differences();
  /** The rows of each table by their keys, with what they are compared with. */
  readonly #known = new Map<string, Map<string, string>>();
  #connection: Database.Database | null = null;

  constructor(opened: Opened, names: Names) {
    this.#opened = opened;
    this.#names = names;
  }

  /** By table, a line for each row that was added (+), changed (~) or deleted (-) since the last call. */
  async changes(now: number): Promise<[table: string, lines: string[]][]> {
    const changes: [string, string[]][] = [];
    for (const table of this.#tables) {
      const rows = await this.#read(table);
      // Of silences of several cases that end at the same time, either may be the first.
      const lines = this.#changesIn(table, table.name === 'reliefs' ? this.#byCase(rows) : rows);
      changes.push([table.name, lines.map((line) => shortened(line, now))]);
    }
    return changes;
  }

  /** All rows of one table. */
  async rows<Of extends Row>(name: string): Promise<Of[]> {
    const table = this.#tables.find((one) => one.name === name);
    if (!table) throw new Error(`there is no table ${name}`);
    return (await this.#read(table)) as Of[];
  }

  [Symbol.dispose](): void {
    this.#connection?.close();
  }

  async #read(table: Table): Promise<Row[]> {
    if (ON_POSTGRES) return this.#opened.query<Row>(selectionOf(table));
    this.#connection ??= new Database(databasePath(this.#opened.dataDir), { readonly: true });
    return this.#connection.prepare<[], Row>(selectionOf(table)).all();
  }

  #changesIn(table: Table, rows: readonly Row[]): string[] {
    const before = this.#known.get(table.name) ?? new Map<string, string>();
    if (table.name === 'snitches') this.#nameSnitches(rows);
    const lines: string[] = [];
    const present = new Map<string, string>();
    for (const [key, row] of this.#sorted(table, rows)) {
      const shape = shapeOf(table, row);
      present.set(key, shape);
      const fields = this.#fieldsOf(table, row);
      const { isNew, changed } = this.#differences.of(shape, key, fields);
      if (isNew || changed.length > 0) {
        lines.push(`${isNew ? '+' : '~'} ${table.name} ${key}: ${changed.join(', ')}`);
      }
    }
    for (const [key, shape] of before) {
      if (present.has(key)) continue;
      this.#differences.forget(shape, key);
      lines.push(`- ${table.name} ${key}`);
    }
    this.#known.set(table.name, present);
    return lines;
  }

  #byCase(rows: readonly Row[]): Row[] {
    const name = ({ case_id: id }: Row) => this.#names.in(String(id));
    return rows.toSorted((one, other) => name(one).localeCompare(name(other)));
  }

  /** By their keys, in an order that does not depend on what is random. */
  #sorted({ name, key }: Table, rows: readonly Row[]): [key: string, row: Row][] {
    return rows
      .filter((row) => !isLeftOut(name, row))
      .map((row): [string, Row] => [
        key.map((column) => this.#shown(name, column, row[column])).join(' '),
        row,
      ])
      .sort(([one], [other]) => one.localeCompare(other, 'en', { numeric: true }));
  }

  /** Their numbers get the names of their tokens. */
  #nameSnitches(rows: readonly Row[]): void {
    for (const { id, token } of rows) this.#names.give(`snitch ${id}`, this.#names.in(String(token)));
  }

  /** A text that is a JSON object counts as many fields: often only one of them differs. */
  #fieldsOf({ name: table, columns, key }: Table, row: Row): Map<string, string> {
    const fields = new Map<string, string>();
    for (const { name } of columns) {
      if (key.includes(name) || LEFT_OUT.has(`${table}.${name}`)) continue;
      const value = row[name];
      const parts =
        typeof value === 'string' && value.startsWith('{') ? Object.entries(JSON.parse(value) as Row) : null;
      if (!parts) fields.set(name, this.#shown(table, name, value));
      else
        for (const [part, inner] of parts)
          fields.set(`${name}.${part}`, this.#shown(table, `${name}.${part}`, inner));
    }
    return fields;
  }

  #shown(table: string, column: string, value: unknown): string {
    const kind = NUMBERED[`${table}.${column}`] ?? NUMBERED[column];
    if (kind !== undefined && typeof value === 'number' && value > 0) return this.#names.ofRow(kind, value);
    if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
    return this.#names.in(inOneLine(value ?? null));
  }
}

/** A new row is compared with the last one about the same snitch, or of the same recipient. */
function shapeOf({ name }: Table, { token, snitch_id: snitch, target }: Row): string {
  return `${name} ${token ?? snitch ?? target ?? ''}`;
}

function describedTables(): Table[] {
  using db = closing(new Database(':memory:'));
  migrate(db, migrations);
  return describeTables(db);
}
