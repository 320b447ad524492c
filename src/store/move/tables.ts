/** What a move takes along: every table is listed here, and a new one must be added. */
import type Database from 'better-sqlite3';

/** Copied row by row. */
export const MOVED = [
  ...['cases', 'api_keys', 'settings', 'activity', 'snitches', 'snitch_tags', 'snitch_states'],
  ...['snitch_values', 'status_counts', 'needs', 'reliefs', 'reschedules', 'check_ins', 'check_in_outputs'],
  ...['webhooks', 'channels', 'routes', 'alert_texts', 'alerts', 'deliveries', 'repeats', 'flapping'],
  ...['silences', 'silenced_alarms', 'blind_windows', 'postponements'],
  ...['status_pages', 'status_changes', 'badges'],
] as const;

/** Left behind, with the reason. */
export const LEFT: Readonly<Record<string, string>> = {
  turns: 'which running node serves which recipient',
  nodes: 'the nodes of one database; their last sign of life is carried over as the liveness of the other',
  schema_version: 'made by the migrations themselves',
  waiting_nodes: 'those that wait for an upgrade of the database that they are on',
};

/** Rows that concern one SQLite file and not its content: the next file has its own. */
const OF_THE_FILE: Readonly<Partial<Record<string, string>>> = {
  settings: `name NOT IN ('canary', 'commit')`,
};

export type Kind = 'integer' | 'text' | 'bytes';

export interface Table {
  readonly name: string;
  readonly columns: readonly { readonly name: string; readonly kind: Kind }[];
  /** The columns of the primary key, in its order. */
  readonly key: readonly string[];
  /** Which rows are moved, in SQL. */
  readonly where: string;
  /** Whether the database numbers rows that come without an `id`. */
  readonly isNumbered: boolean;
}

/** Selects the rows of a table that are moved, in SQL that both databases understand. */
export function selectionOf({ name, columns, key, where }: Table): string {
  return `SELECT ${listOf(columns.map((column) => column.name))} FROM "${name}" WHERE ${where} ORDER BY ${listOf(key)}`;
}

export function listOf(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(', ');
}

/** @param db has the schema of this program */
export function describeTables(db: Database.Database): Table[] {
  return MOVED.map((name) => describe(db, name));
}

function describe(db: Database.Database, name: string): Table {
  const rows = db.prepare<[string], { name: string; type: string; pk: number | bigint }>(
    'SELECT name, type, pk FROM pragma_table_info(?) ORDER BY cid',
  );
  const columns = rows.all(name);
  if (columns.length === 0) throw new Error(`the database has no table ${name}`);
  const key = columns
    .filter(({ pk }) => Number(pk) > 0)
    .sort((one, other) => Number(one.pk) - Number(other.pk));
  return {
    name,
    columns: columns.map((column) => ({ name: column.name, kind: kindOf(column.type) })),
    key: key.map((column) => column.name),
    where: OF_THE_FILE[name] ?? 'TRUE',
    isNumbered: key.length === 1 && key[0]?.name === 'id' && key[0].type === 'INTEGER',
  };
}

function kindOf(type: string): Kind {
  if (type === 'TEXT') return 'text';
  if (type === 'BLOB') return 'bytes';
  if (type === 'INTEGER' || type === 'BIGINT') return 'integer';
  throw new Error(`a column has the type ${type}, which is not known how to move`);
}
