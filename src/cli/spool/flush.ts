/** Sends what waits in the spool, oldest first. Several processes may do so at once. */
import { MINUTE, WEEK } from '../../text/durations.ts';
import type { ServerFlags } from '../command/servers.ts';
import { type KeptCheckIn, shownRecipient } from '../sending/check-in.ts';
import { dispatch, Locator } from '../sending/recipient.ts';
import { tellDeleted } from './deliver.ts';
import {
  type Claim,
  claim,
  read,
  refuse,
  release,
  remove,
  setAside,
  spoolPath,
  waiting,
} from './directory.ts';

/**
 * The server accepts the time of a check-in for 7 days. The limit is a minute less, so that none expires on its way.
 */
const OLDEST = WEEK - MINUTE;

/** Time limit for one request, in milliseconds. */
const SEND_WITHIN = 10_000;

export interface FlushOptions {
  directory: string;
  /** The address for check-ins that were kept without one; null if there is none. */
  base: string | null;
  /** The server flags of the present command, whose server the keys in the environment belong to. */
  typed?: ServerFlags | undefined;
  /** Ends the flush early. What is left goes on waiting. */
  signal: AbortSignal;
}

export interface Flushed {
  sent: number;
  /** How many go on waiting. */
  left: number;
  /** Why they do, a line for each server. */
  reasons: string[];
  /** What was dropped or set aside, a line for each. */
  problems: string[];
}

interface Flush extends FlushOptions {
  flushed: Flushed;
  /**
   * Servers that do not answer, and snitches that a server says nothing about, so that each is waited for only once.
   */
  silent: Set<string>;
  locator: Locator;
  /** How many refused check-ins had to be deleted to make room for others. */
  deleted: number;
}

/** @throws Error if the directory cannot be read or written */
export async function flush(options: FlushOptions): Promise<Flushed> {
  const flushed: Flushed = { sent: 0, left: 0, reasons: [], problems: [] };
  const locator = new Locator(SEND_WITHIN, options.typed);
  const work: Flush = { ...options, flushed, silent: new Set<string>(), locator, deleted: 0 };
  for (const name of await waiting(options.directory)) await flushOne(work, name);
  flushed.problems.push(...tellDeleted(work.deleted));
  return flushed;
}

async function flushOne(flush: Flush, name: string): Promise<void> {
  const { directory, flushed, signal } = flush;
  const checkIn = await read(spoolPath(directory, name));
  if (checkIn === null) return;
  if (signal.aborted || (checkIn !== 'unusable' && isSilent(flush, checkIn))) {
    flushed.left += 1;
    return;
  }
  const held = await claim(directory, name);
  if (held === null) return;
  if (checkIn === 'unusable') {
    flushed.problems.push(
      `a file in the spool cannot be used: it was moved to ${await setAside(directory, held)}`,
    );
  } else if (Date.now() - checkIn.at > OLDEST) {
    flush.deleted += await refuse(
      directory,
      held,
      checkIn,
      'it is older than 7 days: no server accepts it now',
    );
    flushed.problems.push(
      `${describe(checkIn)} was kept for 7 days and is set aside: no server accepts it now`,
    );
  } else {
    await sendHeld(flush, held, checkIn);
  }
}

async function sendHeld(flush: Flush, held: Claim, checkIn: KeptCheckIn): Promise<void> {
  const { directory, flushed, silent, base, locator } = flush;
  const signal = AbortSignal.any([flush.signal, AbortSignal.timeout(SEND_WITHIN)]);
  const answer = await dispatch(checkIn, base, locator, signal, true);
  if (answer.kind === 'recorded') {
    await remove(held);
    flushed.sent += 1;
  } else if (answer.kind === 'refused') {
    flush.deleted += await refuse(directory, held, checkIn, answer.reason);
    flushed.problems.push(`${describe(checkIn)} is set aside: ${answer.reason}`);
  } else {
    await release(directory, held);
    silent.add(answer.fault === 'server' ? serverOf(flush, checkIn) : recipientOf(flush, checkIn));
    flushed.left += 1;
    if (!flushed.reasons.includes(answer.reason)) flushed.reasons.push(answer.reason);
  }
}

function isSilent(flush: Flush, checkIn: KeptCheckIn): boolean {
  const { silent } = flush;
  return silent.has(serverOf(flush, checkIn)) || silent.has(recipientOf(flush, checkIn));
}

/** A name is looked up at the API; a check-in with a token goes straight to the check-in address. */
function serverOf({ base }: Flush, checkIn: KeptCheckIn): string {
  const { server, serverName, keyFile, keyFileThen } = checkIn;
  if (checkIn.token === null) return `api ${server} ${serverName} ${keyFile ?? keyFileThen}`;
  return `base ${checkIn.base ?? (server === null && serverName === undefined ? base : `of ${server} ${serverName}`)}`;
}

function recipientOf(flush: Flush, checkIn: KeptCheckIn): string {
  return `${serverOf(flush, checkIn)} ${checkIn.token ?? checkIn.name}`;
}

/** Describes the check-in in a way that its owner recognises. */
function describe(checkIn: KeptCheckIn): string {
  const what = checkIn.suffix === 'start' ? 'the start' : 'the check-in';
  return `${what} of ${shownRecipient(checkIn)} at ${new Date(checkIn.at).toISOString()}`;
}
