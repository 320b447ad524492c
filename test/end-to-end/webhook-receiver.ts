/** A real HTTP server on loopback that keeps what is posted to it. */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { AlertPayload } from '../../src/core/alert.ts';
import { Arrivals } from './arrivals.ts';

export interface ReceivedPost {
  at: number;
  path: string;
  headers: IncomingHttpHeaders;
  body: AlertPayload;
}

export interface WebhookReceiver {
  url: string;
  posts: readonly ReceivedPost[];
  /** Resolves with all that arrived once there are `count`. */
  waitFor(count: number, withinMs: number): Promise<readonly ReceivedPost[]>;
  stop(): Promise<void>;
}

export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const arrivals = new Arrivals<ReceivedPost>('webhooks');
  const server = createServer((request, response) => {
    text(request).then(
      (body) => {
        const { url = '', headers } = request;
        arrivals.add({ at: Date.now(), path: url, headers, body: JSON.parse(body) as AlertPayload });
        response.writeHead(200).end();
      },
      () => response.destroy(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    posts: arrivals.items,
    waitFor: (count, withinMs) => arrivals.waitFor(count, withinMs),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
