/** A typed client of the HTTP API, for the command line and the dashboard. It uses nothing but Node's own HTTP. */
import type { IncomingMessage } from 'node:http';
import {
  adminCalls,
  alertCalls,
  badgeCalls,
  caseCalls,
  channelCalls,
  importCalls,
  keyCalls,
  type Send,
  scheduleCalls,
  silenceCalls,
  snitchCalls,
  statusPageCalls,
  webhookCalls,
} from './calls.ts';
import {
  ApiError,
  type ClientOptions,
  exchangeInTurn,
  open,
  readText,
  refusal,
  TIMEOUT,
  Unreachable,
} from './exchange.ts';
import { isOwnAnswer } from './own-answer.ts';
import { readPieces } from './read-list.ts';
import { ServerClock } from './server-clock.ts';
import { CASE, READINESS } from './shapes.ts';
import { type ReadList, snitchListCalls } from './snitch-list.ts';
import { IMPATIENT, Turns } from './turns.ts';
import type { WireCase } from './wire.ts';

export type { BadgeInput, ImportInput, PageQuery, SilenceInput, SnitchInput } from './calls.ts';
export {
  AnswerNotUnderstood,
  ApiError,
  type Call,
  type ClientOptions,
  open,
  readText,
  refusal,
  Unreachable,
} from './exchange.ts';

export type Client = ReturnType<typeof createClient>;

export function createClient(options: ClientOptions) {
  const turns = new Turns(options.patience ?? IMPATIENT);
  const clock = new ServerClock();
  const send: Send = (shape, method, path, body) =>
    exchangeInTurn(turns, options, { method, path, body, shape }, ({ date }) => clock.heard(date));
  const read: ReadList = async (item, path, take) => {
    const request = { method: 'GET', path, body: undefined, shape: null };
    await exchangeInTurn(turns, options, request, ({ date }) => clock.heard(date), readPieces(item, take));
  };
  return {
    ...snitchCalls(send),
    ...snitchListCalls(read),
    ...importCalls(send),
    ...alertCalls(send),
    ...caseCalls(send),
    ...scheduleCalls(send),
    ...webhookCalls(send),
    ...channelCalls(send),
    ...silenceCalls(send),
    ...badgeCalls(send),
    ...statusPageCalls(send),
    ...keyCalls(send),
    ...adminCalls(send),
    /** The current time by the server's clock, in milliseconds since the epoch; by our own until it has answered. */
    now: () => clock.now(),
    ready: () => ready(options),
    /** The case of the key, and what the server says about the key and itself. */
    getStanding: () => standing(turns, options),
    /** The answer at `path`, whatever it is, even a refusal. */
    probe: (path: string) => probe(options, path),
    /** Opens the stream of changes. The caller has to read it, and destroy it in the end. */
    stream: (lastEventId: string | null, signal: AbortSignal) => openStream(options, lastEventId, signal),
  };
}

/** Asks whether the daemon is ready. This does not wait for a turn, because the answer is wanted now. */
function ready(options: ClientOptions) {
  const request = { method: 'GET', path: '/readyz', body: undefined, shape: READINESS };
  return exchangeInTurn(new Turns(IMPATIENT), options, request);
}

/** What a server says about a key. */
export interface Standing {
  case: WireCase;
  /** What the key may do, and the version of the server; null if the server is too old to say. */
  scope: string | null;
  version: string | null;
}

async function standing(turns: Turns, options: ClientOptions): Promise<Standing> {
  let told: IncomingMessage['headers'] = {};
  const request = { method: 'GET', path: '/v1/case', body: undefined, shape: CASE };
  const own = await exchangeInTurn(turns, options, request, (headers) => {
    told = headers;
  });
  const text = (name: string) => String(told[name] ?? '') || null;
  return { case: own, scope: text('snitch-scope'), version: text('snitch-version') };
}

export interface Probe {
  status: number;
  text: string;
  /** The time by the server's clock; null if the answer does not say. */
  date: string | null;
  /** Whether the daemon itself answered, and not a proxy in between. */
  own: boolean;
}

async function probe(options: ClientOptions, path: string): Promise<Probe> {
  const signal = AbortSignal.timeout(options.timeoutMs ?? TIMEOUT);
  try {
    const response = await open(options, { method: 'GET', path, body: undefined, signal, headers: {} });
    const text = await readText(response);
    const { statusCode: status = 0, headers } = response;
    return { status, text, date: headers.date ?? null, own: isOwnAnswer(headers) };
  } catch (error) {
    throw new Unreachable(options.url, signal.aborted ? new Error('no answer in time') : error);
  }
}

async function openStream(
  options: ClientOptions,
  lastEventId: string | null,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const headers = lastEventId === null ? {} : { 'last-event-id': lastEventId };
  try {
    const response = await open(options, {
      method: 'GET',
      path: '/v1/stream',
      body: undefined,
      signal,
      headers,
    });
    if (response.statusCode !== 200) throw refusal(response, await readText(response));
    return response;
  } catch (error) {
    throw error instanceof ApiError ? error : new Unreachable(options.url, error);
  }
}
