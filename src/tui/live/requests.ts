/** Single requests that are under way. */
export class Requests {
  readonly #open = new Set<Promise<void>>();

  get areOpen(): boolean {
    return this.#open.size > 0;
  }

  add(work: Promise<void>): void {
    this.#open.add(work);
    void work.finally(() => this.#open.delete(work));
  }
}
