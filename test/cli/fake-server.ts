/** HTTP servers that give bad answers, or none. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** `await using server = await fakeServer(…)` stops it at the end of the block. */
export interface FakeServer extends AsyncDisposable {
  url: string;
  /** In the order of their arrival. */
  requests: IncomingMessage[];
  stop(): Promise<void>;
}

export async function fakeServer(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<FakeServer> {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    answer(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const stop = async () => {
    if (!server.listening) return;
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  };
  return { url: `http://127.0.0.1:${port}`, requests, stop, [Symbol.asyncDispose]: stop };
}

export interface FakeAnswer {
  status: number;
  headers?: Record<string, string>;
  /** Text, or a value that is sent as JSON. */
  body?: unknown;
}

type AnswerTo = (request: IncomingMessage) => FakeAnswer;

/** @param answer one for all requests, or a function of the request; null for a server that never answers */
export function startFakeServer(answer: FakeAnswer | AnswerTo | null): Promise<FakeServer> {
  return fakeServer((request, response) => {
    if (!answer) return;
    const { status, headers = {}, body = '' } = typeof answer === 'function' ? answer(request) : answer;
    response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body));
  });
}
