/** An Apprise API server, for any other service. It has no keys for outages, so nothing can be closed through it. */

import { partlyTaken } from '../../core/explanation/death.ts';
import { MINUTE } from '../../text/durations.ts';
import { fitted } from '../messages/fitted.ts';
import { bodyText } from '../messages/service-message.ts';
import { byStatus, quoted, refusal } from './answers.ts';
import { json, type Service } from './service.ts';

const TITLE = 250;
const BODY = 8_000;
const TYPES = { bad: 'failure', good: 'success', plain: 'info' };

/** Some of the targets may have got the message, and would get it twice with a retry. */
const SOME_FAILED = 424;
const NOTHING_CONFIGURED = 204;
const TOO_LARGE = 431;

export const apprise: Service = {
  kind: 'apprise',
  chat: { perMinute: 20, gap: 500 },
  requests({ settings: { url = '' }, message }) {
    const body = {
      title: fitted(message.title, TITLE),
      body: fitted(bodyText(message), BODY) || '-',
      type: TYPES[message.tone],
      format: 'text',
    };
    return [json(url, body, { accept: 'application/json' })];
  },
  meaning(answer, { now }) {
    if (answer.status === NOTHING_CONFIGURED) return refusal(answer, 'nothing is configured under this key');
    if (answer.status === SOME_FAILED)
      return { kind: 'retry', error: partlyTaken(quoted(answer)), retryAfter: LONG, attempts: FEW };
    return byStatus(answer, { success: [200], permanent: [TOO_LARGE], now });
  },
};

/** In milliseconds. */
const LONG = 5 * MINUTE;

/** Over half an hour. Each attempt tells the targets again that have got the message. */
const FEW = 6;
