/** The narrow rows: what the state machine reads and writes at every trigger. */
import type { Interval } from '../../core/interval.ts';
import { ruleIn } from '../../core/job-schedule.ts';
import { type Learned, NOTHING_LEARNED } from '../../core/late-runs.ts';
import type { OpenRuns } from '../../core/open-run.ts';
import type { Reason } from '../../core/reason.ts';
import type { ScheduleRule } from '../../core/schedule/schedule.ts';
import type {
  Acknowledgement,
  AlertType,
  CaseRules,
  Pause,
  RememberedStatus,
  SnitchState,
  Status,
} from '../../core/snitch.ts';
import type { TransitionContext } from '../../core/transition.ts';
import type { Awaitable, Reading, Transaction } from '../transaction.ts';
import { getLearned } from './learned.ts';
import { heldIn, heldText } from './needs/held-text.ts';
import { packLearned } from './packed/learned.ts';
import { rulesIn, rulesText } from './run-rules.ts';
import { settleKeptBack } from './silences/alarms.ts';
import { getRules } from './silences/case-rules.ts';
import { countStatus } from './status-counts.ts';

export { findRules, getRules, type KeptRules } from './silences/case-rules.ts';

export interface StateRow {
  /** The snitch's number, which is the key of its other rows. */
  id: number;
  token: string;
  case_id: string;
  interval: Interval;
  alert_type: AlertType;
  status: Status;
  checked_in_at: number | null;
  last_check_in_at: number | null;
  due_at: number | null;
  look_at: number | null;
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
  /** JSON. */
  schedule: string | null;
  timezone: string | null;
  grace: number | null;
  /** JSON. */
  reason: string | null;
  /** Seconds. */
  max_runtime: number | null;
  /** JSON. */
  runs: string | null;
  /** JSON; null for the rules of the contract. */
  run_rules: string | null;
  errors_in_row: number | null;
  /** JSON. */
  acknowledged: string | null;
  /** JSON of the alert that is held, `{}` for none; null for a snitch that needs no other. */
  needs: string | null;
}

/** For the snitch `n` and its state `s`. The token comes from the index that finds it: the row of `n` is not read. */
export const STATE_COLUMNS = `n.token, s.id, s.case_id, s.interval, s.alert_type, s.status, s.checked_in_at,
  s.last_check_in_at, s.due_at, s.look_at, s.pause_kind, s.pause_until, s.remembered, s.postponed, s.moved_from,
  s.paused_at, s.thread_id, s.open_start_at, s.last_check_in_id, s.check_in_count,
  s.schedule, s.timezone, s.grace, s.reason, s.max_runtime, s.runs, s.run_rules, s.errors_in_row, s.acknowledged,
  s.needs`;

// Prepared statements are found by their text: a text built at each check-in would have to be read again to find one.
const SELECT = `SELECT ${STATE_COLUMNS} FROM snitches AS n JOIN snitch_states AS s ON s.id = n.id`;
export const SELECT_BY_TOKEN = `${SELECT} WHERE n.token = +?`;
export const SELECT_BY_ID = `${SELECT} WHERE n.id = +?`;

export function getState(tx: Reading, token: string): Awaitable<StateRow | undefined> {
  return tx.getHeld<StateRow>(SELECT_BY_TOKEN, token);
}

export function getStateById(tx: Reading, id: number): Awaitable<StateRow | undefined> {
  return tx.getHeld<StateRow>(SELECT_BY_ID, id);
}

/** Empty if the snitch is gone. */
export async function tokenOf(tx: Transaction, id: number): Promise<string> {
  const row = await tx.get<{ token: string }>('SELECT token FROM snitches WHERE id = ?', id);
  return row?.token ?? '';
}

export async function insertState(
  tx: Transaction,
  { id, token, caseId }: { id: number; token: string; caseId: string },
  state: SnitchState,
): Promise<void> {
  tx.put(
    `INSERT INTO snitch_states (id, case_id, interval, alert_type, status, postponed, check_in_count, schedule,
       timezone, grace, max_runtime, run_rules)
     VALUES (?, ?, ?, ?, ?, 0, 0, ?, ?, ?, ?, ?)`,
    id,
    caseId,
    state.interval,
    state.alertType,
    state.status,
    scheduleText(state.schedule),
    state.timezone,
    state.grace,
    state.maxRuntime,
    rulesText(state),
  );
  countStatus(tx, caseId, state.status, 1);
  tx.announce({ kind: 'snitch', caseId, token });
  tx.announce({ kind: 'shown', caseId });
}

export function deleteState(tx: Transaction, { id, case_id: caseId, status }: StateRow): void {
  tx.put('DELETE FROM snitch_states WHERE id = ?', id);
  countStatus(tx, caseId, status, -1);
}

/** Where the log of a snitch ends: its newest check-in, how many there were, and the start of a run without an end. */
export type LogEnd = Pick<StateRow, 'last_check_in_id' | 'check_in_count' | 'open_start_at'>;

/**
 * Writes what an everyday check-in changes. The index that the sweep walks stays as it is: a deadline that moves on is
 * looked at when the earlier one was due, and then again at its own time.
 *
 * @param learned null if nothing new was learned
 */
export function saveTimes(
  tx: Transaction,
  row: StateRow,
  state: SnitchState,
  { end, learned }: { end: LogEnd; learned: Learned | null },
): Awaitable<number> {
  tx.announce({ kind: 'snitch', caseId: row.case_id, token: row.token });
  const times = [
    state.checkedInAt,
    state.lastCheckInAt,
    state.dueAt,
    state.postponed,
    state.movedFrom,
    end.open_start_at,
    end.last_check_in_id,
    end.check_in_count,
  ];
  return learned === null
    ? tx.run(SAVE_TIMES, ...times, row.id)
    : tx.run(SAVE_TIMES_AND_LEARNED, ...times, packLearned(learned), row.id);
}

const TIMES = `UPDATE snitch_states SET checked_in_at = ?, last_check_in_at = ?, due_at = ?, postponed = ?,
  moved_from = ?, open_start_at = ?, last_check_in_id = ?, check_in_count = ?`;
export const SAVE_TIMES = `${TIMES} WHERE id = ?`;
export const SAVE_TIMES_AND_LEARNED = `${TIMES}, first_check_ins = ? WHERE id = ?`;

/** What is written with a state besides what the state machine knows; each stays as it was if absent. */
export interface Beside {
  /** The alert that opened the present incident; a snitch that became healthy, however silently, has none. */
  threadId?: string | null;
  end?: LogEnd;
}

export const SAVE_STATE = `UPDATE snitch_states SET interval = ?, alert_type = ?, status = ?, checked_in_at = ?,
  last_check_in_at = ?, due_at = ?, look_at = ?, pause_kind = ?, pause_until = ?, remembered = ?, postponed = ?,
  moved_from = ?, paused_at = ?, thread_id = ?, open_start_at = ?, last_check_in_id = ?, check_in_count = ?,
  schedule = ?, timezone = ?, grace = ?, reason = ?, max_runtime = ?, runs = ?, run_rules = ?, errors_in_row = ?,
  acknowledged = ?, needs = ? WHERE id = ?`;

/** Writes `state` into `row`. */
export async function saveState(
  tx: Transaction,
  row: StateRow,
  state: SnitchState,
  { threadId = row.thread_id, end = row }: Beside = {},
): Promise<void> {
  tx.put(
    SAVE_STATE,
    state.interval,
    state.alertType,
    state.status,
    state.checkedInAt,
    state.lastCheckInAt,
    state.dueAt,
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
    scheduleText(state.schedule),
    state.timezone,
    state.grace,
    jsonOrNull(state.reason),
    state.maxRuntime,
    jsonOrNull(state.runs),
    rulesText(state),
    state.errorsInRow === 0 ? null : state.errorsInRow,
    jsonOrNull(state.acknowledged),
    heldText(state.held, row.needs),
    row.id,
  );
  await changed(tx, row, state);
  tx.announce({ kind: 'snitch', caseId: row.case_id, token: row.token });
}

async function changed(tx: Transaction, row: StateRow, state: SnitchState): Promise<void> {
  if (state.status !== row.status) {
    countStatus(tx, row.case_id, row.status, -1);
    countStatus(tx, row.case_id, state.status, 1);
    if (row.status === 'paused') await lookAtKeptBack(tx, row);
  }
  const isSeenNoMore = row.acknowledged !== null && state.acknowledged === null;
  if (isSeenNoMore || (heldIn(row.needs) !== null && state.held === null)) await lookAtKeptBack(tx, row);
}

/** An alarm kept back by a silence, then by a pause, an acknowledgement or a need, is sent once none of them holds. */
async function lookAtKeptBack(tx: Transaction, { id, case_id: caseId }: StateRow): Promise<void> {
  if ((await getRules(tx, caseId)).hasSilences) await settleKeptBack(tx, id, 0);
}

/** Whether the sweep will look at the row in time for `dueAt` anyway. */
export function isLookedAt({ look_at: lookAt }: Pick<StateRow, 'look_at'>, dueAt: number | null): boolean {
  return dueAt === null || (lookAt !== null && lookAt <= dueAt);
}

export function toState(row: StateRow): SnitchState {
  return {
    interval: row.interval,
    alertType: row.alert_type,
    schedule: ruleOf(row),
    timezone: row.timezone,
    grace: row.grace,
    status: row.status,
    checkedInAt: row.checked_in_at,
    lastCheckInAt: row.last_check_in_at,
    dueAt: row.due_at,
    pause: toPause(row),
    postponed: row.postponed,
    movedFrom: row.moved_from,
    reason: reasonIn(row.reason),
    maxRuntime: row.max_runtime,
    runs: row.runs === null ? null : (JSON.parse(row.runs) as OpenRuns),
    ...rulesIn(row.run_rules),
    errorsInRow: row.errors_in_row ?? 0,
    acknowledged: acknowledgedIn(row.acknowledged),
    held: heldIn(row.needs),
  };
}

export function ruleOf({ schedule }: Pick<StateRow, 'schedule'>): ScheduleRule | null {
  return schedule === null ? null : ruleIn(schedule);
}

export function scheduleText(schedule: ScheduleRule | null): string | null {
  return schedule === null ? null : JSON.stringify(schedule);
}

export function reasonIn(text: string | null): Reason | null {
  return text === null ? null : (JSON.parse(text) as Reason);
}

export function acknowledgedIn(text: string | null): Acknowledgement | null {
  return text === null ? null : (JSON.parse(text) as Acknowledgement);
}

function jsonOrNull(value: object | null): string | null {
  return value === null ? null : JSON.stringify(value);
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

/** What the state machine must know besides the state of `row` for a trigger at `now`, except what the snitch needs. */
export async function contextFor(
  tx: Transaction,
  row: Pick<StateRow, 'id' | 'alert_type'>,
  rules: CaseRules,
  now: number,
): Promise<TransitionContext> {
  const learned = row.alert_type === 'smart' ? await getLearned(tx, row.id) : NOTHING_LEARNED;
  return { now, calendar: tx.calendar, rules, ...learned };
}
