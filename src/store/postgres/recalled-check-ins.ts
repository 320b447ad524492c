/** Applies check-ins of snitches whose states are known in one round trip to the database, where others need two. */
import type pg from 'pg';
import type { CheckIn } from '../../core/check-in.ts';
import type { Change } from '../change.ts';
import { applyCheckIn } from '../operations/check-ins.ts';
import { rulesKey, toRules } from '../operations/silences/case-rules.ts';
import type { Asked } from './batch.ts';
import { LostCommit, unavailable } from './faults.ts';
import { BEGIN, type PostgresRunner, type RunnerOptions } from './postgres-runner.ts';
import { RecalledTransaction, type WrittenRow } from './recalled-set.ts';
import type { RecalledState, RecalledStates } from './recalled-states.ts';
import type { Session } from './session.ts';
import { type RulesOfCase, type SetRow, type Versioned, versionOf } from './set-statements.ts';

/** A check-in whose caller waits for the answer. */
export interface Caller {
  checkIn: CheckIn;
  resolve: (isKnown: boolean) => void;
}

/** A check-in that was decided and is about to be written. */
interface Decided<Call extends Caller> {
  call: Call;
  state: RecalledState;
  /** The rules that it was decided by: newer ones may be known by the time it is written. */
  rules: RulesOfCase;
  changes: readonly Change[];
}

interface Written {
  /** The version that all written rows now have. */
  version: number | null;
  /** By the snitch's number. */
  written: Map<number, WrittenRow>;
  /** The loss of the first commit, if it was written again. */
  lost?: LostCommit;
}

/** A connection that the server closed while it was idle is found broken at once; milliseconds. */
const SOON = 1_000;

export const BEGUN = { name: 'snitch_begin', text: BEGIN };

export class RecalledCheckIns {
  readonly #options: RunnerOptions;
  readonly #runner: PostgresRunner;
  readonly #states: RecalledStates;
  /** The newest known number of the log; the numbers that follow lie close to it. */
  #newest = 0;

  constructor(options: RunnerOptions, runner: PostgresRunner, states: RecalledStates) {
    this.#options = options;
    this.#runner = runner;
    this.#states = states;
  }

  /**
   * If a snitch has several, only the first is applied.
   *
   * @returns those that have to be read first and for which nothing was done, in the same order
   * @throws StoreUnavailable if nothing was written, or if that is unknown
   */
  async apply<Call extends Caller>(calls: readonly Call[]): Promise<readonly Call[]> {
    const began = performance.now();
    const session = await this.#runner.open();
    try {
      this.#states.meet(session.server, session.connection);
      const tx = new RecalledTransaction(session, this.#options);
      const decided = await this.#decide(tx, calls);
      if (decided.length === 0) return calls;
      const { version, written, lost } = await this.#write(session, tx, decided);
      this.#states.note(written.size, decided.length);
      const done = decided.filter(({ state }) => written.has(state.row.id));
      const changes = done.flatMap((one) => one.changes);
      if (done.length > 0) this.#runner.committed(done.length, performance.now() - began, changes);
      for (const { call, state } of decided) {
        const row = this.#writtenRow(tx, written.get(state.row.id));
        if (row && version !== null) this.#states.keep(session.server, { row, version });
        else this.#states.forget(call.checkIn.token);
        if (written.has(state.row.id)) call.resolve(true);
      }
      // Check-ins that were not written this time may have been written the first time: that is unknown.
      if (lost && done.length < decided.length) throw lost;
      const settled = new Set(done.map(({ call }) => call));
      return calls.filter((call) => !settled.has(call));
    } catch (error) {
      for (const { checkIn } of calls) this.#states.forget(checkIn.token);
      await session.rollback();
      throw unavailable(error) ?? error;
    } finally {
      session.release();
    }
  }

  async #decide<Call extends Caller>(
    tx: RecalledTransaction,
    calls: readonly Call[],
  ): Promise<Decided<Call>[]> {
    const seen = new Set<string>();
    const known = calls.flatMap((call) => {
      const { token } = call.checkIn;
      const state = seen.has(token) ? undefined : this.#states.get(token);
      const rules = state && this.#states.rulesOf(state.row.case_id);
      seen.add(token);
      return state && rules ? [{ call, state, rules }] : [];
    });
    tx.begin(
      known.map(({ state }) => state.row),
      known.map((_, index) => this.#newest + 1 + index),
    );
    for (const rules of new Set(known.map((one) => one.rules))) tx.know(rulesKey(rules.id), toRules(rules));
    const decided: Decided<Call>[] = [];
    for (const { call, state, rules } of known) {
      const { checkIn } = call;
      const before = tx.changes.length;
      try {
        await tx.one(checkIn.token, () => applyCheckIn(tx, checkIn));
        decided.push({ call, state, rules, changes: tx.changes.slice(before) });
      } catch {
        // Whatever the error is, it may not arise from the state as it is now.
        this.#states.forget(checkIn.token);
      }
    }
    return decided;
  }

  /** Returns what was written, by the snitch's number, and its new version. */
  async #write<Call extends Caller>(
    session: Session,
    tx: RecalledTransaction,
    decided: readonly Decided<Call>[],
  ): Promise<Written> {
    const states = decided.map(({ state }) => state).sort(byToken);
    const statements = tx.statements(
      new Map(states.map(({ row, version }) => [row.id, version])),
      new Set(decided.map(({ rules }) => rules)),
    );
    const asked = [{ statement: BEGUN, values: [] }, ...statements];
    const began = performance.now();
    try {
      return writtenOf(await session.commit(asked));
    } catch (error) {
      if (!(error instanceof LostCommit) || performance.now() - began > SOON) throw error;
      return this.#writeAgain(session.server, asked, error);
    }
  }

  /**
   * A row that was written although no answer came now has another version, so it is not written twice; and once it is
   * written now, the first message can no longer write it if it still arrives.
   */
  async #writeAgain(server: string, asked: readonly Asked[], lost: LostCommit): Promise<Written> {
    // If this fails for any reason, throw the first loss: any other fault would have the check-in read and written
    // again.
    const session = await this.#runner.open().catch(() => {
      throw lost;
    });
    try {
      if (session.server !== server) throw lost;
      return { ...writtenOf(await session.commit(asked)), lost };
    } catch {
      await session.rollback();
      throw lost;
    } finally {
      session.release();
    }
  }

  #writtenRow(tx: RecalledTransaction, written: WrittenRow | undefined): SetRow | undefined {
    const row = written && tx.writtenRow(written.id);
    if (!row) return;
    const { last_check_in_id } = written;
    this.#newest = Math.max(this.#newest, last_check_in_id);
    return { ...row, last_check_in_id };
  }
}

function byToken({ row: one }: RecalledState, { row: other }: RecalledState): number {
  return one.token < other.token ? -1 : 1;
}

function writtenOf([, held, written]: readonly pg.QueryResult[]): Written {
  return {
    version: versionOf(rowsOf<Versioned>(held)[0]),
    written: new Map(rowsOf<WrittenRow>(written).map((row) => [row.id, row])),
  };
}

export function rowsOf<Row>(result: pg.QueryResult | undefined): Row[] {
  return (result?.rows ?? []) as Row[];
}
