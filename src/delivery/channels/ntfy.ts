/** ntfy: push messages to phones. An outage is one sequence, so on newer servers the recovery replaces the alarm. */

import { DAY } from '../../text/durations.ts';
import type { Answer } from '../http/http-sender.ts';
import { fitted, jsonBytes } from '../messages/fitted.ts';
import { bodyText } from '../messages/service-message.ts';
import { byStatus, fieldsOf } from './answers.ts';
import { json, type Post, type Service } from './service.ts';

const SERVER = 'https://ntfy.sh';

/** Bytes. The server accepts a message of 4,096, and twice that for the JSON with everything else. */
const MESSAGE = 4_000;
const TITLE = 400;

/** The daily quota is used up; it is reset at midnight UTC. */
const QUOTA_USED_UP = 42908;

const LOOKS = {
  bad: { priority: 4, tags: ['rotating_light'] },
  good: { priority: 3, tags: ['white_check_mark'] },
  plain: { priority: 3, tags: [] as string[] },
};

export const ntfy: Service = {
  kind: 'ntfy',
  chat: { perMinute: 10, gap: 1_000, digestRoom: 2_500 },
  requests({ settings: { server = SERVER, topic = '', token }, message, incident }) {
    const body = {
      topic,
      title: fitted(message.title, TITLE, { size: jsonBytes }),
      message: fitted(bodyText(message), MESSAGE, { size: jsonBytes }),
      ...LOOKS[message.tone],
      ...(message.link ? { click: message.link.url } : {}),
      sequence_id: sequenceOf(incident.key),
    };
    return [json(`${server}/`, body, token === undefined ? {} : { authorization: `Bearer ${token}` })];
  },
  meaning(answer, { now }) {
    const wait = fieldsOf(answer).code === QUOTA_USED_UP ? DAY - (now % DAY) : null;
    return byStatus(answer, { success: [200], now, wait });
  },
  instead: withoutSequence,
};

/** Letters, digits, hyphens and underscores: anything else is refused. */
function sequenceOf(key: string): string {
  return key.replace(/[^-_A-Za-z0-9]/g, '').slice(0, 64);
}

const BAD_SEQUENCE = 40049;

function withoutSequence(answer: Answer, post: Post) {
  if (fieldsOf(answer).code !== BAD_SEQUENCE) return null;
  const requests = ntfy.requests(post).map((request) => {
    const { sequence_id, ...rest } = JSON.parse(request.body) as Record<string, unknown>;
    return { ...request, body: JSON.stringify(rest) };
  });
  return { requests };
}
