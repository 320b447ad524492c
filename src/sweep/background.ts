/** Long work that a call of the API left: a little of it in each pass, because alarms do not wait for it. */
import type { Logger } from 'pino';
import { SECOND } from '../text/durations.ts';

/** How long one pass may take for it, in milliseconds: the pass of the next second goes on. */
const AT_ONCE = SECOND / 2;

/** Between two log lines, in milliseconds; work that is done sooner is not worth a line. */
const TOLD_EVERY = 10 * SECOND;

export interface Work {
  /** Takes a slice; false when nothing is left. */
  slice: (now: number) => Promise<boolean>;
  /** Logged while it goes on. */
  goesOn: string;
  /** Logged at the end, if that was told. */
  isDone: string;
}

export interface BackgroundOptions {
  /** Milliseconds that never jump. */
  monotonic: () => number;
  logger: Logger;
}

export class Background {
  readonly #options: BackgroundOptions;
  readonly #work: Work;
  /** When what is not over began; null if there is nothing to do. */
  #began: number | null = null;
  #toldAt: number | null = null;

  constructor(options: BackgroundOptions, work: Work) {
    this.#options = options;
    this.#work = work;
  }

  /** @returns what takes the next slice; false when the time of this pass is over or nothing is left */
  pass(now: number): () => Promise<boolean> {
    const { monotonic } = this.#options;
    const until = monotonic() + AT_ONCE;
    return async () => {
      if (!(await this.#work.slice(now))) {
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
    this.#options.logger.info(this.#work.goesOn);
  }

  #end(): void {
    if (this.#toldAt !== null) {
      const duration = Math.round(this.#options.monotonic() - (this.#began ?? 0));
      this.#options.logger.info({ duration_ms: duration }, this.#work.isDone);
    }
    this.#began = null;
    this.#toldAt = null;
  }
}

/** All there is. */
export function backgroundOf(
  options: BackgroundOptions & {
    store: Record<'rescheduleSlice' | 'deletionSlice', (now: number) => Promise<boolean>>;
  },
): Background[] {
  const { store } = options;
  const works: Work[] = [
    {
      slice: (now) => store.rescheduleSlice(now),
      goesOn: 'the rules of a case changed: its deadlines are being set anew, and alarms go on',
      isDone: 'the deadlines follow the changed rules of their case',
    },
    {
      slice: (now) => store.deletionSlice(now),
      goesOn: 'a case is being deleted with all its snitches',
      isDone: 'the case is deleted',
    },
  ];
  return works.map((work) => new Background(options, work));
}
