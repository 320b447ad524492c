/** Makes up for the check of a database that was opened unchecked, and sees to it that damage is not forgotten. */
import { StoreUnavailable } from '../../core/errors.ts';
import { BackgroundCheck, type CheckOutcome, type CheckProgress } from './background-check.ts';
import { DatabaseDamaged, databasePath } from './connection.ts';
import { isDamage } from './faults.ts';
import type { LogSync } from './log-sync.ts';
import { suspect } from './suspicion.ts';

export interface LateCheckOptions {
  /** The program that checks, see `SqliteOptions`; absent where nothing is to be made up for. */
  checkWith?: readonly string[] | undefined;
  onCheck?: ((check: { kind: 'began' } | CheckOutcome) => void) | undefined;
}

export class LateCheck {
  readonly #path: string;
  readonly #log: LogSync;
  readonly #options: LateCheckOptions;
  #running: BackgroundCheck | null = null;

  constructor(dataDir: string, log: LogSync, options: LateCheckOptions) {
    this.#path = databasePath(dataDir);
    this.#log = log;
    this.#options = options;
    void log.failed.then((error) => {
      if (isDamageOf(error)) suspect(dataDir, error.message);
    });
  }

  begin(): void {
    const { checkWith, onCheck } = this.#options;
    if (checkWith === undefined || this.#running) return;
    try {
      this.#running = new BackgroundCheck(checkWith, this.#path, (outcome) => this.#finish(outcome));
      onCheck?.({ kind: 'began' });
    } catch (error) {
      onCheck?.({ kind: 'undone', reason: error instanceof Error ? error.message : String(error) });
    }
  }

  get progress(): CheckProgress | null {
    return this.#running?.progress ?? null;
  }

  stop(): void {
    this.#running?.stop();
  }

  /** Damage makes the store fail. */
  #finish(outcome: CheckOutcome): void {
    this.#options.onCheck?.(outcome);
    if (outcome.kind === 'damaged') this.#log.fail(new DatabaseDamaged(this.#path, outcome.details));
  }
}

function isDamageOf(error: Error): boolean {
  return error instanceof DatabaseDamaged || (error instanceof StoreUnavailable && isDamage(error));
}
