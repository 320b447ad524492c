import type { CheckIn, CheckInOutcome, CheckInRecord } from '../../core/check-in.ts';
import { NOTHING_LEARNED } from '../../core/late-runs.ts';
import type { Page, Position } from '../page.ts';
import type { Awaitable, Transaction } from '../transaction.ts';
import { insertAlert } from './alerts.ts';
import { keepPostponement, listWindowsSince } from './blind-windows.ts';
import {
  asksForHistory,
  type CheckInDecision,
  decideEnd,
  decideNoted,
  decideStart,
  type Facts,
  isEnd,
} from './check-in-decision.ts';
import { learnedFor, saveLearned } from './learned.ts';
import { cutLog, isCutDue } from './log-limit.ts';
import { openStartAfter, type Run, runOf } from './runs.ts';
import { getRules, getState, type LogEnd, type StateRow, saveState, saveTimes } from './states.ts';

interface CheckInRow {
  id: number;
  previous_id: number | null;
  number: number;
  at: number;
  outcome: CheckInOutcome;
  exit_status: number | null;
  message: string | null;
  duration_ms: number | null;
  source: string | null;
  run_id: string | null;
}

const COLUMNS = 'id, previous_id, number, at, outcome, exit_status, message, duration_ms, source, run_id';

/**
 * Records a check-in and what follows from it; false when no snitch has the token. All that an everyday one awaits is
 * its row, the rules, and two writes: each wait costs, however short it is.
 */
export async function applyCheckIn(tx: Transaction, checkIn: CheckIn): Promise<boolean> {
  const row = await getState(tx, checkIn.token);
  if (!row) return false;
  const run = await runOf(tx, row, checkIn);
  const { outcome } = checkIn;
  const decision = isEnd(outcome)
    ? decideEnd(row, checkIn, outcome, await factsFor(tx, row, checkIn))
    : isWatched(row, outcome, run)
      ? decideStart(row, checkIn, { rules: await getRules(tx, row.case_id), calendar: tx.calendar })
      : decideNoted(row);
  const id = await logCheckIn(tx, row, checkIn, run);
  if (checkIn.output !== null) await keepOutput(tx, id, checkIn.output);
  const end = {
    last_check_in_id: id,
    check_in_count: row.check_in_count + 1,
    open_start_at: openStartAfter(row, checkIn),
  };
  const { snitch, learned } = decision;
  if (decision.isEveryday) await saveTimes(tx, row, snitch, { end, learned });
  else await saveChange(tx, row, decision, { ...checkIn, id, durationMs: run.durationMs }, end);
  if (isCutDue(row, { id, output: checkIn.output }, tx.checkInsKept)) await cutLog(tx, id, tx.checkInsKept);
  return true;
}

/** Whether it is the start of a run that must not take too long. */
function isWatched({ max_runtime: most }: StateRow, outcome: CheckInOutcome, { isOpen }: Run): boolean {
  return outcome === 'start' && most !== null && isOpen;
}

/** What must be known to decide what the end of a run changes. */
async function factsFor(tx: Transaction, row: StateRow, checkIn: CheckIn): Promise<Facts> {
  const { at, now } = checkIn;
  const rules = await getRules(tx, row.case_id);
  const windows = at < now ? await listWindowsSince(tx, at) : [];
  const facts = { rules, calendar: tx.calendar, windows, learned: NOTHING_LEARNED };
  return asksForHistory(row, checkIn, facts) ? { ...facts, learned: await learnedFor(tx, row) } : facts;
}

/** Writes what a check-in changes that moves more than times. */
async function saveChange(
  tx: Transaction,
  row: StateRow,
  { snitch, alert, postponedBy, learned }: CheckInDecision,
  checkIn: CheckIn & { id: number; durationMs: number | null },
  end: LogEnd,
): Promise<void> {
  if (learned) await saveLearned(tx, row, learned);
  for (const window of postponedBy) await keepPostponement(tx, window.id, row, snitch.dueAt);
  // The alert comes before the state, which names the first alert of an incident.
  const cause = { at: checkIn.now, checkIn };
  const threadId = alert ? await insertAlert(tx, row, alert, snitch, cause) : row.thread_id;
  await saveState(tx, row, snitch, { threadId, end });
}

function logCheckIn(
  tx: Transaction,
  row: StateRow,
  { outcome, exitStatus, message, source, runId }: CheckIn,
  { at, durationMs }: Run,
): Awaitable<number> {
  return tx.insert(
    `INSERT INTO check_ins
       (previous_id, snitch_id, number, at, outcome, exit_status, message, duration_ms, source, run_id)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    row.last_check_in_id,
    row.id,
    row.check_in_count + 1,
    at,
    outcome,
    exitStatus,
    message,
    durationMs,
    source,
    runId,
  );
}

function keepOutput(tx: Transaction, id: number, output: string): Awaitable<number> {
  return tx.run('INSERT INTO check_in_outputs (check_in_id, output) VALUES (?, ?)', id, output);
}

/** Newest first, or null when the case has no such snitch; the log itself may be a little longer than what is kept. */
export async function listCheckIns(
  tx: Transaction,
  caseId: string,
  token: string,
  { limit, before, behind }: Page,
): Promise<CheckInRecord[] | null> {
  const row = await getState(tx, token);
  if (row?.case_id !== caseId) return null;
  const listed: CheckInRecord[] = [];
  const end = behind ? Number(behind.id) : Number.POSITIVE_INFINITY;
  let id = behind ? await firstBehind(tx, row, behind) : row.last_check_in_id;
  while (id !== null && listed.length < limit) {
    const found: CheckInRow | undefined = await tx.get<CheckInRow>(
      `SELECT ${COLUMNS} FROM check_ins WHERE id = ?`,
      id,
    );
    if (!found || found.number <= row.check_in_count - tx.checkInsKept) break;
    if (isBefore(found, before) && found.id < end) listed.push(await toRecord(tx, found));
    id = found.previous_id;
  }
  return listed;
}

/** What follows the check-in that a slice ended with; from the newest where that one was pruned meanwhile. */
async function firstBehind(tx: Transaction, row: StateRow, position: Position): Promise<number | null> {
  const last = await tx.get<{ snitch_id: number; previous_id: number | null }>(
    'SELECT snitch_id, previous_id FROM check_ins WHERE id = ?',
    Number(position.id),
  );
  return last?.snitch_id === row.id ? last.previous_id : row.last_check_in_id;
}

function isBefore(row: CheckInRow, before: Page['before']): boolean {
  if (!before) return true;
  return 'at' in before ? row.at < before.at : row.id < Number(before.id);
}

async function toRecord(tx: Transaction, row: CheckInRow): Promise<CheckInRecord> {
  const kept = await tx.get<{ output: string }>(
    'SELECT output FROM check_in_outputs WHERE check_in_id = ?',
    row.id,
  );
  return {
    id: row.id,
    at: row.at,
    outcome: row.outcome,
    exitStatus: row.exit_status,
    message: row.message,
    durationMs: row.duration_ms,
    source: row.source,
    output: kept?.output ?? null,
  };
}
