/**
 * The pass that runs every second: it notices blind windows, and then applies what is due (`decisions: When the service
 * itself was blind`).
 */
import { Cron } from 'croner';
import { StoreUnavailable } from '../core/errors.ts';
import type { OrderlyStop } from '../store/blindness.ts';
import type { ClusterNode } from '../store/node.ts';
import type { DueResult, LookCursor } from '../store/sweep.ts';
import { HOUR } from '../text/durations.ts';
import { type Background, backgroundOf } from './background.ts';
import { Looks } from './looks.ts';
import { failureOf, LONGEST_WAIT, type SweeperOptions } from './options.ts';
import { Postponing } from './postponing.ts';
import { Watch } from './watch.ts';
import { tellOfWindow } from './window-line.ts';

/** The daemon records that it is alive at most this often, in milliseconds. */
const LIVENESS_EVERY = 10_000;

/** How many snitches one transaction handles: few, because each may write a dozen rows while check-ins wait. */
const SLICE = 10;

/** If no sweep has ended for this long, the daemon is not ready; milliseconds. */
const STALLED_AFTER = 30_000;

/** How long the first sweep waits for check-ins that have waited at a held socket, in milliseconds. */
const TAKEN_WITHIN = 2_000;

/** How often to look for what was written while the clock was ahead for less than a tick, in milliseconds. */
const CLOCK_LOOKED_AT_EVERY = HOUR;

export class Sweeper {
  readonly #options: SweeperOptions;
  readonly #watch: Watch;
  readonly #postponing: Postponing;
  readonly #background: readonly Background[];
  readonly #looks: Looks;
  readonly #failure: ReturnType<typeof failureOf>;
  #cron: Cron | null = null;
  #halted = false;
  #running: Promise<void> = Promise.resolve();
  /** The sign of life that was recorded last. */
  #livenessAt: number | null = null;
  #sweptAt: number;
  /** When a pass last ended, whether it succeeded or failed. */
  #endedAt: number;
  /** No snitch is swept before this instant of the monotonic clock. */
  #sweepFrom = Number.NEGATIVE_INFINITY;
  /** When the wall clock was last checked, by the monotonic one; null at first, and after it was set back. */
  #clockLookedAt: number | null = null;
  /** When the last pass began: by the clock it used, and by this host's own clock, which dates check-ins. */
  #last = { now: Number.NEGATIVE_INFINITY, own: Number.NEGATIVE_INFINITY };

  constructor(options: SweeperOptions) {
    this.#options = options;
    this.#watch = new Watch(options.clock);
    this.#postponing = new Postponing(options);
    this.#background = backgroundOf(options);
    this.#looks = new Looks(options);
    this.#failure = failureOf(options);
    this.#sweptAt = options.monotonic();
    this.#endedAt = this.#sweptAt;
  }

  /**
   * Finds out how long the daemon was away, before it listens. The first pass records that time as a blind window,
   * unless the stop was orderly and `socket` has kept everybody who came since waiting, so nobody was lost.
   *
   * @param socket the name of the socket that the service manager passed, or null
   */
  async wake(socket: string | null = null): Promise<void> {
    const { store, clock, monotonic } = this.#options;
    // If several nodes receive check-ins, their signs of life show when none did.
    if (store.node) {
      if (socket !== null) this.#sweepFrom = monotonic() + TAKEN_WITHIN;
      return;
    }
    const recorded = await store.getSetting('liveness');
    const last = recorded === null ? null : Number(recorded);
    this.#livenessAt = last;
    const now = clock();
    if (last !== null && socket !== null && (await this.#wasHeld(socket, last, now))) {
      this.#sweepFrom = monotonic() + TAKEN_WITHIN;
    } else if (last !== null && last < now) {
      this.#watch.blind(last, now);
    }
    this.#watch.look();
    await this.#tryOut();
  }

  /**
   * Tries a write, to find out before anybody is answered whether the store can write. If it cannot, the window is
   * recorded later.
   */
  async #tryOut(): Promise<void> {
    try {
      await this.#options.store.setSetting('liveness', String(this.#livenessAt ?? this.#options.clock()));
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
    }
  }

  /** Check-ins are received from this moment on. */
  listens(): void {
    this.#watch.listens();
  }

  /** A recorded stop counts for one start only. If the record cannot be removed, the time counts as blind. */
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

  /** No pass may wait for a certain wall-clock time: if the clock is set back, none would run until then. */
  start(): void {
    this.#watch.start();
    this.#cron = new Cron('* * * * * *', { protect: true }, () => this.tick());
  }

  /** Runs one pass now. Errors are logged, and the next pass tries again. */
  async tick(): Promise<void> {
    this.#running = this.#sweep().then(
      () => this.#failure.works(),
      (err: unknown) => this.#failure.failed({ err }),
    );
    await this.#running;
    this.#endedAt = this.#options.monotonic();
  }

  /** Stops sweeping, because from now on check-ins may not be received, and waits for the pass that is running. */
  async halt(): Promise<void> {
    this.#halted = true;
    this.#cron?.stop();
    await this.#running;
  }

  /**
   * Halts, and records that the daemon was alive until now. If there was a blind time that has no window yet, the older
   * sign of life stays, so the next start opens the window.
   *
   * @param until when the daemon stopped receiving check-ins
   * @param stop given if nobody who has come, or who comes before the next start, is lost
   */
  async stop(until = this.#options.clock(), stop?: OrderlyStop): Promise<void> {
    await this.halt();
    this.#watch.stop();
    if (this.#options.store.node || this.#watch.window) return;
    await this.#recordLiveness(until, stop).catch((error: unknown) => {
      this.#options.logger.error({ err: error }, 'the time of the stop could not be written down');
    });
  }

  /** How long ago a pass last succeeded, in milliseconds. */
  sweptAgo(): number {
    return this.#options.monotonic() - this.#sweptAt;
  }

  /** Says what is wrong; null if nothing is. */
  problem(): string | null {
    return this.#stalledSince(this.#sweptAt);
  }

  /** Says what hangs; null if nothing does. A sweep that fails at once, because the disk is full, does not hang. */
  stall(): string | null {
    return this.#stalledSince(this.#endedAt);
  }

  /** What it must do before it can look for what is due, in words; null if that takes next to no time. */
  progress(): string | null {
    return this.#postponing.progress();
  }

  #stalledSince(since: number): string | null {
    const elapsed = this.#options.monotonic() - since;
    return elapsed > STALLED_AFTER ? `no sweep has ended for ${Math.round(elapsed / 1_000)} s` : null;
  }

  /** Blind windows come before the sweep, so no job is reported missing that could not be heard. */
  async #sweep(): Promise<void> {
    const { store, monotonic } = this.#options;
    const own = this.#watch.look();
    const now = store.node ? await store.node.now() : own;
    await (store.node ? this.#answerForRefused(store.node) : this.#noticeBlindness(now));
    await this.#lookAtClock(now, own);
    await this.#whileMore(() => this.#postponing.next(now));
    for (const work of this.#background) await this.#whileMore(work.pass(now));
    await this.#whileMore(() => store.relieveSlice(now));
    if (monotonic() >= this.#sweepFrom) {
      await this.#whileMore(() => this.#endSilences(now));
      const inVain = await this.#applyDue(now);
      await this.#looks.move(now, inVain, (slice) => this.#whileMore(slice));
    }
    this.#sweptAt = monotonic();
    this.#last = { now, own };
  }

  /**
   * Work in slices goes on until it is done or the daemon halts; between two slices the daemon counts as alive, and
   * records that: a start after a crash must not treat the time as blind although check-ins were received.
   */
  async #whileMore(slice: () => Promise<boolean>): Promise<void> {
    while (!this.#halted && (await slice())) {
      const now = this.#watch.look();
      this.#sweptAt = this.#options.monotonic();
      if (this.#options.store.node) continue;
      const isBlind = this.#watch.window !== null || this.#options.store.refused() !== null;
      if (!isBlind && now - (this.#livenessAt ?? now) >= LIVENESS_EVERY) await this.#recordLiveness(now);
    }
  }

  async #endSilences(now: number): Promise<boolean> {
    const { more, failures } = await this.#options.store.endSilencesSlice(now);
    this.#report(failures, 'an alarm that a silence held back could not be raised; it is tried again');
    return more;
  }

  #report(failures: DueResult['failures'], what: string): void {
    for (const { token, error } of failures) this.#options.logger.error({ err: error, token }, what);
  }

  /** @returns whether it looked at snitches that were not due */
  async #applyDue(now: number): Promise<boolean> {
    const { store } = this.#options;
    let after: LookCursor | null = null;
    let isVain = false;
    await this.#whileMore(async () => {
      const { next, failures, inVain } = await store.applyDue(now, after, SLICE);
      isVain ||= inVain;
      this.#report(failures, 'a snitch could not be swept; the others go on');
      after = next;
      return next !== null;
    });
    return isVain;
  }

  /**
   * The daemon was blind when it did not run, when its clock jumped forward, and while the store refused check-ins,
   * however briefly. A clock that was set back proves nothing, and opens no window.
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

  /** The database knows how the other nodes fared, but only this node knows what it refused itself. */
  async #answerForRefused(node: ClusterNode): Promise<void> {
    const window = await node.answerForRefused();
    if (window) tellOfWindow(this.#options.logger, window);
  }

  async #openWindow(start: number, end: number): Promise<void> {
    const { store, logger } = this.#options;
    await store.openBlindWindow({ start, end });
    this.#livenessAt = end;
    tellOfWindow(logger, { start, end });
  }

  /** Corrects what was written while the clock was ahead: at the start, after it was set back, and now and then. */
  async #lookAtClock(now: number, own: number): Promise<void> {
    const { store, monotonic } = this.#options;
    if (now < this.#last.now || own < this.#last.own) this.#clockLookedAt = null;
    if (this.#clockLookedAt !== null && monotonic() - this.#clockLookedAt < CLOCK_LOOKED_AT_EVERY) return;
    let after: number | null = 0;
    await this.#whileMore(async () => {
      after = await store.setAnewSlice(now, after ?? 0);
      return after !== null;
    });
    if (after === null) this.#clockLookedAt = monotonic();
  }

  async #recordLiveness(now: number, stop?: OrderlyStop): Promise<void> {
    await this.#options.store.recordLiveness(now, stop);
    this.#livenessAt = now;
  }
}
