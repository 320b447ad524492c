/** Matrix: what follows an alarm goes into its thread. Repeating the same request sends no second message. */

import type { Answer } from '../http/http-sender.ts';
import { bytes, fitted } from '../messages/fitted.ts';
import { htmlText } from '../messages/markup.ts';
import { wholeText } from '../messages/service-message.ts';
import { byStatus, fieldsOf } from './answers.ts';
import type { Post, Service, ServiceRequest } from './service.ts';

/** Bytes for each of the two bodies: a whole event may have 65,536. */
const BODY = 12_000;

export const matrix: Service = {
  kind: 'matrix',
  // A server accepts one in five seconds on average, and ten at once.
  chat: { perMinute: 10, gap: 1_000 },
  requests: (post) => [requestFor(post, post.incident.reference)],
  meaning(answer, { now }) {
    const { event_id: event, retry_after_ms: milliseconds } = fieldsOf(answer);
    const wait = typeof milliseconds === 'number' && milliseconds >= 0 ? milliseconds : null;
    return byStatus(answer, {
      success: [200],
      now,
      wait,
      reference: typeof event === 'string' ? event : null,
    });
  },
  /** If the alarm is gone, its recovery is sent all the same. */
  instead(answer: Answer, post: Post) {
    const mayBeTheThread = answer.status === 400 || answer.status === 404;
    if (!mayBeTheThread || post.incident.reference === null) return null;
    return { requests: [requestFor({ ...post, id: `${post.id}_alone` }, null)] };
  },
};

function requestFor({ settings, message, id }: Post, root: string | null): ServiceRequest {
  const { server = '', token = '', room = '' } = settings;
  const text = fitted(wholeText(message), BODY, { size: bytes });
  const body = {
    msgtype: message.tone === 'bad' ? 'm.text' : 'm.notice',
    body: text,
    format: 'org.matrix.custom.html',
    formatted_body: fitted(text, BODY, { spell: htmlText, size: bytes }).replaceAll('\n', '<br>'),
    // Without this, "@room" in the text would notify the whole room.
    'm.mentions': {},
    ...(root === null ? {} : { 'm.relates_to': threadOf(root) }),
  };
  const path = `/_matrix/client/v3/rooms/${encodeURIComponent(room)}/send/m.room.message/${encodeURIComponent(id)}`;
  return {
    url: `${server}${path}`,
    method: 'PUT',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify(body),
  };
}

function threadOf(root: string) {
  return {
    rel_type: 'm.thread',
    event_id: root,
    is_falling_back: true,
    'm.in_reply_to': { event_id: root },
  };
}
