/** Pairs the ends of runs with their starts, in whatever order they arrive. */
import type { CheckIn, CheckInOutcome } from '../../core/check-in.ts';
import type { OpenRuns } from '../../core/open-run.ts';
import { MINUTE } from '../../text/durations.ts';
import type { Awaitable, Transaction } from '../transaction.ts';
import { isEnd } from './check-in-decision.ts';
import type { StateRow } from './states.ts';

/** How far back the other half of a run is searched for, in check-ins of the same snitch. */
const WITHIN = 50;

/** An end that overtook its start is among this many latest check-ins, and came within this time in milliseconds. */
const JUST_BEHIND = 5;
const AT_ONCE = MINUTE;

interface LoggedRow {
  id: number;
  previous_id: number | null;
  at: number;
  outcome: CheckInOutcome;
  duration_ms: number | null;
  run_id: string | null;
}

/**
 * The last start without a run id that no end without one has followed; runs with ids are found in the log. A start or
 * an end that is reported late says nothing about a run that began after it.
 */
export function openStartAfter(row: StateRow, { outcome, runId, at, now }: CheckIn): number | null {
  const open = row.open_start_at;
  if (runId !== null || outcome === 'log') return open;
  if (outcome === 'start') {
    const later = open ?? row.last_check_in_at;
    return at < now && later !== null && later > at ? open : at;
  }
  return at < now && open !== null && open > at ? open : null;
}

/** What the log stores about the run that a check-in belongs to. */
export interface Run {
  /** The time under which it is logged. */
  at: number;
  /** How long the run took that it ends, in milliseconds; null if the start was not reported. */
  durationMs: number | null;
  /** Whether this is the start of a run whose end has not arrived already. */
  isOpen: boolean;
}

/** An everyday check-in belongs to no run, so nothing has to be read for it. */
export function runOf(tx: Transaction, row: StateRow, checkIn: CheckIn): Awaitable<Run> {
  const { at, outcome, runId, now } = checkIn;
  if (outcome === 'start' && runId !== null) return startedRun(tx, row, checkIn);
  const isKnown = runId === null && at >= now && row.open_start_at === null;
  if (!isKnown && isEnd(outcome)) return endedRun(tx, row, checkIn);
  return { at, durationMs: null, isOpen: outcome === 'start' && openStartAfter(row, checkIn) === at };
}

async function endedRun(tx: Transaction, row: StateRow, checkIn: CheckIn): Promise<Run> {
  return { at: checkIn.at, durationMs: await durationOf(tx, row, checkIn), isOpen: false };
}

/** How long the run took that `checkIn` ends, in milliseconds; null if the start was not reported. */
function durationOf(tx: Transaction, row: StateRow, { runId, at, now }: CheckIn): Awaitable<number | null> {
  if (runId !== null) return durationById(tx, row, runId, at);
  if (at < now) return durationByTime(tx, row, at);
  return row.open_start_at === null ? null : Math.max(0, at - row.open_start_at);
}

async function durationById(
  tx: Transaction,
  row: StateRow,
  runId: string,
  at: number,
): Promise<number | null> {
  const isOther = (found: LoggedRow) => found.run_id === runId && found.outcome !== 'log';
  const other = (await lastLogged(tx, row, WITHIN, isOther)).find(isOther);
  if (other && other.outcome !== 'start') return null;
  const startedAt = other?.at ?? watchedStart(row, runId);
  return startedAt === undefined ? null : Math.max(0, at - startedAt);
}

/** When the run with this id began, if it is watched: a run that logs a lot has pushed its start out of the log. */
function watchedStart(row: StateRow, runId: string): number | undefined {
  if (row.runs === null) return undefined;
  return (JSON.parse(row.runs) as OpenRuns).open.findLast(({ id }) => id === runId)?.startedAt;
}

/**
 * For an end that is reported late: its start is the last one before it by their own times, unless that one has an end.
 */
async function durationByTime(tx: Transaction, row: StateRow, at: number): Promise<number | null> {
  const before = (await lastLogged(tx, row, WITHIN)).filter(
    (found) => found.run_id === null && found.at <= at && found.outcome !== 'log',
  );
  const start = Math.max(...before.filter(({ outcome }) => outcome === 'start').map((found) => found.at));
  const ended = before.some((found) => isEnd(found.outcome) && found.at >= start);
  return ended || !Number.isFinite(start) ? null : at - start;
}

/**
 * The start of a run with an id, whose end may have arrived first. In that case the start is logged no later than the
 * end, and the end gets its duration.
 */
async function startedRun(tx: Transaction, row: StateRow, { runId, at, now }: CheckIn): Promise<Run> {
  const isLate = at < now;
  const isEndOfIt = (found: LoggedRow) => found.run_id === runId && isEnd(found.outcome);
  const end = (await lastLogged(tx, row, isLate ? WITHIN : JUST_BEHIND, isEndOfIt)).find(isEndOfIt);
  // A job may use one id again and again: then the end belongs to an earlier run.
  if (!end || end.at < at - AT_ONCE) return { at, durationMs: null, isOpen: true };
  if (end.duration_ms !== null) return { at, durationMs: null, isOpen: !isLate || end.at < at };
  const began = Math.min(at, end.at);
  await tx.run('UPDATE check_ins SET duration_ms = ? WHERE id = ?', end.at - began, end.id);
  return { at: began, durationMs: null, isOpen: false };
}

/** The newest check-ins, newest first: at most `limit`, stopping at the first for which `isLast` holds. */
async function lastLogged(
  tx: Transaction,
  row: StateRow,
  limit: number,
  isLast: (found: LoggedRow) => boolean = () => false,
): Promise<LoggedRow[]> {
  const found: LoggedRow[] = [];
  let id = row.last_check_in_id;
  while (id !== null && found.length < limit) {
    const one: LoggedRow | undefined = await tx.get<LoggedRow>(
      'SELECT id, previous_id, at, outcome, duration_ms, run_id FROM check_ins WHERE id = ?',
      id,
    );
    if (!one) break;
    found.push(one);
    if (isLast(one)) break;
    id = one.previous_id;
  }
  return found;
}
