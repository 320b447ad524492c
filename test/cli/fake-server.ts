/** An HTTP server that answers as it is told to, or not at all. */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface FakeServer {
  url: string;
  requests: IncomingMessage[];
  stop(): Promise<void>;
}

export interface FakeAnswer {
  status: number;
  headers?: Record<string, string>;
  /** Text, or what becomes JSON. */
  body?: unknown;
}

type AnswerTo = (request: IncomingMessage) => FakeAnswer;

/** @param answer to every request, or to each; null for a server that takes requests and never answers */
export async function startFakeServer(answer: FakeAnswer | AnswerTo | null): Promise<FakeServer> {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    if (!answer) return;
    const { status, headers = {}, body = '' } = typeof answer === 'function' ? answer(request) : answer;
    response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
