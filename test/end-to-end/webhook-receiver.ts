/** A real HTTP server on loopback that keeps what is posted to it. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { AlertPayload } from '../../src/core/alert.ts';
import { Arrivals } from './arrivals.ts';

export interface ReceivedPost {
  at: number;
  path: string;
  /** The address that it came from. */
  from: string;
  headers: IncomingHttpHeaders;
  body: AlertPayload;
}

export interface WebhookReceiver {
  url: string;
  posts: readonly ReceivedPost[];
  /** Resolves with all that arrived once there are `count`. */
  waitFor(count: number, withinMs: number): Promise<readonly ReceivedPost[]>;
  /** From now on what arrives is kept, and answered only once the function that this returns was called. */
  hold(): () => void;
  stop(): Promise<void>;
}

export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const arrivals = new Arrivals<ReceivedPost>('webhooks');
  let held: ServerResponse[] | null = null;
  const server = createServer((request, response) => {
    const from = request.socket.remoteAddress ?? '';
    text(request).then(
      (body) => {
        const { url = '', headers } = request;
        arrivals.add({ at: Date.now(), path: url, from, headers, body: JSON.parse(body) as AlertPayload });
        if (held) held.push(response);
        else response.writeHead(200).end();
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
    hold: () => {
      held = [];
      return () => {
        for (const response of held ?? []) response.writeHead(200).end();
        held = null;
      };
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
