import { EventEmitter, once } from 'node:events';

/** What has arrived so far, and a way to wait for more. */
export class Arrivals<T> {
  readonly items: T[] = [];
  readonly #name: string;
  readonly #emitter = new EventEmitter();

  constructor(name: string) {
    this.#name = name;
  }

  add(item: T): void {
    this.items.push(item);
    this.#emitter.emit('arrival');
  }

  async waitFor(count: number, withinMs: number): Promise<readonly T[]> {
    const signal = AbortSignal.timeout(Math.max(1, withinMs));
    while (this.items.length < count) {
      await once(this.#emitter, 'arrival', { signal }).catch(() => {
        throw new Error(`${this.items.length} of ${count} ${this.#name} arrived within ${withinMs} ms`);
      });
    }
    return this.items;
  }
}
