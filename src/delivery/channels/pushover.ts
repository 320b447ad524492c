/** Pushover: push messages to phones. */
import { SECOND } from '../../text/durations.ts';
import { fitted } from '../messages/fitted.ts';
import { bodyText } from '../messages/service-message.ts';
import { busy } from '../outbox/outcome.ts';
import { byStatus, fieldsOf, quoted, refusal, untilHeader } from './answers.ts';
import { form, type Service } from './service.ts';

const SERVER = 'https://api.pushover.net';
const TITLE = 250;
const MESSAGE = 1_024;
const URL_LENGTH = 512;

/** High for an alarm: it sounds in quiet hours too, and needs no confirmation. */
const PRIORITIES = { bad: '1', good: '0', plain: '0' };

const NOT_SOONER_THAN = 5 * SECOND;

export const pushover: Service = {
  kind: 'pushover',
  chat: { perMinute: 20, gap: 500, digestRoom: 650 },
  requests({ settings: { server = SERVER, token = '', user = '' }, message, alert, now }) {
    const { link } = message;
    const fields = {
      token,
      user,
      title: fitted(message.title, TITLE),
      message: fitted(bodyText(message), MESSAGE) || '-',
      priority: PRIORITIES[message.tone],
      timestamp: String(Math.floor((alert?.at ?? now) / SECOND)),
      ...(link && link.url.length <= URL_LENGTH ? { url: link.url, url_title: fitted(link.words, 100) } : {}),
    };
    return [form(`${server}/1/messages.json`, fields)];
  },
  meaning(answer, { now }) {
    if (answer.status === 200) {
      return fieldsOf(answer).status === 1 ? { kind: 'delivered' } : refusal(answer);
    }
    // The monthly quota is used up until the reset, and trying again before that counts against the application.
    if (answer.status === 429)
      return busy(quoted(answer), untilHeader(answer, 'x-limit-app-reset', SECOND, now));
    return byStatus(answer, { success: [], now, wait: answer.status >= 500 ? NOT_SOONER_THAN : null });
  },
};
