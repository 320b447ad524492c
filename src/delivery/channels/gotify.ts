/** Gotify: push messages from one's own server. It keeps no threads: a recovery is a message of low priority. */
import { fitted } from '../messages/fitted.ts';
import { bodyText } from '../messages/service-message.ts';
import { byStatus } from './answers.ts';
import { json, type Service } from './service.ts';

const MESSAGE = 3_500;
const TITLE = 250;
const PRIORITIES = { bad: 8, good: 3, plain: 4 };

export const gotify: Service = {
  kind: 'gotify',
  chat: { perMinute: 20, gap: 500, digestRoom: 2_500 },
  requests({ settings: { server = '', token = '' }, message }) {
    const click = message.link
      ? { extras: { 'client::notification': { click: { url: message.link.url } } } }
      : {};
    const body = {
      title: fitted(message.title, TITLE),
      message: fitted(bodyText(message), MESSAGE) || '-',
      priority: PRIORITIES[message.tone],
      ...click,
    };
    // The header keeps the token out of access logs, and every version accepts it.
    return [json(`${server}/message`, body, { 'x-gotify-key': token })];
  },
  meaning: (answer, { now }) => byStatus(answer, { success: [200], now }),
};
