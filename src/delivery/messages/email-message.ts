/** The email that one alert or a digest becomes: a text and an HTML part, and the headers that thread it. */
import { createHash } from 'node:crypto';
import type { Alert } from '../../core/alert.ts';
import { alertLetter } from './alert-letter.ts';
import { Breaks } from './breaks.ts';
import { digestLetter } from './digest.ts';
import type { CaseShown, Digest, DigestEntry } from './digest-entry.ts';
import { digestId } from './digest-id.ts';
import { inOrder } from './in-order.ts';
import { asHtml, asText, type Letter } from './letter.ts';

export interface EmailMessage {
  subject: string;
  text: string;
  html: string;
  messageId: string;
  /** Message ids of the thread that this message belongs to. */
  references: string[];
  date: Date;
}

/** A digest refers to at most this many threads: a mail reader that knows any of them adds it there. */
const THREADS = 50;

/**
 * @param recipient part of the message id: each recipient has a thread of their own
 * @param domain the right side of message ids
 * @param beside what the job printed, if that is kept, and a link for the reader
 */
export function alertMessage(
  alert: Alert,
  shown: CaseShown,
  recipient: string,
  domain: string,
  { output = null, link = null }: { output?: string | null; link?: Letter['link'] } = {},
): EmailMessage {
  const { subject, letter: unlinked } = alertLetter(alert, shown, output);
  const letter = { ...unlinked, link };
  const threadId = alert.details?.threadId ?? null;
  return {
    subject,
    text: asText(letter),
    html: asHtml(letter),
    messageId: messageId(alert.id, recipient, domain),
    references: threadId === null ? [] : [messageId(threadId, recipient, domain)],
    date: new Date(alert.at),
  };
}

/**
 * Composes a digest in pieces, giving way to other work in between.
 *
 * @param domain the right side of message ids
 */
export async function digestMessage(
  digest: Digest,
  recipient: string,
  domain: string,
): Promise<EmailMessage> {
  const breaks = new Breaks();
  const { subject, letter, last } = await digestLetter(digest, { breaks });
  const id = await digestId(digest.entries, breaks);
  await breaks.rest();
  const references = threads(digest.entries);
  await breaks.rest();
  return {
    subject,
    text: asText(letter),
    html: asHtml(letter),
    messageId: messageId(id, recipient, domain),
    references: references.map((thread) => messageId(thread, recipient, domain)),
    date: new Date(last),
  };
}

/** The same at each attempt, and it can be recomputed for the alert that opened a thread long ago. */
export function messageId(alertId: string, recipient: string, domain: string): string {
  const hash = createHash('sha256').update(`${alertId}\n${recipient.toLowerCase()}`).digest('hex');
  return `<snitch.${hash.slice(0, 40)}@${domain}>`;
}

/** The incidents that the alerts belong to: through them a digest of recoveries joins the digest of the alarms. */
function threads(entries: readonly DigestEntry[]): string[] {
  const all = new Set(entries.map(({ threadId }) => threadId));
  return [...inOrder(all, (one, other) => (one < other ? -1 : Number(one > other))).take(THREADS)];
}
