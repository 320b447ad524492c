/** What a check-in says about itself: in its query, a form or a JSON body, whatever the Content-Type says. */
import type { IncomingMessage } from 'node:http';
import { parseTimestamp } from '../../core/validation.ts';
import { WEEK } from '../../text/durations.ts';
import { walkStructure } from '../endpoint/json-structure.ts';
import { type CheckInBody, NO_BODY, readBody } from './body.ts';

export interface CheckInParameters {
  /** `m`, at most 256 characters. */
  message: string | null;
  /** `s` as it was given. */
  exit: string | null;
  /** `rid` in lower case, if it is a UUID. */
  runId: string | null;
  /** Whether there is a `rid` at all. */
  isRun: boolean;
  /** `at` of the query: when the job checked in, if that is given and credible. */
  at: number | null;
  /** What the job printed: the body, if it holds no parameters. */
  output: string | null;
  /** Whether the body has more than what was read of it. */
  bodyGoesOn: boolean;
}

const MESSAGE_LENGTH = 256;

/** How far back a check-in that is delivered late may lie, in milliseconds. */
const LATEST = WEEK;

export const NOTHING_SAID: CheckInParameters = {
  message: null,
  exit: null,
  runId: null,
  isRun: false,
  at: null,
  output: null,
  bodyGoesOn: false,
};

export interface Asked {
  /** Without the question mark. */
  query: string;
  /** Whether the address has a suffix. What a job prints must never be taken for parameters then. */
  hasSuffix: boolean;
  now: number;
}

/** Whether there is neither a query nor a body, as with most jobs: then there is nothing to wait for. */
export function saysNothing(request: IncomingMessage, query: string): boolean {
  return query === '' && !mayHaveBody(request);
}

/** Never fails: what cannot be read is left out, and the check-in counts. The query wins over the body. */
export async function readParameters(
  request: IncomingMessage,
  { query, hasSuffix, now }: Asked,
): Promise<CheckInParameters> {
  const hasBody = mayHaveBody(request);
  const asked = givenIn(new URLSearchParams(query));
  const body = hasBody ? await readBody(request) : NO_BODY;
  const isOutput = hasSuffix || asked.rid !== undefined;
  const told = isOutput ? null : fromBody(body, request.headers['content-type'] ?? '');
  const rid = asked.rid ?? told?.rid;
  return {
    message: shorten(asked.m ?? told?.m),
    exit: asked.s ?? told?.s ?? null,
    runId: runId(rid),
    isRun: rid !== undefined,
    at: query === '' ? null : momentIn(query, now),
    output: body.kept === '' || told !== null ? null : body.kept,
    bodyGoesOn: body.goesOn,
  };
}

interface Given {
  m?: string;
  s?: string;
  rid?: string;
}

const NAMES = ['m', 's', 'rid'] as const;

/** Whether a field is one of ours. Names of values begin with `v.`. */
function isOurs(name: string): boolean {
  return (NAMES as readonly string[]).includes(name) || name.startsWith('v.');
}

function mayHaveBody({ method, headers }: IncomingMessage): boolean {
  if (method !== 'POST' && method !== 'PUT') return false;
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}

/** The parameters in a body, or null if it is what the job printed. */
function fromBody({ text }: CheckInBody, contentType: string): Given | null {
  return fromForm(text) ?? fromJson(text) ?? fromMultipart(text, contentType);
}

/**
 * A form is one line whose first key is one of ours. A line break that a shell put at its end belongs to no value. If
 * any other key comes first, the text is an address, a log line or a report that the job printed.
 */
function fromForm(text: string): Given | null {
  const line = text.replace(/^[ \t]+/, '').trimEnd();
  const end = line.indexOf('=');
  if (end < 1 || !isOurs(line.slice(0, end)) || /[\r\n]/.test(line)) return null;
  return givenIn(new URLSearchParams(ownPairs(line).join('&')));
}

/** More than any client sends. A body of nothing but ampersands is not searched to its end. */
const MOST_PAIRS = 10_000;

/** The first pair of each of our names. */
function ownPairs(line: string): string[] {
  const found = new Map<string, string>();
  let start = 0;
  for (let count = 0; count < MOST_PAIRS && start < line.length && found.size < NAMES.length; count += 1) {
    const next = line.indexOf('&', start);
    const end = next < 0 ? line.length : next;
    const name = NAMES.find((one) => line.startsWith(`${one}=`, start));
    if (name && !found.has(name)) found.set(name, line.slice(start, end));
    start = end + 1;
  }
  return [...found.values()];
}

function givenIn(parameters: URLSearchParams): Given {
  const given: Given = {};
  for (const name of NAMES) {
    const value = parameters.get(name);
    if (value !== null) given[name] = value;
  }
  return given;
}

/**
 * An object has parameters only if all of its keys are ours and all values are plain. Any other is a report of the job.
 */
function fromJson(text: string): Given | null {
  if (!text.trimStart().startsWith('{') || !isFlat(text)) return null;
  const entries = entriesOf(text);
  if (!entries?.every(([name, value]) => isOurs(name) && (value === null || typeof value !== 'object'))) {
    return null;
  }
  const given: Given = {};
  for (const [name, value] of entries) {
    const own = NAMES.find((one) => one === name);
    if (own && value !== null) given[own] = String(value);
  }
  return given;
}

/** More keys than a check-in can have, with all its values. */
const MOST_KEYS = 50;

/** Whether a text can be one object of a few plain values, so that no long text is parsed for nothing. */
function isFlat(text: string): boolean {
  let depth = 0;
  let commas = 0;
  return walkStructure(text, (character) => {
    if (character === ',') commas += 1;
    else if (character === '{' || character === '[') depth += 1;
    return depth <= 1 && commas < MOST_KEYS;
  });
}

function entriesOf(text: string): [string, unknown][] | null {
  try {
    return Object.entries(JSON.parse(text) as object);
  } catch {
    return null;
  }
}

/** The form that `curl -F` sends: the Content-Type names the separator of its parts, and the first part is ours. */
function fromMultipart(text: string, contentType: string): Given | null {
  const named = /^multipart\/form-data\s*;.*?\bboundary=(?:"([^"]+)"|([^\s;]+))/i.exec(contentType);
  const separator = `--${named?.[1] ?? named?.[2]}`;
  if (named === null || !text.startsWith(separator)) return null;
  const given: Given = {};
  let first: string | undefined;
  for (const part of text.split(separator).slice(1)) {
    const [head = '', ...rest] = part.split('\r\n\r\n');
    const name = /;\s*name="?([^";\r\n]+)/.exec(head)?.[1];
    first ??= name;
    const own = NAMES.find((one) => one === name);
    if (own) given[own] ??= rest.join('\r\n\r\n').replace(/\r\n$/, '');
  }
  return first !== undefined && isOurs(first) ? given : null;
}

/** Cut between characters, never within one. */
function shorten(message: string | undefined): string | null {
  if (message === undefined || message === '') return null;
  const characters = [...message.toWellFormed().slice(0, 2 * MESSAGE_LENGTH)];
  return characters.slice(0, MESSAGE_LENGTH).join('').toWellFormed();
}

/** The time of a check-in that is delivered late because the service was away. A time in the future does not count. */
function momentIn(query: string, now: number): number | null {
  const at = parseTimestamp(new URLSearchParams(query).get('at') ?? '');
  return at !== null && at <= now && now - at <= LATEST ? at : null;
}

function runId(given: string | undefined): string | null {
  return given && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(given) ? given.toLowerCase() : null;
}
