/**
 * Check-ins, many in one transaction. One statement locks all states in the order of their tokens, each check-in is
 * decided by the same operation as anywhere else, and a few statements write everything. Several sets, of different
 * snitches, are under way at once: one is decided while the database commits others or the network delays them.
 */
import type { CheckIn } from '../../core/check-in.ts';
import { StoreUnavailable } from '../../core/errors.ts';
import { applyCheckIn } from '../operations/check-ins.ts';
import { rulesKey, toRules } from '../operations/silences/case-rules.ts';
import { isRefusedValue, type NoAnswer, unavailable } from './faults.ts';
import type { PostgresRunner, RunnerOptions } from './postgres-runner.ts';
import { BEGUN, RecalledCheckIns, rowsOf } from './recalled-check-ins.ts';
import { RecalledStates } from './recalled-states.ts';
import { behind, type Session } from './session.ts';
import {
  holdStates,
  NEXT_IDS,
  type RulesOfCase,
  rulesFor,
  type SetRow,
  VERSION,
  type Versioned,
  versionOf,
} from './set-statements.ts';
import { SetTransaction } from './set-transaction.ts';
import { endOfTurn } from './turns.ts';

/** Sets under way at once, and the most check-ins in one of them. */
const LANES = 4;
const MOST = 64;

/** The most snitches whose case is remembered. */
const MOST_KNOWN = 50_000;

interface Call {
  checkIn: CheckIn;
  /** When it came: by the wall clock (`at`) and by `performance.now()` (`began`), both in milliseconds. */
  at: number;
  began: number;
  /** Whether the operation that was called before it is still under way. */
  isHeldUp: boolean;
  resolve: (isKnown: boolean) => void;
  reject: (error: unknown) => void;
}

export class CheckInSets {
  readonly #options: RunnerOptions;
  readonly #runner: PostgresRunner;
  #waiting: Call[] = [];
  /** How many check-ins of each snitch wait. */
  readonly #waitingOf = new Map<string, number>();
  #free = LANES;
  #isScheduled = false;
  /** Snitches with a check-in under way: their next one waits, so that they stay in order. */
  readonly #busy = new Set<string>();
  /** The case of each snitch when it was last read: snitches seen lately are read with less work. */
  readonly #caseOf = new Map<string, string>();
  readonly #states = new RecalledStates();
  readonly #recalled: RecalledCheckIns;

  constructor(options: RunnerOptions, runner: PostgresRunner) {
    this.#options = options;
    this.#runner = runner;
    this.#recalled = new RecalledCheckIns(options, runner, this.#states);
    runner.onNoAnswer((error) => this.#refuse(error));
  }

  /** False if no snitch has the token. Resolves when the check-in is durable. */
  apply(checkIn: CheckIn): Promise<boolean> {
    const before = this.#runner.turns.beforeCheckIn();
    const running = new Promise<boolean>((resolve, reject) => {
      const at = this.#options.clock();
      const call = { checkIn, at, began: performance.now(), isHeldUp: before !== null, resolve, reject };
      this.#waiting.push(call);
      this.#count(checkIn.token, 1);
      void before?.then(() => {
        call.isHeldUp = false;
        this.#schedule();
      });
      this.#schedule();
    });
    this.#runner.turns.checkIn(running);
    return this.#runner.track(running);
  }

  /** Refuses all that still wait: they are check-ins that may have arrived before the deadline. */
  #refuse(error: NoAnswer): void {
    const refused = this.#waiting.splice(0);
    this.#waitingOf.clear();
    if (refused.length === 0) return;
    this.#runner.noteRefusal(Math.min(...refused.map(({ at }) => at)), error, 'check-in');
    for (const { reject } of refused) reject(error);
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    void endOfTurn().then(() => {
      this.#isScheduled = false;
      this.#begin();
    });
  }

  #begin(): void {
    while (this.#free > 0) {
      const { calls, areKnown } = this.#take();
      if (calls.length === 0) return;
      this.#free -= 1;
      void this.#run(calls, areKnown).finally(() => {
        this.#free += 1;
        for (const { checkIn } of calls) this.#busy.delete(checkIn.token);
        if (this.#waiting.length > 0) this.#schedule();
      });
    }
  }

  #count(token: string, change: number): void {
    const count = (this.#waitingOf.get(token) ?? 0) + change;
    if (count > 0) this.#waitingOf.set(token, count);
    else this.#waitingOf.delete(token);
  }

  /**
   * The check-ins that can be applied now, in the order in which they came: either all of snitches whose states are
   * known, one of each, or all of others.
   */
  #take(): { calls: Call[]; areKnown: boolean } {
    const taken: Call[] = [];
    const rest: Call[] = [];
    const passedOver = new Set<string>(this.#busy);
    let areKnown: boolean | null = null;
    for (const [index, call] of this.#waiting.entries()) {
      const { token } = call.checkIn;
      if (taken.length === MOST) {
        rest.push(...this.#waiting.slice(index));
        break;
      }
      if (call.isHeldUp || passedOver.has(token)) {
        passedOver.add(token);
        rest.push(call);
        continue;
      }
      const isKnown = this.#waitingOf.get(token) === 1 && this.#states.get(token) !== undefined;
      areKnown ??= isKnown;
      if (isKnown === areKnown) taken.push(call);
      else {
        passedOver.add(token);
        rest.push(call);
      }
    }
    for (const { checkIn } of taken) {
      this.#busy.add(checkIn.token);
      this.#count(checkIn.token, -1);
    }
    this.#waiting = rest;
    return { calls: taken, areKnown: areKnown ?? false };
  }

  /** If the database refuses a value, each check-in is applied alone, so that only one fails. */
  async #run(calls: readonly Call[], areKnown = false): Promise<void> {
    let left = calls;
    let mayRecall = areKnown;
    try {
      const began = Math.min(...calls.map((call) => call.began));
      await this.#runner.retried(began, async () => {
        if (mayRecall) {
          // Whatever comes of this attempt, the next one reads the states of what is left.
          mayRecall = false;
          left = await this.#recalled.apply(left);
        }
        if (left.length > 0) await this.#attempt(left);
      });
    } catch (error) {
      if (left.length > 1 && isRefusedValue(error)) {
        for (const call of left) await this.#run([call]);
        return;
      }
      const since = Math.min(...left.map(({ at }) => at));
      if (error instanceof StoreUnavailable) this.#runner.noteRefusal(since, error, 'check-in');
      for (const { reject } of left) reject(error);
    }
  }

  async #attempt(calls: readonly Call[]): Promise<void> {
    const began = performance.now();
    const session = await this.#runner.open();
    const tx = new SetTransaction(session, this.#options);
    try {
      this.#states.meet(session.server, session.connection);
      const read = await this.#readAhead(session, tx, calls);
      const settle = await this.#decide(tx, calls);
      const isRecalled = read.length > 0 && tx.isOnlyGathered;
      const rest = [...tx.rest(), ...(isRecalled ? [{ statement: VERSION, values: [] }] : [])];
      // The states are locked already, so nothing after the counts has to wait for anybody.
      tx.sendLast();
      const committed = session.commit(rest);
      const answers = await behind(tx.allDone(), committed);
      if (isRecalled) this.#recall(session.server, tx, read, rowsOf<Versioned>(answers.at(-1)));
      this.#runner.committed(calls.length, performance.now() - began, tx.changes);
      for (const one of settle) one();
    } catch (error) {
      await session.rollback();
      throw unavailable(error) ?? error;
    } finally {
      session.release();
    }
  }

  /** Returns what to call for each check-in once everything is committed. */
  async #decide(tx: SetTransaction, calls: readonly Call[]): Promise<(() => void)[]> {
    const settle: (() => void)[] = [];
    for (const { checkIn, resolve, reject } of calls) {
      try {
        const isKnown = await tx.one(checkIn.token, () => applyCheckIn(tx, checkIn));
        settle.push(() => resolve(isKnown));
      } catch (error) {
        if (unavailable(error)) throw error;
        settle.push(() => reject(error));
      }
    }
    return settle;
  }

  /**
   * Asks for everything at once, and waits for all of it together.
   *
   * @returns the states that can be remembered after the commit; none if a snitch has several check-ins in the set
   */
  async #readAhead(session: Session, tx: SetTransaction, calls: readonly Call[]): Promise<SetRow[]> {
    const tokens = [...new Set(calls.map(({ checkIn }) => checkIn.token))];
    for (const token of tokens) this.#states.forget(token);
    const [, states, rules, ids] = await session.together([
      { statement: BEGUN, values: [] },
      holdStates(tokens),
      rulesFor(tokens, this.#casesOf(tokens)),
      { statement: NEXT_IDS, values: [calls.length] },
    ]);
    if (this.#caseOf.size > MOST_KNOWN) this.#caseOf.clear();
    for (const { token, case_id: caseId } of rowsOf<SetRow>(states)) this.#caseOf.set(token, caseId);
    tx.begin(
      rowsOf<SetRow>(states),
      rowsOf<{ id: number }>(ids).map(({ id }) => id),
    );
    for (const row of rowsOf<RulesOfCase>(rules)) {
      this.#states.keepRules(session.server, row);
      tx.know(rulesKey(row.id), toRules(row));
    }
    return tokens.length < calls.length ? [] : rowsOf<SetRow>(states);
  }

  /** Remembers the states that were written. */
  #recall(server: string, tx: SetTransaction, read: readonly SetRow[], [told]: readonly Versioned[]): void {
    const version = versionOf(told);
    for (const { id } of read) {
      const row = tx.writtenRow(id);
      if (row && version !== null) this.#states.keep(server, { row, version });
    }
  }

  /** Null if the case of one of them is not known. A snitch that has since changed its case reads the rules itself. */
  #casesOf(tokens: readonly string[]): string[] | null {
    const cases = new Set<string>();
    for (const token of tokens) {
      const caseId = this.#caseOf.get(token);
      if (caseId === undefined) return null;
      cases.add(caseId);
    }
    return [...cases];
  }
}
