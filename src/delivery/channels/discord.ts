/**
 * Discord through a webhook. Webhooks cannot reply, and an edit notifies nobody: a recovery is a message of its own.
 */
import { fitted } from '../messages/fitted.ts';
import { discordText } from '../messages/markup.ts';
import { bodyText } from '../messages/service-message.ts';
import { byStatus, fieldsOf, secondsIn } from './answers.ts';
import { json, type Post, type Service, type ServiceRequest } from './service.ts';

const CONTENT = 1_500;
const DESCRIPTION = 3_800;
const COLOURS = { bad: 0xd83c3e, good: 0x3ba55d, plain: 0x808080 };

/** Mentions nobody, whatever a name looks like; by default webhooks notify mentioned users. */
const RING_NOBODY = { parse: [] };

export const discord: Service = {
  kind: 'discord',
  chat: { perMinute: 20, gap: 1_000, digestRoom: 2_500 },
  requests: (post) => [requestFor(post, true)],
  meaning(answer, { now }) {
    const wait = answer.status === 429 ? secondsIn(fieldsOf(answer).retry_after) : null;
    return byStatus(answer, { success: [200, 204], now, wait });
  },
  /** Discord accepts a title that is a link only if the host in it looks public: `snitch` and `localhost` do not. */
  instead(answer, post) {
    const mayBeTheLink = answer.status === 400 && /"embeds"/.test(answer.text) && post.message.link !== null;
    return mayBeTheLink ? { requests: [requestFor(post, false)] } : null;
  },
};

/** @param titled whether the link is the title; otherwise it is the last line */
function requestFor({ settings: { url = '' }, message, alert, now }: Post, titled: boolean): ServiceRequest {
  const { link } = message;
  const words = link ? fitted(link.words, 100, { spell: discordText }) : '';
  const last = link && !titled ? `\n${words}: ${link.url}` : '';
  const text = fitted(bodyText({ ...message, link: null }), DESCRIPTION - last.length, {
    spell: discordText,
  });
  const embed = {
    description: `${text}${last}`,
    color: COLOURS[message.tone],
    timestamp: new Date(alert?.at ?? now).toISOString(),
    ...(link && titled ? { title: words, url: link.url } : {}),
  };
  const content = fitted(message.title, CONTENT, { spell: discordText });
  return json(waited(url), { content, embeds: [embed], allowed_mentions: RING_NOBODY });
}

/** Without `wait`, a message that is not saved is not reported as an error. */
function waited(text: string): string {
  const url = URL.parse(text);
  url?.searchParams.set('wait', 'true');
  return url?.href ?? text;
}
