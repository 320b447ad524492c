/** Makes one call of the HTTP API with nothing but Node's own HTTP. */
import type { IncomingMessage } from 'node:http';
import { isOwnAnswer } from './own-answer.ts';
import { PLAIN_TEXT, type Shape } from './shape.ts';
import type { Patience, Turns } from './turns.ts';
import type { WireError } from './wire.ts';

/** The server refused the call. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly body: WireError | null;
  /** After how many seconds to try again; null if the server does not say. */
  readonly retryAfterS: number | null;
  /** Whether something other than the daemon answered, such as a proxy or the web server at a wrong address. */
  readonly foreign: boolean;

  /** @param redirect where the answer points, for a redirect: it is never followed, because the key would go there */
  constructor(
    status: number,
    body: WireError | null,
    retryAfterS: number | null,
    { redirect = null, foreign = false }: { redirect?: string | null; foreign?: boolean } = {},
  ) {
    const who = foreign && redirect === null ? ', and not as a snitch server' : '';
    const where = redirect === null ? '' : `: it redirects to ${redirect}`;
    super(body?.error ?? `the server answered with status ${status}${who}${where}`);
    this.foreign = foreign;
    this.status = status;
    this.body = body;
    this.retryAfterS = retryAfterS;
  }
}

/** The answer does not look as it should: it comes from something else, or from a Snitch server of another version. */
export class AnswerNotUnderstood extends Error {
  override readonly name = 'AnswerNotUnderstood';

  constructor(url: string, { method, path }: Pick<Call, 'method' | 'path'>, fault: string) {
    const asked = `${method} ${path.split('?', 1)[0]}`;
    super(
      `what answers at ${url} is not a snitch server, or one of another version: its answer to ${asked} ${fault}`,
    );
  }
}

/** No answer came: nothing listens there, the connection broke, or time ran out. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable';
  readonly url: string;
  /** Whether the server was there and went away during the call, so it may have carried it out. */
  readonly broken: boolean;

  constructor(url: string, cause: unknown) {
    const broken = cause instanceof Error && BROKEN.has(codeOf(cause));
    const said = cause instanceof Error ? cause.message || codeOf(cause) : String(cause);
    // The rest is advice of Node.js to whoever starts it, to do what this program does already.
    const [why] = said.split('; if the root CA is installed locally', 1);
    super(
      broken
        ? `the connection to ${url} broke before the answer came: ${why}`
        : `cannot reach ${url}: ${why}`,
      { cause },
    );
    this.url = url;
    this.broken = broken;
  }
}

const BROKEN: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE']);

function codeOf(error: Error): string {
  return 'code' in error ? String(error.code) : error.name;
}

export interface ClientOptions {
  /** `http://host:port`, `https://…`, with or without a path, or `unix:/path/to/socket`. */
  url: string;
  apiKey: string;
  /** How long to wait for an answer, and for each further part of a long one, in milliseconds. */
  timeoutMs?: number;
  /** How long to wait for a server that asks for it. Without it, the server's request to wait is an error. */
  patience?: Patience;
}

/** The key is the user name of HTTP Basic, and there is no password (`spec §5`). */
export function basicAuthorization(apiKey: string): string {
  return `Basic ${Buffer.from(`${apiKey}:`).toString('base64')}`;
}

export const TIMEOUT = 30_000;
/** An answer that is read as a whole, or a part of a list that cannot be cut, in bytes. */
export const LARGEST_ANSWER = 512 * 1024 * 1024;

/** A call, and the shape that its answer must have; null if nothing of the answer is used. */
export interface Request<T> extends Pick<Call, 'method' | 'path' | 'body'> {
  shape: Shape<T> | null;
}

/**
 * Reads an answer that is no refusal.
 *
 * @param onPart must be called for each part that arrives
 * @throws AnswerNotUnderstood for an answer without the expected shape
 */
export type ReadAnswer<T> = (
  url: string,
  request: Request<T>,
  response: IncomingMessage,
  onPart: () => void,
) => Promise<T>;

const readWhole: ReadAnswer<unknown> = async (url, request, response, onPart) => {
  const text = await readText(response, onPart);
  if (request.shape === null) return undefined;
  return request.shape === PLAIN_TEXT ? text : understand(url, request, () => JSON.parse(text));
};

/**
 * Sends a call when its turn comes, and again if the server asks to wait. That is safe, because a call refused with
 * `Retry-After` has changed nothing (`decisions: 503`).
 *
 * @param onHeaders is given the headers of each answer as soon as they arrive
 */
export async function exchangeInTurn<T>(
  turns: Turns,
  options: ClientOptions,
  request: Request<T>,
  onHeaders: (headers: IncomingMessage['headers']) => void = () => {},
  read = readWhole as ReadAnswer<T>,
): Promise<T> {
  for (let waitedS = 0; ; ) {
    const done = await turns.take();
    let headers: IncomingMessage['headers'] = {};
    try {
      const onAnswer = (response: IncomingMessage) => {
        headers = response.headers;
        onHeaders(headers);
      };
      return await exchange<T>(options, request, onAnswer, read);
    } catch (error) {
      const waited = error instanceof ApiError ? turns.hold(error, waitedS) : null;
      if (waited === null) throw error;
      waitedS = waited;
    } finally {
      done(headers);
    }
  }
}

async function exchange<T>(
  options: ClientOptions,
  request: Request<T>,
  onAnswer: (response: IncomingMessage) => void,
  read: ReadAnswer<T>,
): Promise<T> {
  using limit = idleLimit(options.timeoutMs ?? TIMEOUT);
  const { signal } = limit;
  try {
    const { method, path, body } = request;
    const response = await open(options, { method, path, body, signal, headers: {} });
    onAnswer(response);
    const status = response.statusCode ?? 0;
    if (status < 200 || status > 299) throw refusal(response, await readText(response, limit.goOn));
    return await read(options.url, request, response, limit.goOn);
  } catch (error) {
    if (error instanceof ApiError || error instanceof AnswerNotUnderstood) throw error;
    throw new Unreachable(options.url, signal.aborted ? new Error('no answer in time') : error);
  }
}

export interface Call {
  method: string;
  path: string;
  body: unknown;
  signal: AbortSignal;
  headers: Record<string, string>;
}

export function open({ url, apiKey }: ClientOptions, call: Call): Promise<IncomingMessage> {
  const socketPath = url.startsWith('unix:') ? url.slice('unix:'.length) : undefined;
  const target = new URL(socketPath === undefined ? url : 'http://localhost');
  // The path is joined by hand, because a tag may be `.` or `..`, and a URL would resolve such segments.
  const path = target.pathname.replace(/\/+$/, '') + call.path;
  const text = call.body === undefined ? '' : JSON.stringify(call.body);
  const headers = {
    ...call.headers,
    ...(apiKey === '' ? {} : { authorization: basicAuthorization(apiKey) }),
    ...(text === '' ? {} : { 'content-type': 'application/json' }),
    'content-length': Buffer.byteLength(text),
  };
  // Importing these modules would evaluate everything that they export, including a second HTTP client, and that
  // alone takes longer than a command.
  const { request } =
    target.protocol === 'https:'
      ? process.getBuiltinModule('node:https')
      : process.getBuiltinModule('node:http');
  return new Promise((resolve, reject) => {
    const common = { path, method: call.method, headers, signal: call.signal, agent: false };
    request(target, socketPath === undefined ? common : { ...common, socketPath }, resolve)
      .on('error', reject)
      .end(text);
  });
}

interface IdleLimit extends Disposable {
  signal: AbortSignal;
  /** Restarts the time limit because something arrived. */
  goOn: () => void;
}

/** A long answer that keeps coming may take this many times the limit. */
const LONGEST = 20;

/** A very long list takes its time, which is not the same as a server that does not answer. */
function idleLimit(milliseconds: number): IdleLimit {
  const idle = new AbortController();
  const timer = setTimeout(() => idle.abort(), milliseconds);
  const whole = setTimeout(() => idle.abort(), milliseconds * LONGEST);
  return {
    signal: idle.signal,
    goOn: () => void timer.refresh(),
    [Symbol.dispose]: () => {
      clearTimeout(timer);
      clearTimeout(whole);
    },
  };
}

/** @param onPart is called for each part that arrives */
export async function readText(response: IncomingMessage, onPart: () => void = () => {}): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    onPart();
    size += chunk.length;
    if (size > LARGEST_ANSWER) throw new Error('the answer is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/**
 * @param parse parses the answer, or what is left of it
 * @throws AnswerNotUnderstood for an answer without the expected shape, so callers never see one
 */
export function understand<T>(
  url: string,
  request: Pick<Request<T>, 'method' | 'path' | 'shape'>,
  parse: () => unknown,
): unknown {
  let answer: unknown;
  try {
    answer = parse();
  } catch {
    throw new AnswerNotUnderstood(url, request, 'is not JSON');
  }
  const fault = request.shape?.(answer) ?? null;
  if (fault !== null) throw new AnswerNotUnderstood(url, request, fault);
  return answer;
}

export function refusal(response: IncomingMessage, text: string): ApiError {
  const retryAfter = response.headers['retry-after'];
  const seconds = retryAfter !== undefined && /^\d+$/.test(retryAfter) ? Number(retryAfter) : null;
  const status = response.statusCode ?? 0;
  const body = parseError(text);
  return new ApiError(status, body, seconds, {
    redirect: redirectOf(status, response.headers.location),
    // Daemons from before the header are known by the form of their errors.
    foreign: body === null && !isOwnAnswer(response.headers),
  });
}

/** The address without its query, which may contain secrets. */
function redirectOf(status: number, location: string | undefined): string | null {
  return status >= 300 && status <= 399 && location ? (location.split('?', 1)[0] ?? '').slice(0, 200) : null;
}

/** Null if the error is not the daemon's own, such as the page of a proxy. */
function parseError(text: string): WireError | null {
  try {
    const body = JSON.parse(text) as Partial<Record<keyof WireError, unknown>> | null;
    if (!body || typeof body.error !== 'string') return null;
    const { error, type, validations } = body;
    const known: WireError = { error, type: typeof type === 'string' ? type : '' };
    return Array.isArray(validations) ? { ...known, validations: validations.filter(isValidation) } : known;
  } catch {
    return null;
  }
}

function isValidation(given: unknown): given is { attribute: string; message: string } {
  if (typeof given !== 'object' || given === null) return false;
  const { attribute, message } = given as Record<string, unknown>;
  return typeof attribute === 'string' && typeof message === 'string';
}
