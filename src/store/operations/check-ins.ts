import { isMinuteInterval } from '../../core/interval.ts';
import type { SnitchState } from '../../core/snitch.ts';
import { transition } from '../../core/transition.ts';
import type { CheckIn, CheckInOutcome, CheckInRecord, Page, Position } from '../store.ts';
import type { Transaction } from '../transaction.ts';
import { insertAlert } from './alerts.ts';
import { type KeptWindow, keepPostponement, listWindowsSince } from './blind-windows.ts';
import { cutLog } from './log-limit.ts';
import { durationOf, isEnd, openStartAfter, startOfRun } from './runs.ts';
import { contextFor, getRules, getState, historyFor, type StateRow, saveState, toState } from './states.ts';

/** How many periods smart deadlines learn from. */
const LEARNED_PERIODS = 50;

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

/** Records a check-in and what follows from it; false when no snitch has the token. */
export async function applyCheckIn(tx: Transaction, checkIn: CheckIn): Promise<boolean> {
  const row = await getState(tx, checkIn.token);
  if (!row) return false;
  const { outcome } = checkIn;
  const id = await logCheckIn(tx, row, checkIn);
  if (isEnd(outcome)) await applyOutcome(tx, row, checkIn, outcome, id);
  else await chain(tx, row, id, openStartAfter(row, checkIn));
  await cutLog(tx, { newest: id, number: row.check_in_count + 1, limit: tx.checkInsKept });
  return true;
}

async function applyOutcome(
  tx: Transaction,
  row: StateRow,
  checkIn: CheckIn,
  outcome: 'healthy' | 'error',
  id: number,
): Promise<void> {
  const rules = await getRules(tx, row.case_id);
  await learn(tx, row, rules.timezone, checkIn.at);
  const before = toState(row);
  const { at, now } = checkIn;
  const windows: KeptWindow[] = at < now ? await listWindowsSince(tx, at) : [];
  const context = await contextFor(tx, row, rules, now);
  if (windows.length > 0) context.firstCheckIns = await historyFor(tx, row);
  const trigger = { kind: 'checkIn', outcome, ...(at < now ? { at } : {}) } as const;
  const { snitch, alert, postponedBy = [] } = transition(before, trigger, { ...context, windows });
  for (const { id: windowId } of windows.filter((window) => postponedBy.includes(window))) {
    await keepPostponement(tx, windowId, row, snitch.dueAt);
  }
  if (!alert && !before.pause && snitch.dueAt === row.due_at && snitch.movedFrom === row.moved_from) {
    await saveEverydayCheckIn(tx, row, snitch, id, openStartAfter(row, checkIn));
    return;
  }
  const cause = { at: now, checkIn: { ...checkIn, id } };
  const threadId = alert ? await insertAlert(tx, row, alert, snitch, cause) : row.thread_id;
  await saveState(tx, row, snitch, threadId);
  await chain(tx, row, id, openStartAfter(row, checkIn));
}

/** A check-in that moves no deadline leaves the index of due times alone: it writes one narrow row. */
async function saveEverydayCheckIn(
  tx: Transaction,
  row: StateRow,
  snitch: SnitchState,
  id: number,
  openStartAt: number | null,
): Promise<void> {
  await tx.run(
    `UPDATE snitch_states SET checked_in_at = ?, last_check_in_at = ?, postponed = ?, open_start_at = ?,
       last_check_in_id = ?, check_in_count = check_in_count + 1 WHERE token = ?`,
    snitch.checkedInAt,
    snitch.lastCheckInAt,
    snitch.postponed,
    openStartAt,
    id,
    row.token,
  );
  tx.announce({ kind: 'snitch', caseId: row.case_id, token: row.token });
}

/** Remembers the first check-in of a period, and of the last periods only. */
async function learn(tx: Transaction, row: StateRow, timezone: string, at: number): Promise<void> {
  if (isMinuteInterval(row.interval)) return;
  const period = tx.calendar.periodAt(row.interval, timezone, at);
  if (row.last_check_in_at !== null && row.last_check_in_at >= Math.min(at, period.start)) return;
  await tx.run(
    'INSERT INTO first_check_ins (token, at) VALUES (?, ?) ON CONFLICT (token, at) DO NOTHING',
    row.token,
    at,
  );
  await tx.run(
    `DELETE FROM first_check_ins WHERE token = ? AND at < (
       SELECT MIN(at) FROM (SELECT at FROM first_check_ins WHERE token = ? ORDER BY at DESC LIMIT ?) AS kept)`,
    row.token,
    row.token,
    LEARNED_PERIODS,
  );
}

async function logCheckIn(tx: Transaction, row: StateRow, checkIn: CheckIn): Promise<number> {
  const { outcome, exitStatus, message, source, runId, output } = checkIn;
  const durationMs = isEnd(outcome) ? await durationOf(tx, row, checkIn) : null;
  const at = outcome === 'start' ? await startOfRun(tx, row, checkIn) : checkIn.at;
  const id = await tx.insert(
    `INSERT INTO check_ins
       (previous_id, token, number, at, outcome, exit_status, message, duration_ms, source, run_id)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    row.last_check_in_id,
    row.token,
    row.check_in_count + 1,
    at,
    outcome,
    exitStatus,
    message,
    durationMs,
    source,
    runId,
  );
  if (output !== null) {
    await tx.run('INSERT INTO check_in_outputs (check_in_id, output) VALUES (?, ?)', id, output);
  }
  return id;
}

async function chain(tx: Transaction, row: StateRow, id: number, openStartAt: number | null): Promise<void> {
  await tx.run(
    `UPDATE snitch_states SET last_check_in_id = ?, check_in_count = check_in_count + 1, open_start_at = ?
     WHERE token = ?`,
    id,
    openStartAt,
    row.token,
  );
  tx.announce({ kind: 'snitch', caseId: row.case_id, token: row.token });
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
  const last = await tx.get<{ token: string; previous_id: number | null }>(
    'SELECT token, previous_id FROM check_ins WHERE id = ?',
    Number(position.id),
  );
  return last?.token === row.token ? last.previous_id : row.last_check_in_id;
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
