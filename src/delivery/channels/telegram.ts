/** Telegram through a bot: a recovery replies to its alarm. */

import type { Answer } from '../http/http-sender.ts';
import { fitted } from '../messages/fitted.ts';
import { telegramText } from '../messages/markup.ts';
import { bodyText } from '../messages/service-message.ts';
import { byStatus, fieldsOf, refusal, secondsIn } from './answers.ts';
import { json, type Post, type Service, type ServiceRequest } from './service.ts';

const SERVER = 'https://api.telegram.org';

/** Characters after the entities are parsed; some of them count twice. */
const TEXT = 2_000;
const TITLE = 500;

/** Depending on what is wrong with the address, it says so in different words. */
const REFUSED_BUTTON = /BUTTON_URL_INVALID|Wrong HTTP URL|button URL\b.* is invalid/i;

export const telegram: Service = {
  kind: 'telegram',
  // Twenty a minute in a group, and one a second in any chat.
  chat: { perMinute: 15, gap: 1_100, digestRoom: 1_500 },
  requests: (post) => [requestFor(post, true)],
  meaning(answer, { now }) {
    if (answer.status === 200) {
      // The answer repeats the text, and may be too long to be read whole.
      if (!/^\s*\{\s*"ok"\s*:\s*true/.test(answer.text)) return refusal(answer);
      const reference = /"message_id"\s*:\s*(\d+)/.exec(answer.text)?.[1] ?? null;
      return byStatus(answer, { success: [200], now, reference });
    }
    const wait = secondsIn(parametersOf(answer).retry_after);
    return byStatus(answer, { success: [], now, wait });
  },
  instead(answer, post) {
    const moved = parametersOf(answer).migrate_to_chat_id;
    if (typeof moved === 'number' || typeof moved === 'string') {
      const settings = { ...post.settings, chat: String(moved) };
      return { requests: [requestFor({ ...post, settings }, true)], settings };
    }
    // Telegram accepts a button only if its address looks public.
    const isButton = REFUSED_BUTTON.test(answer.text) && post.message.link !== null;
    return isButton ? { requests: [requestFor(post, false)] } : null;
  },
};

function requestFor({ settings, message, incident }: Post, button: boolean): ServiceRequest {
  const { server = SERVER, token = '', chat = '', thread } = settings;
  const link = button ? message.link : null;
  const title = fitted(message.title, TITLE, { spell: telegramText });
  const body = fitted(bodyText({ ...message, link: button ? null : message.link }), TEXT, {
    spell: telegramText,
  });
  return json(`${server}/bot${token}/sendMessage`, {
    chat_id: /^-?\d+$/.test(chat) ? Number(chat) : chat,
    text: `<b>${title}</b>\n${body}`,
    parse_mode: 'HTML',
    link_preview_options: { is_disabled: true },
    ...(thread === undefined ? {} : { message_thread_id: Number(thread) }),
    ...(incident.reference === null
      ? {}
      : { reply_parameters: { message_id: Number(incident.reference), allow_sending_without_reply: true } }),
    ...(link ? { reply_markup: { inline_keyboard: [[{ text: link.words, url: link.url }]] } } : {}),
  });
}

function parametersOf(answer: Answer): Record<string, unknown> {
  const { parameters } = fieldsOf(answer);
  return typeof parameters === 'object' && parameters !== null ? (parameters as Record<string, unknown>) : {};
}
