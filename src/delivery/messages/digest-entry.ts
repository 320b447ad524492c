/** What a digest says about one snitch: one line that shows its latest state. */
import type { AlertDetails } from '../../core/alert.ts';
import type { ClaimedDelivery, Recipient } from '../../core/delivery.ts';
import { reasonInWords } from '../../core/reason.ts';
import { printable, shorten } from '../../text/printable.ts';
import { isReminder, momentOf, paused, type SnitchAlert } from './alert-words.ts';
import type { Breaks } from './breaks.ts';

/** The order in which the kinds are shown, in the subject and in the body. */
export const KINDS = ['missing', 'reminder', 'errored', 'recovered', 'first', 'paused'] as const;
export type EntryKind = (typeof KINDS)[number];

/** The small part of an alert that a digest needs, so thousands can wait in memory. */
export interface DigestEntry {
  alertId: string;
  /** The alert that opened the incident. */
  threadId: string;
  token: string;
  kind: EntryKind;
  at: number;
  /** Orders alerts that were decided at the same instant. */
  order: number;
  name: string;
  tags: string;
  /** Cut to the length that a line of a digest shows. */
  message: string;
  details: Omit<AlertDetails, 'message'>;
}

/** The case that an alert belongs to: every message shows its name and uses its time zone. */
export type CaseShown = ClaimedDelivery['case'];

/** Many alerts of one case that waited for one target, in whatever order they were claimed. */
export interface Digest {
  entries: readonly DigestEntry[];
  case: CaseShown;
  /** Only if it goes to a channel. */
  recipient?: Recipient | null;
}

export const NAME_SHOWN = 255;
const TAGS_SHOWN = 120;
const MESSAGE_SHOWN = 200;

/** @param order tells alerts of the same instant apart: the one decided first has the smaller number */
export function digestEntry(alert: SnitchAlert, order: number): DigestEntry {
  const { id, token, at, snitch } = alert;
  const { message, ...details } = alert.details;
  return {
    alertId: id,
    threadId: details.threadId ?? id,
    token,
    kind: kindOf(alert),
    at,
    order,
    name: shorten(printable(snitch.name), NAME_SHOWN),
    tags: shorten(printable(snitch.tags.join(', ')), TAGS_SHOWN),
    message: shorten(printable(message ?? ''), MESSAGE_SHOWN),
    details,
  };
}

function kindOf(alert: SnitchAlert): EntryKind {
  switch (alert.type) {
    case 'snitch.missing':
      return isReminder(alert) ? 'reminder' : 'missing';
    case 'snitch.errored':
      return 'errored';
    case 'snitch.paused':
      return 'paused';
    case 'snitch.reporting':
      return alert.snitch.previous_status === 'pending' ? 'first' : 'recovered';
  }
}

/** How many entries are processed before checking whether to give way to other work. */
const AT_ONCE = 50;

/** The latest state of one snitch, and how many alerts led there. */
export interface SnitchLine {
  entry: DigestEntry;
  /** The kind of the line, which may cover more than its entry. */
  kind: EntryKind;
  alerts: number;
}

/**
 * One line for each snitch. If the first alert of a missing snitch and a reminder of it waited together, the reader
 * has seen neither: the snitch is shown as newly missing.
 */
export async function lastStates(entries: readonly DigestEntry[], breaks: Breaks): Promise<SnitchLine[]> {
  const lines = new Map<string, SnitchLine>();
  for (const [index, entry] of inTime(entries).entries()) {
    if (index % AT_ONCE === 0) await breaks.mayRest();
    const before = lines.get(entry.token);
    const isNews = entry.kind === 'reminder' && before?.kind === 'missing';
    const kind = isNews ? 'missing' : entry.kind;
    lines.set(entry.token, { entry, kind, alerts: (before?.alerts ?? 0) + 1 });
  }
  return [...lines.values()];
}

/** In the order in which they were decided, which is how they mostly come. */
function inTime(entries: readonly DigestEntry[]): readonly DigestEntry[] {
  const compare = (a: DigestEntry, b: DigestEntry) => a.at - b.at || a.order - b.order;
  const isInTime = entries.every(
    (entry, index) => index === 0 || compare(entries[index - 1] ?? entry, entry) <= 0,
  );
  return isInTime ? entries : entries.toSorted(compare);
}

/**
 * `nightly-backup [db], exit status 3 at 2026-11-21 06:04: disk full`
 *
 * @param show how instants are written
 */
export function lineOf({ entry, kind, alerts }: SnitchLine, show: (at: number) => string): string {
  const { name, tags, message } = entry;
  const tagged = tags === '' ? '' : ` [${tags}]`;
  const said = message === '' ? '' : `: ${message}`;
  const { flapping } = entry.details;
  const flaps = flapping
    ? ` (${flapping.phase === 'over' ? 'was ' : ''}flapping: ${flapping.changes} changes)`
    : '';
  const earlier = alerts > 1 ? ` (the last of ${alerts} alerts)` : '';
  return `${name}${tagged}, ${reason(entry, kind, show)}${said}${flaps}${earlier}`;
}

function reason(entry: DigestEntry, kind: EntryKind, show: (at: number) => string): string {
  const { details } = entry;
  const { flapping } = details;
  const at = flapping?.changedAt ?? entry.at;
  switch (kind) {
    case 'missing':
    case 'reminder':
      return missed(kind, at, details, show);
    case 'errored':
      return `${fault(details, show)} at ${momentOf(at, details, show)}`;
    case 'recovered':
      return `checked in again at ${momentOf(at, details, show)}`;
    case 'first':
      return `reporting for the first time at ${momentOf(at, details, show)}`;
    case 'paused':
      return paused(at, details, show);
  }
}

/** Why a check-in was an error, in a few words. */
function fault({ reason, exitStatus }: DigestEntry['details'], show: (at: number) => string): string {
  if (exitStatus !== null && (reason?.kind ?? 'exitStatus') === 'exitStatus')
    return `exit status ${exitStatus}`;
  return !reason || reason.kind === 'error' ? 'error' : printable(reasonInWords(reason, show));
}

function missed(
  kind: 'missing' | 'reminder',
  at: number,
  { missingSince, deadlineAt, lastCheckInAt, startedAt }: DigestEntry['details'],
  show: (at: number) => string,
): string {
  const since = missingSince ?? (kind === 'missing' ? deadlineAt : null);
  const word = kind === 'missing' ? 'missing' : 'still missing';
  const known = since === null ? `${word} at ${show(at)}` : `${word} since ${show(since)}`;
  if (startedAt !== undefined) return `${known}, a run that started at ${show(startedAt)} has not ended`;
  return `${known}, ${lastCheckInAt === null ? 'never checked in' : `last check-in ${show(lastCheckInAt)}`}`;
}
