/** Deletes what is no longer kept, a little at a time. */

import { setTimeout as sleep } from 'node:timers/promises';
import { Cron } from 'croner';
import type { Logger } from 'pino';
import type { Store } from '../store/store.ts';
import { DAY } from '../text/durations.ts';

/** A pass believes the clock at most so far beyond the pass before: one that is months ahead must not delete all. */
const MOST_FORWARD = DAY;

/** The rest between two slices, in milliseconds: this work must never be felt. */
const REST = 20;

export interface RetentionSettings {
  /** Newest check-ins kept per snitch. */
  checkIns: number;
  /** Days that check-ins, alerts and finished deliveries are kept. */
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

  /** Looks at everything once. */
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

  /** After a long time away it takes some passes, one each hour, until all that is too old is gone. */
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
