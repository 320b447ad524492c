/** The narrow rows: what the state machine reads and writes at every trigger. */
import { type Interval, isMinuteInterval } from '../../core/interval.ts';
import type {
  AlertType,
  CaseRules,
  Pause,
  RememberedStatus,
  Reminders,
  SnitchState,
  Status,
} from '../../core/snitch.ts';
import type { TransitionContext } from '../../core/transition.ts';
import type { Awaitable, Transaction } from '../transaction.ts';

export interface StateRow {
  token: string;
  case_id: string;
  interval: Interval;
  alert_type: AlertType;
  status: Status;
  checked_in_at: number | null;
  last_check_in_at: number | null;
  due_at: number | null;
  pause_kind: 'healthy' | 'unpaused' | 'time' | null;
  pause_until: number | null;
  remembered: RememberedStatus | null;
  postponed: number;
  moved_from: number | null;
  paused_at: number | null;
  thread_id: string | null;
  open_start_at: number | null;
  last_check_in_id: number | null;
  check_in_count: number;
}

const COLUMNS = `token, case_id, interval, alert_type, status, checked_in_at, last_check_in_at, due_at, pause_kind,
  pause_until, remembered, postponed, moved_from, paused_at, thread_id, open_start_at, last_check_in_id, check_in_count`;

export function getState(tx: Transaction, token: string): Awaitable<StateRow | undefined> {
  return tx.get<StateRow>(`SELECT ${COLUMNS} FROM snitch_states WHERE token = ?`, token);
}

/** All of them, behind the token `after` in their order. */
export async function listStates(tx: Transaction, after: string, limit: number): Promise<StateRow[]> {
  return tx.all<StateRow>(
    `SELECT ${COLUMNS} FROM snitch_states WHERE token > ? ORDER BY token LIMIT ?`,
    after,
    limit,
  );
}

/** Those that await a check-in, behind the token `after` in their order. */
export async function listAwaited(tx: Transaction, after: string, limit: number): Promise<StateRow[]> {
  return tx.all<StateRow>(
    `SELECT ${COLUMNS} FROM snitch_states
     WHERE token > ? AND status IN ('healthy', 'errored') AND due_at IS NOT NULL ORDER BY token LIMIT ?`,
    after,
    limit,
  );
}

export async function insertState(
  tx: Transaction,
  token: string,
  caseId: string,
  state: SnitchState,
): Promise<void> {
  await tx.run(
    `INSERT INTO snitch_states (token, case_id, interval, alert_type, status, postponed, check_in_count)
     VALUES (?, ?, ?, ?, ?, 0, 0)`,
    token,
    caseId,
    state.interval,
    state.alertType,
    state.status,
  );
  tx.announce({ kind: 'snitch', caseId, token });
}

/** Where the log of a snitch ends: its newest check-in, how many there were, and the start of a run without an end. */
export type LogEnd = Pick<StateRow, 'last_check_in_id' | 'check_in_count' | 'open_start_at'>;

/** Writes the times of the last check-ins alone, which leaves the index of due times as it is. */
export async function saveTimes(
  tx: Transaction,
  row: StateRow,
  state: SnitchState,
  end: LogEnd,
): Promise<void> {
  await tx.run(
    `UPDATE snitch_states SET checked_in_at = ?, last_check_in_at = ?, postponed = ?, open_start_at = ?,
       last_check_in_id = ?, check_in_count = ? WHERE token = ?`,
    state.checkedInAt,
    state.lastCheckInAt,
    state.postponed,
    end.open_start_at,
    end.last_check_in_id,
    end.check_in_count,
    row.token,
  );
  tx.announce({ kind: 'snitch', caseId: row.case_id, token: row.token });
}

/**
 * Writes what `state` changed of `row`.
 *
 * @param end as it was, where no check-in was logged
 * @param threadId the alert that opened the present incident; a snitch that became healthy, however silently, has none
 */
export async function saveState(
  tx: Transaction,
  row: StateRow,
  state: SnitchState,
  threadId: string | null,
  end: LogEnd = row,
): Promise<void> {
  await tx.run(
    `UPDATE snitch_states SET interval = ?, alert_type = ?, status = ?, checked_in_at = ?, last_check_in_at = ?,
       due_at = ?, pause_kind = ?, pause_until = ?, remembered = ?, postponed = ?, moved_from = ?,
       paused_at = ?, thread_id = ?, open_start_at = ?, last_check_in_id = ?, check_in_count = ?
     WHERE token = ?`,
    state.interval,
    state.alertType,
    state.status,
    state.checkedInAt,
    state.lastCheckInAt,
    state.dueAt,
    state.pause?.until.kind ?? null,
    state.pause?.until.kind === 'time' ? state.pause.until.at : null,
    state.pause?.remembered ?? null,
    state.postponed,
    state.movedFrom,
    state.pause?.since ?? null,
    state.status === 'healthy' ? null : threadId,
    end.open_start_at,
    end.last_check_in_id,
    end.check_in_count,
    row.token,
  );
  tx.announce({ kind: 'snitch', caseId: row.case_id, token: row.token });
}

export function toState(row: StateRow): SnitchState {
  return {
    interval: row.interval,
    alertType: row.alert_type,
    status: row.status,
    checkedInAt: row.checked_in_at,
    lastCheckInAt: row.last_check_in_at,
    dueAt: row.due_at,
    pause: toPause(row),
    postponed: row.postponed,
    movedFrom: row.moved_from,
  };
}

function toPause({
  pause_kind: kind,
  pause_until: until,
  remembered,
  paused_at: since,
}: StateRow): Pause | null {
  if (kind === null || remembered === null) return null;
  return { until: kind === 'time' ? { kind, at: until ?? 0 } : { kind }, remembered, since };
}

interface RulesRow {
  timezone: string;
  reminders: Reminders;
  error_notices: number;
}

export function getRules(tx: Transaction, caseId: string): Promise<CaseRules> {
  return tx.remember(`rules ${caseId}`, () => readRules(tx, caseId));
}

async function readRules(tx: Transaction, caseId: string): Promise<CaseRules> {
  const row = await tx.get<RulesRow>(
    'SELECT timezone, reminders, error_notices FROM cases WHERE id = ?',
    caseId,
  );
  if (!row) throw new Error(`case ${caseId} does not exist`);
  return { timezone: row.timezone, reminders: row.reminders, errorNotices: row.error_notices === 1 };
}

/** What the state machine needs beside the state of `row` for a trigger at `now`. */
export async function contextFor(
  tx: Transaction,
  row: Pick<StateRow, 'token' | 'alert_type'>,
  rules: CaseRules,
  now: number,
): Promise<TransitionContext> {
  const firstCheckIns = row.alert_type === 'smart' ? await listFirstCheckIns(tx, row.token) : [];
  return { now, calendar: tx.calendar, rules, firstCheckIns };
}

/** The first check-ins of the last periods, ascending, whatever the alert type; of minute intervals none are kept. */
export async function historyFor(
  tx: Transaction,
  { token, interval }: Pick<StateRow, 'token' | 'interval'>,
): Promise<number[]> {
  return isMinuteInterval(interval) ? [] : listFirstCheckIns(tx, token);
}

export async function listFirstCheckIns(tx: Transaction, token: string): Promise<number[]> {
  const rows = await tx.all<{ at: number }>(
    'SELECT at FROM first_check_ins WHERE token = ? ORDER BY at',
    token,
  );
  return rows.map(({ at }) => at);
}
