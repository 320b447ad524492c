/**
 * States of snitches as they were when this node last read or wrote them, so that a check-in need not be read before it
 * is written. Nothing is believed of them: what is written is written only where the row still has the version that is
 * known here, and where the rules of its case are still those.
 */
import type { RulesOfCase, SetRow } from './set-statements.ts';

export interface RecalledState {
  row: SetRow;
  /** Of the row in the table: the number of the transaction that wrote it. */
  version: number;
}

/** So many states are kept at least, of those that were used last, and twice as many at most. */
const KEPT = 20_000;

/**
 * And for so long at least, in milliseconds, and twice as long at most: until a run ends whose start was read, or a job
 * that runs every minute checks in again. Of others the sweep has moved on the time at which it looks at them, as like as
 * not.
 */
const KEPT_FOR = 300_000;

/** The share of the states that must still be as they are known, or it is cheaper to read all of them. */
const LEAST_SHARE = 0.7;

/** How much the last set counts of that. */
const WEIGHT = 0.1;

/** Where other nodes take most of the check-ins in between, it is tried again after this time, in milliseconds. */
const PAUSE = 10_000;

export class RecalledStates {
  readonly #now: () => number;
  /** Those that were used since the last time that this was full or old, and those before. */
  #young = new Map<string, RecalledState>();
  #old = new Map<string, RecalledState>();
  #youngSince: number;
  readonly #rules = new Map<string, RulesOfCase>();
  #server: string | null = null;
  readonly #met = new WeakSet<object>();
  #share = 1;
  #pausedUntil = 0;

  /** @param now monotonic, in milliseconds */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#youngSince = now();
  }

  /**
   * A server that was promoted counts its transactions from where the old one was known to be, so that what was known of
   * that one says nothing of this one.
   *
   * @param connection the server may have been started from an older copy before one that is met for the first time here,
   *   whoever else has used it before
   */
  meet(server: string, connection: object): void {
    if (server === this.#server && this.#met.has(connection)) return;
    this.#met.add(connection);
    this.clear();
    this.#server = server;
  }

  /** Undefined where it is not known. */
  get(token: string): RecalledState | undefined {
    return this.#young.get(token) ?? this.#old.get(token);
  }

  rulesOf(caseId: string): RulesOfCase | undefined {
    return this.#rules.get(caseId);
  }

  /** @param server the one that has said so */
  keep(server: string, state: RecalledState): void {
    const { token } = state.row;
    const now = this.#now();
    if (server !== this.#server || now < this.#pausedUntil) return;
    this.#old.delete(token);
    this.#young.set(token, state);
    if (this.#young.size < KEPT && now - this.#youngSince < KEPT_FOR) return;
    this.#old = this.#young;
    this.#young = new Map();
    this.#youngSince = now;
  }

  keepRules(server: string, rules: RulesOfCase): void {
    if (server !== this.#server) return;
    if (this.#rules.size >= KEPT) this.#rules.clear();
    this.#rules.set(rules.id, rules);
  }

  forget(token: string): void {
    this.#young.delete(token);
    this.#old.delete(token);
  }

  clear(): void {
    this.#young.clear();
    this.#old.clear();
    this.#rules.clear();
  }

  /** How many of a set were still as they were known. */
  note(found: number, asked: number): void {
    this.#share += (found / asked - this.#share) * WEIGHT;
    if (this.#share >= LEAST_SHARE) return;
    this.clear();
    this.#share = 1;
    this.#pausedUntil = this.#now() + PAUSE;
  }
}
