/** What answers mean if services agree; each kind says how it differs. */
import type { ChannelKind } from '../../core/channel.ts';
import { SECOND } from '../../text/durations.ts';
import { type Answer, retryAfter } from '../http/http-sender.ts';
import { busy, type Outcome, retry } from '../outbox/outcome.ts';

/** Statuses that mean "not now", besides all from 500 up. */
const NOT_NOW: ReadonlySet<number> = new Set([408, 425, 429]);

/** Too much was sent: this concerns the target as a whole, not one message. */
const TOO_MANY = 429;

export interface Verdict {
  /** Statuses that mean that the message was accepted. */
  success: readonly number[];
  /** Statuses that mean a refusal for good, although they would otherwise be retried. */
  permanent?: readonly number[];
  /** Statuses that are retried, although they would otherwise mean a refusal for good. */
  transient?: readonly number[];
  now: number;
  /** The wait that the service asks for in its own way, in milliseconds; null if it does not. */
  wait?: number | null;
  /** The service's own id for the message. */
  reference?: string | null;
}

/**
 * What an answer means by its status. A redirect is a refusal, because following it would take the secret along, and so
 * is any success status that the service does not use for messages.
 */
export function byStatus(answer: Answer, verdict: Verdict): Outcome {
  const { status } = answer;
  const { success, permanent = [], transient = [], now, wait = null, reference = null } = verdict;
  if (success.includes(status)) return reference === null ? DELIVERED : { ...DELIVERED, reference };
  if (status >= 300 && status < 400)
    return refusal(answer, 'redirected elsewhere; redirects are not followed');
  const isForNow =
    (NOT_NOW.has(status) || status >= 500 || transient.includes(status)) && !permanent.includes(status);
  if (!isForNow) return { kind: 'dead', error: quoted(answer) };
  const asked = wait ?? retryAfter(answer, now);
  return status === TOO_MANY ? busy(quoted(answer), asked) : retry(quoted(answer), asked);
}

const DELIVERED = { kind: 'delivered' } as const;

/** Services that people host themselves, often behind a proxy of their own. */
const BEHIND_A_PROXY: ReadonlySet<ChannelKind> = new Set([
  'ntfy',
  'gotify',
  'mattermost',
  'rocketchat',
  'zulip',
  'matrix',
  'alertmanager',
  'apprise',
]);

/**
 * The beginning of a page meant for a browser: XHTML begins with its declaration, and some pages with comments. Other
 * XML is an answer of a service.
 */
const PAGE = /^\s*(?:<\?xml\b[^>]*>\s*)?(?:<!--(?:(?!-->)[\s\S])*-->\s*)*<(?:!doctype|html)\b/i;

/** What Traefik and Kubernetes ingresses say while the service behind them restarts. */
const NO_SERVICE_BEHIND = /^(?:404 page not found|default backend - 404)\s*$/;

/**
 * At which attempt such an answer is a refusal, some twenty minutes after the first: a restart is over by then, and a
 * wrong address must be reported.
 */
const ATTEMPTS_IN_FRONT = 6;

/**
 * The outcome if something in front of the service answered (a proxy, a sign-in page, a network portal), which is usually
 * over after a while: the service neither accepted the message nor refused it. If it lasts, it counts as a permanent
 * refusal, because the address is probably wrong, such as that of an application that answers any address with its page.
 * Null if the service itself answered.
 *
 * No service answers a message with a web page. But a page about an unknown address can be a hosted service's own
 * refusal.
 */
export function fromInFront(kind: ChannelKind, answer: Answer): Outcome | null {
  const { status, statusLine, text } = answer;
  const isTaken = status >= 200 && status < 300;
  const isUnknown = status === 404 && BEHIND_A_PROXY.has(kind);
  const isPage = PAGE.test(text);
  const isInFront = isTaken ? isPage : isUnknown && (isPage || NO_SERVICE_BEHIND.test(text));
  if (!isInFront) return null;
  const error = isPage ? `a web page came in place of an answer: ${statusLine}` : quoted(answer);
  return { kind: 'retry', error, attempts: ATTEMPTS_IN_FRONT };
}

/** A refusal for good. @param words used instead of the answer */
export function refusal(answer: Answer, words: string | null = null): Outcome {
  return { kind: 'dead', error: words ?? quoted(answer) };
}

/** `answered 403 Forbidden: {"error":"…"}` */
export function quoted({ statusLine, text }: Answer): string {
  const said = text.trim();
  return `answered ${statusLine}${said === '' ? '' : `: ${said}`}`;
}

/** The answer as a JSON object; empty if it is not one. */
export function fieldsOf({ text }: Pick<Answer, 'text'>): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** A field of an answer that counts seconds, perhaps with decimals, as milliseconds. */
export function secondsIn(value: unknown): number | null {
  const seconds = typeof value === 'string' ? Number(value) : value;
  return typeof seconds === 'number' && Number.isFinite(seconds) && seconds >= 0
    ? Math.ceil(seconds * SECOND)
    : null;
}

export function headerOf({ headers }: Pick<Answer, 'headers'>, name: string): string | null {
  const value = headers[name];
  return typeof value === 'string' ? value : null;
}

/** The wait until an instant that a header names. @param unit of the header, in milliseconds */
export function untilHeader(answer: Answer, name: string, unit: number, now: number): number | null {
  const value = Number(headerOf(answer, name) ?? Number.NaN);
  return Number.isFinite(value) && value > 0 ? Math.max(0, value * unit - now) : null;
}
