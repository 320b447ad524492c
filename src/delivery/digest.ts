/** One message for many alerts that wait for the same recipient: one outage, one message. */
import { createHash } from 'node:crypto';
import { BLIND_NOTICE } from '../core/alert.ts';
import type { Alert } from '../store/store.ts';
import { type CaseShown, type EmailMessage, messageId, NAME_SHOWN } from './email-message.ts';
import { asHtml, asText, type Letter } from './letter.ts';
import { printable } from './printable.ts';
import { exactLocalTime, localTime } from './times.ts';

/** More alerts than this for one recipient become one message (`decisions: Alerts`). */
export const DIGEST_OVER = 5;

/** How many alerts of a type are listed; the others are counted. */
const LISTED = 100;

const TAGS_SHOWN = 120;

/** How many threads a digest joins: a mail reader needs only one that it knows. */
const THREADS = 50;

/** What a digest tells of one alert: a small part, so that thousands can wait. */
export interface DigestEntry {
  alertId: string;
  /** The alert that opened the incident. */
  threadId: string;
  type: Alert['type'];
  at: number;
  name: string;
  tags: string[];
  lastCheckInAt: number | null;
  exitStatus: number | null;
}

export function digestEntry(alert: Alert): DigestEntry {
  const { id, type, at, snitch, details } = alert;
  return {
    alertId: id,
    threadId: details?.threadId ?? id,
    type,
    at,
    name: snitch?.name ?? '',
    tags: snitch?.tags ?? [],
    lastCheckInAt: details?.lastCheckInAt ?? null,
    exitStatus: details?.exitStatus ?? null,
  };
}

/** In this order, each with the word for its count and its heading. */
const GROUPS: readonly { type: Alert['type']; word: string; heading: string }[] = [
  { type: 'snitch.missing', word: 'missing', heading: 'Missing' },
  { type: 'snitch.errored', word: 'with errors', heading: 'Reported an error' },
  { type: 'snitch.reporting', word: 'reporting', heading: 'Reporting again' },
  { type: 'snitch.paused', word: 'paused', heading: 'Paused' },
  { type: BLIND_NOTICE, word: 'blind', heading: 'The service received no check-ins' },
];

const naturally = new Intl.Collator('en', { numeric: true });

/** Natural order takes 70 ms for 5,000 names, and nothing else runs meanwhile: longer lists go by character codes. */
const NATURAL_ORDER = 500;

function orderOfNames(count: number): (one: string, other: string) => number {
  if (count <= NATURAL_ORDER) return naturally.compare;
  return (one, other) => (one < other ? -1 : Number(one > other));
}

/** @param domain the right side of message ids */
export function digestMessage(
  entries: readonly DigestEntry[],
  shown: CaseShown,
  recipient: string,
  domain: string,
): EmailMessage {
  const groups = GROUPS.map((group) => ({ ...group, of: entries.filter(({ type }) => type === group.type) }));
  const present = groups.filter(({ of }) => of.length > 0);
  const counts = present.map(({ word, of }) => `${of.length} ${word}`).join(', ');
  const first = entries.reduce((earliest, { at }) => Math.min(earliest, at), Number.POSITIVE_INFINITY);
  const last = entries.reduce((latest, { at }) => Math.max(latest, at), 0);
  const caseName = printable(shown.name, NAME_SHOWN);
  const letter: Letter = {
    paragraphs: [`${entries.length} alerts of ${caseName}: ${counts}.`],
    fields: [
      { label: 'From', value: exactLocalTime(first, shown.timezone) },
      { label: 'To', value: exactLocalTime(last, shown.timezone) },
    ],
    lists: present.map(({ heading, of }) => listOf(heading, of, shown.timezone)),
    commands: ['snitch list', 'snitch alerts'],
    footer: `${entries.length} alerts waited for you at the same time and came as one message.`,
  };
  return {
    subject: `[Digest] ${entries.length} alerts of ${printable(shown.name, 80)}: ${counts}`,
    text: asText(letter),
    html: asHtml(letter),
    messageId: messageId(digestId(entries), recipient, domain),
    references: threads(entries).map((id) => messageId(id, recipient, domain)),
    date: new Date(last),
  };
}

function listOf(heading: string, entries: readonly DigestEntry[], timezone: string): Letter['lists'][number] {
  const compare = orderOfNames(entries.length);
  const sorted = [...entries].sort((a, b) => compare(a.name, b.name) || a.at - b.at);
  const items = sorted.slice(0, LISTED).map((entry) => itemOf(entry, timezone));
  const left = sorted.length - items.length;
  return {
    heading: `${heading} (${sorted.length})`,
    items: left > 0 ? [...items, `and ${left} more`] : items,
  };
}

function itemOf({ type, at, name, tags, lastCheckInAt, exitStatus }: DigestEntry, timezone: string): string {
  const tagged = tags.length > 0 ? ` [${printable(tags.join(', '), TAGS_SHOWN)}]` : '';
  return `${printable(name, NAME_SHOWN)}${tagged}${detail()}`;

  function detail(): string {
    switch (type) {
      case 'snitch.missing':
        return lastCheckInAt === null ? '' : `, last check-in ${localTime(lastCheckInAt, timezone)}`;
      case 'snitch.errored':
        return exitStatus === null ? '' : `, exit status ${exitStatus}`;
      case BLIND_NOTICE:
        return `told ${localTime(at, timezone)}`;
      default:
        return '';
    }
  }
}

/** The same for the same alerts, whatever their order. */
function digestId(entries: readonly DigestEntry[]): string {
  const ids = entries.map(({ alertId }) => alertId).sort();
  return createHash('sha256').update(ids.join('\n')).digest('hex');
}

/** The incidents that the alerts belong to, so that the digest of the recoveries joins that of the alarms. */
function threads(entries: readonly DigestEntry[]): string[] {
  return [...new Set(entries.map(({ threadId }) => threadId))].sort().slice(0, THREADS);
}
