import type { CheckIn, CheckInOutcome, CheckInRecord } from '../../core/check-in.ts';
import { NOTHING_LEARNED } from '../../core/late-runs.ts';
import type { Reason } from '../../core/reason.ts';
import type { Page, Position } from '../page.ts';
import type { Awaitable, Reading, Transaction } from '../transaction.ts';
import { insertAlert } from './alerts.ts';
import { listWindowsSince } from './blind-windows.ts';
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
import { noteStatus } from './needs/reliefs.ts';
import { keepPostponement } from './postponed-deadlines.ts';
import { asTold, isTaken, type Judged, judged, reportOf, reportText, saveHistories } from './reports.ts';
import { openStartAfter, type Run, runOf } from './runs.ts';
import { silencesUpTo } from './silences/rows.ts';
import { getRules, getState, type LogEnd, type StateRow, saveState, saveTimes } from './states.ts';
import { noteChange } from './status-pages/changes.ts';

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
  report: string | null;
}

const COLUMNS =
  'id, previous_id, number, at, outcome, exit_status, message, duration_ms, source, run_id, report';

/**
 * Records a check-in and what follows from it; false if no snitch has the token. An everyday check-in waits for its
 * row, the rules and two writes, and for nothing else: each wait costs, however short it is.
 */
export async function applyCheckIn(tx: Transaction, told: CheckIn): Promise<boolean> {
  const row = await getState(tx, told.token);
  if (!row) return false;
  const run = await runOf(tx, row, told);
  const judgement = isTaken(row, told) ? asTold(told) : await judged(tx, row, told, run);
  const { checkIn } = judgement;
  const { outcome } = checkIn;
  const decision = isEnd(outcome)
    ? decideEnd(row, checkIn, outcome, await factsFor(tx, row, judgement))
    : isWatched(row, outcome, run)
      ? decideStart(row, checkIn, { rules: await getRules(tx, row.case_id), calendar: tx.calendar })
      : decideNoted(row);
  const id = await logCheckIn(tx, row, judgement, run);
  if (checkIn.output !== null) await keepOutput(tx, id, checkIn.output);
  if (judgement.histories !== null) await saveHistories(tx, row.id, judgement.histories);
  const end = {
    last_check_in_id: id,
    check_in_count: row.check_in_count + 1,
    open_start_at: openStartAfter(row, checkIn),
  };
  const { snitch, learned } = decision;
  if (decision.isEveryday) await saveTimes(tx, row, snitch, { end, learned });
  else await saveChange(tx, row, decision, { ...checkIn, id, durationMs: run.durationMs }, end);
  const isLong = checkIn.output !== null || checkIn.reported !== undefined;
  if (isCutDue(row, { id, isLong }, tx.checkInsKept)) await cutLog(tx, id, tx.checkInsKept);
  return true;
}

/** Whether the check-in starts a run whose length is watched. */
function isWatched({ max_runtime: most }: StateRow, outcome: CheckInOutcome, { isOpen }: Run): boolean {
  return outcome === 'start' && most !== null && isOpen;
}

/** What must be known to decide what the end of a run changes. */
async function factsFor(tx: Transaction, row: StateRow, { checkIn, reason }: Judged): Promise<Facts> {
  const { at, now } = checkIn;
  const rules = await getRules(tx, row.case_id);
  const windows = at < now ? await listWindowsSince(tx, at) : [];
  const judged: Reason | null = reason === null ? null : { kind: 'judged', what: reason };
  const silences =
    at < now && rules.hasSilences ? await silencesUpTo(tx, row, { start: at, end: now }, rules.timezone) : [];
  const facts = { rules, calendar: tx.calendar, windows, silences, learned: NOTHING_LEARNED, judged };
  return asksForHistory(row, checkIn, facts) ? { ...facts, learned: await learnedFor(tx, row) } : facts;
}

/** Writes what a check-in changes if that is more than times. */
async function saveChange(
  tx: Transaction,
  row: StateRow,
  { snitch, alert, postponedBy, learned }: CheckInDecision,
  checkIn: CheckIn & { id: number; durationMs: number | null },
  end: LogEnd,
): Promise<void> {
  if (learned) await saveLearned(tx, row, learned);
  for (const window of postponedBy) await keepPostponement(tx, window.id, row, snitch.dueAt);
  // The alert is written before the state, which names the first alert of an incident.
  const cause = { at: checkIn.now, checkIn };
  const threadId = alert ? await insertAlert(tx, row, alert, snitch, cause) : row.thread_id;
  await saveState(tx, row, snitch, { threadId, end });
  await noteStatus(tx, row, snitch.status, checkIn.now);
  await noteChange(tx, row, snitch.status, checkIn.now);
}

/** A check-in that reports no values leaves out the column for them, which costs less. */
function logCheckIn(
  tx: Transaction,
  row: StateRow,
  judgement: Judged,
  { at, durationMs }: Run,
): Awaitable<number> {
  const { outcome, exitStatus, message, source, runId } = judgement.checkIn;
  const values = [
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
  ];
  const report = reportText(judgement);
  return report === null ? tx.insert(LOG, ...values) : tx.insert(LOG_WITH_REPORT, ...values, report);
}

const LOGGED = `INSERT INTO check_ins
  (previous_id, snitch_id, number, at, outcome, exit_status, message, duration_ms, source, run_id`;
export const LOG = `${LOGGED}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
export const LOG_WITH_REPORT = `${LOGGED}, report) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
export const KEEP_OUTPUT = 'INSERT INTO check_in_outputs (check_in_id, output) VALUES (?, ?)';

function keepOutput(tx: Transaction, id: number, output: string): Awaitable<number> {
  return tx.run(KEEP_OUTPUT, id, output);
}

/** Newest first, or null if the case has no such snitch. The log itself may be a little longer than the limit. */
export async function listCheckIns(
  tx: Reading,
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

/** Where the next page begins: after the check-in that ended the last one or, if that was pruned, at the newest. */
async function firstBehind(tx: Reading, row: StateRow, position: Position): Promise<number | null> {
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

async function toRecord(tx: Reading, row: CheckInRow): Promise<CheckInRecord> {
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
    ...reportOf(row.report),
  };
}
