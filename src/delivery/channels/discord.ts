/**
 * Discord through a webhook. Webhooks cannot reply, and an edit notifies nobody: a recovery is a message of its own.
 */
import { fitted } from '../messages/fitted.ts';
import { discordText } from '../messages/markup.ts';
import { bodyText } from '../messages/service-message.ts';
import { byStatus, fieldsOf, secondsIn } from './answers.ts';
import { json, type Service } from './service.ts';

const CONTENT = 1_500;
const DESCRIPTION = 3_800;
const COLOURS = { bad: 0xd83c3e, good: 0x3ba55d, plain: 0x808080 };

/** Mentions nobody, whatever a name looks like; by default webhooks notify mentioned users. */
const RING_NOBODY = { parse: [] };

export const discord: Service = {
  kind: 'discord',
  chat: { perMinute: 20, gap: 1_000, digestRoom: 2_500 },
  requests({ settings: { url = '' }, message, alert, now }) {
    const embed = {
      description: fitted(bodyText({ ...message, link: null }), DESCRIPTION, { spell: discordText }),
      color: COLOURS[message.tone],
      timestamp: new Date(alert?.at ?? now).toISOString(),
      ...(message.link
        ? { title: fitted(message.link.words, 100, { spell: discordText }), url: message.link.url }
        : {}),
    };
    const content = fitted(message.title, CONTENT, { spell: discordText });
    return [json(waited(url), { content, embeds: [embed], allowed_mentions: RING_NOBODY })];
  },
  meaning(answer, { now }) {
    const wait = answer.status === 429 ? secondsIn(fieldsOf(answer).retry_after) : null;
    return byStatus(answer, { success: [200, 204], now, wait });
  },
};

/** Without `wait`, a message that is not saved is not reported as an error. */
function waited(text: string): string {
  const url = URL.parse(text);
  url?.searchParams.set('wait', 'true');
  return url?.href ?? text;
}
