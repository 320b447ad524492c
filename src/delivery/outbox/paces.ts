/** Remembers across restarts of the daemon how many messages were sent to each chat. */
import type { Channel } from '../../core/routing.ts';
import type { KeptPace } from '../../store/paces.ts';
import type { Store } from '../../store/store.ts';
import { GroupedTarget, type Target } from './target.ts';

export interface PacesOptions {
  store: Pick<Store, 'keepPace' | 'listPaces'>;
  clock: () => number;
  monotonic: () => number;
}

export class Paces {
  readonly #options: PacesOptions;
  readonly #channel: Channel;
  #kept: Map<string, KeptPace> | null = null;

  constructor(channel: Channel, options: PacesOptions) {
    this.#channel = channel;
    this.#options = options;
  }

  /** Reads, once, what was stored before this start. */
  async read(): Promise<void> {
    if (this.#kept) return;
    const paces = await this.#options.store.listPaces(this.#channel);
    this.#kept = new Map(paces.map(({ target, pace }) => [target, pace]));
  }

  /** A target met for the first time since the start continues where it was. */
  restore(target: Target): void {
    const pace = this.#kept?.get(target.id);
    if (!pace || !(target instanceof GroupedTarget)) return;
    this.#kept?.delete(target.id);
    target.restore(pace, this.#options.monotonic(), this.#options.clock());
  }

  /**
   * Counts a message before it is sent, so the next start knows of it whatever happens. If the store cannot write, the
   * message is sent all the same.
   */
  async count(target: Target, digest: boolean): Promise<void> {
    if (!(target instanceof GroupedTarget)) return;
    target.note(digest, this.#options.monotonic());
    await this.keep(target);
  }

  /** Stores what is known of a target. */
  async keep(target: Target): Promise<void> {
    const { store, clock, monotonic } = this.#options;
    const pace = target instanceof GroupedTarget ? target.pace(monotonic(), clock()) : null;
    if (pace) await store.keepPace(this.#channel, target.id, pace).catch(() => undefined);
  }
}
