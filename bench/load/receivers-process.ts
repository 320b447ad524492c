/** Webhook receivers and a mail server in a process of their own, so that they do not slow down the measuring one. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startMailbox } from '../../test/end-to-end/mailbox.ts';

export interface Addresses {
  smtp: string;
  webhooks: string[];
}

/** What has arrived so far. */
export interface Arrived {
  webhooks: number;
  emails: number;
}

let webhooks = 0;

/** Accepts and counts whatever is posted. Anything more would only take processor time from the daemon. */
async function startReceiver(): Promise<string> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      webhooks += 1;
      response.writeHead(200).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const mailbox = await startMailbox();
const urls = await Promise.all(Array.from({ length: Number(process.argv[2]) }, startReceiver));

process.on('message', () => {
  const arrived: Arrived = { webhooks, emails: mailbox.mails.length };
  process.send?.(arrived);
});
process.on('disconnect', () => process.exit());
const addresses: Addresses = { smtp: mailbox.url, webhooks: urls };
process.send?.(addresses);
