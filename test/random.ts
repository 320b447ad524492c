/** Numbers in [0, 1) that are the same in every run with this seed (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Random choices that are the same in every run with this seed. */
export class Dice {
  readonly #next: () => number;

  constructor(seed: number) {
    this.#next = randomFrom(seed);
  }

  /** From `from` up to `to`, both included. */
  whole(from: number, to: number): number {
    return from + Math.floor(this.#next() * (to - from + 1));
  }

  /** @param chance from 0 for never to 1 for always */
  isHit(chance: number): boolean {
    return this.#next() < chance;
  }

  oneOf<T>(choices: readonly T[]): T {
    const chosen = choices[this.whole(0, choices.length - 1)];
    if (chosen === undefined && choices.length === 0) throw new Error('there is nothing to choose from');
    return chosen as T;
  }

  /** Each of the choices with this chance, in their order. */
  someOf<T>(choices: readonly T[], chance = 0.5): T[] {
    return choices.filter(() => this.isHit(chance));
  }
}
