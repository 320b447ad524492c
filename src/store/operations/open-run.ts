/** Runs that reported their start but not their end, and how long the finished ones took. */
import type { OpenRun } from '../../core/open-run.ts';
import { type KnownRuns, middleOf, shownRuns, type UsualRuntime } from '../../core/runs.ts';
import type { Reading } from '../transaction.ts';
import { getState, type StateRow, toState } from './states.ts';

/** How far back the start is searched for, in check-ins of the same snitch. */
const LOOK_BACK = 50;

export const SELECT_OUTCOME = 'SELECT previous_id, at, outcome FROM check_ins WHERE id = ?';

/** When the latest run began, if no run has ended since; otherwise null. */
export async function openRunOf(
  tx: Reading,
  row: Pick<StateRow, 'last_check_in_id' | 'last_check_in_at' | 'open_start_at'>,
): Promise<number | null> {
  let id = row.last_check_in_id;
  for (let steps = 0; id !== null && steps < LOOK_BACK; steps += 1) {
    const found: { previous_id: number | null; at: number; outcome: string } | undefined = await tx.get(
      SELECT_OUTCOME,
      id,
    );
    if (!found || found.outcome === 'healthy' || found.outcome === 'error') return null;
    if (found.outcome === 'start') return found.at;
    id = found.previous_id;
  }
  // If a run logs a lot, its start is further back.
  const { open_start_at: openAt, last_check_in_at: endedAt } = row;
  return id !== null && openAt !== null && openAt >= (endedAt ?? 0) ? openAt : null;
}

interface RunRow {
  previous_id: number | null;
  at: number;
  outcome: string;
  duration_ms: number | null;
  run_id: string | null;
}

/** The runs that began after the last end of any run, in the order in which they were reported. */
export async function openRunsInLog(tx: Reading, row: LogEnd): Promise<OpenRun[]> {
  const found = new Map<string | null, OpenRun>();
  for await (const { at, outcome, run_id: id } of newestOf(tx, row)) {
    if (outcome === 'healthy' || outcome === 'error') break;
    if (outcome === 'start' && !found.has(id)) found.set(id, { id, startedAt: at, from: at });
  }
  return [...found.values()].reverse();
}

/** How long its latest successful runs took, in milliseconds, newest first. */
export async function runtimesOf(tx: Reading, row: LogEnd): Promise<number[]> {
  const runtimes: number[] = [];
  for await (const { outcome, duration_ms: took } of newestOf(tx, row)) {
    if (outcome === 'healthy' && took !== null) runtimes.push(took);
  }
  return runtimes;
}

/** How many runs must be known to say how long one usually takes. */
const LEAST_KNOWN = 5;

/** If the snitch watches no runs, the latest one is searched for in the log. Empty if there is no such snitch. */
export async function findRuns(tx: Reading, token: string): Promise<KnownRuns> {
  const row = await getState(tx, token);
  if (!row) return { open: [], usual: null };
  const runtimes = await runtimesOf(tx, row);
  const usual = runtimes.length < LEAST_KNOWN ? null : middleOf(runtimes);
  if (row.max_runtime !== null) return { open: shownRuns(toState(row)), usual };
  const startedAt = await openRunOf(tx, row);
  return { open: startedAt === null ? [] : [{ startedAt, overrunsAt: null }], usual };
}

/** Null if too few are known. */
export async function usualRuntimeOf(tx: Reading, row: LogEnd): Promise<UsualRuntime | null> {
  const runtimes = await runtimesOf(tx, row);
  return runtimes.length < LEAST_KNOWN
    ? null
    : { shortest: Math.min(...runtimes), longest: Math.max(...runtimes) };
}

type LogEnd = Pick<StateRow, 'last_check_in_id'>;

async function* newestOf(tx: Reading, { last_check_in_id: last }: LogEnd): AsyncGenerator<RunRow> {
  let id = last;
  for (let steps = 0; id !== null && steps < LOOK_BACK; steps += 1) {
    const found: RunRow | undefined = await tx.get<RunRow>(
      'SELECT previous_id, at, outcome, duration_ms, run_id FROM check_ins WHERE id = ?',
      id,
    );
    if (!found) return;
    yield found;
    id = found.previous_id;
  }
}
