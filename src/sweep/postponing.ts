/** Works through the deadlines that a blind window may postpone, many slices at once, and reports its progress. */
import type { Logger } from 'pino';
import { POSTPONED_AT_ONCE } from '../store/blindness.ts';
import type { Store } from '../store/store.ts';
import { SECOND } from '../text/durations.ts';

/** Slices that share commits and the wait for the disk; check-ins go before the next one. */
const SLICES = 8;

/** Between two log lines, in milliseconds; work that is done sooner is not worth a line. */
const TOLD_EVERY = 10 * SECOND;

export interface PostponingOptions {
  store: Pick<Store, 'postponeSlice' | 'census'>;
  /** Milliseconds that never jump. */
  monotonic: () => number;
  logger: Logger;
  afterLongWork?: () => void;
}

export class Postponing {
  readonly #options: PostponingOptions;
  #looked = 0;
  #all: number | null = null;
  #began = 0;
  #toldAt: number | null = null;

  constructor(options: PostponingOptions) {
    this.#options = options;
  }

  /** The progress, in words; null if there is nothing, or next to nothing, to do. */
  progress(): string | null {
    if (this.#all === null) return null;
    // There may be several windows, and each postpones other deadlines: all snitches are looked at again.
    const earlier = Math.max(0, Math.ceil(this.#looked / Math.max(1, this.#all)) - 1);
    const looked = (this.#looked - earlier * this.#all).toLocaleString('en');
    const which = earlier === 0 ? 'a blind window' : `a blind window (number ${earlier + 1})`;
    return `postponing deadlines after ${which}: ${looked} of at most ${this.#all.toLocaleString('en')} snitches looked at, and no alarm is raised before that is done`;
  }

  /**
   * Takes the next slices; false when nothing is left. If it is not called again for now, a later call takes the rest.
   */
  async next(now: number): Promise<boolean> {
    const { store, monotonic } = this.#options;
    if (this.#looked === 0) this.#began = monotonic();
    const more = await Promise.all(Array.from({ length: SLICES }, () => store.postponeSlice(now)));
    this.#looked += more.filter((isMore) => isMore).length * POSTPONED_AT_ONCE;
    if (more.includes(false)) {
      this.#end();
      return false;
    }
    this.#all ??= Object.values((await store.census()).snitches).reduce((sum, count) => sum + count, 0);
    this.#tell();
    return true;
  }

  #tell(): void {
    const now = this.#options.monotonic();
    if (now - (this.#toldAt ?? this.#began) < TOLD_EVERY) return;
    this.#toldAt = now;
    this.#options.logger.info(this.progress());
  }

  #end(): void {
    const { logger, monotonic, afterLongWork } = this.#options;
    if (this.#all !== null) afterLongWork?.();
    const duration = Math.round(monotonic() - this.#began);
    if (this.#toldAt !== null) {
      logger.info({ duration_ms: duration }, 'the deadlines are postponed; alarms are raised again');
    }
    this.#looked = 0;
    this.#all = null;
    this.#toldAt = null;
  }
}
