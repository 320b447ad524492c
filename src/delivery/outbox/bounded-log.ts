/** Log lines that usually come one by one, but by the thousand in a storm, when most are only counted. */
import type { Logger } from 'pino';
import { MINUTE } from '../../text/durations.ts';

/** At most this many lines are written within a minute; the rest are counted, and the count is written at its end. */
const LINES = 100;
const WITHIN = MINUTE;

export interface BoundedLogOptions {
  logger: Pick<Logger, 'info'>;
  /** The beginning of the line that counts the rest: `alerts decided`. */
  counted: string;
  lines?: number;
  /** In milliseconds. */
  within?: number;
}

export class BoundedLog {
  readonly #options: Required<BoundedLogOptions>;
  #written = 0;
  #left = 0;
  #window: NodeJS.Timeout | null = null;

  constructor(options: BoundedLogOptions) {
    this.#options = { lines: LINES, within: WITHIN, ...options };
  }

  /** @param count how many this line counts for if it is left out */
  info(fields: Record<string, unknown>, message: string, count = 1): void {
    const { logger, lines, within } = this.#options;
    this.#window ??= setTimeout(() => this.flush(), within).unref();
    if (this.#written < lines) {
      this.#written += 1;
      logger.info(fields, message);
    } else this.#left += count;
  }

  /** Logs how many were left out, and starts counting again. */
  flush(): void {
    const { logger, counted } = this.#options;
    if (this.#window) clearTimeout(this.#window);
    this.#window = null;
    if (this.#left > 0) logger.info({ more: this.#left }, `${counted}: too many for a line each`);
    this.#written = 0;
    this.#left = 0;
  }
}
