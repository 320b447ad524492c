/** Mattermost through an incoming webhook, which does not answer with an id. */
import { SECOND } from '../../text/durations.ts';
import { fitted } from '../messages/fitted.ts';
import { mattermostText } from '../messages/markup.ts';
import { bodyText } from '../messages/service-message.ts';
import { byStatus, fieldsOf, headerOf, secondsIn } from './answers.ts';
import { json, type Service } from './service.ts';

const TITLE = 1_000;
/** A longer text is split into several posts by the server, at 16,383 characters. */
const TEXT = 8_000;
const COLOURS = { bad: '#d24b4e', good: '#3db887', plain: '#808080' };

/** Webhooks are turned off on the server. */
const SWITCHED_OFF = 501;

export const mattermost: Service = {
  kind: 'mattermost',
  chat: { perMinute: 30, gap: 500 },
  requests({ settings: { url = '' }, message }) {
    const { link } = message;
    const text = fitted(bodyText({ ...message, link: null }), TEXT, { spell: mattermostText });
    const attachment = {
      color: COLOURS[message.tone],
      fallback: fitted(message.title, TITLE, { spell: mattermostText }),
      text: link ? `${text}\n[${fitted(link.words, 100, { spell: mattermostText })}](${link.url})` : text,
    };
    return [
      json(url, {
        text: fitted(message.title, TITLE, { spell: mattermostText }),
        attachments: [attachment],
      }),
    ];
  },
  meaning(answer, { now }) {
    // Some versions wrap the error of a missing hook, so its id says more than the status.
    const isGone = String(fieldsOf(answer).id ?? '').startsWith('web.incoming_webhook.');
    const permanent = isGone ? [answer.status] : [SWITCHED_OFF];
    const wait = secondsIn(headerOf(answer, 'x-ratelimit-reset'));
    const bounded = wait !== null && wait <= 3_600 * SECOND ? wait : null;
    return byStatus(answer, { success: [200], permanent, now, wait: bounded });
  },
};
