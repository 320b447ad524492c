/** Numbers that look random and are the same for the same seed. */

export interface Random {
  /** In [0, 1). */
  next(): number;
  /** In [low, high). */
  between(low: number, high: number): number;
  /** Spread evenly over the orders of magnitude from `low` to `high`. */
  magnitude(low: number, high: number): number;
  /** A number from the standard normal distribution. */
  normal(): number;
  pick<T>(choices: readonly [T, ...T[]]): T;
}

/** The generator known as mulberry32: small, fast, and good enough to draw a history from. */
export function seeded(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (low: number, high: number) => low + next() * (high - low);
  return {
    next,
    between,
    magnitude: (low, high) => low * (high / low) ** next(),
    normal: () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next()),
    pick: (choices) => choices[Math.floor(next() * choices.length)] ?? choices[0],
  };
}
