/**
 * States of snitches as this node last read or wrote them, so that a check-in need not read before it writes. They are
 * never trusted: a row is written only if it still has the version known here and its case still has the known rules.
 */

import { MINUTE } from '../../text/durations.ts';
import type { RulesOfCase, SetRow } from './set-statements.ts';

export interface RecalledState {
  row: SetRow;
  /** The number of the transaction that wrote the row. */
  version: number;
}

/** At least this many of the most recently used states are kept, and at most twice as many. */
const KEPT = 20_000;

/**
 * States are kept for at least this time, in milliseconds, and at most twice as long: until a run ends whose start was
 * read, or a job that runs every minute checks in again. For a less frequent job, the sweep has probably changed the
 * state in the meantime.
 */
const KEPT_FOR = 5 * MINUTE;

/** The share of the states that must be unchanged; below it, reading all of them is cheaper. */
const LEAST_SHARE = 0.7;

/** The weight of the latest set in that share. */
const WEIGHT = 0.1;

/** If other nodes take most of the check-ins in between, nothing is recalled for this time, in milliseconds. */
const PAUSE = 10_000;

export class RecalledStates {
  readonly #now: () => number;
  /** States used since this was last full or old, and those used before. */
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
   * A promoted server numbers its transactions from where it knew the old one to be, so versions known from the old
   * server mean nothing on the new one.
   *
   * @param connection on its first use here, everything is forgotten: the server may have been restarted from an older
   * copy before this connection was made
   */
  meet(server: string, connection: object): void {
    if (server === this.#server && this.#met.has(connection)) return;
    this.#met.add(connection);
    this.clear();
    this.#server = server;
  }

  /** Undefined if it is not known. */
  get(token: string): RecalledState | undefined {
    return this.#young.get(token) ?? this.#old.get(token);
  }

  rulesOf(caseId: string): RulesOfCase | undefined {
    return this.#rules.get(caseId);
  }

  /** @param server the one that reported the state */
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

  /** Records how many states of a set were still as known. */
  note(found: number, asked: number): void {
    this.#share += (found / asked - this.#share) * WEIGHT;
    if (this.#share >= LEAST_SHARE) return;
    this.clear();
    this.#share = 1;
    this.#pausedUntil = this.#now() + PAUSE;
  }
}
