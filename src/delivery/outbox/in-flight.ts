/** Work that has begun and not ended: a stop waits for it. */
export class InFlight {
  readonly #work = new Set<Promise<void>>();

  get size(): number {
    return this.#work.size;
  }

  add(work: Promise<void>): void {
    const tracked = work.finally(() => this.#work.delete(tracked));
    this.#work.add(tracked);
  }

  /** Resolves when nothing is left, including work added meanwhile. */
  async ended(): Promise<void> {
    while (this.#work.size > 0) await Promise.all(this.#work);
  }
}
