/**
 * The check-in address (`decisions: Check-in`). It bypasses the router of the API: every job takes this path on every
 * run, and it has to be lenient where the API is strict.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { OWN_ANSWER } from '../../api/own-answer.ts';
import type { CheckIn, CheckInOutcome } from '../../core/check-in.ts';
import { SnitchError, StoreUnavailable } from '../../core/errors.ts';
import { NO_VALUES } from '../../core/judgement/values.ts';
import type { Store } from '../../store/store.ts';
import { RETRY_AFTER_S, STATUS_OF } from '../endpoint/errors.ts';
import { BODY_LIMIT } from './body.ts';
import type { ByName, Refusal } from './by-name.ts';
import { type CheckInParameters, NOTHING_SAID, readParameters, saysNothing } from './parameters.ts';
import type { CheckInPath, Named, PathReader, Suffix, Target } from './target.ts';

export interface CheckInOptions {
  store: Store;
  clock: () => number;
  readPath: PathReader;
  byName: ByName;
  /** The address that the request came from, even through trusted proxies. */
  sourceOf: (request: IncomingMessage) => string | null;
  /** `begunAt` is when a recorded check-in began, in milliseconds of the monotonic clock. */
  onAnswer: (answer: 'recorded' | 'unknown' | 'refused', begunAt?: number) => void;
  onError: (error: unknown, requestId: string) => void;
  newRequestId: () => string;
}

const TEXT = [...OWN_ANSWER, 'content-type', 'text/plain; charset=utf-8', 'cache-control', 'no-store'];
const THANKS = 'Got it, thanks!\n';
const MADE = 'Got it, thanks! The snitch is made.\n';
const THANKS_HEADERS = [...TEXT, 'content-length', String(THANKS.length)];
/** The only answer that clients of another family of monitors accept as a success. */
const OK = 'OK';
const OK_HEADERS = [...TEXT, 'content-length', String(OK.length)];
/** Tells those clients how many bytes of a job's output are kept. */
const BODY_LIMIT_HEADER = 'ping-body-limit';
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT']);

/** How long a client may go on sending a body after enough of it was read, in milliseconds. */
const LINGER = 5_000;

/**
 * @returns a handler that answers check-ins, and returns false for every other request. If only the store can tell, it
 * returns true, and calls `others` if it turns out not to be a check-in.
 */
export function createCheckInHandler(options: CheckInOptions) {
  return function handle(request: IncomingMessage, response: ServerResponse, others: () => void): boolean {
    const path = options.readPath(request.url ?? '');
    if (path === null) return false;
    if (path.mayBePage && path.target !== null) {
      if (!METHODS.has(request.method ?? '')) return false;
      void answerWhichItIs(options, request, response, { ...path, target: path.target }, others);
      return true;
    }
    if (path.hasSuffix || path.alwaysOk) response.setHeader(BODY_LIMIT_HEADER, BODY_LIMIT);
    const { target, named, alwaysOk } = path;
    const exists = target !== null || named !== null;
    if (!exists || !METHODS.has(request.method ?? '')) refuse(request, response, exists);
    else if (named !== null) void answerNamed(options, request, response, { ...path, named });
    else if (target !== null) void answerToken(options, request, response, target, alwaysOk);
    return true;
  };
}

/** If a page and a snitch have the same address, the snitch goes first: its job cannot be given another one. */
async function answerWhichItIs(
  options: CheckInOptions,
  request: IncomingMessage,
  response: ServerResponse,
  { target, hasSuffix, alwaysOk }: CheckInPath & { target: Target },
  others: () => void,
): Promise<void> {
  const now = options.clock();
  try {
    if ((await options.store.ownerOfToken(target.token)) === null) return others();
  } catch (error) {
    noteLost(options, error, now);
    return answerError(options, error, request, response);
  }
  if (hasSuffix) response.setHeader(BODY_LIMIT_HEADER, BODY_LIMIT);
  await answerToken(options, request, response, target, alwaysOk);
}

function refuse(request: IncomingMessage, response: ServerResponse, exists: boolean): void {
  if (exists) {
    response.setHeader('allow', [...METHODS].join(', '));
    reply(request, response, 405, 'Check in with GET, HEAD, POST or PUT.\n');
  } else {
    reply(request, response, 404, 'There is no such check-in address.\n');
  }
}

/** The path of nearly every check-in: one without parameters waits for nothing but the store. */
async function answerToken(
  options: CheckInOptions,
  request: IncomingMessage,
  response: ServerResponse,
  target: Target,
  alwaysOk: boolean,
): Promise<void> {
  const now = options.clock();
  const begunAt = performance.now();
  try {
    const parameters = saysNothing(request, target.query)
      ? NOTHING_SAID
      : await readParameters(request, { query: target.query, hasSuffix: target.suffix !== null, now });
    if (parameters.bodyGoesOn) response.setHeader('connection', 'close');
    const checkIn = toCheckIn(target.token, target.suffix, parameters, now, options.sourceOf(request));
    if (await options.store.applyCheckIn(checkIn)) {
      options.onAnswer('recorded', begunAt);
      thank(request, response, alwaysOk || target.suffix !== null || parameters.isRun);
    } else {
      options.onAnswer('unknown');
      reply(request, response, 404, 'There is no snitch with this token.\n');
    }
  } catch (error) {
    answerError(options, error, request, response);
  }
}

/** The token of a snitch from another service may look like a key: if there is no such key, the token is meant. */
async function answerNamed(
  options: CheckInOptions,
  request: IncomingMessage,
  response: ServerResponse,
  { named, target, alwaysOk }: CheckInPath & { named: Named },
): Promise<void> {
  const now = options.clock();
  const begunAt = performance.now();
  try {
    const admitted = await options.byName.admit(request, named);
    if (admitted.kind === 'refused') {
      if (target !== null && admitted.status === STATUS_OF.api_key_invalid) {
        return answerToken(options, request, response, target, alwaysOk);
      }
      // Nobody came who may check in, so no job's check-in was refused, and no operator need look.
      options.onAnswer('unknown');
      return answerRefusal(request, response, admitted);
    }
    const { query, suffix } = named;
    const parameters = await readParameters(request, { query, hasSuffix: suffix !== null, now });
    if (parameters.bodyGoesOn) response.setHeader('connection', 'close');
    const { token, ...checkIn } = toCheckIn('', suffix, parameters, now, options.sourceOf(request));
    const answer = await options.byName.record(admitted, named, checkIn);
    if (answer.kind === 'refused') {
      options.onAnswer(answer.status === STATUS_OF.resource_not_found ? 'unknown' : 'refused');
      return answerRefusal(request, response, answer);
    }
    options.onAnswer('recorded', begunAt);
    if (answer.kind === 'made') reply(request, response, 201, MADE);
    else thank(request, response, true);
  } catch (error) {
    noteLost(options, error, now);
    answerError(options, error, request, response);
  }
}

function answerRefusal(
  request: IncomingMessage,
  response: ServerResponse,
  { status, text, headers }: Refusal,
): void {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  reply(request, response, status, text);
}

function thank(request: IncomingMessage, response: ServerResponse, isOk: boolean): void {
  if (isOk) {
    response.setHeader(BODY_LIMIT_HEADER, BODY_LIMIT);
    send(request, response, [200, OK_HEADERS, OK]);
  } else send(request, response, [202, THANKS_HEADERS, THANKS]);
}

/** The store itself notes check-ins that it failed to write, but not those lost while looking something up first. */
function noteLost({ store }: CheckInOptions, error: unknown, since: number): void {
  if (error instanceof StoreUnavailable) store.node?.noteLostCheckIn(since, error);
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
  send(request, response, [status, [...TEXT, 'content-length', String(Buffer.byteLength(text))], text]);
}

type Reply = [status: number, headers: string[], text: string];

function send(request: IncomingMessage, response: ServerResponse, [status, headers, text]: Reply): void {
  response.writeHead(status, headers);
  const body = request.method === 'HEAD' ? undefined : text;
  if (request.isPaused()) endLater(request, response, body);
  else response.end(body);
}

/**
 * The client is still sending a body that is no longer needed. Closing the connection now would reset it, which the
 * client would treat as a failure. So it gets its answer at once, and has a limited time to finish sending.
 */
function endLater(request: IncomingMessage, response: ServerResponse, body: string | undefined): void {
  if (body !== undefined) response.write(body);
  const end = () => {
    clearTimeout(late);
    response.end();
  };
  const late = setTimeout(end, LINGER).unref();
  request.once('end', end).once('close', end).resume();
}

function toCheckIn(
  token: string,
  suffix: Suffix | null,
  { message, exit, runId, at, output, reported }: CheckInParameters,
  now: number,
  source: string | null,
): CheckIn {
  const [outcome, status] = endOf(suffix, exit);
  const told = reported === NO_VALUES ? {} : { reported };
  return { token, now, at: at ?? now, outcome, exitStatus: status, message, source, runId, output, ...told };
}

/** What a check-in reports: its outcome, and the exit status if that is a number. */
function endOf(suffix: Suffix | null, exit: string | null): [CheckInOutcome, number | null] {
  switch (suffix?.kind) {
    case 'start':
    case 'log':
      return [suffix.kind, null];
    case 'fail':
      return ['error', exitStatus(exit)];
    case 'exit':
      return [outcomeOf(String(suffix.status)), suffix.status];
    default:
      return [outcomeOf(exit), exitStatus(exit)];
  }
}

/** Absent, empty or `0` is healthy; anything else is an error. */
function outcomeOf(exit: string | null): CheckInOutcome {
  return exit === null || exit === '' || exit === '0' ? 'healthy' : 'error';
}

/**
 * The status if it is a number, which on Windows can have ten digits. An error that was given as a word shows only in
 * the outcome.
 */
function exitStatus(exit: string | null): number | null {
  return exit !== null && /^-?\d{1,10}$/.test(exit) ? Number(exit) : null;
}
