/** Waits for a database that several nodes share: it may start later than this daemon, or be away for the moment. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { OpeningStopped } from '../store/sqlite/parts.ts';
import type { ServiceManager } from '../system/service-manager.ts';
import { MINUTE, SECOND } from '../text/durations.ts';

/** Does a start's work on the database, waiting for the database if it is away. */
export type Patiently = <T>(work: () => Promise<T>) => Promise<T>;

export interface PatienceOptions {
  logger: Pick<Logger, 'warn' | 'info'>;
  manager: Pick<ServiceManager, 'status' | 'extend'>;
  /** Ends the wait at once. */
  stopped: AbortSignal;
  /** What to wait for after this error, in words that may be shown to anybody; null if waiting does not help. */
  reasonToWait: (error: unknown) => string | null;
  /** Milliseconds that never jump. */
  monotonic: () => number;
  /** Between two attempts, in milliseconds. */
  pause?: number;
}

/** How often the service manager is asked for more time while one attempt goes on, in milliseconds. */
const EXTENDED_EVERY = 20 * SECOND;

export class Patience {
  readonly #options: PatienceOptions;
  #told: { reason: string; at: number } | null = null;
  #reason: string | null = null;

  constructor(options: PatienceOptions) {
    this.#options = options;
  }

  /** What it is waiting for, in words that may be shown to anybody; null for nothing. */
  get reason(): string | null {
    return this.#reason;
  }

  /**
   * Reports what the current work is waiting for, in words that may be shown to anybody.
   *
   * @param holder who is waited for, in words for the log alone
   */
  waitsFor(reason: string, holder: string | null = null): void {
    const { logger, manager, monotonic } = this.#options;
    this.#reason = reason;
    this.#told = { reason, at: monotonic() };
    manager.status(`Waiting: ${reason}`);
    if (holder === null) logger.info(reason);
    else logger.info({ holder }, reason);
  }

  /**
   * Does the work, and retries every second while it fails for a reason that may pass.
   *
   * @throws OpeningStopped as soon as `stopped` is aborted, and any error of the work that will not pass
   */
  async until<T>(work: () => Promise<T>): Promise<T> {
    for (;;) {
      const done = await this.attempt(work);
      if (done !== null) {
        if (this.#told) this.#options.logger.info('the database is there; the start goes on');
        this.#told = null;
        this.#reason = null;
        return done.value;
      }
      const { pause = SECOND, stopped } = this.#options;
      await sleep(pause, undefined, { signal: stopped }).catch(() => undefined);
    }
  }

  /** Does the work once; null if it failed for a reason that may pass. */
  async attempt<T>(work: () => Promise<T>): Promise<{ value: T } | null> {
    const { reasonToWait, stopped, manager } = this.#options;
    const extending = setInterval(() => manager.extend(MINUTE), EXTENDED_EVERY);
    try {
      return { value: await unless(stopped, work) };
    } catch (error) {
      const reason = reasonToWait(error);
      if (reason === null) throw error;
      this.#tell(reason, error);
      return null;
    } finally {
      clearInterval(extending);
    }
  }

  #tell(reason: string, error: unknown): void {
    const { logger, manager, monotonic } = this.#options;
    this.#reason = reason;
    manager.extend(MINUTE);
    manager.status(`Waiting: ${reason}`);
    const now = monotonic();
    if (this.#told?.reason === reason && now - this.#told.at < MINUTE) return;
    this.#told = { reason, at: now };
    const cause = error instanceof Error ? error.message : String(error);
    logger.warn(
      { reason: cause },
      `${reason}; it is tried again each second, and until then check-ins are answered with 503`,
    );
  }
}

/** The work goes on after `stopped`, but nobody waits for it: what it throws then is ignored. */
async function unless<T>(stopped: AbortSignal, work: () => Promise<T>): Promise<T> {
  if (stopped.aborted) throw new OpeningStopped();
  const { promise, reject } = Promise.withResolvers<never>();
  const stop = () => reject(new OpeningStopped());
  stopped.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([work(), promise]);
  } finally {
    stopped.removeEventListener('abort', stop);
  }
}
