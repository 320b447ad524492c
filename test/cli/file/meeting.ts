/** A way to a daemon on which requests that do the same wait for each other, as those of two hosts that begin at once. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

export interface Meeting extends AsyncDisposable {
  url: string;
  /** Each request that was held, as `POST /v1/imports`. */
  held: string[];
}

/** Longer than a command takes to its next request, so that nobody waits for one that will not come. */
const LONGEST_WAIT_MS = 5_000;

/**
 * Holds the first request of `paths` until a second one of the same kind is there, and lets both go at once. What comes
 * later goes through.
 */
export async function meetAt(target: string, paths: readonly string[]): Promise<Meeting> {
  const held: string[] = [];
  const arrived = new Map<string, PromiseWithResolvers<void>>();
  const turn = async ({ method, url = '' }: IncomingMessage) => {
    const what = `${method} ${url.split('?')[0]}`;
    if (!paths.includes(what)) return;
    held.push(what);
    const first = arrived.get(what);
    if (first) return first.resolve();
    const both = Promise.withResolvers<void>();
    arrived.set(what, both);
    await Promise.race([both.promise, wait(LONGEST_WAIT_MS, undefined, { ref: false })]);
  };
  const server = createServer(async (incoming, outgoing) => {
    const { method, headers, url } = incoming;
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    await turn(incoming);
    const onward = send(`${target}${url}`, { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    onward.on('error', () => outgoing.destroy());
    onward.end(Buffer.concat(chunks));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    held,
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
