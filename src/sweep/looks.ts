/**
 * Moves each snitch's next look by the sweep to when it is due. Check-ins move deadlines without telling the sweep,
 * which then looks too early: what it looked at in vain must be out of its way before the next pass.
 */
import type { Store } from '../store/store.ts';
import type { LookCursor } from '../store/sweep.ts';
import { MINUTE, SECOND } from '../text/durations.ts';

/** How long before the sweep would look at a snitch that look is moved, in milliseconds. */
const AHEAD = 10 * MINUTE;

/** How often such snitches are searched for, in milliseconds. */
const AHEAD_EVERY = 10 * SECOND;

/**
 * How many slices of that at a time: enough for a million snitches that are all due at midnight within those ten
 * minutes.
 */
const AHEAD_AT_ONCE = 100;

/** How long one pass may delay the next to move what was looked at in vain, in milliseconds. */
const MOVE_FOR = 500;

export interface LooksOptions {
  store: Pick<Store, 'moveLooks'>;
  /** Milliseconds that never jump. */
  monotonic: () => number;
}

/** Runs `slice` again and again while it returns true. */
type WhileMore = (slice: () => Promise<boolean>) => Promise<void>;

export class Looks {
  readonly #options: LooksOptions;
  /** How far the coming looks have been moved. */
  #aheadTo: LookCursor | null = null;
  /** When to search for the next ones, by the monotonic clock. */
  #aheadFrom = Number.NEGATIVE_INFINITY;

  constructor(options: LooksOptions) {
    this.#options = options;
  }

  /**
   * What one pass does: moves the snitches that were looked at in vain, and now and then some that
   * would be.
   *
   * @param inVain whether there are any of the first
   */
  async move(now: number, inVain: boolean, whileMore: WhileMore): Promise<void> {
    if (inVain) await this.#moveFirst(now, whileMore);
    if (this.#options.monotonic() >= this.#aheadFrom) await this.#moveAhead(now, whileMore);
  }

  async #moveFirst(now: number, whileMore: WhileMore): Promise<void> {
    const { store, monotonic } = this.#options;
    const until = monotonic() + MOVE_FOR;
    let after: LookCursor | null = null;
    await whileMore(async () => {
      after = await store.moveLooks(now, after);
      return after !== null && monotonic() < until;
    });
  }

  async #moveAhead(now: number, whileMore: WhileMore): Promise<void> {
    const { store, monotonic } = this.#options;
    this.#aheadFrom = monotonic() + AHEAD_EVERY;
    let slices = 0;
    await whileMore(async () => {
      this.#aheadTo = await store.moveLooks(now + AHEAD, this.#aheadTo);
      slices += 1;
      return this.#aheadTo !== null && slices < AHEAD_AT_ONCE;
    });
  }
}
