/** The current time by the server's clock, on which all the times it sends are based. */

/**
 * How much the clocks may differ, in milliseconds: `Date` has whole seconds only, and an answer takes time to arrive.
 */
const TOLERATED = 3_000;

export class ServerClock {
  readonly #clock: () => number;
  /** How many milliseconds the server's clock is ahead of ours. */
  #ahead = 0;

  constructor(clock: () => number = Date.now) {
    this.#clock = clock;
  }

  /** @param date the header `Date` of an answer that has just come */
  heard(date: string | undefined): void {
    const at = Date.parse(date ?? '');
    if (Number.isNaN(at)) return;
    const ahead = at - this.#clock();
    this.#ahead = Math.abs(ahead) <= TOLERATED ? 0 : ahead;
  }

  /** In milliseconds since the epoch; by our own clock until the server has told us its time. */
  now(): number {
    return this.#clock() + this.#ahead;
  }
}
