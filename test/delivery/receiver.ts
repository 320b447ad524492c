import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Received {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  at: number;
}

export type Behaviour = (response: ServerResponse, received: Received) => void;

/** The ways in which a receiver answers, or fails to. */
export const behave = {
  status:
    (status: number, headers: Record<string, string> = {}): Behaviour =>
    (response) =>
      response.writeHead(status, headers).end('{"answer":true}'),
  hang: (): Behaviour => () => undefined,
  /** Sends a byte now and then, and never ends. */
  drip:
    (status = 200, every = 20): Behaviour =>
    (response) => {
      response.writeHead(status);
      const timer = setInterval(() => response.write('.'), every);
      response.on('close', () => clearInterval(timer));
    },
  /** As fast as it is read, for ever. */
  endless: (): Behaviour => (response) => {
    const block = Buffer.alloc(16_384, 'x');
    const more = () => {
      while (!response.destroyed && response.write(block));
    };
    response.writeHead(200).on('drain', more);
    more();
  },
  closeMidBody: (): Behaviour => (response) => {
    response.writeHead(200, { 'content-length': '1000' });
    response.write('half', () => response.destroy());
  },
  closeBeforeAnswer: (): Behaviour => (response) => {
    response.destroy();
  },
};

export interface Receiver extends Disposable {
  url: string;
  port: number;
  received: Received[];
  /** How many connections were ever made. */
  connections: number;
  behaviour: Behaviour;
  close(): void;
}

/** A real HTTP receiver on loopback. */
export async function startReceiver(behaviour: Behaviour = behave.status(200)): Promise<Receiver> {
  const server: Server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => {
      body += chunk;
    });
    request.on('error', () => undefined);
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const received = { method, path: url, headers, body, at: performance.now() };
      receiver.received.push(received);
      receiver.behaviour(response, received);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const receiver: Receiver = {
    url: `http://127.0.0.1:${port}/hook`,
    port,
    received: [],
    connections: 0,
    behaviour,
    close() {
      server.closeAllConnections();
      server.close();
    },
    [Symbol.dispose]() {
      this.close();
    },
  };
  server.on('connection', () => {
    receiver.connections += 1;
  });
  return receiver;
}
