/**
 * The once-a-second pass: notices blind windows, then applies what is due (`decisions: When the service itself was
 * blind`).
 */

import { Cron } from 'croner';
import type { Logger } from 'pino';
import { StoreUnavailable } from '../core/errors.ts';
import type { OrderlyStop } from '../store/blindness.ts';
import type { Store } from '../store/store.ts';
import type { DueCursor } from '../store/sweep.ts';
import { HOUR } from '../text/durations.ts';
import { Postponing } from './postponing.ts';
import { Watch } from './watch.ts';

/** How often at most the daemon writes down that it is alive, in milliseconds. */
const LIVENESS_EVERY = 10_000;

/**
 * Snitches applied in one transaction: few, because each may write a dozen rows, and check-ins wait until it ends.
 */
const SLICE = 20;

/** A sweep that has not ended for this long makes the daemon not ready. */
const STALLED_AFTER = 30_000;

/**
 * No client waits longer than this for an answer: after that, nobody knows who gave up waiting at a held socket.
 */
const LONGEST_WAIT = 30_000;

/** Check-ins that waited at a held socket are taken before the first sweep looks for them, in milliseconds. */
const TAKEN_WITHIN = 2_000;

/** How often to look for what was written while the clock ran ahead for less than a tick, in milliseconds. */
const CLOCK_LOOKED_AT_EVERY = HOUR;

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
  readonly #watch: Watch;
  readonly #postponing: Postponing;
  #cron: Cron | null = null;
  #halted = false;
  #running: Promise<void> = Promise.resolve();
  /** As it was written down last. */
  #livenessAt: number | null = null;
  #sweptAt: number;
  /** When a pass last came to its end, a bad one included. */
  #endedAt: number;
  /** No sweep before this instant of the monotonic clock. */
  #sweepFrom = Number.NEGATIVE_INFINITY;
  /**
   * When the wall clock was last checked, by the monotonic one; null before the first pass and after it was set
   * back.
   */
  #clockLookedAt: number | null = null;
  #lastNow = Number.NEGATIVE_INFINITY;

  constructor(options: SweeperOptions) {
    this.#options = options;
    this.#watch = new Watch(options.clock);
    this.#postponing = new Postponing(options);
    this.#sweptAt = options.monotonic();
    this.#endedAt = this.#sweptAt;
  }

  /**
   * Looks how long the daemon was away, before it listens. The first pass then keeps that time as a blind window,
   * unless the stop was orderly and `socket` held whoever came since: then nobody was lost.
   *
   * @param socket the name of the socket that the service manager passed, or null
   */
  async wake(socket: string | null = null): Promise<void> {
    const { store, clock, monotonic } = this.#options;
    const recorded = await store.getSetting('liveness');
    this.#livenessAt = recorded === null ? null : Number(recorded);
    const now = clock();
    if (
      this.#livenessAt !== null &&
      socket !== null &&
      (await this.#wasHeld(socket, this.#livenessAt, now))
    ) {
      this.#sweepFrom = monotonic() + TAKEN_WITHIN;
    } else if (this.#livenessAt !== null && this.#livenessAt < now) {
      this.#watch.blind(this.#livenessAt, now);
    }
    this.#watch.look();
    await this.#tryOut();
  }

  /**
   * Whether the store can write is known before anybody is answered; where it cannot, the window is kept later.
   */
  async #tryOut(): Promise<void> {
    try {
      await this.#options.store.setSetting('liveness', String(this.#livenessAt ?? this.#options.clock()));
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
    }
  }

  /** Check-ins are heard from this moment on. */
  listens(): void {
    this.#watch.listens();
  }

  /** A written stop counts for one start only; where it cannot be taken back, the time counts as blind. */
  async #wasHeld(socket: string, livenessAt: number, now: number): Promise<boolean> {
    const { store } = this.#options;
    const stopped = await store.getSetting('stopped');
    if (stopped === null) return false;
    const stop = JSON.parse(stopped) as OrderlyStop & { at: number };
    const waited = now - livenessAt;
    if (stop.at !== livenessAt || stop.socket !== socket || waited <= 0 || waited > LONGEST_WAIT)
      return false;
    try {
      await this.#recordLiveness(now);
      return true;
    } catch (error) {
      if (error instanceof StoreUnavailable) return false;
      throw error;
    }
  }

  /**
   * Nothing here may name a time of the wall clock to begin at: when that is set back, no sweep would come before
   * it.
   */
  start(): void {
    this.#watch.start();
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

  /** Sweeps no more, since from now on check-ins may not be heard; waits for the pass that runs. */
  async halt(): Promise<void> {
    this.#halted = true;
    this.#cron?.stop();
    await this.#running;
  }

  /**
   * Halts, and writes down that the daemon lived until now. A time in which nothing was heard and that has no window
   * yet gets it at the next start: then an older sign of life stands.
   *
   * @param until when it ceased to hear
   * @param stop given where nobody was lost who came until now, or comes before the next start
   */
  async stop(until = this.#options.clock(), stop?: OrderlyStop): Promise<void> {
    await this.halt();
    this.#watch.stop();
    if (this.#watch.window) return;
    await this.#recordLiveness(until, stop).catch((error: unknown) => {
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

  /** What it does before it can look for what is due, in words; null where that takes next to no time. */
  progress(): string | null {
    return this.#postponing.progress();
  }

  #silence(since: number): string | null {
    const silent = this.#options.monotonic() - since;
    return silent > STALLED_AFTER ? `no sweep has ended for ${Math.round(silent / 1_000)} s` : null;
  }

  /** The window comes before the sweep: a job that could not be heard is not accused. */
  async #sweep(): Promise<void> {
    const { store, monotonic } = this.#options;
    const now = this.#watch.look();
    await this.#noticeBlindness(now);
    await this.#lookAtClock(now);
    await this.#whileMore(() => this.#postponing.next(now));
    await this.#whileMore(() => store.rescheduleSlice(now));
    if (monotonic() >= this.#sweepFrom) await this.#applyDue(now);
    this.#sweptAt = monotonic();
    this.#lastNow = now;
  }

  /**
   * Work in slices goes on until it is done or the daemon halts; between two of them the daemon is seen to live, and
   * writes that down: a start after a crash must not take for blind what was heard meanwhile.
   */
  async #whileMore(slice: () => Promise<boolean>): Promise<void> {
    while (!this.#halted && (await slice())) {
      const now = this.#watch.look();
      this.#sweptAt = this.#options.monotonic();
      const isBlind = this.#watch.window !== null || this.#options.store.refused() !== null;
      if (!isBlind && now - (this.#livenessAt ?? now) >= LIVENESS_EVERY) await this.#recordLiveness(now);
    }
  }

  async #applyDue(now: number): Promise<void> {
    const { store, logger } = this.#options;
    let after: DueCursor | null = null;
    await this.#whileMore(async () => {
      const { next, failures } = await store.applyDue(now, after, SLICE);
      for (const { token, error } of failures) {
        logger.error({ err: error, token }, 'a snitch could not be swept; the others go on');
      }
      after = next;
      return next !== null;
    });
  }

  /**
   * The daemon was blind where it did not run, where its clock jumped forward, and while the store refused check-ins,
   * however short that was. A clock that was set back proves nothing and opens no window.
   */
  async #noticeBlindness(now: number): Promise<void> {
    const { store } = this.#options;
    const seen = this.#watch.window;
    const refused = store.refused();
    const alive = this.#livenessAt ?? Number.NEGATIVE_INFINITY;
    if (seen || refused) {
      const start = Math.min(seen?.start ?? now, refused?.start ?? now, now);
      await this.#openWindow(start, refused ? now : Math.min(seen?.end ?? now, now));
      this.#watch.told(seen);
    } else if (now < alive || now - alive >= LIVENESS_EVERY) {
      await this.#recordLiveness(now);
    }
  }

  async #openWindow(start: number, end: number): Promise<void> {
    const { store, logger } = this.#options;
    await store.openBlindWindow({ start, end });
    this.#livenessAt = end;
    const window = { from: new Date(start).toISOString(), to: new Date(end).toISOString() };
    logger.warn(
      window,
      'no check-in could be received in this window; the deadlines of jobs that it may have kept from checking in are postponed',
    );
  }

  /** What was set while the clock ran ahead is set anew at the start, when it was set back, and now and then. */
  async #lookAtClock(now: number): Promise<void> {
    const { store, monotonic } = this.#options;
    if (now < this.#lastNow) this.#clockLookedAt = null;
    if (this.#clockLookedAt !== null && monotonic() - this.#clockLookedAt < CLOCK_LOOKED_AT_EVERY) return;
    let after: string | null = '';
    await this.#whileMore(async () => {
      after = await store.setAnewSlice(now, after ?? '');
      return after !== null;
    });
    if (after === null) this.#clockLookedAt = monotonic();
  }

  async #recordLiveness(now: number, stop?: OrderlyStop): Promise<void> {
    await this.#options.store.recordLiveness(now, stop);
    this.#livenessAt = now;
  }
}
