/**
 * The check-in address (`decisions: Check-in`). It answers beside the router of the API, on the bare request: this is
 * the path that every job takes every time, and it has to be lenient where the API is strict.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { OWN_ANSWER } from '../api/own-answer.ts';
import { SnitchError } from '../core/errors.ts';
import type { CheckIn, CheckInOutcome, Store } from '../store/store.ts';
import { type CheckInParameters, readParameters } from './check-in-parameters.ts';
import { RETRY_AFTER_S, STATUS_OF } from './errors.ts';

export interface CheckInOptions {
  store: Store;
  clock: () => number;
  /** The path below which tokens are, without a slash at the end. */
  path: string;
  /** The address that the request came from, behind trusted proxies too. */
  sourceOf: (request: IncomingMessage) => string | null;
  onAnswer: (answer: 'recorded' | 'unknown' | 'refused') => void;
  onError: (error: unknown, requestId: string) => void;
  newRequestId: () => string;
}

const TEXT = [...OWN_ANSWER, 'content-type', 'text/plain; charset=utf-8', 'cache-control', 'no-store'];
const THANKS = 'Got it, thanks!\n';
const THANKS_HEADERS = [...TEXT, 'content-length', String(THANKS.length)];
/** What is never a token where check-in addresses begin at the root. */
const API = /^\/(v1|healthz|readyz|metrics|openapi\.json)(\/|\?|$)/;
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT']);

/** Handles what is below the check-in path; false for every other request. */
export function createCheckInHandler(options: CheckInOptions) {
  const prefix = `${options.path}/`;
  return function handle(request: IncomingMessage, response: ServerResponse): boolean {
    const url = request.url ?? '';
    if (!url.startsWith(prefix) || (prefix === '/' && API.test(url))) return false;
    const target = parseTarget(url.slice(prefix.length));
    if (target === null || !METHODS.has(request.method ?? '')) refuse(request, response, target !== null);
    else void answer(options, request, response, target);
    return true;
  };
}

function refuse(request: IncomingMessage, response: ServerResponse, exists: boolean): void {
  if (exists) {
    response.setHeader('allow', [...METHODS].join(', '));
    reply(request, response, 405, 'Check in with GET, HEAD, POST or PUT.\n');
  } else {
    reply(request, response, 404, 'There is no such check-in address.\n');
  }
}

async function answer(
  options: CheckInOptions,
  request: IncomingMessage,
  response: ServerResponse,
  target: Target,
): Promise<void> {
  const now = options.clock();
  try {
    const parameters = await readParameters(request, target.query, now);
    const source = options.sourceOf(request);
    if (await options.store.applyCheckIn(toCheckIn(target, parameters, now, source))) {
      options.onAnswer('recorded');
      response.writeHead(202, THANKS_HEADERS);
      response.end(request.method === 'HEAD' ? undefined : THANKS);
    } else {
      options.onAnswer('unknown');
      reply(request, response, 404, 'There is no snitch with this token.\n');
    }
  } catch (error) {
    answerError(options, error, request, response);
  }
}

function answerError(
  options: CheckInOptions,
  error: unknown,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const id = options.newRequestId();
  options.onAnswer('refused');
  options.onError(error, id);
  const status = error instanceof SnitchError ? STATUS_OF[error.type] : 500;
  if (status === 503) response.setHeader('retry-after', RETRY_AFTER_S);
  response.setHeader('x-request-id', id);
  reply(request, response, status, `The check-in was not stored. Try again; the log has more under ${id}.\n`);
}

function reply(request: IncomingMessage, response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, [...TEXT, 'content-length', String(Buffer.byteLength(text))]);
  response.end(request.method === 'HEAD' ? undefined : text);
}

interface Target {
  token: string;
  suffix: Suffix | null;
  /** Without the question mark. */
  query: string;
}

type Suffix = { kind: 'start' | 'fail' | 'log' } | { kind: 'exit'; status: number };

/** `<token>[/<suffix>][/][?query]`, or null for what no check-in address looks like. */
function parseTarget(rest: string): Target | null {
  const mark = rest.indexOf('?');
  const path = mark < 0 ? rest : rest.slice(0, mark);
  const query = mark < 0 ? '' : rest.slice(mark + 1);
  const slash = path.indexOf('/');
  if (slash < 0) return withToken(path, null, query);
  const name = path.slice(slash + 1).replace(/\/$/, '');
  const suffix = name === '' ? null : parseSuffix(name);
  return name !== '' && suffix === null ? null : withToken(path.slice(0, slash), suffix, query);
}

function withToken(encoded: string, suffix: Suffix | null, query: string): Target | null {
  if (encoded === '' || encoded.length > 1_000) return null;
  try {
    return { token: encoded.includes('%') ? decodeURIComponent(encoded) : encoded, suffix, query };
  } catch {
    return null;
  }
}

function parseSuffix(name: string): Suffix | null {
  if (name === 'start' || name === 'fail' || name === 'log') return { kind: name };
  return /^\d{1,3}$/.test(name) && Number(name) <= 255 ? { kind: 'exit', status: Number(name) } : null;
}

function toCheckIn(
  { token, suffix }: Target,
  { message, exit, runId, at, output }: CheckInParameters,
  now: number,
  source: string | null,
): CheckIn {
  const kept = { token, now, at: at ?? now, message, source, runId, output };
  switch (suffix?.kind) {
    case 'start':
    case 'log':
      return { ...kept, outcome: suffix.kind, exitStatus: null };
    case 'fail':
      return { ...kept, outcome: 'error', exitStatus: exitStatus(exit) };
    case 'exit':
      return { ...kept, outcome: outcomeOf(String(suffix.status)), exitStatus: suffix.status };
    default:
      return { ...kept, outcome: outcomeOf(exit), exitStatus: exitStatus(exit) };
  }
}

/** Absent, empty or `0` is healthy; anything else is an error. */
function outcomeOf(exit: string | null): CheckInOutcome {
  return exit === null || exit === '' || exit === '0' ? 'healthy' : 'error';
}

/** The number where it is one; an error that came as a word is told by its outcome alone. */
function exitStatus(exit: string | null): number | null {
  return exit !== null && /^-?\d{1,9}$/.test(exit) ? Number(exit) : null;
}
