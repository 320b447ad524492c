/** What one alert of a snitch says: its subject in words, and its times. */
import type { Alert, AlertDetails, NoticeType } from '../../core/alert.ts';
import { durationInWords, MINUTE } from '../../text/durations.ts';
import { exactTime, minuteInTimeZone } from '../../text/times.ts';
import type { Letter } from './letter.ts';

/** An alert about one snitch, as opposed to a notice about the service. */
export type SnitchAlert = Exclude<Alert, { type: NoticeType }>;

/** A check-in that was reported later than this after the job ran is shown with both times, in milliseconds. */
const LATE = MINUTE;

/** The subject of an alert, which reads `[word] name what`, without the name. */
export interface Gist {
  word: string;
  what: string;
}

export function isReminder({ type, snitch }: Pick<SnitchAlert, 'type' | 'snitch'>): boolean {
  return type === 'snitch.missing' && snitch.previous_status === 'missing';
}

export function gistOf(alert: SnitchAlert, timezone: string): Gist {
  const { flapping } = alert.details;
  if (!flapping) return changeOf(alert, timezone);
  const { word, what } = changeOf({ ...alert, at: flapping.changedAt }, timezone);
  const many = `${flapping.changes} ${flapping.changes === 1 ? 'change' : 'changes'}`;
  switch (flapping.phase) {
    case 'begun':
      return { word: 'Flapping', what: `changes too often, ${many} within an hour: it ${what}` };
    case 'goes on':
      return { word: 'Flapping', what: `keeps changing, ${many} since the last message: it ${what}` };
    case 'over':
      return { word, what: quiet(flapping.changes, many, what) };
  }
}

function quiet(changes: number, many: string, what: string): string {
  if (changes === 0) return `is quiet: it ${what}`;
  return `is quiet after ${many} that ${changes === 1 ? 'was' : 'were'} not reported: it ${what}`;
}

/** What the reader of an alert about a flapping snitch must know. */
export function flappingAdvice({ flapping }: AlertDetails): string[] {
  if (!flapping || flapping.phase === 'over') return [];
  return [
    'From now on its changes are counted instead of reported one by one: you get a summary once an hour while they go ' +
      'on, and its status when nothing has changed for 10 minutes.',
  ];
}

function changeOf(alert: SnitchAlert, timezone: string): Gist {
  const { type, at, snitch, details } = alert;
  const when = momentOf(at, details, (time) => minuteInTimeZone(time, timezone));
  switch (type) {
    case 'snitch.missing':
      return { word: 'Missing', what: missing(alert, timezone) };
    case 'snitch.errored': {
      // The job itself reported a success.
      if (details.reason?.kind === 'judged')
        return { word: 'Error', what: `had a run that counts as an error, at ${when}` };
      return { word: 'Error', what: `reported ${reported(details)} at ${when}` };
    }
    case 'snitch.paused':
      return { word: 'Paused', what: paused(at, details, (time) => minuteInTimeZone(time, timezone)) };
    case 'snitch.reporting': {
      const before = snitch.previous_status;
      if (before === 'pending')
        return { word: 'Reporting', what: `checked in for the first time at ${when}` };
      const word = before === 'paused' ? 'Reporting' : 'Recovered';
      return { word, what: `checked in again at ${when}` };
    }
  }
}

/** What an error check-in reported, if anything: `exit status 3`. On an error, status 0 means nothing. */
export function reported({ exitStatus }: Pick<AlertDetails, 'exitStatus'>): string {
  return exitStatus === null || exitStatus === 0 ? 'an error' : `exit status ${exitStatus}`;
}

/** When the job ran, and, if the report came late, when that was, or what kept the alert back. */
export function momentOf(
  at: number,
  { ranAt: ran, silencedSince }: Pick<AlertDetails, 'ranAt' | 'silencedSince'>,
  show: (time: number) => string,
): string {
  if (silencedSince !== undefined) {
    return `${show(ran ?? silencedSince)}, kept back by a silence until ${show(at)}`;
  }
  const ranAt = ran ?? at;
  return at - ranAt >= LATE ? `${show(ranAt)}, reported only at ${show(at)}` : show(at);
}

function missing(alert: SnitchAlert, timezone: string): string {
  const { lastCheckInAt, missingSince = null, startedAt = null } = alert.details;
  const show = (time: number) => minuteInTimeZone(time, timezone);
  const reminder = isReminder(alert);
  if (!reminder) {
    if (startedAt !== null) return `started at ${show(startedAt)} and has not ended`;
    return lastCheckInAt === null ? 'did not check in' : `did not check in since ${show(lastCheckInAt)}`;
  }
  const hangs = startedAt === null ? '' : `: a run that started at ${show(startedAt)} has not ended`;
  if (missingSince !== null) return `is still missing, since ${show(missingSince)}${hangs}`;
  if (hangs !== '') return `is still missing${hangs}`;
  if (lastCheckInAt === null) return 'is still missing';
  return `is still missing: no check-in since ${show(lastCheckInAt)}`;
}

/** Until when a pause lasts. Alerts of earlier versions know this only for a pause that ends at a given time. */
export function paused(
  at: number,
  { pausedUntil, nextDueAt }: Pick<AlertDetails, 'pausedUntil' | 'nextDueAt'>,
  show: (time: number) => string,
): string {
  switch (pausedUntil) {
    case 'healthy':
      return `was paused at ${show(at)}, until its next healthy check-in`;
    case 'unpaused':
      return `was paused at ${show(at)}, until somebody unpauses it`;
    default:
      return nextDueAt === null ? `was paused at ${show(at)}` : `is paused until ${show(nextDueAt)}`;
  }
}

/** The times of an alert, each in the time zone of the case and with its distance from the alert. */
export function timeFields(alert: SnitchAlert, timezone: string): Letter['fields'] {
  const { type, at, details } = alert;
  const { checkedInAt, lastCheckInAt, nextDueAt, ranAt, silencedSince, startedAt = null } = details;
  const show = (time: number) => `${exactTime(time, timezone)}, ${distance(time, at)}`;
  const showOrNever = (time: number | null) => (time === null ? 'never' : show(time));
  const fields: Letter['fields'] = [];
  const add = (label: string, value: string) => void fields.push({ label, value });
  if (ranAt !== undefined) {
    add('Ran at', show(ranAt));
    add('Reported at', exactTime(silencedSince ?? at, timezone));
  }
  if (silencedSince !== undefined) add('Kept back', `by a silence, since ${show(silencedSince)}`);
  if (startedAt !== null) add('Run started', `${show(startedAt)}; its end was not reported`);
  if (type !== 'snitch.errored') {
    add(type === 'snitch.reporting' ? 'Previous check-in' : 'Last check-in', showOrNever(lastCheckInAt));
  }
  if (type === 'snitch.errored' || checkedInAt !== lastCheckInAt) {
    add('Last healthy check-in', showOrNever(checkedInAt));
  }
  fields.push(...deadlineFields(alert, show));
  if (type === 'snitch.paused' && nextDueAt === null) add('Paused until', untilWhat(details));
  else if (nextDueAt !== null) add(NEXT[type], exactTime(nextDueAt, timezone));
  return fields.filter(({ value }) => value !== '');
}

/** A reminder has no deadline of its own: what counts is how long the snitch has been missing. */
function deadlineFields(alert: SnitchAlert, show: (time: number) => string): Letter['fields'] {
  const { deadlineAt, missingSince = null, schedule, grace = 0, reason } = alert.details;
  if (isReminder(alert)) {
    return missingSince === null ? [] : [{ label: 'Missing since', value: show(missingSince) }];
  }
  if (deadlineAt === null) return [];
  if (reason?.kind === 'overran') return [{ label: 'Should have ended by', value: show(deadlineAt) }];
  const isLater = schedule !== undefined && grace > 0;
  return [
    ...(isLater ? [{ label: 'Expected at', value: show(deadlineAt - grace) }] : []),
    { label: 'Deadline', value: show(deadlineAt) },
  ];
}

function untilWhat({ pausedUntil }: Pick<AlertDetails, 'pausedUntil'>): string {
  if (pausedUntil === 'healthy') return 'its next healthy check-in';
  return pausedUntil === 'unpaused' ? 'somebody unpauses it' : '';
}

/** The label of `nextDueAt`: what happens at that time depends on the alert. */
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
