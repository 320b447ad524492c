/** Deletes what is no longer kept, a little at a time. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Cron } from 'croner';
import type { Logger } from 'pino';
import type { Store } from '../store/store.ts';
import { DAY } from '../text/durations.ts';

/**
 * A pass trusts the clock only this far beyond the last pass, because a clock that runs ahead must not delete
 * everything.
 */
const MOST_FORWARD = DAY;

/** The pause between two slices, in milliseconds, so nobody notices this work. */
const REST = 20;

export interface RetentionSettings {
  /** How many of the newest check-ins of each snitch are kept. */
  checkIns: number;
  /** How many days check-ins, alerts and finished deliveries are kept. */
  days: number;
}

export class Retention {
  readonly #store: Store;
  readonly #clock: () => number;
  readonly #logger: Logger;
  #settings: RetentionSettings;
  #cron: Cron | null = null;
  #stopped = false;
  #running: Promise<void> = Promise.resolve();

  constructor(options: { store: Store; clock: () => number; logger: Logger; settings: RetentionSettings }) {
    this.#store = options.store;
    this.#clock = options.clock;
    this.#logger = options.logger;
    this.#settings = options.settings;
  }

  configure(settings: RetentionSettings): void {
    this.#settings = settings;
  }

  start(): void {
    this.#cron = new Cron('17 * * * *', { protect: true }, () => this.pass());
  }

  /** Goes through everything once. */
  async pass(): Promise<void> {
    this.#running = this.#prune().catch((error: unknown) => {
      this.#logger.error({ err: error }, 'retention failed; it is tried again in an hour');
    });
    await this.#running;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cron?.stop();
    await this.#running;
  }

  /** The time that this pass trusts. After a long absence it takes several passes to delete everything too old. */
  async #believedNow(): Promise<number> {
    const now = this.#clock();
    const before = await this.#store.getSetting('retention.now');
    const believed = before === null ? now : Math.min(now, Number(before) + MOST_FORWARD);
    if (String(believed) !== before) await this.#store.setSetting('retention.now', String(believed));
    return believed;
  }

  async #prune(): Promise<void> {
    const now = await this.#believedNow();
    const { checkIns, days } = this.#settings;
    while (!this.#stopped && (await this.#store.prune({ checkIns, olderThan: now - days * DAY, now }))) {
      await sleep(REST);
    }
  }
}
