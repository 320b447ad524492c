/** Sends what waits in the spool, the oldest first. Several may do so at once. */
import { type Claim, claim, read, release, remove, setAside, spoolPath, waiting } from './spool-directory.ts';
import { type KeptCheckIn, shortToken } from './spool-entry.ts';
import { send } from './spool-send.ts';

/** The server takes check-ins of the last 7 days at their own time; a minute less, so that none is late on its way. */
const OLDEST = 7 * 86_400_000 - 60_000;

/** Bound on one request, in milliseconds. */
const SEND_WITHIN = 10_000;

export interface FlushOptions {
  directory: string;
  /** For check-ins that were kept without an address; null where there is none. */
  base: string | null;
  /** Ends it early: what is left waits on. */
  signal: AbortSignal;
}

export interface Flushed {
  sent: number;
  /** How many wait on. */
  left: number;
  /** Why they do, a line for each server. */
  reasons: string[];
  /** What was dropped or set aside, a line for each. */
  problems: string[];
}

interface Flush extends FlushOptions {
  flushed: Flushed;
  /** Servers that do not answer, so that each is waited for once. */
  silent: Set<string | null>;
}

/** @throws Error where the directory cannot be read or written */
export async function flush(options: FlushOptions): Promise<Flushed> {
  const flushed: Flushed = { sent: 0, left: 0, reasons: [], problems: [] };
  const silent = new Set<string | null>();
  for (const name of await waiting(options.directory)) await flushOne({ ...options, flushed, silent }, name);
  return flushed;
}

async function flushOne(flush: Flush, name: string): Promise<void> {
  const { directory, flushed, silent, signal } = flush;
  const checkIn = await read(spoolPath(directory, name));
  if (checkIn === null) return;
  const base = checkIn === 'unusable' ? null : (checkIn.base ?? flush.base);
  if (signal.aborted || (checkIn !== 'unusable' && silent.has(base))) {
    flushed.left += 1;
    return;
  }
  const held = await claim(directory, name);
  if (held === null) return;
  if (checkIn === 'unusable') {
    flushed.problems.push(`a file of the spool cannot be used: it is now ${await setAside(directory, held)}`);
  } else if (Date.now() - checkIn.at > OLDEST) {
    await remove(held);
    flushed.problems.push(`${describe(checkIn)} was kept for 7 days and is dropped: no server takes it now`);
  } else {
    await sendHeld(flush, held, checkIn, base);
  }
}

async function sendHeld(
  { directory, flushed, silent, signal }: Flush,
  held: Claim,
  checkIn: KeptCheckIn,
  base: string | null,
): Promise<void> {
  const answer =
    base === null
      ? { kind: 'later' as const, reason: 'the address of the server is not known: see `snitch help spool`' }
      : await send(checkIn, base, AbortSignal.any([signal, AbortSignal.timeout(SEND_WITHIN)]), true);
  if (answer.kind === 'later') {
    await release(directory, held);
    silent.add(base);
    flushed.left += 1;
    flushed.reasons.push(answer.reason);
    return;
  }
  await remove(held);
  if (answer.kind === 'recorded') flushed.sent += 1;
  else flushed.problems.push(`${describe(checkIn)} is dropped: ${base} knows no snitch with this token`);
}

/** What it was, as its owner knows it. */
function describe({ token, suffix, at }: KeptCheckIn): string {
  const what = suffix === 'start' ? 'the start' : 'the check-in';
  return `${what} of ${shortToken(token)} at ${new Date(at).toISOString()}`;
}
