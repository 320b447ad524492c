/** Sends one check-in, the time of it included where it comes late. */
import { asBody } from './exec-tail.ts';
import type { KeptCheckIn } from './spool-entry.ts';

export type Answer =
  | { kind: 'recorded' }
  /** The server knows no such token: there is no use in trying again. */
  | { kind: 'unknown' }
  /** Nobody answers, or not what a server does that works. */
  | { kind: 'later'; reason: string };

/** A check-in that is sent within this time counts when it arrives, by the server's clock; milliseconds. */
const PROMPT = 2_000;

/** Never throws. Whatever is not plainly accepted, and not plainly refused, is to be tried again. */
export async function send(
  checkIn: KeptCheckIn,
  base: string,
  signal: AbortSignal,
  wasKept = false,
): Promise<Answer> {
  try {
    const status = await post(checkIn, base, signal, wasKept);
    if (status >= 200 && status <= 299) return { kind: 'recorded' };
    if (status === 404) return { kind: 'unknown' };
    return { kind: 'later', reason: `${base} answered with status ${status}` };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = signal.aborted ? 'no answer in time' : (code ?? message);
    return { kind: 'later', reason: `cannot reach ${base}: ${reason}` };
  }
}

function post(checkIn: KeptCheckIn, base: string, signal: AbortSignal, wasKept: boolean): Promise<number> {
  const socketPath = base.startsWith('unix:') ? base.slice('unix:'.length) : undefined;
  const target = new URL(socketPath === undefined ? base : 'http://localhost/c');
  const path = `${target.pathname.replace(/\/+$/, '')}/${pathOf(checkIn, wasKept)}`;
  const body = asBody(checkIn.output);
  const headers = { 'content-type': 'text/plain; charset=utf-8', 'content-length': body.length };
  const { request } =
    target.protocol === 'https:'
      ? process.getBuiltinModule('node:https')
      : process.getBuiltinModule('node:http');
  return new Promise((resolve, reject) => {
    const common = { method: 'POST', path, headers, signal, agent: false };
    request(target, socketPath === undefined ? common : { ...common, socketPath }, (response) => {
      // The status says everything; what follows it is read only to be done with it.
      response.on('error', () => {}).resume();
      resolve(response.statusCode ?? 0);
    })
      .on('error', reject)
      .end(body);
  });
}

function pathOf({ token, suffix, at, runId, message, exitStatus }: KeptCheckIn, wasKept: boolean): string {
  const query = new URLSearchParams({ rid: runId });
  if (message !== null) query.set('m', message);
  if (exitStatus !== null) query.set('s', String(exitStatus));
  // One that was kept may be overtaken by the end of its own run: its time says which came first.
  if (wasKept || Date.now() - at > PROMPT) query.set('at', new Date(at).toISOString());
  return `${encodeURIComponent(token)}/${suffix}?${query}`;
}
