/** What two databases must agree on before a move counts: how many rows a table has, and what is in them. */
import { hash } from 'node:crypto';

/** A value in a form that both databases have: differences between their clients are removed first. */
export type Cell = bigint | string | Buffer | null;

export type Row = readonly Cell[];

const WORDS = 8;

/** The number of rows, and the sum of the digests of all rows, so that their order does not matter. */
export class TableDigest {
  #rows = 0;
  readonly #sum = new Uint32Array(WORDS);

  get rows(): number {
    return this.#rows;
  }

  add(row: Row): void {
    const digest = hash('sha256', plainOf(row), 'buffer');
    for (let word = 0; word < WORDS; word += 1)
      this.#sum[word] = (this.#sum[word] ?? 0) + digest.readUInt32BE(word * 4);
    this.#rows += 1;
  }

  get checksum(): string {
    return Array.from(this.#sum, (word) => word.toString(16).padStart(8, '0')).join('');
  }

  equals(other: TableDigest): boolean {
    return this.#rows === other.#rows && this.checksum === other.checksum;
  }
}

/** Unique for each row: every value states its kind and its length. */
function plainOf(row: Row): string {
  let plain = '';
  for (const cell of row) {
    if (cell === null) plain += 'n;';
    else if (typeof cell === 'string') plain += `t${cell.length}:${cell};`;
    else if (typeof cell === 'bigint') plain += `i${cell};`;
    else plain += `b${cell.toString('hex')};`;
  }
  return plain;
}
