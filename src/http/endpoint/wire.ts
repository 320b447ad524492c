/** Records of the store as the API shows them. */
import { withoutCredentials } from '../../api/shown-url.ts';
import type {
  WireAlert,
  WireApiKey,
  WireCase,
  WireCheckIn,
  WireDelivery,
  WireReport,
  WireSnitch,
  WireWebhook,
} from '../../api/wire.ts';
import type { WireExplanation, WireRuns, WireScheduleShown, WireValue } from '../../api/wire-explanation.ts';
import type { WireAcknowledgement, WirePause } from '../../api/wire-kept-back.ts';
import { type Alert, noticeShown, reasonOf } from '../../core/alert.ts';
import type { ApiKey } from '../../core/api-key.ts';
import type { Case } from '../../core/case.ts';
import type { CheckInRecord, LastReport } from '../../core/check-in.ts';
import type { Delivery } from '../../core/delivery.ts';
import type { Explanation } from '../../core/explanation/explain.ts';
import type { ScheduleShown } from '../../core/explanation/schedule-words.ts';
import type { Audience } from '../../core/explanation/told.ts';
import type { RunRules } from '../../core/judgement/rules.ts';
import { usualIn, type ValueHistories } from '../../core/judgement/usual.ts';
import { reasonInWords } from '../../core/reason.ts';
import type { KnownRuns } from '../../core/runs.ts';
import { isAwaited, type ListedSnitch, type Pause, type Snitch } from '../../core/snitch.ts';
import type { Webhook } from '../../core/webhook.ts';
import { SECOND } from '../../text/durations.ts';
import { isoTime } from '../../text/iso-time.ts';
import { inTimeZone, weekdayTime } from '../../text/times.ts';
import { wireSilenced } from './silenced.ts';
import { wireHold, wireNeeds } from './wire-hold.ts';

export function wireTime(at: number): string {
  return isoTime(at);
}

function wireTimeOrNull(at: number | null): string | null {
  return at === null ? null : wireTime(at);
}

/** Where and for whom a snitch is shown. */
export interface Shown {
  checkInBase: string;
  /** The case's: times in reasons are given in it. */
  timezone: string;
}

export function wireSnitch(snitch: ListedSnitch, { checkInBase, timezone }: Shown): WireSnitch {
  const { token, state } = snitch;
  return {
    token,
    href: `/v1/snitches/${encodeURIComponent(token)}`,
    name: snitch.name,
    public_name: snitch.publicName ?? null,
    tags: snitch.tags,
    notes: snitch.notes,
    status: state.status,
    reason: wireReason(state, timezone),
    checked_in_at: wireTimeOrNull(state.checkedInAt),
    last_report: wireReport(snitch.lastReport),
    check_in_url: `${checkInBase}/${encodeURIComponent(token)}`,
    interval: state.interval,
    type: { interval: state.interval },
    alert_type: state.alertType,
    alert_email: snitch.alertEmail,
    schedule: state.schedule,
    timezone: state.timezone,
    grace: state.grace,
    deadline: wireTimeOrNull(isAwaited(state) ? state.dueAt : null),
    missing_since: wireTimeOrNull(snitch.missingSince),
    silenced: wireSilenced(snitch.silenced),
    max_runtime: state.maxRuntime,
    ...wireRunRules(state),
    acknowledged: wireAcknowledged(state),
    ...wireNeeds(snitch),
    created_at: wireTime(snitch.createdAt),
  };
}

export function wireRunRules({ minRuntime, failuresBeforeAlert, expect }: RunRules) {
  return {
    min_runtime: minRuntime,
    failures_before_alert: failuresBeforeAlert,
    expect: expect === null ? null : [...expect],
  };
}

/** During a pause the reason of the earlier status stays hidden. */
export function wireReason({ status, reason }: ListedSnitch['state'], timezone: string): string | null {
  if (reason === null || (status !== 'failed' && status !== 'errored')) return null;
  return reasonInWords(reason, (at) => inTimeZone(at, timezone));
}

export function wireAcknowledged({
  acknowledged,
}: Pick<ListedSnitch['state'], 'acknowledged'>): WireAcknowledgement | null {
  return acknowledged && { at: wireTime(acknowledged.at), note: acknowledged.note, by: acknowledged.by };
}

function wireReport(report: LastReport | null): WireReport | null {
  if (!report) return null;
  const { at, outcome, exitStatus, message, reason } = report;
  const why = reason === undefined ? {} : { reason };
  return { at: wireTime(at), outcome, exit_status: exitStatus, message, ...why };
}

export function wireCheckIn(record: CheckInRecord): WireCheckIn {
  return {
    id: String(record.id),
    at: wireTime(record.at),
    outcome: record.outcome,
    exit_status: record.exitStatus,
    message: record.message,
    duration_ms: record.durationMs,
    source: record.source,
    output: record.output,
    values: record.values,
    dropped_values: record.dropped,
    reason: record.reason,
  };
}

export function wireCase(shown: Case): WireCase {
  return {
    id: shown.id,
    name: shown.name,
    timezone: shown.timezone,
    members: shown.members,
    reminders: shown.reminders,
    max_snitches: shown.maxSnitches,
    error_notices: shown.errorNotices,
    on_hold: shown.onHold,
    created_at: wireTime(shown.createdAt),
  };
}

export function wireApiKey(apiKey: ApiKey): WireApiKey {
  return {
    id: apiKey.id,
    name: apiKey.name,
    scope: apiKey.scope,
    created_at: wireTime(apiKey.createdAt),
    last_used_at: wireTimeOrNull(apiKey.lastUsedAt),
  };
}

export function wireWebhook(webhook: Webhook): WireWebhook {
  return {
    id: webhook.id,
    url: withoutCredentials(webhook.url),
    ...(webhook.notices ? { notices: true } : {}),
    created_at: wireTime(webhook.createdAt),
  };
}

interface Known {
  audience: Audience;
  runs: KnownRuns;
  values: ValueHistories;
  pausedBy: PausedBy | null;
}

/** Who made a pause or last changed its end. */
interface PausedBy {
  name: string;
  at: number;
}

export function wireExplanation(
  { state, missingSince, silenced, hold }: Snitch,
  { timezone }: Case,
  { period, schedule, deadlineAt, nextAlertAt, planned, reasons }: Explanation,
  { audience, runs, values, pausedBy }: Known,
): WireExplanation {
  const { emails, webhooks, channels, failing, sendsEmail } = audience;
  const both = (at: number | null) =>
    at === null ? null : { at: wireTime(at), local: inTimeZone(at, timezone) };
  return {
    status: state.status,
    reason: wireReason(state, timezone),
    timezone,
    period: { start: wireTime(period.start), end: wireTime(period.end) },
    deadline: both(deadlineAt),
    next_alert: both(nextAlertAt),
    planned: planned && {
      ...{ from: wireTime(planned.start), to: wireTime(planned.end) },
      ...{ by: planned.by, note: planned.note },
    },
    missing_since: wireTimeOrNull(missingSince),
    paused: wirePause(state.pause, pausedBy),
    silenced: wireSilenced(silenced),
    held: wireHold(hold),
    schedule: schedule && wireScheduleShown(schedule),
    runs: wireRuns(runs),
    values: wireValues(values),
    reasons,
    notify: {
      emails: [...emails],
      webhooks: [...webhooks],
      channels: [...channels],
      failing: [...failing],
      sends_email: sendsEmail,
    },
  };
}

function wirePause(pause: Pause | null, by: PausedBy | null): WirePause | null {
  if (!pause) return null;
  const { until } = pause;
  return {
    until: until.kind === 'time' ? wireTime(until.at) : until.kind,
    by: by && { name: by.name, at: wireTime(by.at) },
  };
}

function wireRuns({ open, usual }: KnownRuns): WireRuns {
  return {
    open: open.map(({ startedAt, overrunsAt }) => ({
      started_at: wireTime(startedAt),
      overruns_at: wireTimeOrNull(overrunsAt),
    })),
    usual_ms: usual,
  };
}

function wireValues(histories: ValueHistories): WireValue[] {
  return Object.entries(histories).map(([name, { at, last, runs }]) => ({
    name,
    last,
    at: wireTime(at),
    usual: usualIn(histories, name),
    runs: runs.length,
  }));
}

function wireScheduleShown({ timezone, grace, runs }: ScheduleShown): WireScheduleShown {
  return {
    timezone,
    grace: grace / SECOND,
    runs: runs.map(({ at, deadline }) => ({
      at: wireTime(at),
      local: weekdayTime(at, timezone),
      deadline: wireTime(deadline),
      deadline_local: weekdayTime(deadline, timezone),
    })),
  };
}

export function wireDelivery(delivery: Delivery, nameOf: (target: string) => string): WireDelivery {
  return {
    id: String(delivery.id),
    alert: delivery.alertId,
    channel: delivery.channel,
    target: nameOf(delivery.target),
    type: delivery.about.type,
    snitch: delivery.about.snitch,
    state: delivery.state,
    ...(delivery.waits ? { waits: delivery.waits } : {}),
    sending: delivery.sending,
    attempts: delivery.attempts,
    last_error: delivery.lastError,
    next_attempt_at: wireTimeOrNull(delivery.nextAttemptAt),
    delivered_at: wireTimeOrNull(delivery.deliveredAt),
  };
}

export function wireAlert(
  alert: Alert,
  deliveries: readonly Delivery[],
  { nameOf, timezone }: { nameOf: (target: string) => string; timezone: string },
): WireAlert {
  const reason = alert.details && reasonOf(alert.details, timezone);
  const wire: WireAlert = {
    id: alert.id,
    type: alert.type,
    timestamp: wireTime(alert.at),
    snitch: alert.snitch,
    ...(reason === null ? {} : { reason }),
    deliveries: deliveries.map((delivery) => wireDelivery(delivery, nameOf)),
  };
  const flapping = alert.details?.flapping;
  if (flapping) {
    const { phase, changes, since, changedAt } = flapping;
    return { ...wire, flapping: { phase, changes, since: wireTime(since), changed_at: wireTime(changedAt) } };
  }
  if ('refusal' in alert) return { ...wire, refusal: alert.refusal };
  if (!alert.notice) return wire;
  return { ...wire, notice: noticeShown(alert.notice) };
}
