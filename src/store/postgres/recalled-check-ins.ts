/** Applies check-ins of snitches whose states are known in one round trip to the database, where others take two. */
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

/** One that waits for its check-in. */
export interface Caller {
  checkIn: CheckIn;
  resolve: (isKnown: boolean) => void;
}

/** A check-in that was decided, and is to be written. */
interface Decided<Call extends Caller> {
  call: Call;
  state: RecalledState;
  /** Those that it was decided by: what is known of the case may be newer when it is written. */
  rules: RulesOfCase;
  changes: readonly Change[];
}

interface Written {
  /** Of all that were written. */
  version: number | null;
  /** By the number of the snitch. */
  written: Map<number, WrittenRow>;
  /** Why it was written again. */
  lost?: LostCommit;
}

/** A connection that lay idle, as one that a server has ended, is found broken at once; milliseconds. */
const SOON = 1_000;

export const BEGUN = { name: 'snitch_begin', text: BEGIN };

export class RecalledCheckIns {
  readonly #options: RunnerOptions;
  readonly #runner: PostgresRunner;
  readonly #states: RecalledStates;
  /** The newest number of the log that is known, near which those lie that follow. */
  #newest = 0;

  constructor(options: RunnerOptions, runner: PostgresRunner, states: RecalledStates) {
    this.#options = options;
    this.#runner = runner;
    this.#states = states;
  }

  /**
   * Of several of one snitch, the first is applied.
   *
   * @returns those that have to be read first, which nothing was done of, in the same order
   * @throws StoreUnavailable where nothing was written, or nobody knows
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
      // Whether those that are not written now were written before, nobody knows.
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
        // Whatever it is, it may be otherwise with the state as it is.
        this.#states.forget(checkIn.token);
      }
    }
    return decided;
  }

  /** What was written, by the number of the snitch, and the version that it has. */
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
   * What was written although no answer came has another version since, and is not written twice; and what is written now
   * cannot be written by what is still on its way to the server.
   */
  async #writeAgain(server: string, asked: readonly Asked[], lost: LostCommit): Promise<Written> {
    // Whatever keeps it from that, the first loss is told: another fault would have it read and written anew.
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
