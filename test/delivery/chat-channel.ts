/** The smallest possible channel: a chat that accepts a text, or says in JSON why it refuses it. */
import { type Answer, createHttpSender, retryAfter } from '../../src/delivery/http/http-sender.ts';
import { webAddress } from '../../src/delivery/http/web-address.ts';
import { alertLetter } from '../../src/delivery/messages/alert-letter.ts';
import { digestLetter } from '../../src/delivery/messages/digest.ts';
import { asText } from '../../src/delivery/messages/letter.ts';
import type { Channel, Sending } from '../../src/delivery/outbox/channel.ts';
import { type Outcome, retry } from '../../src/delivery/outbox/outcome.ts';

export interface ChatSettings {
  server: string;
  token: string;
  /** In milliseconds. */
  groupWait: number;
}

export function chatChannel({ server, token, groupWait }: ChatSettings): Channel {
  const address = webAddress(server);
  if (!address) throw new Error('the server of a chat must be an http or https address');
  const http = createHttpSender({ allowPrivate: true, version: '1.0' });
  const say = (text: string, { target, now, stop }: Sending) => {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
    const body = JSON.stringify({ chat: target, text: text.slice(0, 4_096) });
    return http.post(address, { headers, body, secrets: [token], stop }, (answer) => meaningOf(answer, now));
  };
  return {
    kind: 'chat' as Channel['kind'],
    pace: { timeout: 30_000, perTarget: 1, fast: 4, slow: 4, slowAfter: 200 },
    off: null,
    grouping: {
      wait: groupWait,
      async composeDigest(digest, to) {
        const { subject, letter } = await digestLetter(digest);
        return () => say(`${subject}\n\n${asText(letter)}`, to);
      },
    },
    sendAlert: ({ alert, case: shown }, to) => say(alertLetter(alert, shown).subject, to),
    retire: () => http.retire(),
    close: () => http.close(),
  };
}

function meaningOf(answer: Answer, now: number): Outcome {
  if (answer.status === 200) return { kind: 'delivered' };
  const error = `answered ${answer.statusLine}: ${answer.text}`;
  const isForNow = answer.status === 429 || answer.status >= 500;
  return isForNow ? retry(error, retryAfter(answer, now)) : { kind: 'dead', error };
}
