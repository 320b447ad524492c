/** The message to a service, the same for all of them: what happened, since when, why, what next. */
import { type Alert, isAlarm, REFUSAL_NOTICE } from '../../core/alert.ts';
import type { Incident } from '../../core/channel.ts';
import { shorten } from '../../text/printable.ts';
import { alertLetter } from './alert-letter.ts';
import { Breaks } from './breaks.ts';
import { digestLetter } from './digest.ts';
import type { CaseShown, Digest, EntryKind } from './digest-entry.ts';
import { digestId } from './digest-id.ts';

export interface ServiceMessage {
  /** `alarm`: something is wrong. `end`: it is over, or muted. `note`: neither. */
  purpose: 'alarm' | 'end' | 'note';
  /** Red, green, or neither. */
  tone: 'bad' | 'good' | 'plain';
  /** In one line. */
  title: string;
  /** One below the other: `Last check-in: …` */
  lines: readonly string[];
  /** A link for the reader; null for none. */
  link: { url: string; words: string } | null;
}

/** The longest value of a line, in characters: notes can be long, and a chat is no place for them. */
const VALUE_SHOWN = 600;

/** For all lists of a digest together, in characters, unless a service sets a lower limit. */
const DIGEST_ROOM = 3_000;

/** It comes first, so it is there even if the end is cut. */
const ALL_OF_THEM = 'All of them: snitch list, snitch alerts';

export type LinkOf = (alert: Alert) => ServiceMessage['link'];

/** The name of the snitch is already in the title. */
const LEFT_OUT = new Set(['Snitch']);

export function alertServiceMessage(alert: Alert, shown: CaseShown, linkOf: LinkOf): ServiceMessage {
  const { subject, letter } = alertLetter(alert, shown);
  const fields = letter.fields.filter(({ label }) => !LEFT_OUT.has(label));
  return {
    ...natureOf(alert),
    title: subject,
    lines: [
      ...letter.paragraphs.slice(1),
      ...fields.map(({ label, value }) => `${label}: ${shorten(value, VALUE_SHOWN)}`),
      ...letter.lists.flatMap(({ heading, items }) => [heading, ...items]),
      ...letter.commands.slice(0, 1).map((command) => `See: ${command}`),
    ],
    link: linkOf(alert),
  };
}

export function natureOf({ type }: Pick<Alert, 'type'>): Pick<ServiceMessage, 'purpose' | 'tone'> {
  if (type === 'snitch.reporting') return { purpose: 'end', tone: 'good' };
  if (type === 'snitch.paused') return { purpose: 'end', tone: 'plain' };
  if (type === REFUSAL_NOTICE) return { purpose: 'note', tone: 'bad' };
  return isAlarm(type) ? { purpose: 'alarm', tone: 'bad' } : { purpose: 'note', tone: 'plain' };
}

/** @param room for all lists together, in characters; what does not fit is counted: `and 17 more` */
export async function digestServiceMessage(digest: Digest, room = DIGEST_ROOM): Promise<ServiceMessage> {
  const { subject, letter, kinds } = await digestLetter(digest, { room });
  return {
    purpose: 'note',
    tone: toneOf(kinds),
    title: subject,
    lines: [
      ALL_OF_THEM,
      ...letter.lists.flatMap(({ heading, items }) => [heading, ...items.map((item) => `• ${item}`)]),
      letter.paragraphs[1] ?? '',
    ].filter((line) => line !== ''),
    link: null,
  };
}

/** An alarm that is over must not wake anybody: of each snitch only its last state counts. */
function toneOf(kinds: readonly EntryKind[]): ServiceMessage['tone'] {
  if (kinds.some((kind) => kind === 'missing' || kind === 'reminder' || kind === 'errored')) return 'bad';
  return kinds.some((kind) => kind === 'recovered' || kind === 'first') ? 'good' : 'plain';
}

/**
 * For a digest as a whole, which is not an outage: the same at each attempt, in whatever order its alerts were claimed.
 */
export async function digestIncident({ entries, case: { name } }: Digest): Promise<Incident> {
  const hash = await digestId(entries, new Breaks());
  const since = entries.reduce((earliest, { at }) => Math.min(earliest, at), Number.MAX_SAFE_INTEGER);
  return { key: `digest_${hash.slice(0, 16)}`, name, since, reference: null };
}

/** Title and lines as one text. */
export function bodyText({ lines, link }: ServiceMessage): string {
  return [...lines, ...(link ? [`${link.words}: ${link.url}`] : [])].join('\n');
}

export function wholeText(message: ServiceMessage): string {
  return `${message.title}\n${bodyText(message)}`.trimEnd();
}
