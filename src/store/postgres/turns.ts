/**
 * The order of calls made at the same moment. They go to the database on several connections, which may run them in any
 * order. Calls of one turn of the event loop keep the order in which they were made, as on SQLite: what people do to
 * one case, one after the other; check-ins after what was done before them; and the program's own work after both.
 */
export class Turns {
  #acts: Promise<unknown>[] = [];
  #checkIns: Promise<unknown>[] = [];
  #turn: Promise<void> | null = null;
  readonly #lastOf = new Map<string, Promise<unknown>>();

  /** Runs `act` after earlier acts of the same owner, and after the check-ins of this turn. */
  act<T>(owner: string, act: () => Promise<T>): Promise<T> {
    this.#begin();
    const before = [this.#lastOf.get(owner), ...this.#checkIns];
    const running = Promise.allSettled(before).then(act);
    this.#lastOf.set(owner, running);
    this.#acts.push(running);
    const forget = () => {
      if (this.#lastOf.get(owner) === running) this.#lastOf.delete(owner);
    };
    running.then(forget, forget);
    return running;
  }

  /** What a check-in made now has to wait for; null for nothing. */
  beforeCheckIn(): Promise<unknown> | null {
    return this.#acts.length === 0 ? null : Promise.allSettled(this.#acts);
  }

  checkIn(running: Promise<unknown>): void {
    this.#begin();
    this.#checkIns.push(running);
  }

  /** Resolves when all calls of this turn have ended. */
  async behindAll(): Promise<void> {
    this.#begin();
    const [acts, checkIns] = [this.#acts, this.#checkIns];
    await this.#turn;
    await Promise.allSettled([...acts, ...checkIns]);
  }

  #begin(): void {
    this.#turn ??= endOfTurn().then(() => {
      this.#turn = null;
      this.#acts = [];
      this.#checkIns = [];
    });
  }
}

/** How long calls of one moment are gathered: what arrives in the next turn of the event loop still counts. */
export function endOfTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
}
