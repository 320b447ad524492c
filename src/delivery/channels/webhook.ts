/** Sends one alert to one webhook: `spec §6 Delivery`, signed by the standard-webhooks scheme. */
import { STATUS_CODES } from 'node:http';
import { Agent, type Dispatcher } from 'undici';
import { alertPayload, BLIND_NOTICE, noticePayload } from '../../core/alert.ts';
import type { Alert, Webhook } from '../../store/store.ts';
import { guardedConnector, type Resolve } from '../http/address-guard.ts';
import { shownLocation, type WebhookTarget, webhookTarget } from '../http/web-address.ts';
import { errorText, failureInWords } from '../messages/failure.ts';
import type { Outcome } from '../outbox/outcome.ts';
import { sign, signingSecrets } from './webhook-signature.ts';

/** For the whole exchange, in milliseconds (`spec §6 Timeout`). */
export const EXCHANGE_TIMEOUT = 30_000;

/** At most this much of an answer is read, in bytes; then the connection is dropped. */
const ANSWER_LIMIT = 64 * 1024;

/** How long the rest of a failed answer is read, in milliseconds. */
const LINGER = 500;

export interface WebhookOptions {
  /** Whether webhooks may reach loopback and private addresses. */
  allowPrivate: boolean;
  /** The version of this program; the user agent shows its major part. */
  version: string;
  /** For the whole exchange, in milliseconds. */
  timeout?: number;
  resolve?: Resolve;
}

export interface WebhookSender {
  /**
   * Never throws: whatever goes wrong is an outcome.
   *
   * @param webhook null where it was deleted
   * @param now of this attempt, in milliseconds since the epoch
   * @param stop gives the attempt up before its time
   */
  send(webhook: Webhook | null, alert: Alert, now: number, stop?: AbortSignal): Promise<Outcome>;
  /** Lets what is in flight end, and then ends all connections. */
  retire(): void;
  /** Ends all connections now. */
  close(): Promise<void>;
}

export function createWebhookSender(options: WebhookOptions): WebhookSender {
  const { allowPrivate, version, resolve, timeout = EXCHANGE_TIMEOUT } = options;
  const dispatcher = new Agent({
    connect: guardedConnector({ allowPrivate, timeout, ...(resolve ? { resolve } : {}) }),
    // The bound on the whole exchange is the only one: a drip would outlast a limit on idleness.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const userAgent = `Snitch/${version.split('.')[0]}`;
  return {
    async send(webhook, alert, now, stop) {
      if (!webhook) return { kind: 'dead', error: 'the webhook was deleted' };
      const target = webhookTarget(webhook.url);
      if (!target) return { kind: 'dead', error: 'the webhook has no http or https URL' };
      const body = JSON.stringify(
        alert.type === BLIND_NOTICE
          ? noticePayload(alert.at, alert.notice)
          : alertPayload(alert.type, alert.at, alert.snitch),
      );
      const headers = { 'user-agent': userAgent, ...signedHeaders(webhook, target, alert.id, body, now) };
      return withinTime(timeout, stop, target, (signal) =>
        exchange(dispatcher, target, { headers, body, signal }, now),
      );
    },
    retire: () => void dispatcher.close().catch(() => undefined),
    close: () => dispatcher.destroy(),
  };
}

function signedHeaders(webhook: Webhook, target: WebhookTarget, id: string, body: string, now: number) {
  const timestamp = Math.floor(now / 1000);
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': sign(signingSecrets(webhook, now), id, timestamp, body),
    ...(target.authorization === null ? {} : { authorization: target.authorization }),
  };
}

/** Runs one exchange under a bound on its whole time, and puts every failure into words. */
async function withinTime(
  timeout: number,
  stop: AbortSignal | undefined,
  target: WebhookTarget,
  run: (signal: AbortSignal) => Promise<Outcome>,
): Promise<Outcome> {
  const expiry = new AbortController();
  const timer = setTimeout(() => expiry.abort(), timeout);
  try {
    return await run(stop ? AbortSignal.any([expiry.signal, stop]) : expiry.signal);
  } catch (error) {
    if (expiry.signal.aborted) return retry(`no complete answer within ${timeout / 1000} s`);
    if (stop?.aborted) return retry('given up because the service stops');
    return retry(failureInWords(error, target.host, target.secrets));
  } finally {
    clearTimeout(timer);
  }
}

async function exchange(
  dispatcher: Dispatcher,
  { origin, path, secrets }: WebhookTarget,
  request: { headers: Record<string, string>; body: string; signal: AbortSignal },
  now: number,
): Promise<Outcome> {
  const answer = await dispatcher.request({ origin, path, method: 'POST', ...request });
  const { statusCode, headers } = answer;
  if (statusCode >= 200 && statusCode <= 209) {
    await readAnswer(answer.body);
    return { kind: 'delivered' };
  }
  // The status has decided; reading on for a moment only lets the connection be used again.
  const moment = AbortSignal.timeout(LINGER);
  await answer.body.dump({ limit: ANSWER_LIMIT, signal: moment }).catch(() => undefined);
  const wait = retryAfter(headers['retry-after'], now);
  const { location } = headers;
  if (statusCode >= 300 && statusCode < 400 && typeof location === 'string') {
    const shown = shownLocation(location, origin);
    return retry(errorText(`redirected to ${shown}; redirects are not followed`, secrets), wait);
  }
  return retry(`answered ${statusCode} ${STATUS_CODES[statusCode] ?? ''}`.trim(), wait);
}

/** Reads to the end or to the limit; leaving the loop early drops the connection. */
async function readAnswer(body: Dispatcher.ResponseData['body']): Promise<void> {
  let read = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    read += chunk.length;
    if (read >= ANSWER_LIMIT) return;
  }
}

/** The wait in milliseconds that `Retry-After` asks for, in either of its forms: seconds or a date. */
function retryAfter(header: string | string[] | undefined, now: number): number | null {
  if (typeof header !== 'string') return null;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}

function retry(error: string, wait: number | null = null): Outcome {
  return wait === null ? { kind: 'retry', error } : { kind: 'retry', error, retryAfter: wait };
}
