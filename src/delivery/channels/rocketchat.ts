/** Rocket.Chat through an incoming webhook, which does not answer with an id. */
import { MINUTE, SECOND } from '../../text/durations.ts';
import { fitted } from '../messages/fitted.ts';
import { rocketchatText } from '../messages/markup.ts';
import { bodyText } from '../messages/service-message.ts';
import { byStatus, fieldsOf, refusal, untilHeader } from './answers.ts';
import { json, type Service } from './service.ts';

const TITLE = 1_000;
const TEXT = 3_500;
const COLOURS = { bad: '#d24b4e', good: '#3db887', plain: '#808080' };

/** The integration is gone, which different versions answer with different statuses. */
const GONE = /Invalid integration id or token/i;

export const rocketchat: Service = {
  kind: 'rocketchat',
  // By default the server accepts ten calls a minute, from all users of the address together.
  chat: { perMinute: 6, gap: 1_000, digestRoom: 2_500 },
  requests({ settings: { url = '' }, message }) {
    const title = fitted(message.title, TITLE, { spell: rocketchatText });
    const attachment = {
      color: COLOURS[message.tone],
      text: fitted(bodyText({ ...message, link: null }), TEXT, { spell: rocketchatText }),
      ...(message.link ? { title: message.link.words, title_link: message.link.url } : {}),
    };
    return [json(url, { text: title, parseUrls: false, attachments: [attachment] })];
  },
  meaning(answer, { now }) {
    const { success } = fieldsOf(answer);
    if (answer.status === 200 && success !== true) return refusal(answer);
    if (GONE.test(answer.text)) return refusal(answer);
    const said = /wait (\d{1,6}) seconds/.exec(answer.text)?.[1];
    const wait = untilHeader(answer, 'x-ratelimit-reset', 1, now) ?? (said ? Number(said) * SECOND : null);
    return byStatus(answer, {
      success: [200],
      now,
      wait: wait === null ? null : Math.min(wait, 60 * MINUTE),
    });
  },
};
