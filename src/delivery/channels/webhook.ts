/** Webhooks: one alert per request (`spec §6 Delivery`), signed by the standard-webhooks scheme. */
import {
  type Alert,
  alertPayload,
  BLIND_NOTICE,
  noticePayload,
  REFUSAL_NOTICE,
  refusalPayload,
} from '../../core/alert.ts';
import { WEBHOOK_DELETED, WEBHOOK_WITHOUT_ADDRESS } from '../../core/explanation/death.ts';
import type { Webhook } from '../../core/webhook.ts';
import {
  type Answer,
  createHttpSender,
  EXCHANGE_TIMEOUT,
  type HttpSenderOptions,
  retryAfter,
} from '../http/http-sender.ts';
import { shownLocation, type WebAddress, webAddress } from '../http/web-address.ts';
import type { Channel, Pace } from '../outbox/channel.ts';
import { type Outcome, retry } from '../outbox/outcome.ts';
import { sign, signingSecrets } from './webhook-signature.ts';

export type WebhookLimits = Pace;

export const WEBHOOK_LIMITS: WebhookLimits = {
  timeout: EXCHANGE_TIMEOUT,
  perTarget: 4,
  fast: 64,
  slow: 256,
  slowAfter: 1_000,
};

export function webhookChannel(options: HttpSenderOptions, limits: WebhookLimits): Channel {
  const sender = createWebhookSender({ ...options, timeout: limits.timeout });
  return {
    kind: 'webhook',
    pace: limits,
    off: null,
    grouping: null,
    sendAlert: (delivery, { now, stop }) =>
      sender.send(delivery.webhook, delivery.alert, now, { stop, timezone: delivery.case.timezone }),
    retire: () => sender.retire(),
    close: () => sender.close(),
  };
}

export interface WebhookSender {
  /**
   * Never throws: whatever goes wrong is an outcome.
   *
   * @param webhook null if it was deleted
   * @param now of this attempt, in milliseconds since the epoch
   * @param options `stop` aborts the attempt; `timezone` is the case's
   */
  send(
    webhook: Webhook | null,
    alert: Alert,
    now: number,
    options?: { stop?: AbortSignal | undefined; timezone?: string },
  ): Promise<Outcome>;
  /** Lets requests in flight finish, and then closes all connections. */
  retire(): void;
  /** Closes all connections now. */
  close(): Promise<void>;
}

export function createWebhookSender(options: HttpSenderOptions): WebhookSender {
  const http = createHttpSender(options);
  return {
    async send(webhook, alert, now, { stop, timezone = 'UTC' } = {}) {
      if (!webhook) return { kind: 'dead', error: WEBHOOK_DELETED };
      const address = webAddress(webhook.url);
      if (!address) return { kind: 'dead', error: WEBHOOK_WITHOUT_ADDRESS };
      const body = bodyOf(alert, timezone);
      const headers = signedHeaders(webhook, address, alert.id, body, now);
      const request = { headers, body, ...(stop ? { stop } : {}) };
      return http.post(address, request, (answer) => meaningOf(answer, address, now));
    },
    retire: () => http.retire(),
    close: () => http.close(),
  };
}

function bodyOf(alert: Alert, timezone: string): string {
  if (alert.type === REFUSAL_NOTICE) return JSON.stringify(refusalPayload(alert.at, alert.refusal));
  return JSON.stringify(
    alert.type === BLIND_NOTICE ? noticePayload(alert.at, alert.notice) : alertPayload(alert, timezone),
  );
}

function signedHeaders(webhook: Webhook, address: WebAddress, id: string, body: string, now: number) {
  const timestamp = Math.floor(now / 1000);
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': sign(signingSecrets(webhook, now), id, timestamp, body),
    ...(address.authorization === null ? {} : { authorization: address.authorization }),
  };
}

/** Only 200 to 209 is success (`spec §6 Delivery`); anything else may yet be fixed by whoever runs the target. */
function meaningOf(answer: Answer, { origin }: WebAddress, now: number): Outcome {
  const { status, statusLine, headers } = answer;
  if (status >= 200 && status <= 209) return { kind: 'delivered' };
  const wait = retryAfter(answer, now);
  const { location } = headers;
  if (status >= 300 && status < 400 && typeof location === 'string') {
    const shown = shownLocation(location, origin);
    return retry(`redirected to ${shown}; redirects are not followed`, wait);
  }
  return retry(`answered ${statusLine}`, wait);
}
