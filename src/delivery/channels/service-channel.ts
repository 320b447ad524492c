/** A kind of service as a channel of the outbox: the same for all of them. */
import { setTimeout as sleep } from 'node:timers/promises';
import { TEST_TOKEN } from '../../core/alert.ts';
import type { CaseChannel } from '../../core/channel.ts';
import { CHANNEL_SETTINGS } from '../../core/channels/settings.ts';
import type { ClaimedDelivery } from '../../core/delivery.ts';
import { CHANNEL_DELETED, CHANNEL_WITHOUT_ADDRESS } from '../../core/explanation/death.ts';
import {
  type Answer,
  createHttpSender,
  EXCHANGE_TIMEOUT,
  type HttpSender,
  type HttpSenderOptions,
} from '../http/http-sender.ts';
import { webAddress } from '../http/web-address.ts';
import {
  alertServiceMessage,
  digestIncident,
  digestServiceMessage,
  type LinkOf,
} from '../messages/service-message.ts';
import type { Channel, Pace, Sending } from '../outbox/channel.ts';
import type { Outcome } from '../outbox/outcome.ts';
import { fromInFront } from './answers.ts';
import type { Post, Service, ServiceRequest } from './service.ts';

export interface ServiceLimits extends Omit<Pace, 'perTarget' | 'gap'> {
  /** How long further alerts to a chat wait after a message, in milliseconds. */
  groupWait: number;
  /** The most messages in any 60 s when many alerts come. */
  perMinuteInStorm: number;
}

export const SERVICE_LIMITS: ServiceLimits = {
  timeout: EXCHANGE_TIMEOUT,
  groupWait: 5_000,
  perMinuteInStorm: 3,
  fast: 16,
  slow: 64,
  slowAfter: 8_000,
};

export interface ServiceOptions extends HttpSenderOptions {
  linkOf?: LinkOf;
}

const DELETED: Outcome = { kind: 'dead', error: CHANNEL_DELETED };

export function serviceChannel(service: Service, options: ServiceOptions, limits: ServiceLimits): Channel {
  const { groupWait, perMinuteInStorm, ...pace } = limits;
  const http = createHttpSender({ ...options, timeout: limits.timeout });
  const linkOf = options.linkOf ?? (() => null);
  const { kind, chat } = service;
  const send = senderOf(service, http);
  return {
    kind,
    pace: { ...pace, perTarget: 1, gap: service.gap ?? 0 },
    off: null,
    grouping: chat && {
      wait: groupWait,
      gap: chat.gap,
      perMinute: { few: chat.perMinute, many: Math.min(chat.perMinute, perMinuteInStorm) },
      async composeDigest(digest, sending) {
        const channel = digest.recipient?.channel ?? null;
        if (!channel) return async () => DELETED;
        const incident = await digestIncident(digest);
        const message = await digestServiceMessage(digest, chat.digestRoom);
        const post = { message, incident, alert: null, isTest: false, id: incident.key };
        return () => send({ ...post, settings: channel.settings, now: sending.now }, channel, sending.stop);
      },
    },
    async sendAlert(claim, sending) {
      const { recipient } = claim;
      if (!recipient?.channel) return DELETED;
      return send(postOf(claim, recipient, linkOf, sending), recipient.channel, sending.stop);
    },
    retire: () => http.retire(),
    close: () => http.close(),
  };
}

/** Sends a post in as many requests as it takes. */
function senderOf(service: Service, http: HttpSender) {
  return (post: Post, channel: CaseChannel, stop: AbortSignal): Promise<Outcome> => {
    let isFirst = true;
    return sendPost(service, post, async (request, meaning) => {
      // The requests of one post keep the same distance as those of two posts. If the daemon stops meanwhile, the
      // request fails at once, and all of them are sent again later.
      if (!isFirst && service.gap)
        await sleep(service.gap, undefined, { signal: stop }).catch(() => undefined);
      isFirst = false;
      const address = webAddress(request.url);
      if (!address) return { kind: 'dead', error: CHANNEL_WITHOUT_ADDRESS };
      const { method = 'POST', headers = {}, body } = request;
      const authorization = address.authorization === null ? {} : { authorization: address.authorization };
      const secrets = secretsOf(channel);
      return http.post(
        address,
        { method, headers: { ...authorization, ...headers }, body, secrets, stop },
        meaning,
      );
    });
  };
}

function postOf(
  { id, alert, case: shown }: ClaimedDelivery,
  { channel, incident }: NonNullable<ClaimedDelivery['recipient']>,
  linkOf: LinkOf,
  { now }: Sending,
): Post {
  return {
    settings: channel?.settings ?? {},
    message: alertServiceMessage(alert, shown, linkOf),
    alert,
    incident,
    id: `snitch_${alert.id}_${id}`,
    isTest: alert.token === TEST_TOKEN,
    now,
  };
}

type Send = (request: ServiceRequest, meaning: (answer: Answer) => Outcome) => Promise<Outcome>;

async function sendPost(service: Service, post: Post, send: Send): Promise<Outcome> {
  const first = await sendAll(service, post, service.requests(post), send);
  if (first.outcome.kind !== 'dead' || !first.answer || !service.instead) return first.outcome;
  const other = service.instead(first.answer, post);
  if (!other) return first.outcome;
  const { outcome } = await sendAll(service, post, other.requests, send);
  return outcome.kind === 'delivered' && other.settings ? { ...outcome, settings: other.settings } : outcome;
}

/** The outcome of the last request sent, with the reference from the answer to the first. */
async function sendAll(
  service: Service,
  post: Post,
  requests: readonly ServiceRequest[],
  send: Send,
): Promise<{ outcome: Outcome; answer: Answer | null }> {
  let outcome: Outcome = { kind: 'delivered' };
  let answer: Answer | null = null;
  for (const [index, request] of requests.entries()) {
    const next = await send(request, (given) => {
      answer = given;
      return fromInFront(service.kind, given) ?? service.meaning(given, post);
    });
    if (next.kind !== 'delivered') return { outcome: next, answer };
    if (index === 0) outcome = next;
  }
  return { outcome, answer };
}

/** What no error may show: secrets and, if an address itself is secret, each part of it that may be the key. */
function secretsOf({ kind, settings }: CaseChannel): string[] {
  return Object.entries(settings).flatMap(([name, value]) => {
    const rule = CHANNEL_SETTINGS[kind][name];
    if (rule?.server) return webAddress(value)?.secrets ?? [];
    if (!rule?.secret) return [];
    const url = URL.parse(value);
    if (!url || !/^https?:$/.test(url.protocol)) return [value];
    const parts = url.pathname.split('/').filter((part) => part.length >= SHORTEST_PART);
    return [value, `${url.pathname}${url.search}`, url.pathname, ...parts, ...url.searchParams.values()];
  });
}

/** Shorter parts of a path are words such as `hooks` or `api`. */
const SHORTEST_PART = 9;
