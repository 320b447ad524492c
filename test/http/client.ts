/** A small client that shows exactly what came over the socket. */
import { Agent, type IncomingHttpHeaders, request } from 'node:http';

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  /** The body as JSON. The caller says what it expects, and asserts it. */
  json<T = unknown>(): T;
}

export interface Asked {
  /** Sent as JSON. */
  json?: unknown;
  /** Sent as it is. */
  body?: string | Buffer;
  headers?: Record<string, string | string[]>;
  /** Sent in chunks, without its length said beforehand. */
  chunked?: boolean;
}

export function basic(userName: string, password = ''): string {
  return `Basic ${Buffer.from(`${userName}:${password}`).toString('base64')}`;
}

/** Asks one server with one key over connections that are kept alive. */
export class Client {
  readonly port: number;
  readonly key: string | null;
  readonly #agent = new Agent({ keepAlive: true });

  constructor(port: number, key: string | null) {
    this.port = port;
    this.key = key;
  }

  close(): void {
    this.#agent.destroy();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  get(path: string): Promise<Answer> {
    return this.ask('GET', path);
  }

  delete(path: string): Promise<Answer> {
    return this.ask('DELETE', path);
  }

  post(path: string, json?: unknown): Promise<Answer> {
    return this.ask('POST', path, json === undefined ? {} : { json });
  }

  put(path: string, json: unknown): Promise<Answer> {
    return this.ask('PUT', path, { json });
  }

  patch(path: string, json: unknown): Promise<Answer> {
    return this.ask('PATCH', path, { json });
  }

  ask(method: string, path: string, { json, body, headers = {}, chunked }: Asked = {}): Promise<Answer> {
    const payload = json === undefined ? body : JSON.stringify(json);
    const own: Record<string, string | string[]> = {};
    if (this.key !== null) own.authorization = basic(this.key);
    if (json !== undefined) own['content-type'] = 'application/json';
    if (chunked) own['transfer-encoding'] = 'chunked';
    else if (payload !== undefined) own['content-length'] = String(Buffer.byteLength(payload));
    return new Promise((resolve, reject) => {
      const options = { host: '127.0.0.1', port: this.port, method, path, agent: this.#agent };
      const sent = request({ ...options, headers: { ...own, ...headers } }, (received) => {
        const chunks: Buffer[] = [];
        received.on('data', (chunk: Buffer) => chunks.push(chunk));
        received.on('error', reject);
        received.on('end', () => {
          const text = Buffer.concat(chunks).toString('utf8');
          const json = <T>() => JSON.parse(text) as T;
          resolve({ status: received.statusCode ?? 0, headers: received.headers, text, json });
        });
      });
      sent.on('error', reject);
      sent.end(payload);
    });
  }
}
