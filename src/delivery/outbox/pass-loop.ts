/**
 * Runs one pass after the other: when woken, at the time the last pass asked for, and never later than the longest
 * wait.
 */

/** Without a wake the next pass comes after this time, in milliseconds. */
const LONGEST_WAIT = 1_000;

/** After a pass that failed, a wake does not shorten this wait: the store needs time, not more calls. */
const WAIT_AFTER_FAILURE = 1_000;

export interface PassLoopOptions {
  /** Returns the longest wait until the next pass, in milliseconds. */
  pass: () => Promise<number>;
  /** Called at the first of several failures in a row, and when they end. */
  onFailing: (error: unknown) => void;
  onRecovered: () => void;
  monotonic: () => number;
}

export class PassLoop {
  readonly #options: PassLoopOptions;
  #stopped = false;
  #woken = false;
  #failing = false;
  #interrupt: (() => void) | null = null;
  #running: Promise<void> | null = null;
  #passedAt: number;

  constructor(options: PassLoopOptions) {
    this.#options = options;
    this.#passedAt = options.monotonic();
  }

  start(): void {
    this.#running ??= this.#run();
  }

  wake(): void {
    this.#woken = true;
    if (!this.#failing) this.#interrupt?.();
  }

  /** Ends after the current pass. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#interrupt?.();
    await this.#running;
  }

  /** How long ago a pass last succeeded, in milliseconds. */
  get sincePass(): number {
    return this.#options.monotonic() - this.#passedAt;
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      this.#woken = false;
      const wait = await this.#pass();
      if (!this.#stopped && (this.#failing || !this.#woken)) await this.#sleep(wait);
    }
  }

  async #pass(): Promise<number> {
    const { pass, monotonic, onFailing, onRecovered } = this.#options;
    try {
      const wait = await pass();
      this.#passedAt = monotonic();
      if (this.#failing) onRecovered();
      this.#failing = false;
      return Math.max(0, Math.min(wait, LONGEST_WAIT));
    } catch (error) {
      if (!this.#failing) onFailing(error);
      this.#failing = true;
      return WAIT_AFTER_FAILURE;
    }
  }

  #sleep(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.#interrupt = null;
        resolve();
      };
      const timer = setTimeout(done, milliseconds);
      this.#interrupt = done;
    });
  }
}
