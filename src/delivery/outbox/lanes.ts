/**
 * How many sends run at the same time. A send starts in the fast lane; one that takes long moves to the slow lane,
 * and targets that were slow or failed begin there. So targets that hang, however many, never fill the fast lane for
 * more than a moment.
 */
export interface LaneLimits {
  fast: number;
  slow: number;
  /** After this time a send counts as slow, in milliseconds. */
  slowAfter: number;
}

export interface Slot {
  /** Whether the send took longer than `slowAfter`. */
  readonly slow: boolean;
  /** Frees the place; more than once does no harm. */
  leave(): void;
}

export class Lanes {
  readonly #limits: LaneLimits;
  readonly #used = { fast: 0, slow: 0 };

  constructor(limits: LaneLimits) {
    this.#limits = limits;
  }

  hasRoom(lane: 'fast' | 'slow'): boolean {
    return this.#used[lane] < this.#limits[lane];
  }

  /**
   * Takes a place; null if the lane is full.
   *
   * @param onSlow called once the send counts as slow: there may then be a free place in the fast
   *   lane
   */
  enter(lane: 'fast' | 'slow', onSlow: () => void): Slot | null {
    if (!this.hasRoom(lane)) return null;
    const used = this.#used;
    let current = lane;
    let slow = false;
    let left = false;
    used[current] += 1;
    const timer = setTimeout(() => {
      slow = true;
      if (current === 'fast' && this.hasRoom('slow')) {
        used.fast -= 1;
        used.slow += 1;
        current = 'slow';
      }
      onSlow();
    }, this.#limits.slowAfter);
    return {
      get slow() {
        return slow;
      },
      leave: () => {
        if (left) return;
        left = true;
        clearTimeout(timer);
        used[current] -= 1;
      },
    };
  }
}
