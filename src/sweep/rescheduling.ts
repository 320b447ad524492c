/** Sets the deadlines anew that changed rules of a case move: a little in each pass, because alarms do not wait for it. */
import type { Logger } from 'pino';
import type { Store } from '../store/store.ts';
import { SECOND } from '../text/durations.ts';

/** How long one pass may take for it, in milliseconds: the pass of the next second goes on. */
const AT_ONCE = SECOND / 2;

/** Between two log lines, in milliseconds; work that is done sooner is not worth a line. */
const TOLD_EVERY = 10 * SECOND;

export interface ReschedulingOptions {
  store: Pick<Store, 'rescheduleSlice'>;
  /** Milliseconds that never jump. */
  monotonic: () => number;
  logger: Logger;
}

export class Rescheduling {
  readonly #options: ReschedulingOptions;
  /** When the work that is not over began; null if there is none. */
  #began: number | null = null;
  #toldAt: number | null = null;

  constructor(options: ReschedulingOptions) {
    this.#options = options;
  }

  /** @returns what takes the next slice; false when the time of this pass is over or nothing is left */
  pass(now: number): () => Promise<boolean> {
    const { store, monotonic } = this.#options;
    const until = monotonic() + AT_ONCE;
    return async () => {
      if (!(await store.rescheduleSlice(now))) {
        this.#end();
        return false;
      }
      this.#began ??= monotonic();
      this.#tell(this.#began);
      return monotonic() < until;
    };
  }

  #tell(began: number): void {
    const now = this.#options.monotonic();
    if (now - (this.#toldAt ?? began) < TOLD_EVERY) return;
    this.#toldAt = now;
    this.#options.logger.info(
      'the rules of a case changed: its deadlines are being set anew, and alarms go on',
    );
  }

  #end(): void {
    if (this.#toldAt !== null) {
      const duration = Math.round(this.#options.monotonic() - (this.#began ?? 0));
      this.#options.logger.info(
        { duration_ms: duration },
        'the deadlines follow the changed rules of their case',
      );
    }
    this.#began = null;
    this.#toldAt = null;
  }
}
