/** What was read at the source, table by table, to compare the target with. */
import type { TableDigest } from './digest.ts';
import { type Moved, MoveFailed } from './move.ts';
import type { Table } from './tables.ts';

export class Tally {
  /** Texts with a NUL in them. */
  withNul = 0;
  readonly #read = new Map<string, TableDigest>();

  add({ name }: Table, digest: TableDigest): void {
    this.#read.set(name, digest);
  }

  /**
   * @param counted the rows as the target itself counts them
   * @throws MoveFailed if the target has anything other than what was read
   */
  compare({ name }: Table, found: TableDigest, counted: number): void {
    const read = this.#read.get(name);
    if (read?.equals(found) && counted === read.rows) return;
    const details =
      read?.rows === found.rows ? 'other content' : `${found.rows} rows instead of ${read?.rows ?? 'none'}`;
    throw new MoveFailed(
      `${name} came out with ${details} at the target: nothing was moved. Do rules, triggers or a faulty disk change what is written there?`,
    );
  }

  moved(aliveAt: number | null): Moved {
    const rowsOf = (name: string) => this.#read.get(name)?.rows ?? 0;
    const all = [...this.#read.values()];
    return {
      tables: all.length,
      rows: all.reduce((sum, { rows }) => sum + rows, 0),
      snitches: rowsOf('snitches'),
      cases: rowsOf('cases'),
      checkIns: rowsOf('check_ins'),
      withNul: this.withNul,
      aliveAt,
    };
  }
}
