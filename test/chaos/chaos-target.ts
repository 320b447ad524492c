/** A webhook target that misbehaves as requested until it is healed, and records what reached it. */
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import type { AlertPayload } from '../../src/core/alert.ts';
import { freePort } from '../free-port.ts';

export interface Post {
  /** In milliseconds since the epoch. */
  at: number;
  id: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** Misbehaves in its own way. @returns a function that ends the exchange well once the target is healed */
type Misbehaviour = (response: ServerResponse) => undefined | (() => void);

const HANG: Misbehaviour = (response) => () => response.writeHead(200).end();

const DRIP: Misbehaviour = (response) => {
  response.writeHead(200);
  const timer = setInterval(() => response.write('.'), 1_000);
  response.on('close', () => clearInterval(timer));
  return () => response.end();
};

const CLOSE_MID_BODY: Misbehaviour = (response) => {
  response.writeHead(200, { 'content-length': '1000' });
  response.write('half', () => response.destroy());
  return undefined;
};

const answering =
  (status: number, headers: Record<string, string> = {}): Misbehaviour =>
  (response) => {
    response.writeHead(status, headers).end('no');
    return undefined;
  };

/** Each way to misbehave, with the words that the delivery must have for it. */
export const MISBEHAVIOURS: Record<string, { how: Misbehaviour | null; told: RegExp }> = {
  hangs: { how: HANG, told: /^no complete answer within 30 s$/ },
  'drips a byte a second': { how: DRIP, told: /^no complete answer within 30 s$/ },
  'closes in mid-body': {
    how: CLOSE_MID_BODY,
    told: /^connection closed by 127\.0\.0\.1:\d+ before its answer/,
  },
  'answers 500': { how: answering(500), told: /^answered 500 Internal Server Error$/ },
  'answers 503': { how: answering(503), told: /^answered 503 Service Unavailable$/ },
  redirects: {
    how: answering(302, { location: 'http://127.0.0.1:9/elsewhere?token=x' }),
    told: /^redirected to http:\/\/127\.0\.0\.1:9\/elsewhere; redirects are not followed$/,
  },
  'refuses connections': { how: null, told: /^connection refused by 127\.0\.0\.1:\d+$/ },
};

export class ChaosTarget {
  readonly posts: Post[] = [];
  /** The name of its misbehaviour, or null if it is healthy from the start. */
  readonly misbehaviour: string | null;
  /** As the API showed it when the webhook was made. */
  secret = '';
  readonly #server: Server;
  #port = 0;
  #healed: boolean;
  readonly #endings = new Set<() => void>();

  private constructor(misbehaviour: string | null) {
    this.misbehaviour = misbehaviour;
    this.#healed = misbehaviour === null;
    this.#server = createServer((request, response) => {
      text(request).then(
        (body) => {
          const { headers } = request;
          this.posts.push({ at: Date.now(), id: String(headers['webhook-id']), headers, body });
          this.#answer(response);
        },
        () => response.destroy(),
      );
    });
  }

  static async start(misbehaviour: string | null): Promise<ChaosTarget> {
    const target = new ChaosTarget(misbehaviour);
    const isAway = misbehaviour !== null && !MISBEHAVIOURS[misbehaviour]?.how;
    if (isAway) target.#port = await freePort();
    else await target.#listen();
    return target;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/hook`;
  }

  /** Makes it answer well from now on, including requests that it left without an answer. */
  async heal(): Promise<void> {
    this.#healed = true;
    for (const end of this.#endings) end();
    if (!this.#server.listening) await this.#listen();
  }

  async stop(): Promise<void> {
    if (this.#server.listening) await this.#close();
  }

  distinct(): number {
    return new Set(this.posts.map(({ id }) => id)).size;
  }

  /** @throws the error of the published library unless it accepts the signature of every post */
  verifySignatures(): void {
    const receiver = new Webhook(this.secret);
    for (const { body, headers } of this.posts) receiver.verify(body, headers as Record<string, string>);
  }

  #answer(response: ServerResponse): void {
    const how = this.#healed ? null : MISBEHAVIOURS[this.misbehaviour ?? '']?.how;
    if (!how) {
      response.writeHead(200).end();
      return;
    }
    const end = how(response);
    if (!end) return;
    this.#endings.add(end);
    response.on('close', () => this.#endings.delete(end));
  }

  #listen(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject).listen(this.#port, '127.0.0.1', () => {
        this.#port = (this.#server.address() as AddressInfo).port;
        resolve();
      });
    });
  }

  #close(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }
}

/** When the alert was decided by the daemon's clock, in milliseconds since the epoch. */
export function decidedAt({ body }: Post): number {
  return Date.parse((JSON.parse(body) as AlertPayload).timestamp);
}
