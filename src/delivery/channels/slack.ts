/** Slack through an incoming webhook, which does not answer with an id: a recovery is a message outside the thread. */
import { fitted } from '../messages/fitted.ts';
import { slackText } from '../messages/markup.ts';
import { bodyText } from '../messages/service-message.ts';
import { byStatus, refusal } from './answers.ts';
import { json, type Service } from './service.ts';

const TITLE = 1_000;
const TEXT = 3_000;
const COLOURS = { bad: 'danger', good: 'good', plain: '#808080' };

const TRY_AGAIN = /\brollup_error\b/;

export const slack: Service = {
  kind: 'slack',
  chat: { perMinute: 30, gap: 1_100, digestRoom: 2_200 },
  requests({ settings: { url = '' }, message }) {
    const title = fitted(message.title, TITLE, { spell: slackText });
    const text = fitted(bodyText({ ...message, link: null }), TEXT, { spell: slackText });
    const { link } = message;
    const attachment = {
      color: COLOURS[message.tone],
      fallback: title,
      text: link ? `${text}\n<${link.url}|${fitted(link.words, 100, { spell: slackText })}>` : text,
      mrkdwn_in: [],
    };
    // `text` is what a phone shows; neither `link_names` nor `parse` is sent, so a plain @here notifies nobody.
    return [json(url, { text: title, mrkdwn: false, unfurl_links: false, attachments: [attachment] })];
  },
  meaning(answer, { now }) {
    if (answer.status === 200 && answer.text.trim() !== 'ok') return refusal(answer);
    const transient = TRY_AGAIN.test(answer.text) ? [answer.status] : [];
    return byStatus(answer, { success: [200], transient, now });
  },
};
