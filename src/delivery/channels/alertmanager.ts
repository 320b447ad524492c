/**
 * Prometheus Alertmanager. An alarm is identified by its exact set of labels, so everything that changes goes into
 * annotations. An alarm expires unless it is repeated: see `REPEAT_EVERY`.
 */
import { REPEAT_EVERY } from '../../core/channel.ts';
import { fitted } from '../messages/fitted.ts';
import { byStatus } from './answers.ts';
import { detailsOf, nameOf, snitchFields, stepsOf } from './incident-words.ts';
import { json, type Post, type Service, type ServiceRequest } from './service.ts';

/** Milliseconds until an alarm expires unless it is repeated: long enough for any restart of the daemon. */
const LASTS = 5 * REPEAT_EVERY;

const SUMMARY = 1_000;
const DESCRIPTION = 10_000;

export const alertmanager: Service = {
  kind: 'alertmanager',
  chat: null,
  repeats: true,
  requests: (post) => stepsOf(post).map((step) => alertRequest(post, step === 'open')),
  meaning: (answer, { now }) => byStatus(answer, { success: [200], now }),
};

/** One alarm per request: in a list, some could be accepted and others refused. */
function alertRequest({ settings: { url = '' }, ...post }: Post, firing: boolean): ServiceRequest {
  const { alert, incident, message, isTest, now } = post;
  const { status = '', tags = '' } = snitchFields(alert);
  const one = {
    labels: {
      alertname: 'SnitchMissing',
      token: alert?.token ?? '',
      name: nameOf(post),
      severity: isTest ? 'none' : 'critical',
    },
    annotations: {
      summary: fitted(message.title, SUMMARY),
      description: fitted(detailsOf(post), DESCRIPTION),
      state: status,
      tags,
    },
    // Left out at the end: the service knows when the alarm began.
    ...(firing ? { startsAt: iso(Math.min(incident.since, now)) } : {}),
    endsAt: iso(firing ? now + LASTS : now),
    ...(message.link ? { generatorURL: message.link.url } : {}),
  };
  return json(`${url}/api/v2/alerts`, [one]);
}

function iso(at: number): string {
  return new Date(at).toISOString();
}
