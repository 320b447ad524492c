/** The email that one alert becomes: subject in words, text and HTML part, and the headers that thread it. */
import { createHash } from 'node:crypto';
import { BLIND_NOTICE } from '../core/alert.ts';
import type { Alert, ClaimedDelivery } from '../store/store.ts';
import { asHtml, asText, type Letter } from './letter.ts';
import { printable, printableLines } from './printable.ts';
import { durationInWords, exactLocalTime, intervalInWords, localTime } from './times.ts';

export interface EmailMessage {
  subject: string;
  text: string;
  html: string;
  messageId: string;
  /** Message ids of the thread that this message belongs to. */
  references: string[];
  date: Date;
}

/** What is told with every alert: whose it is and in which time zone they think. */
export type CaseShown = ClaimedDelivery['case'];

/** An alert of a snitch; a notice is the other kind. */
export type SnitchAlert = Exclude<Alert, { type: typeof BLIND_NOTICE }>;
type Notice = Extract<Alert, { type: typeof BLIND_NOTICE }>;

export const NAME_SHOWN = 255;
const NOTES_SHOWN = 10_000;
const MESSAGE_SHOWN = 2_000;
const TAGS_SHOWN = 2_000;

/**
 * @param recipient part of the message id: each recipient has a thread of their own
 * @param domain the right side of message ids
 */
export function alertMessage(
  alert: Alert,
  shown: CaseShown,
  recipient: string,
  domain: string,
): EmailMessage {
  const { subject, letter } =
    alert.type === BLIND_NOTICE ? noticeLetter(alert, shown) : alertLetter(alert, shown);
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

/** The same for each attempt, and computable for the alert that opened a thread long ago. */
export function messageId(alertId: string, recipient: string, domain: string): string {
  const hash = createHash('sha256').update(`${alertId}\n${recipient.toLowerCase()}`).digest('hex');
  return `<snitch.${hash.slice(0, 40)}@${domain}>`;
}

function alertLetter(alert: SnitchAlert, shown: CaseShown): { subject: string; letter: Letter } {
  const { snitch, details, at } = alert;
  const name = printable(snitch.name, NAME_SHOWN);
  const { word, what } = happened(alert, shown.timezone);
  const tags = printable(snitch.tags.join(', '), TAGS_SHOWN);
  const fields = [
    { label: 'Snitch', value: name },
    { label: 'Status', value: `${snitch.status} (before: ${snitch.previous_status})` },
    ...timeFields(alert, shown.timezone),
    { label: 'Interval', value: intervalInWords(details.interval) },
    { label: 'Exit status', value: details.exitStatus === null ? '' : String(details.exitStatus) },
    { label: 'Message', value: printableLines(details.message ?? '', MESSAGE_SHOWN) },
    { label: 'Tags', value: tags },
    { label: 'Notes', value: printableLines(snitch.notes, NOTES_SHOWN) },
    { label: 'Case', value: printable(shown.name, NAME_SHOWN) },
  ];
  const named = shellWord(snitch.name) ?? snitch.token;
  return {
    subject: `[${word}] ${name} ${what}`,
    letter: {
      paragraphs: [`${name} ${what}.`],
      fields: fields.filter(({ value }) => value !== ''),
      lists: [],
      commands: [`snitch show ${named}`, `snitch history ${named}`],
      footer: `Alert ${alert.id}, decided ${exactLocalTime(at, shown.timezone)}.`,
    },
  };
}

/** What an alert says, as `[word] name what`. */
function happened(
  { type, at, snitch, details }: SnitchAlert,
  timezone: string,
): { word: string; what: string } {
  const now = localTime(at, timezone);
  switch (type) {
    case 'snitch.missing': {
      const verb = snitch.previous_status === 'missing' ? 'still did not check in' : 'did not check in';
      const since = details.lastCheckInAt;
      return { word: 'Missing', what: since === null ? verb : `${verb} since ${localTime(since, timezone)}` };
    }
    case 'snitch.errored': {
      const code = details.exitStatus === null ? 'an error' : `exit status ${details.exitStatus}`;
      return { word: 'Error', what: `reported ${code} at ${now}` };
    }
    case 'snitch.paused': {
      const until = details.nextDueAt;
      return {
        word: 'Paused',
        what: until === null ? `was paused at ${now}` : `is paused until ${localTime(until, timezone)}`,
      };
    }
    case 'snitch.reporting': {
      const before = snitch.previous_status;
      if (before === 'pending') return { word: 'Reporting', what: `checked in for the first time at ${now}` };
      const word = before === 'paused' ? 'Reporting' : 'Recovered';
      return { word, what: `checked in again at ${now}` };
    }
  }
}

/** Absolute in the time zone of the case, and how long before the alert. */
function timeFields({ type, at, details }: SnitchAlert, timezone: string): Letter['fields'] {
  const { checkedInAt, lastCheckInAt, deadlineAt, nextDueAt } = details;
  const show = (time: number) => `${exactLocalTime(time, timezone)}, ${distance(time, at)}`;
  const showOrNever = (time: number | null) => (time === null ? 'never' : show(time));
  const fields =
    type === 'snitch.errored'
      ? [{ label: 'Last healthy check-in', value: showOrNever(checkedInAt) }]
      : [
          {
            label: type === 'snitch.reporting' ? 'Previous check-in' : 'Last check-in',
            value: showOrNever(lastCheckInAt),
          },
        ];
  if (type !== 'snitch.errored' && checkedInAt !== lastCheckInAt) {
    fields.push({ label: 'Last healthy check-in', value: showOrNever(checkedInAt) });
  }
  if (deadlineAt !== null) fields.push({ label: 'Deadline', value: show(deadlineAt) });
  if (nextDueAt !== null) fields.push({ label: NEXT[type], value: exactLocalTime(nextDueAt, timezone) });
  return fields;
}

/** What comes next, as the label of its time. */
const NEXT: Record<SnitchAlert['type'], string> = {
  'snitch.missing': 'Next reminder',
  'snitch.errored': 'Next check-in due by',
  'snitch.reporting': 'Next check-in due by',
  'snitch.paused': 'Paused until',
};

function distance(time: number, alertAt: number): string {
  const between = Math.abs(alertAt - time);
  if (between < 1_000) return 'at the time of this alert';
  return `${durationInWords(between)} ${time < alertAt ? 'before' : 'after'} this alert`;
}

/** A word of a command line, quoted where a shell would read it otherwise; null where it cannot be typed. */
function shellWord(name: string): string | null {
  if (/^[A-Za-z0-9_][A-Za-z0-9_.:@%+,/-]*$/.test(name)) return name;
  if (name.startsWith('-') || printable(name, Number.POSITIVE_INFINITY) !== name) return null;
  return `'${name.replaceAll("'", `'\\''`)}'`;
}

function noticeLetter({ id, at, notice }: Notice, shown: CaseShown): { subject: string; letter: Letter } {
  const { start, end, postponed, postponedCount, snitches } = notice;
  const { timezone } = shown;
  const length = durationInWords(end - start);
  const names =
    snitches?.map(
      ({ name, deadlineAt }) =>
        `${printable(name, NAME_SHOWN)}: now due by ${localTime(deadlineAt, timezone)}`,
    ) ?? postponed.map((name) => printable(name, NAME_SHOWN));
  const left = postponedCount - names.length;
  const heading =
    postponedCount === 1
      ? 'The deadline of 1 snitch was postponed:'
      : `The deadlines of ${postponedCount} snitches were postponed:`;
  return {
    subject: `[Blind] The service received no check-ins for ${length} from ${localTime(start, timezone)}`,
    letter: {
      paragraphs: [
        `The service received no check-ins for ${length}, from ${localTime(start, timezone)} to ${localTime(end, timezone)}.`,
        postponedCount === 0
          ? 'No snitch was expected to check in during that time.'
          : 'Jobs that were expected to check in during that time may have tried in vain: none of them is accused now. One that does not check in by its new deadline is reported then.',
      ],
      fields: [
        { label: 'From', value: exactLocalTime(start, timezone) },
        { label: 'To', value: exactLocalTime(end, timezone) },
        { label: 'Length', value: length },
        { label: 'Case', value: printable(shown.name, NAME_SHOWN) },
      ],
      lists: names.length > 0 ? [{ heading, items: left > 0 ? [...names, `and ${left} more`] : names }] : [],
      commands: ['snitch list'],
      footer: `Notice ${id}, decided ${exactLocalTime(at, timezone)}.`,
    },
  };
}
