/** What a check-in says about itself: in its query, a form or a JSON body, whatever the Content-Type says. */
import type { IncomingMessage } from 'node:http';
import { parseTimestamp } from '../core/validation.ts';

export interface CheckInParameters {
  /** `m`, at most 256 characters. */
  message: string | null;
  /** `s` as it was given. */
  exit: string | null;
  /** `rid` in lower case, where it is a UUID. */
  runId: string | null;
  /** `at` of the query: when the job checked in, where that is told and credible. */
  at: number | null;
  /** The body, where it is no form and no JSON object with parameters: what the job printed. */
  output: string | null;
}

/** What follows this much of a body is dropped. */
const BODY_LIMIT = 10 * 1024;
const MESSAGE_LENGTH = 256;

/** How far back a check-in that is delivered late may lie, in milliseconds. */
const LATEST = 7 * 86_400_000;

const NOTHING: CheckInParameters = { message: null, exit: null, runId: null, at: null, output: null };

/** Never fails: what cannot be read is left out, and the check-in counts. The query wins over the body. */
export async function readParameters(
  request: IncomingMessage,
  query: string,
  now: number,
): Promise<CheckInParameters> {
  const hasBody = mayHaveBody(request);
  if (query === '' && !hasBody) return NOTHING;
  const asked = fromForm(query);
  const body = hasBody ? await readBody(request) : '';
  const told = body === '' ? {} : fromBody(body);
  return {
    message: shorten(asked.m ?? told.m),
    exit: asked.s ?? told.s ?? null,
    runId: runId(asked.rid ?? told.rid),
    at: query === '' ? null : momentIn(query, now),
    output: body === '' || Object.keys(told).length > 0 ? null : body,
  };
}

interface Given {
  m?: string;
  s?: string;
  rid?: string;
}

function mayHaveBody({ method, headers }: IncomingMessage): boolean {
  if (method !== 'POST' && method !== 'PUT') return false;
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}

/** At most 10 KiB. A client that goes away, or drips until it is cut off, has checked in all the same. */
function readBody(request: IncomingMessage): Promise<string> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const finish = () => {
      request.off('data', take);
      request.resume();
      resolve(decode(Buffer.concat(chunks).subarray(0, BODY_LIMIT)));
    };
    const take = (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= BODY_LIMIT) finish();
    };
    request.on('data', take);
    request.once('end', finish);
    request.once('error', finish);
    request.once('close', finish);
  });
}

/** Text without the bytes of a character that the limit cut in two. */
function decode(bytes: Buffer): string {
  const cut = bytes.length === BODY_LIMIT;
  return new TextDecoder('utf-8').decode(bytes, { stream: cut }).replaceAll('\0', '\uFFFD');
}

/** A form that a shell piped in ends with a newline, which belongs to no value. */
function fromBody(body: string): Given {
  const text = body.trim();
  if (text.startsWith('{')) return fromJson(text);
  return text.startsWith('--') ? fromMultipart(text) : fromForm(text);
}

/** The form that `curl -F` sends; its first line is what separates the parts. */
function fromMultipart(text: string): Given {
  const given: Given = {};
  const [separator = ''] = text.split(/\r?\n/, 1);
  for (const part of text.split(separator)) {
    const [head = '', ...rest] = part.split('\r\n\r\n');
    const name = /;\s*name="?(m|s|rid)"?\s*(;|\r|$)/.exec(head)?.[1] as keyof Given | undefined;
    if (name) given[name] = rest.join('\r\n\r\n').replace(/\r\n$/, '');
  }
  return given;
}

function fromForm(text: string): Given {
  const given: Given = {};
  const parameters = new URLSearchParams(text);
  for (const name of ['m', 's', 'rid'] as const) {
    const value = parameters.get(name);
    if (value !== null) given[name] = value;
  }
  return given;
}

function fromJson(text: string): Given {
  const given: Given = {};
  try {
    const parsed = JSON.parse(text) as Record<string, unknown>;
    for (const name of ['m', 's', 'rid'] as const) {
      const value = Object.hasOwn(parsed, name) ? parsed[name] : null;
      if (value !== null && typeof value !== 'object') given[name] = String(value);
    }
  } catch {
    return given;
  }
  return given;
}

/** Cut between characters, never within one. */
function shorten(message: string | undefined): string | null {
  if (message === undefined || message === '') return null;
  const characters = [...message.toWellFormed().slice(0, 2 * MESSAGE_LENGTH)];
  return characters.slice(0, MESSAGE_LENGTH).join('').toWellFormed();
}

/** The time of a check-in that was kept back while the service was away; nobody can check in for the future. */
function momentIn(query: string, now: number): number | null {
  const at = parseTimestamp(new URLSearchParams(query).get('at') ?? '');
  return at !== null && at <= now && now - at <= LATEST ? at : null;
}

function runId(given: string | undefined): string | null {
  return given && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(given) ? given.toLowerCase() : null;
}
