/** Checks a database later that was opened unchecked, and makes sure that damage is not forgotten. */
import { StoreUnavailable } from '../../core/errors.ts';
import { BackgroundCheck, type CheckOutcome, type CheckProgress } from './background-check.ts';
import { DatabaseDamaged, databasePath } from './connection.ts';
import { isDamage } from './faults.ts';
import type { LogSync } from './log-sync.ts';
import { suspect } from './suspicion.ts';

export interface LateCheckOptions {
  /** The program that checks, see `SqliteOptions`; absent if no check was skipped. */
  checkWith?: readonly string[] | undefined;
  onCheck?: ((check: { kind: 'began' } | CheckOutcome) => void) | undefined;
}

export class LateCheck {
  /**
   * Resolves with the reason when the store failed; if that was damage, whoever found it, the error says what to do.
   */
  readonly failed: Promise<Error>;
  readonly #path: string;
  readonly #log: LogSync;
  readonly #options: LateCheckOptions;
  #running: BackgroundCheck | null = null;

  constructor(dataDir: string, log: LogSync, options: LateCheckOptions) {
    this.#path = databasePath(dataDir);
    this.#log = log;
    this.#options = options;
    this.failed = log.failed.then((error) => {
      const failure = this.#inWords(error);
      if (failure instanceof DatabaseDamaged) suspect(dataDir, failure.message);
      return failure;
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

  #inWords(error: Error): Error {
    const isFound = error instanceof StoreUnavailable && isDamage(error);
    return isFound ? new DatabaseDamaged(this.#path, (error.cause as Error).message) : error;
  }

  /** Damage makes the store fail. */
  #finish(outcome: CheckOutcome): void {
    this.#options.onCheck?.(outcome);
    if (outcome.kind === 'damaged') this.#log.fail(new DatabaseDamaged(this.#path, outcome.details));
  }
}
