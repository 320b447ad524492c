/** Says in words who was told about an alert and who was not. Only its deliveries know that. */
import type { AlertKind } from '../alert.ts';
import { NOTICE_AFTER } from '../blind-window.ts';
import type { DeliveryState } from '../delivery.ts';
import type { Wait } from '../hours/wait.ts';
import type { Channel } from '../routing.ts';
import { deathOf } from './death.ts';

/** What a sentence needs to know about one delivery of an alert. */
export interface Telling {
  channel: Channel;
  /** An email address, the URL of a webhook without credentials, or the name of a channel. */
  target: string;
  state: DeliveryState;
  waits?: Wait;
  /** Whether an attempt is under way. */
  sending: boolean;
  attempts: number;
  lastError: string | null;
  nextAttemptAt: number | null;
  deliveredAt: number | null;
}

export interface ToldAlert {
  type: AlertKind;
  at: number;
  /** Whether its changes have since been counted instead of told one by one. */
  flapping: boolean;
  /** When the run began that was still going on when the alert was decided. */
  startedAt: number | null;
  deliveries: readonly Telling[];
}

/** Whom an alert would go to now. */
export interface Audience {
  emails: readonly string[];
  webhooks: readonly string[];
  /** Names of the channels that take an alarm. */
  channels: readonly string[];
  /** The others, with the reason in words that follow the name. */
  passedOver: readonly { name: string; why: string }[];
  /** Those that are not told at once, and when, in words that follow the name. */
  later?: readonly { name: string; when: string }[];
  /** Those among all of them that did not accept what they were last sent. */
  failing: readonly FailingTarget[];
  /** Whether the server sends email at all. */
  sendsEmail: boolean;
}

/** A target that an alert would go to without reaching anybody, as far as is known. */
export interface FailingTarget {
  channel: Channel;
  /** An email address, the URL of a webhook without credentials, or the name of a channel. */
  name: string;
  /** In words that follow the name: `refused the last message: …`. */
  why: string;
}

/** How many targets a sentence names; the others are counted. */
const NAMED = 5;

/** Why an alert would reach nobody, or null if it would reach somebody. */
export function whyNobody(audience: Audience): string | null {
  const { emails, webhooks, channels, passedOver, failing, sendsEmail } = audience;
  const lost = (kind: string) => failing.filter(({ channel }) => channel === kind).length;
  const byEmail = sendsEmail ? emails.length - lost('email') : 0;
  const others = webhooks.length + channels.length - (failing.length - lost('email'));
  if (byEmail + others > 0) return null;
  const off = emails.length > 0 && !sendsEmail ? ['email is off on this server'] : [];
  const broken = failing.filter(({ channel }) => channel !== 'email' || sendsEmail);
  if (broken.length > 0) return `${[...off, failingInWords(broken)].join('; ')}, and nobody else is told`;
  if (passedOver.length > 0) return [...off, `nobody takes it: ${shortened(passedOver)}`].join('; ');
  if (off.length > 0) return `${off.join('')}, and the case has no webhook and no channel`;
  return 'the case has no member and no webhook or channel, and the snitch no address of its own';
}

/** `chat refused the last message: answered 404 Not Found; ann@example.com …` */
export function failingInWords(failing: readonly FailingTarget[]): string {
  return shortened(failing);
}

function shortened(targets: readonly { name: string; why: string }[]): string {
  const named = targets.slice(0, NAMED).map(({ name, why }) => `${name} ${why}`);
  const left = targets.length - named.length;
  return [...named, ...(left > 0 ? [`and ${left} more`] : [])].join('; ');
}

/** How a target fails, in words that follow its name. @param error the last one of its dead delivery */
export function failureOf(error: string | null): string {
  const words = error ?? 'no reason is known';
  switch (deathOf(error)) {
    case 'refused':
      return `refused the last message: ${words}`;
    case 'given up':
      return `could not be reached: ${words}`;
    case 'never sent':
      return `was not sent the last message: ${words}`;
  }
}

/** One sentence for each failing target that an alarm would go to. */
export function failingReasons({ failing }: Pick<Audience, 'failing'>): string[] {
  return failing.map(({ name, why }) => `An alarm would go to ${name}, which ${why}.`);
}

/** How many sentences say when somebody is told. */
const TOLD_LATER = 20;

/** One sentence for each target that an alarm would not go to, or not at once. */
export function audienceReasons({
  passedOver,
  later = [],
}: Pick<Audience, 'passedOver' | 'later'>): string[] {
  const more = later.length - TOLD_LATER;
  return [
    ...later.slice(0, TOLD_LATER).map(({ name, when }) => `An alarm goes to ${name} ${when}.`),
    ...(more > 0 ? [`And to ${more} more later.`] : []),
    ...passedOver.map(({ name, why }) => `An alarm would not go to ${name}: it ${why}.`),
  ];
}

/**
 * Why an alert has no deliveries, in a few words.
 *
 * @param notice the blind window, if the alert is about one; the team is told only about longer ones
 * (`decisions: When the service itself was blind`)
 */
export function whyUntold(notice: { from: string; to: string } | null | undefined): string {
  const isShort = notice && Date.parse(notice.to) - Date.parse(notice.from) <= NOTICE_AFTER;
  return isShort ? 'too short to tell' : 'nobody to tell';
}

/**
 * What became of the deliveries of a snitch's last alert, in one sentence for each outcome.
 *
 * @param local shows an instant
 */
export function tellingReasons(told: ToldAlert, now: number, local: (at: number) => string): string[] {
  const flaps =
    'It changes too often: its changes are counted, and reported together when it is quiet or an hour has passed.';
  return [...fates(told, now, local), ...(told.flapping ? [flaps] : [])];
}

function fates({ type, at, deliveries }: ToldAlert, now: number, local: (at: number) => string): string[] {
  const alert = `its last alert (${type.replace(/^snitch\./, '')}, ${local(at)})`;
  if (deliveries.length === 0)
    return [`Nobody could be told of ${alert}: no channel, member or webhook took it.`];
  const fated = deliveries.map((delivery) => ({ delivery, fate: fateOf(delivery) }));
  const sentences = FATES.map((fate) => {
    const of = fated.filter((one) => one.fate === fate).map(({ delivery }) => delivery);
    return of.length === 0 ? null : said(fate, of, (delivery) => HOW[fate](delivery, now, local));
  }).filter((sentence) => sentence !== null);
  const has = (fate: Fate) => fated.some((one) => one.fate === fate);
  if (has('told')) return [`Of ${alert}:`, ...sentences];
  if (has('waiting')) return [`Nobody has been told of ${alert} so far.`, ...sentences];
  // A dropped delivery no longer had anybody to reach.
  const could = fated.some(({ fate }) => fate !== 'dropped');
  return [`Nobody ${could ? 'could be' : 'was'} told of ${alert}.`, ...sentences];
}

const FATES = ['told', 'waiting', 'refused', 'given up', 'never sent', 'dropped'] as const;

type Fate = (typeof FATES)[number];

/** What became of a delivery, as a person would say it. */
function fateOf({ state, lastError }: Telling): Fate {
  switch (state) {
    case 'delivered':
      return 'told';
    case 'pending':
      return 'waiting';
    case 'dead':
      return deathOf(lastError);
    case 'dropped':
      return 'dropped';
  }
}

/** What a sentence begins with. */
const WORDS: Record<Fate, string> = {
  told: 'Told: ',
  waiting: 'Not told yet: ',
  refused: 'Refused by ',
  'given up': 'Given up: ',
  'never sent': 'Never sent: ',
  dropped: 'No longer told: ',
};

type How = (delivery: Telling, now: number, local: (at: number) => string) => string;

/** What follows the name of the target. */
const HOW: Record<Fate, How> = {
  told: ({ deliveredAt }, _now, local) => (deliveredAt === null ? '' : ` at ${local(deliveredAt)}`),
  waiting,
  refused: ({ lastError }) => `: ${lastError}`,
  'given up': ({ attempts, lastError }) =>
    ` after ${attemptsOf(attempts)}: ${lastError ?? 'no reason is known'}`,
  'never sent': ({ lastError }) => `: ${lastError}`,
  dropped: ({ lastError }) => ` (${lastError ?? 'its time has passed'})`,
};

function said(fate: Fate, deliveries: readonly Telling[], how: (delivery: Telling) => string): string {
  const named = deliveries.slice(0, NAMED).map((one) => `${nameOf(fate, one)}${how(one)}`);
  const left = deliveries.length - named.length;
  return `${WORDS[fate]}${[...named, ...(left > 0 ? [`and ${left} more`] : [])].join('; ')}.`;
}

function nameOf(fate: Fate, { channel, target }: Telling): string {
  if (fate !== 'refused') return `${target} by ${channel}`;
  return channel === 'email' ? `the mail server for ${target}` : `${target} (${channel})`;
}

const WAITS: Record<Wait, string> = {
  after: 'is told if it lasts and nobody acknowledges it by',
  hours: 'is told, if it lasts, when its hours begin at',
  opening: 'is told when its hours begin at',
};

function waiting(
  { sending, attempts, lastError, nextAttemptAt, waits }: Telling,
  now: number,
  local: (at: number) => string,
): string {
  if (sending) return ' is being sent now';
  const isDue = nextAttemptAt === null || nextAttemptAt <= now;
  if (waits && !isDue) return ` ${WAITS[waits]} ${local(nextAttemptAt)}`;
  if (attempts === 0 || lastError === null) return ' waits to be sent';
  return `, ${attemptsOf(attempts)}, next ${isDue ? 'soon' : `at ${local(nextAttemptAt)}`}: ${lastError}`;
}

function attemptsOf(count: number): string {
  return count === 1 ? '1 attempt' : `${count} attempts`;
}
