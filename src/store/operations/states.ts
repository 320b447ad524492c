/** The narrow rows: what the state machine reads and writes at every trigger. */
import type { Interval } from '../../core/interval.ts';
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
import type { Transaction } from '../transaction.ts';

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
  thread_id: string | null;
  open_start_at: number | null;
  last_check_in_id: number | null;
  check_in_count: number;
}

const COLUMNS = `token, case_id, interval, alert_type, status, checked_in_at, last_check_in_at, due_at, pause_kind,
  pause_until, remembered, postponed, thread_id, open_start_at, last_check_in_id, check_in_count`;

export async function getState(tx: Transaction, token: string): Promise<StateRow | undefined> {
  return tx.get<StateRow>(`SELECT ${COLUMNS} FROM snitch_states WHERE token = ?`, token);
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

/**
 * Writes what `state` changed of `row`.
 *
 * @param threadId the alert that opened the present incident; a snitch that became healthy, however silently, has none
 */
export async function saveState(
  tx: Transaction,
  row: StateRow,
  state: SnitchState,
  threadId: string | null,
): Promise<void> {
  await tx.run(
    `UPDATE snitch_states SET interval = ?, alert_type = ?, status = ?, checked_in_at = ?, last_check_in_at = ?,
       due_at = ?, pause_kind = ?, pause_until = ?, remembered = ?, postponed = ?, thread_id = ?
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
    state.postponed ? 1 : 0,
    state.status === 'healthy' ? null : threadId,
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
    postponed: row.postponed === 1,
  };
}

function toPause({ pause_kind: kind, pause_until: until, remembered }: StateRow): Pause | null {
  if (kind === null || remembered === null) return null;
  return { until: kind === 'time' ? { kind, at: until ?? 0 } : { kind }, remembered };
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

async function listFirstCheckIns(tx: Transaction, token: string): Promise<number[]> {
  const rows = await tx.all<{ at: number }>(
    'SELECT at FROM first_check_ins WHERE token = ? ORDER BY at',
    token,
  );
  return rows.map(({ at }) => at);
}
