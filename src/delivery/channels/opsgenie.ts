/**
 * Opsgenie through its Alert API: an outage is one alert, identified by its alias. The server is a setting, because
 * Opsgenie ends in 2027.
 */
import { printable } from '../../text/printable.ts';
import { fitted } from '../messages/fitted.ts';
import { byStatus, headerOf, secondsIn } from './answers.ts';
import { detailsOf, keyOf, nameOf, snitchFields, stepsOf } from './incident-words.ts';
import { json, type Post, type Service, type ServiceRequest } from './service.ts';

const SERVER = 'https://api.opsgenie.com';
const MESSAGE = 130;
const DESCRIPTION = 14_000;
const MOST_TAGS = 20;

export const opsgenie: Service = {
  kind: 'opsgenie',
  chat: null,
  // Requests are processed asynchronously: an alert closed within a second of its creation may stay open.
  gap: 1_500,
  requests: (post) => stepsOf(post).map((step) => (step === 'open' ? create(post) : close(post))),
  meaning(answer, { now }) {
    const wait = answer.status === 429 ? secondsIn(headerOf(answer, 'x-ratelimit-period-in-sec')) : null;
    return byStatus(answer, { success: [202], now, wait });
  },
};

function send({ settings: { server = SERVER, key = '' } }: Post, path: string, body: object): ServiceRequest {
  return json(`${server}/v2/alerts${path}`, body, { authorization: `GenieKey ${key}` });
}

function create(post: Post): ServiceRequest {
  const { message, alert, isTest } = post;
  const tags = alert?.snitch?.tags.slice(0, MOST_TAGS).map((tag) => fitted(printable(tag), 50)) ?? [];
  return send(post, '', {
    message: fitted(message.title, MESSAGE),
    alias: keyOf(post),
    description: fitted(detailsOf(post), DESCRIPTION),
    priority: isTest ? 'P5' : alert?.type === 'snitch.errored' ? 'P2' : 'P1',
    source: 'snitch',
    entity: nameOf(post),
    tags,
    details: snitchFields(alert),
  });
}

function close(post: Post): ServiceRequest {
  const path = `/${encodeURIComponent(keyOf(post))}/close?identifierType=alias`;
  return send(post, path, { source: 'snitch', note: fitted(post.message.title, 1_000) });
}
