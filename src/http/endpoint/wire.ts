/** Records of the store as the API shows them. */
import type {
  WireAlert,
  WireApiKey,
  WireCase,
  WireCheckIn,
  WireDelivery,
  WireExplanation,
  WireReport,
  WireSnitch,
  WireWebhook,
} from '../../api/wire.ts';
import { noticeShown } from '../../core/alert.ts';
import type { Explanation } from '../../core/explain.ts';
import type { Audience, ToldAlert } from '../../core/told.ts';
import type {
  Alert,
  AlertWithDeliveries,
  ApiKey,
  Case,
  CheckInRecord,
  Delivery,
  LastReport,
  Snitch,
  Webhook,
} from '../../store/store.ts';
import { inTimeZone } from '../../text/times.ts';

export function wireTime(at: number): string {
  return new Date(at).toISOString();
}

function wireTimeOrNull(at: number | null): string | null {
  return at === null ? null : wireTime(at);
}

export function wireSnitch(snitch: Snitch, checkInBase: string): WireSnitch {
  const { token, state } = snitch;
  return {
    token,
    href: `/v1/snitches/${encodeURIComponent(token)}`,
    name: snitch.name,
    tags: snitch.tags,
    notes: snitch.notes,
    status: state.status,
    checked_in_at: wireTimeOrNull(state.checkedInAt),
    last_report: wireReport(snitch.lastReport),
    check_in_url: `${checkInBase}/${encodeURIComponent(token)}`,
    interval: state.interval,
    type: { interval: state.interval },
    alert_type: state.alertType,
    alert_email: snitch.alertEmail,
    created_at: wireTime(snitch.createdAt),
  };
}

function wireReport(report: LastReport | null): WireReport | null {
  if (!report) return null;
  const { at, outcome, exitStatus, message } = report;
  return { at: wireTime(at), outcome, exit_status: exitStatus, message };
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
  };
}

export function wireCase(owner: Case): WireCase {
  return {
    id: owner.id,
    name: owner.name,
    timezone: owner.timezone,
    members: owner.members,
    reminders: owner.reminders,
    max_snitches: owner.maxSnitches,
    error_notices: owner.errorNotices,
    on_hold: owner.onHold,
    created_at: wireTime(owner.createdAt),
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

/** The user name goes with the password: some services put a secret there. */
export function withoutCredentials(url: string): string {
  const parsed = new URL(url);
  parsed.username = '';
  parsed.password = '';
  return parsed.href;
}

export function wireWebhook(webhook: Webhook): WireWebhook {
  return {
    id: webhook.id,
    url: withoutCredentials(webhook.url),
    ...(webhook.notices ? { notices: true } : {}),
    created_at: wireTime(webhook.createdAt),
  };
}

export function wireExplanation(
  { state }: Snitch,
  { timezone }: Case,
  { period, deadlineAt, nextAlertAt, reasons }: Explanation,
  { audience, last }: { audience: Audience; last: Alert | null },
): WireExplanation {
  const { emails, webhooks, sendsEmail } = audience;
  const missingSince = state.status === 'failed' ? (last?.details?.missingSince ?? null) : null;
  const both = (at: number | null) =>
    at === null ? null : { at: wireTime(at), local: inTimeZone(at, timezone) };
  return {
    status: state.status,
    timezone,
    period: { start: wireTime(period.start), end: wireTime(period.end) },
    deadline: both(deadlineAt),
    next_alert: both(nextAlertAt),
    missing_since: missingSince === null ? null : wireTime(missingSince),
    reasons,
    notify: { emails: [...emails], webhooks: [...webhooks], sends_email: sendsEmail },
  };
}

/** Whom an alert of the snitch would go to now. */
export function audienceOf(
  { alertEmail }: Snitch,
  { members }: Case,
  webhooks: readonly Webhook[],
  sendsEmail: boolean,
): Audience {
  return {
    emails: alertEmail.length > 0 ? alertEmail : members,
    webhooks: webhooks.map(({ url }) => withoutCredentials(url)),
    sendsEmail,
  };
}

/** An alert and what became of it, for sentences; null for a notice, which is of no single snitch. */
export function toldAlert(
  { alert, deliveries }: AlertWithDeliveries,
  nameOf: (target: string) => string,
): ToldAlert | null {
  if (alert.notice) return null;
  return {
    type: alert.type,
    at: alert.at,
    startedAt: alert.details.startedAt ?? null,
    flapping: (alert.details.flapping?.phase ?? 'over') !== 'over',
    deliveries: deliveries.map((delivery) => ({ ...delivery, target: nameOf(delivery.target) })),
  };
}

/** Answers with the URL that a webhook's id stands for; the id itself where the webhook was deleted. */
export function targetNames(webhooks: readonly Webhook[]): (target: string) => string {
  const urls = new Map(webhooks.map(({ id, url }) => [id, withoutCredentials(url)]));
  return (target) => urls.get(target) ?? target;
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
  nameOf: (target: string) => string,
): WireAlert {
  const wire: WireAlert = {
    id: alert.id,
    type: alert.type,
    timestamp: wireTime(alert.at),
    snitch: alert.snitch,
    deliveries: deliveries.map((delivery) => wireDelivery(delivery, nameOf)),
  };
  const flapping = alert.details?.flapping;
  if (flapping) {
    const { phase, changes, since, changedAt } = flapping;
    return { ...wire, flapping: { phase, changes, since: wireTime(since), changed_at: wireTime(changedAt) } };
  }
  if (!alert.notice) return wire;
  return { ...wire, notice: noticeShown(alert.notice) };
}
