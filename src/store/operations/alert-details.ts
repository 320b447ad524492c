/** What a case's members want to know about an alert besides its payload. */
import type { AlertDecision, AlertDetails, AlertSnitch } from '../../core/alert.ts';
import type { CheckIn } from '../../core/check-in.ts';
import { graceOf, lengthenedBy, scheduleOf } from '../../core/job-schedule.ts';
import type { Reason } from '../../core/reason.ts';
import type { Pause, SnitchState } from '../../core/snitch.ts';
import type { Transaction } from '../transaction.ts';
import { getRules, type StateRow } from './states.ts';

/** What moved a snitch: the check-in or the deadline that an alert reports. */
export interface AlertCause {
  at: number;
  checkIn?: Pick<CheckIn, 'message' | 'exitStatus' | 'at' | 'output'> & {
    id: number;
    /** How long the run took that it ended, in milliseconds; null if its start is not known. */
    durationMs: number | null;
  };
  deadlineAt?: number | null;
  /** When the run began that had not ended by the deadline. */
  startedAt?: number | undefined;
}

/** @param row the state before the change */
export async function detailsOf(
  tx: Transaction,
  row: StateRow,
  decision: AlertDecision,
  after: SnitchState,
  cause: AlertCause,
): Promise<AlertDetails> {
  const reporting = decision.type === 'snitch.reporting';
  return {
    interval: after.interval,
    checkedInAt: reporting ? row.checked_in_at : after.checkedInAt,
    lastCheckInAt: reporting ? row.last_check_in_at : after.lastCheckInAt,
    deadlineAt: cause.deadlineAt ?? null,
    nextDueAt: after.dueAt,
    message: cause.checkIn?.message ?? null,
    exitStatus: cause.checkIn?.exitStatus ?? null,
    threadId: row.thread_id,
    ...why(decision, after, cause),
    ...(await dueDetails(tx, row, after, cause.at)),
    ...(await circumstances(tx, row, decision, after, cause)),
  };
}

function why(
  { type, previousStatus }: AlertDecision,
  { reason, pause }: SnitchState,
  { checkIn }: AlertCause,
): { reason?: Reason } {
  switch (type) {
    case 'snitch.missing':
    case 'snitch.errored':
      return reason ? { reason } : {};
    case 'snitch.paused':
      return pause ? { reason: { kind: 'paused', until: untilOf(pause) } } : {};
    case 'snitch.reporting': {
      const first = previousStatus === 'pending' ? ({ first: true } as const) : {};
      const took = checkIn?.durationMs == null ? {} : { tookMs: checkIn.durationMs };
      return { reason: { kind: 'checkedIn', ...first, ...took } };
    }
  }
}

function untilOf({ until }: Pause): 'healthy' | 'unpaused' | number {
  return until.kind === 'time' ? until.at : until.kind;
}

/** The schedule and grace that decide when the snitch is due besides its interval: empty for most. */
async function dueDetails(
  tx: Transaction,
  row: StateRow,
  after: SnitchState,
  at: number,
): Promise<Pick<AlertDetails, 'schedule' | 'grace'>> {
  const { schedule: rule } = after;
  if (rule === null && after.grace === null) return {};
  const { timezone } = await getRules(tx, row.case_id);
  const schedule = scheduleOf(after, timezone);
  const grace = schedule ? graceOf(after, schedule, at) : lengthenedBy(after);
  return {
    ...(rule && schedule ? { schedule: { rule, timezone: schedule.timezone } } : {}),
    ...(grace > 0 ? { grace } : {}),
  };
}

/** Details that only some alerts have. */
async function circumstances(
  tx: Transaction,
  row: StateRow,
  decision: AlertDecision,
  after: SnitchState,
  { at, checkIn, deadlineAt, startedAt }: AlertCause,
): Promise<Partial<AlertDetails>> {
  if (checkIn) {
    return {
      ...(checkIn.output === null ? {} : { checkInId: checkIn.id }),
      ...(checkIn.at < at ? { ranAt: checkIn.at } : {}),
    };
  }
  if (after.pause) return { pausedUntil: after.pause.until.kind };
  if (decision.type !== 'snitch.missing') return {};
  const missingSince = decision.previousStatus === 'failed' ? await missingSinceOf(tx, row, at) : deadlineAt;
  return {
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(missingSince == null ? {} : { missingSince }),
  };
}

/** From the previous alert, if it belongs to the same absence and was not decided by a clock that ran ahead. */
async function missingSinceOf(tx: Transaction, row: StateRow, at: number): Promise<number | null> {
  const last = await tx.get<{ snitch: string; details: string }>(
    `SELECT snitch, details FROM alerts WHERE token = +? AND type = 'snitch.missing' AND at > +? AND at <= +? ORDER BY at DESC, id DESC LIMIT 1`,
    row.token,
    row.last_check_in_at ?? 0,
    at,
  );
  if (!last) return null;
  const { missingSince, deadlineAt } = JSON.parse(last.details) as AlertDetails;
  const { previous_status: before } = JSON.parse(last.snitch) as AlertSnitch;
  // A reminder from before `missingSince` was kept has only its own deadline.
  const since = missingSince ?? (before === 'missing' ? null : deadlineAt);
  // The job has run since then, if that was reported too late to end the absence.
  const ranSince = since !== null && (row.last_check_in_at ?? since) > since;
  return since !== null && since <= at && !ranSince ? since : null;
}
