/** Gives way to other work on the event loop while something long is being composed. */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** How long one turn may last, in milliseconds: check-ins have to wait for it. */
const LENGTH = 2;

export class Breaks {
  #began = performance.now();

  /**
   * Waits for the next turn if this one has lasted long enough. Call it often: the work between two calls is not
   * divided.
   */
  async mayRest(): Promise<void> {
    if (performance.now() - this.#began < LENGTH) return;
    await nextTurn();
    this.#began = performance.now();
  }

  /** Always waits for the next turn: call it before a long step that cannot be divided. */
  async rest(): Promise<void> {
    await nextTurn();
    this.#began = performance.now();
  }
}
