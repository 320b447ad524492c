/**
 * Posts to addresses that others chose: guarded, with a limit on the time of the whole exchange, and never throwing.
 */
import { STATUS_CODES } from 'node:http';
import { Agent, type Dispatcher } from 'undici';
import { errorText, failureInWords } from '../messages/failure.ts';
import { type Outcome, retry } from '../outbox/outcome.ts';
import { guardedConnector, type Resolve } from './address-guard.ts';
import type { WebAddress } from './web-address.ts';

/** For the whole exchange, in milliseconds (`spec §6 Timeout`). */
export const EXCHANGE_TIMEOUT = 30_000;

/** At most this much of an answer is read, in bytes; then the connection is dropped. */
const ANSWER_LIMIT = 64 * 1024;

/** How much of an answer is kept, to find out what it means, in bytes. */
const KEPT = 4 * 1024;

/** How long reading the rest of a failed answer may take, in milliseconds. */
const LINGER = 500;

export interface HttpSenderOptions {
  /** Whether loopback and private addresses may be reached. */
  allowPrivate: boolean;
  /** The version of this program; the user agent shows its major part. */
  version: string;
  /** For the whole exchange, in milliseconds. */
  timeout?: number;
  resolve?: Resolve;
}

export interface HttpRequest {
  /** POST when absent. */
  method?: 'POST' | 'PUT';
  headers: Record<string, string>;
  body: string;
  /** What no error may show, besides the secrets of the address: a token in the headers or the body. */
  secrets?: readonly string[];
  /** Aborts the attempt. */
  stop?: AbortSignal;
}

export interface Answer {
  status: number;
  /** The status in words: `429 Too Many Requests`. */
  statusLine: string;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The beginning of the body: a few KB. */
  text: string;
}

export interface HttpSender {
  /**
   * Never throws: whatever goes wrong before there is an answer is an outcome to be retried.
   *
   * @param meaning what the answer says about the delivery; it may quote the answer, which is cut and shown in one
   *   line, without secrets
   */
  post(address: WebAddress, request: HttpRequest, meaning: (answer: Answer) => Outcome): Promise<Outcome>;
  /** Lets requests in flight finish, and then closes all connections. */
  retire(): void;
  /** Closes all connections now. */
  close(): Promise<void>;
}

export function createHttpSender(options: HttpSenderOptions): HttpSender {
  const { allowPrivate, version, resolve, timeout = EXCHANGE_TIMEOUT } = options;
  let dispatcher: Agent | null = null;
  // Made when it is first needed, because the library takes some megabytes.
  const connect = () =>
    new Agent({
      connect: guardedConnector({ allowPrivate, timeout, ...(resolve ? { resolve } : {}) }),
      // Only the whole exchange has a time limit: an answer that drips would outlast a limit on idle time.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  const userAgent = `Snitch/${version.split('.')[0]}`;
  return {
    post(address, { method = 'POST', headers, body, secrets: given = [], stop }, meaning) {
      const secrets = [...address.secrets, ...given];
      return withinTime({ timeout, stop, host: address.host, secrets }, async (signal) => {
        const sent = { method, headers: { 'user-agent': userAgent, ...headers }, body, signal };
        dispatcher ??= connect();
        const outcome = meaning(await exchange(dispatcher, address, sent));
        return outcome.kind === 'delivered'
          ? outcome
          : { ...outcome, error: errorText(outcome.error, secrets) };
      });
    },
    retire: () => void dispatcher?.close().catch(() => undefined),
    close: async () => dispatcher?.destroy(),
  };
}

/** Runs one exchange with a limit on its whole time, and puts every failure into words. */
async function withinTime(
  bounds: { timeout: number; stop: AbortSignal | undefined; host: string; secrets: readonly string[] },
  run: (signal: AbortSignal) => Promise<Outcome>,
): Promise<Outcome> {
  const { timeout, stop, host, secrets } = bounds;
  const expiry = new AbortController();
  const timer = setTimeout(() => expiry.abort(), timeout);
  try {
    return await run(stop ? AbortSignal.any([expiry.signal, stop]) : expiry.signal);
  } catch (error) {
    if (expiry.signal.aborted) return retry(`no complete answer within ${timeout / 1000} s`);
    if (stop?.aborted) return retry('given up because the service is stopping');
    return retry(failureInWords(error, host, secrets));
  } finally {
    clearTimeout(timer);
  }
}

async function exchange(
  dispatcher: Dispatcher,
  { origin, path }: WebAddress,
  request: { method: 'POST' | 'PUT'; headers: Record<string, string>; body: string; signal: AbortSignal },
): Promise<Answer> {
  const {
    statusCode: status,
    headers,
    body,
  } = await dispatcher.request({
    origin,
    path,
    ...request,
  });
  const isSuccess = status >= 200 && status < 300;
  const text = await (isSuccess ? beginningOf(body) : hastyBeginningOf(body));
  return { status, statusLine: `${status} ${STATUS_CODES[status] ?? ''}`.trim(), headers, text };
}

/** Reads to the end or to the limit; leaving the loop early drops the connection. */
async function beginningOf(body: AsyncIterable<Buffer>, kept: Buffer[] = []): Promise<string> {
  let read = 0;
  for await (const chunk of body) {
    if (read < KEPT) kept.push(chunk);
    read += chunk.length;
    if (read >= ANSWER_LIMIT) break;
  }
  return textOf(kept);
}

/** The status has already decided; reading on for a moment may say why, and lets the connection be reused. */
async function hastyBeginningOf(body: Dispatcher.ResponseData['body']): Promise<string> {
  const kept: Buffer[] = [];
  const timer = setTimeout(() => body.destroy(), LINGER);
  try {
    return await beginningOf(body, kept);
  } catch {
    return textOf(kept);
  } finally {
    clearTimeout(timer);
  }
}

function textOf(chunks: readonly Buffer[]): string {
  return Buffer.concat(chunks).subarray(0, KEPT).toString();
}

/** The wait in milliseconds that `Retry-After` asks for, in either of its forms: seconds or a date. */
export function retryAfter({ headers }: Pick<Answer, 'headers'>, now: number): number | null {
  const header = headers['retry-after'];
  if (typeof header !== 'string') return null;
  if (/^\d{1,9}(\.\d{1,9})?$/.test(header)) return Math.ceil(Number(header) * 1000);
  const date = Date.parse(header);
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}
