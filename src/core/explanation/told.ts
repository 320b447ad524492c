/** Says in words who was told of an alert, and who was not. Only its deliveries know that. */
import type { AlertKind } from '../alert.ts';
import { NOTICE_AFTER } from '../blind-window.ts';
import type { DeliveryState } from '../delivery.ts';
import type { Wait } from '../hours/wait.ts';
import type { Channel } from '../routing.ts';

/** One delivery of an alert, as far as a sentence tells it. */
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
  /** Those of them that are not told at once, and when, in words that follow the name. */
  later?: readonly { name: string; when: string }[];
  /** Whether the server sends email at all. */
  sendsEmail: boolean;
}

/** How many targets a sentence names; the others are counted. */
const NAMED = 5;

/** Why an alert would reach nobody, or null where it would reach somebody. */
export function whyNobody({ emails, webhooks, channels, passedOver, sendsEmail }: Audience): string | null {
  if (webhooks.length + channels.length > 0 || (emails.length > 0 && sendsEmail)) return null;
  const others = passedOver.length > 0 ? ', and no channel takes it' : '';
  if (emails.length > 0) return `email is off on this server, and the case has no webhook${others}`;
  return others === ''
    ? 'the case has no member and no webhook or channel, and the snitch no address of its own'
    : `the case has no member and no webhook, the snitch no address of its own${others}`;
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
 * @param notice the blind window that it tells of, where it does; the team is told of longer ones only
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
    'It changes too often: its changes are counted, and told together when it is quiet or an hour is over.';
  return [...fates(told, now, local), ...(told.flapping ? [flaps] : [])];
}

function fates({ type, at, deliveries }: ToldAlert, now: number, local: (at: number) => string): string[] {
  const alert = `its last alert (${type.replace(/^snitch\./, '')}, ${local(at)})`;
  if (deliveries.length === 0) return [`Nobody was told of ${alert}: there was nobody to tell.`];
  const of = (state: Telling['state']) => deliveries.filter((delivery) => delivery.state === state);
  const delivered = of('delivered');
  const sentences = [
    said('Told', delivered, ({ deliveredAt }) => (deliveredAt === null ? '' : `at ${local(deliveredAt)}`)),
    said('Not told yet', of('pending'), (delivery) => waiting(delivery, now, local)),
    said('Not told', of('dead'), ({ lastError }) => `failed: ${lastError ?? 'no reason is known'}`),
    said('No longer told', of('dropped'), ({ lastError }) => `(${lastError ?? 'its time has passed'})`),
  ].filter((sentence) => sentence !== null);
  const gist = delivered.length === 0 ? `Nobody was told of ${alert} so far.` : `Of ${alert}:`;
  return [gist, ...sentences];
}

function said(
  word: string,
  deliveries: readonly Telling[],
  how: (delivery: Telling) => string,
): string | null {
  if (deliveries.length === 0) return null;
  const named = deliveries.slice(0, NAMED).map((one) => `${one.target} by ${one.channel} ${how(one)}`.trim());
  const left = deliveries.length - named.length;
  return `${word}: ${[...named, ...(left > 0 ? [`and ${left} more`] : [])].join('; ')}.`;
}

const WAITS: Record<Wait, string> = {
  after: 'is told if it lasts and nobody acknowledges until',
  hours: 'is told, if it lasts, when its hours begin at',
  opening: 'is told when its hours begin at',
};

function waiting(
  { sending, attempts, lastError, nextAttemptAt, waits }: Telling,
  now: number,
  local: (at: number) => string,
): string {
  const isDue = nextAttemptAt === null || nextAttemptAt <= now;
  const next = isDue ? 'the next attempt comes soon' : `the next attempt comes at ${local(nextAttemptAt)}`;
  if (sending) return 'is being sent now';
  if (waits && !isDue) return `${WAITS[waits]} ${local(nextAttemptAt)}`;
  if (attempts === 0 || lastError === null) return 'waits to be sent';
  return `after ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'} (${lastError}), ${next}`;
}
