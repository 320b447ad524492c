/** Whom a check-in is for, and where that one is reached: by its address, its token, or its name at the API. */
import { ApiError, createClient } from '../../api/client.ts';
import type { WireSnitch } from '../../api/wire.ts';
import {
  type Connection,
  type ConnectionFlags,
  findCheckInAddress,
  findConnection,
} from '../command/connection.ts';
import { looksLikeToken, pickSnitch } from '../command/resolve.ts';
import { AuthenticationError, describeFailure, NotFoundError, UsageError } from '../failure/failure.ts';
import { looksLikeAddress, splitAddress } from './address.ts';
import type { KeptCheckIn, Recipient } from './check-in.ts';
import { type Addressed, type Answer, send } from './send.ts';

/** What a snitch that came from another service may have for a token; many names look like that too. */
const PERHAPS_TOKEN = /^[A-Za-z0-9_-]{6,64}$/;

/**
 * @param given an address, a token, or a name
 * @returns the recipient, and why the address of the server is not known where it is not
 * @throws UsageError for what is none of these
 */
export function recipientOf(
  given: string,
  flags: ConnectionFlags,
): { recipient: Recipient; problem: string | null } {
  const none = { base: null, token: null, name: null, server: null, keyFile: null };
  if (looksLikeAddress(given)) return { recipient: { ...none, ...splitAddress(given) }, problem: null };
  if (given === '') throw new UsageError('the token is empty');
  const server = flags.url ?? null;
  const { base, problem } = settledBase(flags);
  const keyFile = flags.apiKeyFile === undefined ? null : absolute(flags.apiKeyFile);
  // Whoever has no key cannot ask for a name.
  if (looksLikeToken(given) || (PERHAPS_TOKEN.test(given) && !hasKey(server, keyFile))) {
    return { recipient: { ...none, base, token: given, server, keyFile }, problem };
  }
  return { recipient: { ...none, base, name: given, server, keyFile }, problem };
}

function hasKey(server: string | null, keyFile: string | null): boolean {
  try {
    return connectionTo(server, keyFile).apiKey !== '';
  } catch {
    return false;
  }
}

/** A file that somebody else broke must not keep a job from running. */
function settledBase({ url }: ConnectionFlags): { base: string | null; problem: string | null } {
  try {
    return { base: findCheckInAddress(url === undefined ? {} : { url }).base, problem: null };
  } catch (error) {
    return { base: null, problem: (error as Error).message };
  }
}

/** What waits is sent from another directory. */
function absolute(path: string): string {
  return process.getBuiltinModule('node:path').resolve(path);
}

type Located = { base: string; token: string } | Exclude<Answer, { kind: 'recorded' }>;

/** Finds snitches by name, and asks a server no more than once for all of them. */
export class Locator {
  readonly #timeoutMs: number;
  readonly #lists = new Map<string, Promise<WireSnitch[]>>();

  /** @param timeoutMs bound on one question */
  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  /** Never throws. */
  async locate({ name, base, server, keyFile }: Recipient): Promise<Located> {
    const given = name ?? '';
    let connection: Connection;
    try {
      connection = connectionTo(server, keyFile);
      return addressOf(connection, pickSnitch(await this.#list(connection), given));
    } catch (error) {
      return this.#withoutName(error, given, base);
    }
  }

  /** The other address that the server gives for this token; null where it gives none. */
  async elsewhere({ token, server, keyFile }: Recipient, base: string): Promise<string | null> {
    try {
      const connection = connectionTo(server, keyFile);
      const client = createClient({ ...connection, timeoutMs: this.#timeoutMs });
      const found = addressOf(connection, await client.getSnitch(token ?? ''));
      return found.base === base ? null : found.base;
    } catch {
      return null;
    }
  }

  #list(connection: Connection): Promise<WireSnitch[]> {
    const key = `${connection.url}\n${connection.apiKey}`;
    const asked = this.#lists.get(key);
    if (asked !== undefined) return asked;
    const list = createClient({ ...connection, timeoutMs: this.#timeoutMs }).listSnitches();
    this.#lists.set(key, list);
    return list;
  }

  /** A token that came from elsewhere looks like a name, and needs no key. */
  #withoutName(error: unknown, given: string, base: string | null): Located {
    const [reason = ''] = describeFailure(error).lines;
    const isRefusedKey = error instanceof ApiError && (error.status === 401 || error.status === 403);
    const lacksKey = error instanceof AuthenticationError || isRefusedKey;
    if ((lacksKey || error instanceof NotFoundError) && PERHAPS_TOKEN.test(given) && base !== null) {
      return { base, token: given };
    }
    if (lacksKey) {
      const all = describeFailure(error).lines.join('\n');
      return {
        kind: 'later',
        reason: `"${given}" is no token, and a name needs a key: ${all}`,
        fault: 'key',
      };
    }
    if (error instanceof NotFoundError || error instanceof UsageError) return { kind: 'refused', reason };
    return { kind: 'later', reason, fault: 'server' };
  }
}

function connectionTo(server: string | null, keyFile: string | null): Connection {
  return findConnection({
    ...(server === null ? {} : { url: server }),
    ...(keyFile === null ? {} : { apiKeyFile: keyFile }),
  });
}

/** As the API gives it, except that a client which reached the server over a socket stays with the socket. */
function addressOf(
  { url }: Connection,
  { token, check_in_url }: WireSnitch,
): { base: string; token: string } {
  return url.startsWith('unix:') ? { base: url, token } : splitAddress(check_in_url);
}

/**
 * Sends a check-in to whoever it is for. Never throws.
 *
 * @param base for one that was kept without an address; null where there is none
 * @param wasKept whether it comes from the disk
 */
export async function dispatch(
  checkIn: KeptCheckIn,
  base: string | null,
  locator: Locator,
  signal: AbortSignal,
  wasKept = false,
): Promise<Answer> {
  const late: Answer = { kind: 'later', reason: 'no answer in time', fault: 'server' };
  const found = await beforeAbort(find(checkIn, base, locator), signal, late);
  if ('kind' in found) return found;
  const addressed: Addressed = { ...checkIn, token: found.token };
  const answer = await send(addressed, found.base, signal, wasKept);
  if (answer.kind === 'recorded' || (answer.kind === 'later' && answer.fault !== 'recipient')) return answer;
  const other = await beforeAbort(locator.elsewhere(addressed, found.base), signal, null);
  if (other !== null) return send(addressed, other, signal, wasKept);
  // What no snitch is named was tried as a token; the message calls it a name, as its user does.
  const isName = checkIn.token === null && answer.kind === 'refused';
  return isName
    ? { kind: 'refused', reason: `no snitch has the token or the name "${checkIn.name}"` }
    : answer;
}

async function find(checkIn: KeptCheckIn, base: string | null, locator: Locator): Promise<Located> {
  const known = checkIn.base ?? base;
  if (checkIn.token === null) return locator.locate({ ...checkIn, base: known });
  if (known !== null) return { base: known, token: checkIn.token };
  const reason = 'the address of the server is not known: see `snitch help spool`';
  return { kind: 'later', reason, fault: 'recipient' };
}

function beforeAbort<T>(work: Promise<T>, signal: AbortSignal, otherwise: T): Promise<T> {
  if (signal.aborted) return Promise.resolve(otherwise);
  const aborted = new Promise<T>((resolve) => {
    signal.addEventListener('abort', () => resolve(otherwise), { once: true });
  });
  return Promise.race([work, aborted]);
}
