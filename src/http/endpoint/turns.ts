/** Something that only a limited number can hold at a time, such as the lists of one key. */
export interface Claim {
  name: string;
  most: number;
}

interface Waiting {
  claims: readonly Claim[];
  begin: (release: () => void) => void;
}

/** A claim on something that is taken waits for its turn, and is overtaken by claims on something else. */
export class Turns {
  readonly #held = new Map<string, number>();
  /** In the order in which they came. */
  readonly #waiting = new Set<Waiting>();

  /**
   * Takes all of `claims` as soon as they are free.
   *
   * @param within how long to wait, in milliseconds
   * @param gone ends the waiting, because nobody wants the turn any more
   * @returns a function that releases them; null if the time ran out, or nobody wanted the turn any more
   */
  async take(claims: readonly Claim[], within: number, gone: AbortSignal): Promise<(() => void) | null> {
    if (gone.aborted) return null;
    if (this.#isFree(claims)) return this.#hold(claims);
    const { promise, resolve } = Promise.withResolvers<(() => void) | null>();
    const waiting = { claims, begin: resolve };
    const leave = () => resolve(null);
    const late = setTimeout(leave, within);
    gone.addEventListener('abort', leave);
    this.#waiting.add(waiting);
    try {
      return await promise;
    } finally {
      clearTimeout(late);
      gone.removeEventListener('abort', leave);
      this.#waiting.delete(waiting);
    }
  }

  #isFree(claims: readonly Claim[]): boolean {
    return claims.every(({ name, most }) => (this.#held.get(name) ?? 0) < most);
  }

  #hold(claims: readonly Claim[]): () => void {
    for (const { name } of claims) this.#held.set(name, (this.#held.get(name) ?? 0) + 1);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      for (const { name } of claims) this.#giveBack(name);
      this.#beginNext();
    };
  }

  #giveBack(name: string): void {
    const left = (this.#held.get(name) ?? 0) - 1;
    if (left > 0) this.#held.set(name, left);
    else this.#held.delete(name);
  }

  #beginNext(): void {
    for (const waiting of this.#waiting) {
      if (!this.#isFree(waiting.claims)) continue;
      this.#waiting.delete(waiting);
      waiting.begin(this.#hold(waiting.claims));
    }
  }
}
