/** Lets others have their turn of the event loop while something long is put together. */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** How long one turn may be kept, in milliseconds: check-ins wait as long. */
const LENGTH = 2;

export class Breaks {
  #began = performance.now();

  /** Waits for the next turn where enough of this one is over. To be asked often: what is between two is one piece. */
  async mayRest(): Promise<void> {
    if (performance.now() - this.#began < LENGTH) return;
    await nextTurn();
    this.#began = performance.now();
  }

  /** Always waits for the next turn: before what takes long and cannot be divided. */
  async rest(): Promise<void> {
    await nextTurn();
    this.#began = performance.now();
  }
}
