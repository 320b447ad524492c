/** The once-a-second pass: notices blind windows, then applies what is due (`decisions: When the service itself was blind`). */
import { Cron } from 'croner';
import type { Logger } from 'pino';
import type { DueCursor, Store } from '../store/store.ts';

/** The daemon writes down at most this often that it lives, in milliseconds. */
const LIVENESS_EVERY = 10_000;

/** A running daemon that did not tick for longer than this was asleep, or its clock jumped. */
const LONGEST_TICK = 15_000;

/** Snitches applied in one transaction: few, because each may write a dozen rows, and check-ins wait until it ends. */
const SLICE = 20;

/** A sweep that has not ended for this long makes the daemon not ready. */
const STALLED_AFTER = 30_000;

export interface SweeperOptions {
  store: Store;
  /** Milliseconds since the epoch, as the operating system tells them. */
  clock: () => number;
  /** Milliseconds that never jump; they tell whether sweeps still end. */
  monotonic: () => number;
  logger: Logger;
}

export class Sweeper {
  readonly #options: SweeperOptions;
  #cron: Cron | null = null;
  #running: Promise<void> = Promise.resolve();
  #livenessAt: number | null = null;
  /** Since when check-ins were refused, until the window of it is kept. */
  #refusedSince: number | null = null;
  #sweptAt: number;
  /** When a pass last came to its end, a bad one included. */
  #endedAt: number;

  constructor(options: SweeperOptions) {
    this.#options = options;
    this.#sweptAt = options.monotonic();
    this.#endedAt = this.#sweptAt;
  }

  /** Keeps the time since the last sign of life as a blind window; must end before the first sweep. */
  async wake(): Promise<void> {
    const { store, clock } = this.#options;
    const recorded = await store.getSetting('liveness');
    this.#livenessAt = recorded === null ? null : Number(recorded);
    const now = clock();
    if (this.#livenessAt !== null && this.#livenessAt < now) await this.#openWindow(this.#livenessAt, now);
    else await this.#recordLiveness(now);
    await this.#finishWindows(now);
  }

  /** Nothing here may name a time of the wall clock to begin at: when that is set back, no sweep would come before it. */
  start(): void {
    this.#cron = new Cron('* * * * * *', { protect: true }, () => this.tick());
  }

  /** One pass at the present time; errors are logged, and the next pass tries again. */
  async tick(): Promise<void> {
    this.#running = this.#sweep().catch((error: unknown) => {
      this.#options.logger.error({ err: error }, 'the sweep failed; it is tried again in a second');
    });
    await this.#running;
    this.#endedAt = this.#options.monotonic();
  }

  /** Waits for the pass that runs, and writes down that the daemon lived until now. */
  async stop(): Promise<void> {
    this.#cron?.stop();
    await this.#running;
    await this.#recordLiveness(this.#options.clock()).catch((error: unknown) => {
      this.#options.logger.error({ err: error }, 'the time of the stop could not be written down');
    });
  }

  /** What is wrong, in words, or null. */
  problem(): string | null {
    return this.#silence(this.#sweptAt);
  }

  /** What hangs, in words, or null; a sweep that fails at once, because the disk is full, does not hang. */
  stall(): string | null {
    return this.#silence(this.#endedAt);
  }

  #silence(since: number): string | null {
    const silent = this.#options.monotonic() - since;
    return silent > STALLED_AFTER ? `no sweep has ended for ${Math.round(silent / 1_000)} s` : null;
  }

  async #sweep(): Promise<void> {
    const { store, clock, monotonic } = this.#options;
    const now = clock();
    await this.#noticeBlindness(now);
    while (await store.rescheduleSlice(now));
    await this.#applyDue(now);
    this.#sweptAt = monotonic();
  }

  async #applyDue(now: number): Promise<void> {
    const { store, logger } = this.#options;
    let after: DueCursor | null = null;
    do {
      const { next, failures } = await store.applyDue(now, after, SLICE);
      for (const { token, error } of failures) {
        logger.error({ err: error, token }, 'a snitch could not be swept; the others go on');
      }
      after = next;
    } while (after);
  }

  /**
   * The daemon was blind where it did not tick, where its clock jumped forward, and while the store refused
   * check-ins. A clock that was set back proves nothing and opens no window.
   */
  async #noticeBlindness(now: number): Promise<void> {
    const alive = this.#livenessAt ?? now;
    const outage = this.#options.store.takeOutage();
    if (outage) this.#refusedSince = Math.min(this.#refusedSince ?? outage.start, outage.start);
    if (this.#refusedSince !== null) {
      await this.#openWindow(Math.min(this.#refusedSince, now), now);
      this.#refusedSince = null;
    } else if (now - alive > LONGEST_TICK) {
      await this.#openWindow(alive, now);
    } else if (now < alive || now - alive >= LIVENESS_EVERY) {
      await this.#recordLiveness(now);
    }
    await this.#finishWindows(now);
  }

  async #openWindow(start: number, end: number): Promise<void> {
    const { store, logger } = this.#options;
    await store.openBlindWindow({ start, end });
    this.#livenessAt = end;
    const window = { from: new Date(start).toISOString(), to: new Date(end).toISOString() };
    logger.warn(
      window,
      'no check-in could be received in this window; deadlines that fell into it are postponed',
    );
  }

  /** Postpones what every window that was opened excuses; a crash in between goes on here. */
  async #finishWindows(now: number): Promise<void> {
    while (await this.#options.store.postponeSlice(now));
  }

  async #recordLiveness(now: number): Promise<void> {
    await this.#options.store.setSetting('liveness', String(now));
    this.#livenessAt = now;
  }
}
