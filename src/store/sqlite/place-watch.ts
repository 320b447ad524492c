/** Watches whether the files of the store are still where they were, and saves their content if they are not. */

import type Database from 'better-sqlite3';
import { MINUTE } from '../../text/durations.ts';
import { rescueDatabase, rescuePath } from './copy.ts';
import type { LogSync } from './log-sync.ts';

/** Logs what an operator must know and act on. */
export type Report = (message: string, details: object) => void;

/** How often it checks, and how often it repeats the same report, in milliseconds. */
const LOOK_EVERY = 5_000;
const REPEAT_EVERY = 10 * MINUTE;

export class PlaceWatch {
  readonly #options: WatchOptions;
  readonly #timer: NodeJS.Timeout;
  #toldAt: number | null = null;
  /** True while everything is being saved at the end, which must not be interrupted. */
  isSaving = false;

  constructor(options: WatchOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.look(), options.lookEvery ?? LOOK_EVERY);
    this.#timer.unref();
  }

  /** Reports what is wrong: at once, and then from time to time while it lasts. */
  look(): void {
    const problem = this.#options.log.misplaced();
    const now = performance.now();
    const wasToldLately = this.#toldAt !== null && now - this.#toldAt < REPEAT_EVERY;
    if (problem !== null && !wasToldLately) this.#tell(problem);
    if (problem === null) this.#toldAt = null;
    else if (!wasToldLately) this.#toldAt = now;
  }

  /** Checks a last time. What the next start would not find is saved first. */
  async end(): Promise<void> {
    clearInterval(this.#timer);
    const { db, log, dataDir, clock, report } = this.#options;
    const problem = log.misplaced();
    if (problem === null || log.failure) return;
    this.isSaving = true;
    try {
      const file = await rescueDatabase(db, dataDir, stampOf(clock()));
      report(`${problem}; everything that was stored until now is saved in ${file}: ${wayBack(file)}`, {
        file,
      });
    } catch (error) {
      const place = log.place();
      const fate =
        place === null ? 'what came since then is lost' : `it is all in ${place}: put that back where it was`;
      report(`${problem}, and what was stored could not be saved beside where it was: ${fate}`, {
        err: error,
      });
    } finally {
      this.isSaving = false;
    }
  }

  #tell(problem: string): void {
    const file = rescuePath(this.#options.dataDir, '…');
    this.#options.report(
      `${problem}: what is stored now would be lost if the daemon were killed. Stop it in an orderly way (systemctl stop snitch.socket snitch, or SIGTERM): it then saves everything in ${file}, and says so. Then ${wayBack(file)}`,
      { problem },
    );
  }
}

export interface WatchOptions {
  db: Database.Database;
  log: LogSync;
  dataDir: string;
  clock: () => number;
  report: Report;
  lookEvery?: number | undefined;
}

function wayBack(file: string): string {
  return `put that in place with \`snitch restore ${file}\` before the daemon is started again`;
}

/** A time in a form that suits the name of a file. */
function stampOf(time: number): string {
  return new Date(time).toISOString().replace(/[:.]/g, '-');
}
