/** The full text of one alert: the subject in words, and the letter that a message is laid out from. */

import { type Alert, type AlertDetails, BLIND_NOTICE, REFUSAL_NOTICE, TEST_TOKEN } from '../../core/alert.ts';
import { scheduleInWords } from '../../core/explanation/schedule-words.ts';
import { reasonInWords } from '../../core/reason.ts';
import { durationInWords } from '../../text/durations.ts';
import { outputLines, printable, printableLines, shorten, shortenFront } from '../../text/printable.ts';
import { shellWord } from '../../text/shell-word.ts';
import { exactTime, minuteInTimeZone } from '../../text/times.ts';
import { flappingAdvice, gistOf, type SnitchAlert, timeFields } from './alert-words.ts';
import { type CaseShown, NAME_SHOWN } from './digest-entry.ts';
import { intervalInWords } from './interval-words.ts';
import type { Letter } from './letter.ts';

type Notice = Extract<Alert, { type: typeof BLIND_NOTICE }>;
type RefusalAlert = Extract<Alert, { type: typeof REFUSAL_NOTICE }>;

const NOTES_SHOWN = 10_000;
const MESSAGE_SHOWN = 2_000;
const TAGS_SHOWN = 2_000;

/** How much of a job's output is shown, in characters: its end, where the reason for a failure usually is. */
const OUTPUT_SHOWN = 12_000;

export interface SubjectAndLetter {
  subject: string;
  letter: Letter;
}

/** @param output what the job printed, if that is kept */
export function alertLetter(alert: Alert, shown: CaseShown, output: string | null = null): SubjectAndLetter {
  if (alert.type === REFUSAL_NOTICE) return refusalLetter(alert, shown);
  return alert.type === BLIND_NOTICE ? noticeLetter(alert, shown) : snitchLetter(alert, shown, output);
}

function snitchLetter(alert: SnitchAlert, shown: CaseShown, output: string | null): SubjectAndLetter {
  const { snitch, details, at } = alert;
  const name = shorten(printable(snitch.name), NAME_SHOWN);
  const { word, what } = gistOf(alert, shown.timezone);
  const tags = shorten(printable(snitch.tags.join(', ')), TAGS_SHOWN);
  const fields = [
    { label: 'Snitch', value: name },
    { label: 'Status', value: `${snitch.status} (before: ${snitch.previous_status})` },
    { label: 'Why', value: whyOf(alert, shown.timezone) },
    ...timeFields(alert, shown.timezone),
    ...dueFields(details),
    { label: 'Exit status', value: details.exitStatus === null ? '' : String(details.exitStatus) },
    { label: 'Message', value: shorten(printableLines(details.message ?? '').join('\n'), MESSAGE_SHOWN) },
    { label: 'Tags', value: tags },
    { label: 'Notes', value: shorten(printableLines(snitch.notes).join('\n'), NOTES_SHOWN) },
    { label: 'Case', value: shorten(printable(shown.name), NAME_SHOWN) },
  ];
  const named = typed(snitch.name) ?? snitch.token;
  return {
    subject: `[${word}] ${name} ${what}`,
    letter: {
      paragraphs: [`${name} ${what}.`, ...flappingAdvice(details)],
      fields: fields.filter(({ value }) => value !== ''),
      lists: [],
      output: shortenFront(outputLines(output?.trimEnd() ?? '').join('\n'), OUTPUT_SHOWN),
      commands: alert.token === TEST_TOKEN ? [] : [`snitch show ${named}`, `snitch history ${named}`],
      footer: `Alert ${alert.id}, decided ${exactTime(at, shown.timezone)}.`,
    },
  };
}

/** A pause already says why in its first sentence, and alerts of older versions have no reason. */
function whyOf({ type, details: { reason } }: SnitchAlert, timezone: string): string {
  if (!reason || type === 'snitch.paused') return '';
  return printable(reasonInWords(reason, (time) => minuteInTimeZone(time, timezone)));
}

/** With a schedule, the interval is only for clients that do not know schedules. */
function dueFields({ interval, schedule, grace = 0 }: AlertDetails): Letter['fields'] {
  return [
    schedule === undefined
      ? { label: 'Interval', value: intervalInWords(interval) }
      : { label: 'Schedule', value: printable(scheduleInWords(schedule.rule, schedule.timezone)) },
    { label: 'Grace', value: grace === 0 ? '' : durationInWords(grace) },
  ];
}

/** `name` as a person would type it in a command; null if it has characters that cannot be typed. */
function typed(name: string): string | null {
  return name.startsWith('-') || printable(name) !== name ? null : shellWord(name);
}

function refusalLetter({ id, at, refusal }: RefusalAlert, shown: CaseShown): SubjectAndLetter {
  const { channel, error } = refusal;
  const name = shorten(printable(channel.name), NAME_SHOWN);
  return {
    subject: `[Channel] ${name} no longer gets alerts: ${channel.kind} refuses`,
    letter: {
      paragraphs: [
        `Alerts do not reach the channel ${name}: ${channel.kind} refuses them for good.`,
        'Refused alerts are not sent again automatically. You get this message once, until something is delivered there again.',
      ],
      fields: [
        { label: 'Refused', value: printable(error) },
        { label: 'At', value: exactTime(at, shown.timezone) },
        { label: 'Case', value: shorten(printable(shown.name), NAME_SHOWN) },
      ],
      lists: [],
      commands: [`snitch channel test ${channel.id}`, 'snitch deliveries retry --dead'],
      footer: `Notice ${id}, decided ${exactTime(at, shown.timezone)}.`,
    },
  };
}

function noticeLetter({ id, at, notice }: Notice, shown: CaseShown): SubjectAndLetter {
  const { start, end, postponed, postponedCount, snitches } = notice;
  const { timezone } = shown;
  const length = durationInWords(end - start);
  const names =
    snitches?.map(
      ({ name, deadlineAt }) =>
        `${shorten(printable(name), NAME_SHOWN)}: ${deadlineAt === null ? 'its schedule has no further run' : `now due by ${minuteInTimeZone(deadlineAt, timezone)}`}`,
    ) ?? postponed.map((name) => shorten(printable(name), NAME_SHOWN));
  const left = postponedCount - names.length;
  const heading =
    postponedCount === 1
      ? 'The deadline of 1 snitch was postponed:'
      : `The deadlines of ${postponedCount} snitches were postponed:`;
  return {
    subject: `[Blind] The service received no check-ins for ${length} from ${minuteInTimeZone(start, timezone)}`,
    letter: {
      paragraphs: [
        `The service received no check-ins for ${length}, from ${minuteInTimeZone(start, timezone)} to ${minuteInTimeZone(end, timezone)}.`,
        postponedCount === 0
          ? 'No snitch was expected to check in during that time.'
          : 'Jobs that were expected to check in during that time may have tried in vain, so no alarm is raised for them now. Any that does not check in by its new deadline is reported then.',
      ],
      fields: [
        { label: 'From', value: exactTime(start, timezone) },
        { label: 'To', value: exactTime(end, timezone) },
        { label: 'Length', value: length },
        { label: 'Case', value: shorten(printable(shown.name), NAME_SHOWN) },
      ],
      lists: names.length > 0 ? [{ heading, items: left > 0 ? [...names, `and ${left} more`] : names }] : [],
      commands: ['snitch list'],
      footer: `Notice ${id}, decided ${exactTime(at, timezone)}.`,
    },
  };
}
