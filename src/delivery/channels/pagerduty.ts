/** PagerDuty through its Events API v2: an outage is one incident, which its recovery resolves. */
import { fitted } from '../messages/fitted.ts';
import { byStatus } from './answers.ts';
import { detailsOf, keyOf, nameOf, snitchFields, stepsOf } from './incident-words.ts';
import { json, type Post, type Service, type ServiceRequest } from './service.ts';

const SERVER = 'https://events.pagerduty.com';
const SUMMARY = 1_024;
const DETAILS = 8_000;

export const pagerduty: Service = {
  kind: 'pagerduty',
  chat: null,
  // About 120 events a minute for each key.
  gap: 550,
  requests: (post) => stepsOf(post).map((step) => (step === 'open' ? trigger(post) : resolve(post))),
  meaning: (answer, { now }) => byStatus(answer, { success: [202], now }),
};

function enqueue({ settings: { server = SERVER, routing_key = '' } }: Post, event: object): ServiceRequest {
  return json(`${server}/v2/enqueue`, { routing_key, ...event });
}

function trigger(post: Post): ServiceRequest {
  const { message, alert, isTest } = post;
  return enqueue(post, {
    event_action: 'trigger',
    dedup_key: keyOf(post),
    payload: {
      summary: fitted(message.title, SUMMARY),
      source: nameOf(post) || 'snitch',
      severity: isTest ? 'info' : alert?.type === 'snitch.errored' ? 'error' : 'critical',
      timestamp: new Date(alert?.at ?? post.now).toISOString(),
      component: 'snitch',
      custom_details: { ...snitchFields(alert), details: fitted(detailsOf(post), DETAILS) },
    },
    client: 'Snitch',
    ...(message.link
      ? { client_url: message.link.url, links: [{ href: message.link.url, text: message.link.words }] }
      : {}),
  });
}

function resolve(post: Post): ServiceRequest {
  return enqueue(post, { event_action: 'resolve', dedup_key: keyOf(post) });
}
