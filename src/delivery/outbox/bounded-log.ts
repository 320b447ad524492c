/** Lines of the log that come one by one in everyday life, and are counted in a storm. */
import type { Logger } from 'pino';
import { MINUTE } from '../../text/durations.ts';

/** So many lines of a kind within a minute say what happens; after them only the number of the rest does. */
const LINES = 100;
const WITHIN = MINUTE;

export interface BoundedLogOptions {
  logger: Pick<Logger, 'info'>;
  /** How the line begins that counts the rest: `alerts decided`. */
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

  /** @param count what this line stands for, where it is left out */
  info(fields: Record<string, unknown>, message: string, count = 1): void {
    const { logger, lines, within } = this.#options;
    this.#window ??= setTimeout(() => this.flush(), within).unref();
    if (this.#written < lines) {
      this.#written += 1;
      logger.info(fields, message);
    } else this.#left += count;
  }

  /** Says how many were left out, and begins anew. */
  flush(): void {
    const { logger, counted } = this.#options;
    if (this.#window) clearTimeout(this.#window);
    this.#window = null;
    if (this.#left > 0) logger.info({ more: this.#left }, `${counted}: too many for a line each`);
    this.#written = 0;
    this.#left = 0;
  }
}
