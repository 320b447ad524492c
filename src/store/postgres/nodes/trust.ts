/**
 * What a node can rely on, judging by its own signs of life: that what it claimed is still its own, and that silent
 * nodes are dead. Pure; instants are milliseconds.
 */

/** A monotonic clock stops while a virtual machine does, and the wall clock can be set: the longer time counts. */
export interface Instant {
  readonly monotonic: number;
  readonly wall: number;
}

export interface TrustLimits {
  /** An older sign proves nothing any more; in milliseconds. */
  readonly provesFor: number;
  /** How long this node must live without a gap to take a silent one for dead: the database may have been away. */
  readonly deadAfter: number;
}

export class Trust {
  readonly #limits: TrustLimits;
  #lastSign: Instant | null = null;
  /** Claims since then are this node's; by the monotonic clock. */
  #heldSince = Number.POSITIVE_INFINITY;
  /** The first of the signs that came without a gap. */
  #unbrokenSince: Instant | null = null;

  constructor(limits: TrustLimits) {
    this.#limits = limits;
  }

  /**
   * @param asked just before the request: the database counts the time without a sign from a later moment
   * @param wasFreed whether another node had released what this one had claimed
   * @param isUsual false if the signs of all nodes had been missing, or the database's clock was set
   */
  signed(
    asked: Instant,
    answered: Instant,
    { wasFreed, isUsual }: { wasFreed: boolean; isUsual: boolean },
  ): void {
    const last = this.#lastSign;
    if (last === null || wasFreed) this.#heldSince = answered.monotonic;
    if (!isUsual || last === null || between(last, asked) >= this.#limits.provesFor)
      this.#unbrokenSince = null;
    this.#unbrokenSince ??= asked;
    this.#lastSign = asked;
  }

  failed(): void {
    this.#unbrokenSince = null;
  }

  /** By the monotonic clock; infinite while another node may have taken everything over. */
  heldSince(now: Instant): number {
    const last = this.#lastSign;
    if (last === null || between(last, now) >= this.#limits.provesFor) return Number.POSITIVE_INFINITY;
    return this.#heldSince;
  }

  /** Whether a node that has been silent long enough is dead, because this one has lived all the while. */
  mayBury(now: Instant): boolean {
    return this.#unbrokenSince !== null && between(this.#unbrokenSince, now) >= this.#limits.deadAfter;
  }
}

function between(from: Instant, to: Instant): number {
  return Math.max(to.monotonic - from.monotonic, to.wall - from.wall);
}
