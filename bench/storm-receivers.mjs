/** A mail server and webhook receivers in a process of their own, so that they do not slow down who measures. */
import { startMailbox } from '../test/end-to-end/mailbox.ts';
import { startWebhookReceiver } from '../test/end-to-end/webhook-receiver.ts';

const mailbox = await startMailbox();
const receivers = await Promise.all(Array.from({ length: Number(process.argv[2]) }, startWebhookReceiver));

process.on('message', () => {
  const arrivals = receivers.flatMap(({ posts }) => posts);
  const latencies = arrivals.map(({ at, body }) => at - Date.parse(body.timestamp));
  process.send({
    webhooks: arrivals.length,
    emails: mailbox.mails.length,
    first: latencies.reduce((least, one) => Math.min(least, one), Number.POSITIVE_INFINITY),
    last: latencies.reduce((most, one) => Math.max(most, one), 0),
  });
});
process.on('disconnect', () => process.exit());
process.send({ smtp: mailbox.url, webhooks: receivers.map(({ url }) => url) });
