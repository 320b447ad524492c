/**
 * Prometheus Alertmanager. What identifies an alarm is the exact set of its labels, so that everything which changes
 * stands in annotations. An alarm ends by itself unless it is told again: see `REPEAT_EVERY`.
 */
import { REPEAT_EVERY } from '../../core/channel.ts';
import { fitted } from '../messages/fitted.ts';
import { byStatus } from './answers.ts';
import { detailsOf, nameOf, snitchFields, stepsOf } from './incident-words.ts';
import { json, type Post, type Service, type ServiceRequest } from './service.ts';

/** Milliseconds until an alarm ends unless it is told again: long enough that no restart of the daemon ends one. */
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

/** One alarm for each request: of a list, some could be taken and others refused. */
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
    // At the end it is left out: the service knows when the alarm began.
    ...(firing ? { startsAt: iso(Math.min(incident.since, now)) } : {}),
    endsAt: iso(firing ? now + LASTS : now),
    ...(message.link ? { generatorURL: message.link.url } : {}),
  };
  return json(`${url}/api/v2/alerts`, [one]);
}

function iso(at: number): string {
  return new Date(at).toISOString();
}
