/** The present time by the server's clock, which all its times are told by. */

/** So much may the clocks differ, in milliseconds: `Date` tells whole seconds, and an answer takes its time. */
const TOLERATED = 3_000;

export class ServerClock {
  readonly #clock: () => number;
  /** By how many milliseconds the server's clock is ahead of ours. */
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

  /** In milliseconds since the epoch; by our own clock until the server has said what its clock shows. */
  now(): number {
    return this.#clock() + this.#ahead;
  }
}
