/** Sends one check-in, with its time if it comes late. */
import type { IncomingMessage } from 'node:http';
import { isOwnAnswer } from '../../api/own-answer.ts';
import { looksLikeToken } from '../command/resolve.ts';
import { asBody } from './body.ts';
import { type KeptCheckIn, shortToken } from './check-in.ts';

export type Answer =
  | {
      kind: 'recorded';
      /** The name of the snitch, if this check-in made it. */
      made?: string;
    }
  /** The daemon itself says that it will never take this check-in. */
  | { kind: 'refused'; reason: string }
  /** Nobody answers, or the answer is not that of a working server. */
  | {
      kind: 'later';
      reason: string;
      /** What is wrong: the server cannot be reached at all, only this snitch is not accepted, or a key is missing. */
      fault: 'server' | 'recipient' | 'key';
    };

/** A check-in whose token is known. */
export type Addressed = KeptCheckIn & { token: string };

/** A check-in that is sent within this time counts from its arrival, by the server's clock; milliseconds. */
const PROMPT = 2_000;

/** How much of a message the server keeps, in characters. A longer one could make the address too long. */
const LONGEST_MESSAGE = 256;

/** More characters than any number has: anything else is cut to this before it is sent. */
const LONGEST_VALUE = 100;

/** Statuses with which the daemon refuses a check-in for good. */
const REFUSALS = [400, 404, 405, 410, 413, 414, 431];

/**
 * The words with which older daemons, and other services of this kind, accept a check-in. No status says as much: a
 * login portal or the queue behind another address may answer 202 to anything.
 */
const ACCEPTED = /^(?:Got it, thanks!|OK)\s*$/;

/** Never throws. Whatever the daemon neither clearly accepts nor clearly refuses should be tried again. */
export async function send(
  checkIn: Addressed,
  base: string,
  signal: AbortSignal,
  wasKept = false,
): Promise<Answer> {
  try {
    const sent = { base, path: pathOf(checkIn, wasKept), headers: {}, output: checkIn.output };
    return judge(await post(sent, signal), base, checkIn.token);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = signal.aborted ? 'no answer in time' : (code ?? message);
    return { kind: 'later', reason: `cannot reach ${base}: ${reason}`, fault: 'server' };
  }
}

interface Response {
  status: number;
  /** Whether the daemon itself answered, and not a proxy in between. */
  own: boolean;
  /** The beginning of the answer: the words of a refusal, or what shows who answered. */
  text: string;
}

function judge({ status, own, text }: Response, base: string, token: string): Answer {
  const later = (reason: string, fault: 'server' | 'recipient'): Answer => ({ kind: 'later', reason, fault });
  if (status >= 200 && status <= 299) {
    if (own || ACCEPTED.test(text)) return { kind: 'recorded' };
    return later(`what answers at ${base} with status ${status} is not a snitch server`, 'server');
  }
  if (own && status === 404) {
    // Without a key, what was given may well be a name.
    const hint = looksLikeToken(token) ? '' : ' (it may have the name: names need an API key)';
    return { kind: 'refused', reason: `no snitch has the token ${shortToken(token)} at ${base}${hint}` };
  }
  if (own && REFUSALS.includes(status)) return { kind: 'refused', reason: `${base} refused it: ${status}` };
  // A proxy without its backend answers 404 too, and so does an older daemon if only this snitch does not exist.
  if (status === 404)
    return later(`${base} answered with status 404, and not as a snitch server`, 'recipient');
  return later(`${base} answered with status ${status}`, 'server');
}

interface Sent {
  base: string;
  /** What follows the base, without a slash at the beginning. */
  path: string;
  headers: Record<string, string>;
  output: Buffer;
}

export function post({ base, path, headers, output }: Sent, signal: AbortSignal): Promise<Response> {
  const socketPath = base.startsWith('unix:') ? base.slice('unix:'.length) : undefined;
  const target = new URL(socketPath === undefined ? base : 'http://localhost/c');
  const body = asBody(output);
  const common = {
    method: 'POST',
    path: `${target.pathname.replace(/\/+$/, '')}/${path}`,
    headers: { ...headers, 'content-type': 'text/plain; charset=utf-8', 'content-length': body.length },
    signal,
    agent: false,
  };
  const { request } =
    target.protocol === 'https:'
      ? process.getBuiltinModule('node:https')
      : process.getBuiltinModule('node:http');
  return new Promise((resolve, reject) => {
    request(target, socketPath === undefined ? common : { ...common, socketPath }, (response) => {
      read(response).then(resolve, reject);
    })
      .on('error', reject)
      .end(body);
  });
}

/** Longer than any words that accept a check-in, and shorter than the page of a captive portal. */
const LONGEST_WORDS = 64;

/** A refusal names every field that is wrong; more of it is not shown. */
const LONGEST_REFUSAL = 2_000;

async function read(response: IncomingMessage): Promise<Response> {
  const answer = { status: response.statusCode ?? 0, own: isOwnAnswer(response.headers), text: '' };
  const isSuccess = answer.status >= 200 && answer.status <= 299;
  if (answer.own === isSuccess) {
    // The status says everything. The rest is read only to finish the response.
    response.on('error', () => {}).resume();
    return answer;
  }
  const most = answer.own ? LONGEST_REFUSAL : LONGEST_WORDS;
  for await (const chunk of response.setEncoding('utf8') as AsyncIterable<string>) {
    answer.text = (answer.text + chunk).slice(0, most + 1);
    if (answer.text.length > most) break;
  }
  return answer;
}

function pathOf(checkIn: Addressed, wasKept: boolean): string {
  const query = queryOf(checkIn, wasKept);
  const { token, suffix } = checkIn;
  const path = `${encodeURIComponent(token)}${suffix === null ? '' : `/${suffix}`}`;
  return query.size === 0 ? path : `${path}?${query}`;
}

/** The parameters of the check-in. */
export function queryOf(
  { at, runId, message, exitStatus, values = {} }: KeptCheckIn,
  wasKept: boolean,
): URLSearchParams {
  const query = new URLSearchParams();
  if (runId !== null) query.set('rid', runId);
  if (message !== null) query.set('m', [...message].slice(0, LONGEST_MESSAGE).join(''));
  if (exitStatus !== null) query.set('s', String(exitStatus).slice(0, LONGEST_MESSAGE));
  for (const [name, value] of Object.entries(values)) query.set(`v.${name}`, value.slice(0, LONGEST_VALUE));
  // The end of a run may overtake a start that was kept. Their times say which came first.
  if (wasKept || Date.now() - at > PROMPT) query.set('at', new Date(at).toISOString());
  return query;
}
