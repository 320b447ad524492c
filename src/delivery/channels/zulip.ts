/** Zulip: the topic is the thread, and each snitch has its own. */
import { fitted } from '../messages/fitted.ts';
import { mentionless } from '../messages/markup.ts';
import { bodyText } from '../messages/service-message.ts';
import { byStatus, fieldsOf, refusal, secondsIn } from './answers.ts';
import { nameOf } from './incident-words.ts';
import { form, type Service } from './service.ts';

const CONTENT = 9_000;
const TOPIC = 60;
const SIGNS = { bad: ':red_circle:', good: ':green_circle:', plain: ':white_circle:' };

export const zulip: Service = {
  kind: 'zulip',
  chat: { perMinute: 60, gap: 500 },
  requests({ settings: { site = '', email = '', key = '', channel = '', topic }, message, alert, incident }) {
    const { link } = message;
    const text = fitted(`${message.title}\n${bodyText({ ...message, link: null })}`, CONTENT, {
      spell: mentionless,
    });
    const fields = {
      type: 'stream',
      to: channel,
      topic: fitted(topic ?? (alert?.snitch ? nameOf({ incident }) : 'Snitch'), TOPIC) || 'Snitch',
      content: `${SIGNS[message.tone]}\n${fenced(text)}${link ? `\n${link.url}` : ''}`,
    };
    const authorization = `Basic ${Buffer.from(`${email}:${key}`).toString('base64')}`;
    return [form(`${site}/api/v1/messages`, fields, { authorization })];
  },
  meaning(answer, { now }) {
    const fields = fieldsOf(answer);
    if (answer.status === 200 && fields.result !== 'success') return refusal(answer);
    const reference = typeof fields.id === 'number' ? String(fields.id) : null;
    return byStatus(answer, { success: [200], now, wait: secondsIn(fields['retry-after']), reference });
  },
};

/** Nothing is markup within a fence longer than any in the text. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}text\n${text}\n${fence}`;
}
