/**
 * Which status a snitch had when. While its case has a status page, each change is kept; the time before is
 * reconstructed, as far as possible, from the alerts still in the store.
 */
import type { PayloadStatus } from '../alert.ts';
import type { Status } from '../snitch.ts';

/** A status change that was kept. */
export interface KeptChange {
  at: number;
  was: Status;
  status: Status;
}

/** What an alert says about the status. */
export interface KeptAlert {
  at: number;
  status: PayloadStatus;
  previousStatus: PayloadStatus;
}

/** From `from` until the next span begins; the status is null if it is not known. */
export interface Span {
  from: number;
  status: Status | null;
}

export interface Past {
  createdAt: number;
  /** Its status now. */
  status: Status;
  /** Since when changes have been kept. */
  since: number;
  /** In the order in which they happened; all are at `since` or after it. */
  changes: readonly KeptChange[];
  /** In the order in which they were decided; all are before `since`. */
  alerts: readonly KeptAlert[];
  /** Whether there may be older changes or alerts than these. */
  isCut: boolean;
}

export function spansOf(past: Past): Span[] {
  const { createdAt, since, changes, status } = past;
  const atSince = changes[0]?.was ?? status;
  const kept: Span[] = changes.map((change) => ({ from: change.at, status: change.status }));
  if (createdAt >= since) return [{ from: createdAt, status: atSince }, ...kept];
  const isCutInChanges = past.isCut && past.alerts.length === 0;
  const early: Span[] = isCutInChanges ? [{ from: createdAt, status: null }] : spansBefore(past, atSince);
  const first = isCutInChanges ? (changes[0]?.at ?? since) : since;
  return [...early, { from: first, status: atSince }, ...kept];
}

/** The spans according to the alerts from before changes were kept. @param last the status at the end */
function spansBefore({ createdAt, since, alerts, isCut }: Past, last: Status): Span[] {
  const [first] = alerts;
  const before = isCut ? null : first ? statusOf(first.previousStatus) : last;
  const spans: Span[] = [{ from: createdAt, status: before }];
  for (const [index, alert] of alerts.entries()) {
    const next = alerts[index + 1];
    const until = next ? statusOf(next.previousStatus) : last;
    const status = statusOf(alert.status);
    // A pause that a person or the clock ended raised no alert.
    spans.push({ from: alert.at, status: status === 'paused' && until !== 'paused' ? null : status });
  }
  return spans.filter(({ from }) => from < since);
}

function statusOf(status: PayloadStatus): Status {
  return status === 'missing' ? 'failed' : status;
}

/** Since when an outage has lasted, whether failed or errored in between. Null if that is not known. */
export function presentSince(spans: readonly Span[]): number | null {
  const kind = kindOf(spans.at(-1)?.status ?? null);
  let since: number | null = null;
  for (const { from, status } of spans.toReversed()) {
    if (kindOf(status) !== kind) return since;
    since = from;
  }
  return kind === 'failed' ? since : null;
}

function kindOf(status: Status | null): Status | null {
  return status === 'errored' ? 'failed' : status;
}
