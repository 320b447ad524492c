/** Makes the random tokens, ids and keys the same in every run, because much is read and taken in their order. */
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { randomFrom } from '../../random.ts';

const { randomBytes } = crypto;

/** Until it is disposed of, `randomBytes` gives what follows from the seed. */
export class SeededIds implements Disposable {
  readonly #seed: number;
  /** One for each length, so that what a driver of a database draws for itself does not disturb the others. */
  readonly #sequences = new Map<number, () => number>();
  #restarts = 0;

  constructor(seed: number) {
    this.#seed = seed;
    replace(((length: number) => this.#bytes(length)) as typeof randomBytes);
  }

  /** What is drawn from now on does not depend on how much was drawn before: one database tries again what it refuses. */
  restart(): void {
    this.#restarts += 1;
    this.#sequences.clear();
  }

  #bytes(length: number): Buffer {
    const next =
      this.#sequences.get(length) ?? randomFrom((this.#seed * 1_000 + this.#restarts) * 1_000 + length);
    this.#sequences.set(length, next);
    return Buffer.from(Array.from({ length }, () => Math.floor(next() * 256)));
  }

  [Symbol.dispose](): void {
    replace(randomBytes);
  }
}

function replace(made: typeof randomBytes): void {
  crypto.randomBytes = made;
  syncBuiltinESMExports();
}
