/** A snitch as the table needs it, prepared once for each change instead of once for each frame. */
import { type Urgency, urgencyOf } from '../../api/urgency.ts';
import type { WireSnitch } from '../../api/wire.ts';
import { printable } from '../../text/printable.ts';
import { intervalLength } from '../drawing/periods.ts';

export interface Entry {
  token: string;
  snitch: WireSnitch;
  /** Its name without control characters. */
  name: string;
  /** For filters and for sorting without regard to case. */
  nameKey: string;
  tags: readonly string[];
  tagKeys: readonly string[];
  /** Last healthy check-in, in milliseconds since the epoch, or null. */
  checkedInAt: number | null;
  /** The last check-in that said how a run ended, or the last healthy one if the server is too old to say. */
  reportedAt: number | null;
  /** What the job said last, without control characters. */
  said: string;
  createdAt: number;
  /** When the next check-in is due; null if none is awaited, undefined if the server is too old to say. */
  deadlineAt: number | null | undefined;
  /** The deadline that it missed; null if it missed none, undefined if the server is too old to say. */
  missingSince: number | null | undefined;
  urgency: Urgency;
  /** The usual length of its interval, in milliseconds. */
  length: number;
}

export function entryOf(snitch: WireSnitch): Entry {
  const name = printable(snitch.name);
  const tags = snitch.tags.map(printable);
  return {
    token: snitch.token,
    snitch,
    name,
    nameKey: name.toLowerCase(),
    tags,
    tagKeys: tags.map((tag) => tag.toLowerCase()),
    checkedInAt: instantOf(snitch.checked_in_at),
    reportedAt: instantOf(snitch.last_report?.at ?? snitch.checked_in_at),
    said: lastWords(snitch),
    createdAt: Date.parse(snitch.created_at),
    deadlineAt: snitch.deadline === undefined ? undefined : instantOf(snitch.deadline),
    missingSince: snitch.missing_since === undefined ? undefined : instantOf(snitch.missing_since),
    urgency: urgencyOf(snitch),
    length: intervalLength(snitch.interval),
  };
}

function instantOf(iso: string | null): number | null {
  return iso === null ? null : Date.parse(iso);
}

/** `exit 2: disk full`; empty if the job said nothing. */
function lastWords({ last_report: report }: WireSnitch): string {
  if (!report) return '';
  const { exit_status: exit, message } = report;
  const status = exit === null || exit === 0 ? '' : `exit ${exit}`;
  return [status, printable(message ?? '')].filter((part) => part !== '').join(': ');
}
