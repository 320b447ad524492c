/**
 * Bounds how long sends are begun in one go. Each takes a fraction of a millisecond to compose and sign, and if many
 * could begin at once, check-ins would have to wait for all of them.
 */

/** In milliseconds. */
const LENGTH = 1;

export class Spell {
  readonly #monotonic: () => number;
  #began: number | null = null;
  readonly #interrupted = new Set<() => void>();

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  /**
   * Whether there is time to begin something now. If not, `goOn` is called after other work has had its turn of the
   * event loop.
   */
  hasTime(goOn: () => void): boolean {
    const now = this.#monotonic();
    if (this.#began === null) {
      this.#began = now;
      setImmediate(() => this.#end());
    }
    if (now - this.#began < LENGTH) return true;
    this.#interrupted.add(goOn);
    return false;
  }

  #end(): void {
    this.#began = null;
    const waiting = [...this.#interrupted];
    this.#interrupted.clear();
    for (const goOn of waiting) goOn();
  }
}
