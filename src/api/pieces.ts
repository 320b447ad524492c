/**
 * Reads the text of a long JSON array in pieces while it arrives, because no string may be longer than about 512 MB, and
 * to parse a long text takes several times its size.
 *
 * The array is cut between two elements, which our servers join as `},{"token":`. Such a text may also occur in a string
 * or in an inner list, so it is only a guess, but the parser checks it: what is before the cut is valid JSON only if the
 * cut is between two elements of the outer array. A wrong guess is left alone until twice as much has arrived, so even
 * an array without a place to cut is parsed no more than a few times. Nothing but ASCII is looked for, so that no
 * character is cut, wherever the text was cut on its way.
 */

/** How much is parsed at a time, in bytes. */
const PIECE = 1024 * 1024;

/** The beginning of an array of objects, with the first key of the first. */
const BEGINNING = /^\s*\[\s*(\{"[^"\\\u0080-\uffff]*":)/;

export class ArrayPieces {
  readonly #piece: number;
  #chunks: Buffer[] = [];
  #size = 0;
  #tryAt: number;
  /** Where it may be cut; undefined until enough has arrived to know, null if nowhere. */
  #between: string | null | undefined;
  #isCut = false;

  /** @param piece how much to parse at a time, in bytes */
  constructor(piece = PIECE) {
    this.#piece = piece;
    this.#tryAt = piece;
  }

  /** The bytes that have arrived and are not parsed yet. */
  get waiting(): number {
    return this.#size;
  }

  /** @returns the elements that are complete now, which were not returned before */
  add(chunk: Buffer): unknown[] {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    return this.#size < this.#tryAt || this.#between === null ? [] : this.#cut(Buffer.concat(this.#chunks));
  }

  /**
   * @returns the elements that are left; if `add` never returned any, the whole value, which then may be no array
   * @throws SyntaxError if it is not JSON
   */
  end(): unknown {
    const rest = Buffer.concat(this.#chunks).toString('utf8');
    return JSON.parse(this.#isCut ? `[${rest}` : rest);
  }

  #cut(bytes: Buffer): unknown[] {
    this.#chunks = [bytes];
    this.#between ??= betweenElements(bytes);
    const end = this.#between === null ? -1 : bytes.lastIndexOf(this.#between);
    const items = end < 0 ? null : this.#parse(bytes.toString('utf8', 0, end + 1));
    if (items === null) {
      this.#tryAt = 2 * this.#size;
      return [];
    }
    this.#isCut = true;
    // A copy, because a part of the old bytes would keep all of them.
    this.#chunks = [Buffer.from(bytes.subarray(end + 2))];
    this.#size = bytes.length - end - 2;
    this.#tryAt = Math.max(this.#piece, 2 * this.#size);
    return items;
  }

  #parse(text: string): unknown[] | null {
    try {
      return JSON.parse(`${this.#isCut ? '[' : ''}${text}]`);
    } catch {
      return null;
    }
  }
}

function betweenElements(bytes: Buffer): string | null {
  const [, beginning] = BEGINNING.exec(bytes.toString('utf8', 0, 200)) ?? [];
  return beginning === undefined ? null : `},${beginning}`;
}
