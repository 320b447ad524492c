import { SnitchError, StoreUnavailable } from '../../core/errors.ts';

/** A row with this key exists already. */
export const UNIQUE_VIOLATION = '23505';

/** A serialisation failure, a deadlock, or a row that another transaction inserted first: the next attempt sees it. */
const LOST_RACES = new Set(['40001', '40P01', UNIQUE_VIOLATION]);

/**
 * Classes of SQLSTATE for a lost connection, a server that stops or starts, and a server that only reads because it is
 * about to be promoted or was the primary. Another connection may work.
 */
const UNREACHABLE = /^(08|57P|25006|25P03)/;

/**
 * Classes of SQLSTATE for lacking resources, a statement cancelled at its time limit, system errors, a lock that was
 * not granted; and for a table, column, schema or right that somebody removed by hand: no job may be accused because of
 * that.
 */
const UNAVAILABLE = /^(53|57|58|XX|55P03|42P01|42703|3F000|42501)/;

/** What Node and `pg` themselves say if a connection is lost or cannot be made. */
const CONNECTION_LOST =
  /^(ECONN|EPIPE|ETIMEDOUT|EHOST|ENET|ENOTFOUND|EAI_|ENOENT|EACCES)|connection (terminated|error|ended)|not queryable|was closed|timeout/i;

/**
 * Whether the server sent it. `EPIPE` from the operating system has the same form, but names the failed system call.
 */
function isFromServer(error: Error): boolean {
  return /^[0-9A-Z]{5}$/.test(codeOf(error)) && !('syscall' in error);
}

/**
 * The transaction lost a race that the next attempt may win. This concerns the whole transaction, not one of many rows.
 */
export class LostRace extends StoreUnavailable {}

/** Nothing was committed, and another connection may work: after a failover, another server answers. */
export class Unreachable extends StoreUnavailable {}

/** The connection broke while the server committed: whether it did is unknown, so the work must not be repeated. */
export class LostCommit extends StoreUnavailable {}

/**
 * The server, or something on the way to it, did not answer within our time limit, or the server gave up just before.
 */
export class NoAnswer extends StoreUnavailable {
  /** @param said the server's own error if it gave up itself: nothing was done, and the connection is still usable */
  constructor(what: string, deadline: number, said?: Error) {
    super(said ?? new Error(`${what} within ${deadline} ms`));
  }
}

/** A statement that took longer than the server allows, or that somebody cancelled. */
export const CANCELLED = '57014';

/** A lock was not granted within `lock_timeout`. */
export const NO_LOCK = '55P03';

/** The server ended a connection that was waiting for a command: because of a shutdown, or at a time limit. */
const ENDED_BY_SERVER = /^(57P01|57P05|25P03)$/;

/** Said by the server just before it ends a connection: it has done nothing of what was sent after that. */
export function isEndedByServer(error: unknown): boolean {
  return error instanceof Error && isFromServer(error) && ENDED_BY_SERVER.test(codeOf(error));
}

/**
 * Whether the server itself speaks of a statement: then nothing that follows in the same transaction was done. Class 08
 * (connection) comes from a pooler that has lost the server and does not know what the server did.
 */
export function isSaidByServer(error: unknown): boolean {
  return error instanceof Error && isFromServer(error) && !codeOf(error).startsWith('08');
}

/** A statement that follows a failed one in the same transaction. */
export const TRANSACTION_FAILED = '25P02';

export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** The operating system refused the last write, because the other end had already closed the connection. */
export function isUnsent(error: unknown): boolean {
  return (
    codeOf(error) === 'EPIPE' && error instanceof Error && 'syscall' in error && error.syscall === 'write'
  );
}

/** An error that concerns every call and may pass, or the whole transaction; null for a fault of this call alone. */
export function unavailable(error: unknown): StoreUnavailable | null {
  if (error instanceof StoreUnavailable) return error;
  if (!(error instanceof Error) || error instanceof SnitchError) return null;
  const code = codeOf(error);
  if (LOST_RACES.has(code)) return new LostRace(error);
  if (UNREACHABLE.test(code)) return new Unreachable(error);
  if (UNAVAILABLE.test(code)) return new StoreUnavailable(error);
  const isLost = CONNECTION_LOST.test(code) || CONNECTION_LOST.test(error.message);
  return isLost && !isFromServer(error) ? new Unreachable(error) : null;
}

/** A value that the database refuses: if one statement has many rows, one of them is to blame. */
export function isRefusedValue(error: unknown): boolean {
  return /^(22|23|42|54)/.test(codeOf(error));
}

/**
 * Cancelled, or refused its lock, at its time limit: somebody else holds what it needs. Calls that need nothing of that
 * go on.
 */
const HELD_UP = /^(57014|55P03)$/;

/** What it needs does not exist, or this user has no right to it: calls that do not need it go on. */
const MISSING = /^(42P01|42703|3F000|42501)$/;

/** The server refused this call because somebody holds what it needs, which says nothing about other calls. */
export function isHeldUp({ cause }: StoreUnavailable): boolean {
  return HELD_UP.test(codeOf(cause));
}

/** The server refused this call because what it needs is missing, which says nothing about other calls. */
export function isMissing({ cause }: StoreUnavailable): boolean {
  return MISSING.test(codeOf(cause));
}

/** The server was reached and refused: a full disk, a lock that was not granted. It would have refused every node. */
export function isOfServer(error: StoreUnavailable): boolean {
  return !(error instanceof Unreachable) && /^[0-9A-Z]{5}$/.test(codeOf(error.cause));
}
