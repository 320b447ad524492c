/** Google Chat through a webhook: one thread for each outage. */
import { bytes, fitted } from '../messages/fitted.ts';
import { googleChatText } from '../messages/markup.ts';
import { bodyText } from '../messages/service-message.ts';
import { byStatus } from './answers.ts';
import { json, type Service } from './service.ts';

/** Bytes. */
const TEXT = 3_800;

export const googleChat: Service = {
  kind: 'google_chat',
  chat: { perMinute: 30, gap: 1_100, digestRoom: 2_500 },
  requests({ settings: { url = '' }, message, incident, id }) {
    const { link } = message;
    const shown = `${message.title}\n${bodyText({ ...message, link: null })}`;
    const text = fitted(shown, TEXT, { spell: googleChatText, size: bytes });
    const linked = link
      ? `${text}\n<${link.url}|${fitted(link.words, 100, { spell: googleChatText })}>`
      : text;
    return [json(threaded(url, id), { text: linked, thread: { threadKey: incident.key } })];
  },
  meaning: (answer, { now }) => byStatus(answer, { success: [200], now }),
};

/** Without the option the thread key is ignored; the request id makes a repeated request harmless. */
function threaded(text: string, id: string): string {
  const url = URL.parse(text);
  url?.searchParams.set('messageReplyOption', 'REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD');
  url?.searchParams.set('requestId', id);
  return url?.href ?? text;
}
