import { printable } from '../../text/printable.ts';

/** Single requests that are under way. */
export class Requests {
  /** What is true once they are answered, such as `job is silenced`. */
  readonly #open = new Map<Promise<void>, string>();

  get areOpen(): boolean {
    return this.#open.size > 0;
  }

  add(work: Promise<void>, outcome: string): void {
    this.#open.set(work, outcome);
    void work.finally(() => this.#open.delete(work));
  }

  /** What nobody would learn if the program ended now, a line for each. */
  unfinished(): string[] {
    return [...this.#open.values()].map(
      (outcome) =>
        `the dashboard was quit before the server had answered: look whether ${printable(outcome)}`,
    );
  }
}
