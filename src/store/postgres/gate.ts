/** Lets a fixed number in at once, and the others in the order in which they came. */
export class Gate {
  #free: number;
  readonly #waiting: { enter: () => void; refuse: (error: Error) => void }[] = [];

  constructor(places: number) {
    this.#free = places;
  }

  /** @throws what was passed to `refuse` while it waited */
  async through<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((enter, refuse) => this.#waiting.push({ enter, refuse }));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next.enter();
      else this.#free += 1;
    }
  }

  /** Refuses all that wait, because the answer that those inside are waiting for will never come. */
  refuse(error: Error): void {
    for (const { refuse } of this.#waiting.splice(0)) refuse(error);
  }
}
