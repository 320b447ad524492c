/** Rows of one table in PostgreSQL, in parts of bounded size, however large the table is. */
import type pg from 'pg';
import type { Cell, Row } from './digest.ts';
import { listOf, selectionOf, type Table } from './tables.ts';

/** How much is read at once, in bytes, once it is known how long rows are. */
const PART = 1 << 20;
const FIRST_ROWS = 50;
const MOST_ROWS = 2_000;

/** What a value costs besides its text, in bytes. */
const CELL = 8;

const TYPES = { integer: 'bigint', text: 'text', bytes: 'bytea' } as const;

/** With `unnest`, one statement writes any number of rows, and is prepared once for the table. */
export function writerOf(
  client: pg.ClientBase,
  { name, columns }: Table,
): (rows: readonly Row[]) => Promise<void> {
  const arrays = columns.map(({ kind }, index) => `$${index + 1}::${TYPES[kind]}[]`).join(', ');
  const names = listOf(columns.map((column) => column.name));
  const statement = {
    name: `move ${name}`,
    text: `INSERT INTO "${name}" (${names}) SELECT * FROM unnest(${arrays})`,
  };
  return async (rows) => {
    const values = columns.map((_, index) => rows.map((row) => row[index]));
    const { rowCount } = await client.query({ ...statement, values });
    if (rowCount !== rows.length)
      throw new Error(`${rowCount} of ${rows.length} rows of ${name} were written`);
  };
}

/** All rows of a table that are moved, in the order of its key, in parts; within the open transaction. */
export async function* readRows(client: pg.ClientBase, table: Table): AsyncGenerator<Row[]> {
  await client.query(`DECLARE moved NO SCROLL CURSOR FOR ${selectionOf(table)}`);
  let count = FIRST_ROWS;
  for (;;) {
    const { rows } = await client.query<unknown[]>({ text: `FETCH ${count} FROM moved`, rowMode: 'array' });
    const part = rows.map((values) => values.map((value, index) => cellOf(value, table, index)));
    if (part.length > 0) yield part;
    if (part.length < count) break;
    count = Math.max(1, Math.min(MOST_ROWS, count * 4, Math.floor((PART * part.length) / sizeOf(part))));
  }
  await client.query('CLOSE moved');
}

function cellOf(value: unknown, { columns }: Table, index: number): Cell {
  if (value === null || Buffer.isBuffer(value)) return value;
  return columns[index]?.kind === 'integer' ? BigInt(String(value)) : String(value);
}

function sizeOf(rows: readonly Row[]): number {
  let size = 0;
  for (const row of rows)
    for (const cell of row)
      size += CELL + (typeof cell === 'string' || cell instanceof Buffer ? cell.length : 0);
  return size;
}

export async function countRows(client: pg.ClientBase, { name, where }: Table): Promise<number> {
  const { rows } = await client.query<{ count: string }>(`SELECT count(*) FROM "${name}" WHERE ${where}`);
  return Number(rows[0]?.count);
}

/** Gives the next row the number after `last`. Unlike `setval`, this is undone with the transaction. */
export async function setLastNumber(client: pg.ClientBase, { name }: Table, last: bigint): Promise<void> {
  await client.query(`ALTER TABLE "${name}" ALTER COLUMN id RESTART WITH ${last + 1n}`);
}

/** The last number that was given to a row of the table; 0 for none. */
export async function lastNumber(client: pg.ClientBase, { name }: Table): Promise<bigint> {
  const { rows: named } = await client.query<{ sequence: string }>(
    `SELECT pg_get_serial_sequence($1, 'id') AS sequence`,
    [`"${name}"`],
  );
  const { rows } = await client.query<{ last: string }>(
    `SELECT CASE WHEN is_called THEN last_value ELSE last_value - 1 END AS last FROM ${named[0]?.sequence}`,
  );
  return BigInt(rows[0]?.last ?? 0);
}
