/** Gives signs of life to those who watch the daemon, but only while the daemon makes progress. */
import type { Logger } from 'pino';

export interface Sign {
  /** How often it is given, in milliseconds. */
  readonly every: number;
  /** Says why it is not given; empty when all is well. */
  readonly problems: () => readonly string[];
  /** The receiver, as the log names it. */
  readonly to: string;
  readonly give: () => Promise<void>;
}

export class Watchdog {
  readonly #logger: Logger;
  #timers: NodeJS.Timeout[] = [];

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** From now on gives these signs and no others. Each is given at once, so nobody waits longer after a restart. */
  give(signs: readonly Sign[]): void {
    this.stop();
    this.#timers = signs.map((sign) => {
      const give = giver(sign, this.#logger);
      give();
      return setInterval(give, sign.every);
    });
  }

  stop(): void {
    for (const timer of this.#timers) clearInterval(timer);
    this.#timers = [];
  }
}

/** Gives one sign at a time. A failure is logged when it begins and when it is over, not each time. */
function giver({ problems, to, give }: Sign, logger: Logger): () => void {
  let isGiving = false;
  let failing: string | null = null;
  const note = (reason: string | null) => {
    if (reason !== null && failing === null) logger.error({ to, reason }, 'no sign of life is given');
    if (reason === null && failing !== null) logger.info({ to }, 'signs of life are given again');
    failing = reason;
  };
  return () => {
    const [problem] = problems();
    if (problem !== undefined) return note(problem);
    if (isGiving) return;
    isGiving = true;
    give()
      .then(
        () => note(null),
        (error: unknown) => note(error instanceof Error ? error.message : String(error)),
      )
      .finally(() => {
        isGiving = false;
      });
  };
}
