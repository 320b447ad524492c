/** Finds out where a check-in goes: by an address, by a token, or by a name that the API is asked for. */
import { ApiError, createClient } from '../../api/client.ts';
import type { WireSnitch } from '../../api/wire.ts';
import {
  type Connection,
  type ConnectionFlags,
  findCheckInAddress,
  findConnection,
  findKeptBase,
  findKeptConnection,
} from '../command/connection.ts';
import { FEW_NAMES, looksLikeToken, pickSnitch } from '../command/resolve.ts';
import { type ServerFlags, typedIn } from '../command/servers.ts';
import { AuthenticationError, describeFailure, NotFoundError, UsageError } from '../failure/failure.ts';
import { looksLikeAddress, splitAddress } from './address.ts';
import { sendByName } from './by-name.ts';
import type { KeptCheckIn, Recipient } from './check-in.ts';
import { type Addressed, type Answer, send } from './send.ts';

/** What the token of a snitch from another service may look like. Many names look the same. */
const PERHAPS_TOKEN = /^[A-Za-z0-9_-]{6,64}$/;

/**
 * @param given an address, a token, or a name
 * @param make how to make the snitch if none has the name; `given` then is a name, unless it can only be a token
 * @returns the recipient, and why the address of the server is not known, if it is not
 * @throws UsageError if it is none of these
 */
export function recipientOf(
  given: string,
  flags: ConnectionFlags,
  make?: string,
): { recipient: Recipient; problem: string | null } {
  const none = { base: null, token: null, name: null, server: null, keyFile: null };
  if (looksLikeAddress(given)) return { recipient: { ...none, ...splitAddress(given) }, problem: null };
  if (given === '') throw new UsageError('the token is empty');
  const { place, problem } = settledPlace(flags);
  const keyFile = flags.apiKeyFile === undefined ? null : absolute(flags.apiKeyFile);
  const known = { ...none, ...place, keyFile };
  if (looksLikeToken(given)) return { recipient: { ...known, token: given }, problem };
  const key = keyOf(flags);
  // Without a key nobody can be asked for a name.
  if (make === undefined && !key.isThere && PERHAPS_TOKEN.test(given)) {
    return { recipient: { ...known, token: given }, problem };
  }
  const byName = { ...known, ...key.file, name: given, ...(make === undefined ? {} : { make }) };
  return { recipient: byName, problem: problem ?? key.problem };
}

interface KeyOf {
  isThere: boolean;
  /** Why it is not known which key is meant, in words. */
  problem: string | null;
  file: Pick<Recipient, 'keyFileThen'>;
}

/** Never throws. */
function keyOf(flags: ConnectionFlags): KeyOf {
  try {
    const { keyFile } = findConnection(flags);
    const file = flags.apiKeyFile !== undefined || keyFile === null ? {} : { keyFileThen: keyFile };
    return { isThere: true, problem: null, file };
  } catch (error) {
    const isMissing = error instanceof AuthenticationError;
    return { isThere: !isMissing, problem: isMissing ? null : (error as Error).message, file: {} };
  }
}

type Place = Pick<Recipient, 'base' | 'server' | 'serverName'>;

/** Never throws, because a broken file of settings must not keep a job from running. */
function settledPlace(flags: ConnectionFlags): { place: Place; problem: string | null } {
  try {
    const found = findCheckInAddress(typedIn(flags));
    const name = found.serverName === null ? {} : { serverName: found.serverName };
    return { place: { base: found.base, server: found.server, ...name }, problem: null };
  } catch (error) {
    const { url, server } = flags;
    // It is for the server that was named, even if the settings do not know that one now.
    const asked =
      url !== undefined || process.env.SNITCH_URL ? undefined : server || process.env.SNITCH_SERVER;
    const place = { base: null, server: url ?? null, ...(asked ? { serverName: asked } : {}) };
    return { place, problem: (error as Error).message };
  }
}

/** A kept check-in is sent from another working directory. */
function absolute(path: string): string {
  return process.getBuiltinModule('node:path').resolve(path);
}

type Located = { base: string; token: string } | Exclude<Answer, { kind: 'recorded' }> | ByName;

/** The key may not look for names, but perhaps check in by name. */
interface ByName {
  connection: Connection;
  /** What else is left to do. */
  otherwise: Exclude<Located, ByName>;
}

/** Finds snitches by name: for each server, the first few one by one, and further ones in the list of all. */
export class Locator {
  readonly #timeoutMs: number;
  readonly #typed: ServerFlags;
  /** By the server with its key, and then by the name; without one, all. */
  readonly #asked = new Map<string, Map<string | undefined, Promise<WireSnitch[]>>>();

  /**
   * @param timeoutMs time limit for one question
   * @param typed the server flags of the present command
   */
  constructor(timeoutMs: number, typed: ServerFlags = {}) {
    this.#timeoutMs = timeoutMs;
    this.#typed = typed;
  }

  /**
   * The server that a check-in is for, with its key.
   *
   * @throws AuthenticationError without a key, and Failure for anything else that keeps it from being found
   */
  connect({ server, serverName, keyFile, keyFileThen }: Recipient): Connection {
    const kept = { server, serverName: serverName ?? null, keyFile };
    try {
      return findKeptConnection(kept, this.#typed);
    } catch (error) {
      if (keyFileThen === undefined || !(error instanceof AuthenticationError)) throw error;
      return findKeptConnection({ ...kept, keyFile: keyFileThen }, this.#typed);
    }
  }

  /** Never throws. */
  async locate(recipient: Recipient): Promise<Located> {
    const { name, base } = recipient;
    const given = name ?? '';
    let connection: Connection;
    try {
      connection = this.connect(recipient);
    } catch (error) {
      // Nobody has said that there is no such snitch.
      if (error instanceof AuthenticationError) return this.#withoutName(error, given, base);
      return { kind: 'later', reason: describeFailure(error).lines.join('\n'), fault: 'server' };
    }
    try {
      return addressOf(connection, pickSnitch(await this.#find(connection, given), given));
    } catch (error) {
      const otherwise = this.#withoutName(error, given, base);
      const isForbidden = error instanceof ApiError && error.status === 403;
      return isForbidden ? { connection, otherwise } : otherwise;
    }
  }

  /** The other address that the server gives for this token; null if there is none. */
  async elsewhere(recipient: Recipient, base: string): Promise<string | null> {
    try {
      const { token } = recipient;
      const connection = this.connect(recipient);
      const client = createClient({ ...connection, timeoutMs: this.#timeoutMs });
      const found = addressOf(connection, await client.getSnitch(token ?? ''));
      return found.base === base ? null : found.base;
    } catch {
      return null;
    }
  }

  /** The snitches that may be meant; an older server returns all. */
  #find(connection: Connection, given: string): Promise<WireSnitch[]> {
    const key = `${connection.url}\n${connection.apiKey}`;
    const asked = this.#asked.get(key) ?? new Map<string | undefined, Promise<WireSnitch[]>>();
    this.#asked.set(key, asked);
    const name = asked.size < FEW_NAMES || asked.has(given) ? given : undefined;
    const known = asked.get(name);
    if (known !== undefined) return known;
    const client = createClient({ ...connection, timeoutMs: this.#timeoutMs });
    const found = client.listSnitches([], name);
    asked.set(name, found);
    return found;
  }

  /** What looks like a name may be a token from another service, which needs no key. */
  #withoutName(error: unknown, given: string, base: string | null): Exclude<Located, ByName> {
    // The lines below the first may contain tokens, and this text goes into cron's mails and into logs.
    const reason = (describeFailure(error).lines[0] ?? '').replace(/:$/, '');
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

/** The address that the API gives, except that a client which came over a socket stays with the socket. */
function addressOf(
  { url }: Connection,
  { token, check_in_url }: WireSnitch,
): { base: string; token: string } {
  return url.startsWith('unix:') ? { base: url, token } : splitAddress(check_in_url);
}

/**
 * Sends a check-in to its recipient. Never throws.
 *
 * @param base the address for a check-in that was kept without one; null if there is none
 * @param wasKept whether the check-in comes from the disk
 */
export async function dispatch(
  checkIn: KeptCheckIn,
  base: string | null,
  locator: Locator,
  signal: AbortSignal,
  wasKept = false,
): Promise<Answer> {
  const late: Answer = { kind: 'later', reason: 'no answer in time', fault: 'server' };
  if (checkIn.token === null && checkIn.make !== undefined) return make(checkIn, locator, signal, wasKept);
  let found = await beforeAbort<Located>(find(checkIn, base, locator), signal, late);
  if ('connection' in found) {
    const answer = await sendByName(checkIn, found.connection, signal, wasKept);
    if (answer.kind !== 'later' || answer.fault !== 'key') return answer;
    found = found.otherwise;
  }
  if ('kind' in found) return found;
  const addressed: Addressed = { ...checkIn, token: found.token };
  const answer = await send(addressed, found.base, signal, wasKept);
  if (answer.kind === 'recorded' || (answer.kind === 'later' && answer.fault !== 'recipient')) return answer;
  const other = await beforeAbort(locator.elsewhere(addressed, found.base), signal, null);
  if (other !== null) return send(addressed, other, signal, wasKept);
  // A name that no snitch has was tried as a token. The message still calls it a name, as the user did.
  const isName = checkIn.token === null && answer.kind === 'refused';
  return isName
    ? { kind: 'refused', reason: `no snitch has the token or the name "${checkIn.name}"` }
    : answer;
}

async function make(
  checkIn: KeptCheckIn,
  locator: Locator,
  signal: AbortSignal,
  wasKept: boolean,
): Promise<Answer> {
  try {
    return await sendByName(checkIn, locator.connect(checkIn), signal, wasKept);
  } catch (error) {
    const reason = describeFailure(error).lines.join('\n');
    return { kind: 'later', reason, fault: error instanceof AuthenticationError ? 'key' : 'server' };
  }
}

async function find(checkIn: KeptCheckIn, base: string | null, locator: Locator): Promise<Located> {
  const { server, serverName } = checkIn;
  const isMeant = server !== null || serverName !== undefined;
  const known = checkIn.base ?? (isMeant ? findKeptBase({ server, serverName: serverName ?? null }) : base);
  if (checkIn.token === null) return locator.locate({ ...checkIn, base: known });
  if (known !== null) return { base: known, token: checkIn.token };
  const reason =
    serverName === undefined
      ? 'the address of its server is not known: see `snitch help spool`'
      : `the check-in is for the server "${serverName}", which is not known: \`snitch server add ${serverName}\``;
  return { kind: 'later', reason, fault: 'recipient' };
}

function beforeAbort<T>(work: Promise<T>, signal: AbortSignal, otherwise: T): Promise<T> {
  if (signal.aborted) return Promise.resolve(otherwise);
  const aborted = new Promise<T>((resolve) => {
    signal.addEventListener('abort', () => resolve(otherwise), { once: true });
  });
  return Promise.race([work, aborted]);
}
