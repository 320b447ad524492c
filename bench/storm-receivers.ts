/** A mail server and webhook receivers in a process of their own, so that they do not slow down who measures. */
import { startMailbox } from '../test/end-to-end/mailbox.ts';
import { startWebhookReceiver } from '../test/end-to-end/webhook-receiver.ts';

/** What has arrived so far; latencies in milliseconds, from the sweep to the receiver. */
export interface Arrived {
  webhooks: number;
  emails: number;
  first: number;
  last: number;
}

export interface Addresses {
  smtp: string;
  webhooks: string[];
}

const mailbox = await startMailbox();
const receivers = await Promise.all(
  Array.from({ length: Number(process.argv[2]) }, () => startWebhookReceiver()),
);

process.on('message', () => {
  const arrivals = receivers.flatMap(({ posts }) => posts);
  const latencies = arrivals.map(({ at, body }) => at - Date.parse(String(body.timestamp)));
  const arrived: Arrived = {
    webhooks: arrivals.length,
    emails: mailbox.mails.length,
    first: latencies.reduce((least, one) => Math.min(least, one), Number.POSITIVE_INFINITY),
    last: latencies.reduce((most, one) => Math.max(most, one), 0),
  };
  process.send?.(arrived);
});
process.on('disconnect', () => process.exit());
const addresses: Addresses = { smtp: mailbox.url, webhooks: receivers.map(({ url }) => url) };
process.send?.(addresses);
