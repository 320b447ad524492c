/**
 * Logs something that fails again and again, every second or with every call: the first times at once, then once a
 * minute with a count.
 */
import { MINUTE } from './durations.ts';

type Write = (fields: object, message: string) => void;

export interface RepeatedFailureOptions {
  logger: Record<'warn' | 'error' | 'info', Write>;
  /** The message of each failure that is written. */
  message: string;
  /** The message when it works again; none if empty. */
  over?: string;
  /** Milliseconds of a clock that never jumps. */
  monotonic: () => number;
  /** How many are written one by one before the rest is counted. */
  first?: number;
}

export class RepeatedFailure {
  readonly #options: Required<RepeatedFailureOptions>;
  #since = Number.NEGATIVE_INFINITY;
  #written = 0;
  #left = 0;
  #isFailing = false;

  constructor(options: RepeatedFailureOptions) {
    this.#options = { over: '', first: 1, ...options };
  }

  /** @param fields the fields of the line; the level says whether it is a defect of the program */
  failed(fields: Record<string, unknown>, level: 'warn' | 'error' = 'error'): void {
    const { logger, message, monotonic, first } = this.#options;
    const now = monotonic();
    this.#isFailing = true;
    if (now - this.#since >= MINUTE) {
      this.#since = now;
      this.#written = 0;
    }
    if (this.#written >= first) {
      this.#left += 1;
      return;
    }
    this.#written += 1;
    const more = this.#left > 0 ? { since_last_line: this.#left } : {};
    this.#left = 0;
    logger[level]({ ...fields, ...more }, message);
  }

  works(): void {
    if (!this.#isFailing) return;
    const { logger, over } = this.#options;
    if (over !== '') logger.info(this.#left > 0 ? { since_last_line: this.#left } : {}, over);
    this.#isFailing = false;
    this.#since = Number.NEGATIVE_INFINITY;
    this.#left = 0;
  }
}
