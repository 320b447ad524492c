import { SnitchError, StoreUnavailable } from '../../core/errors.ts';

/** A row with this key is there already. */
export const UNIQUE_VIOLATION = '23505';

/** A serialization failure, a deadlock, and a row that somebody else inserted first: the next attempt sees it. */
const LOST_RACES = new Set(['40001', '40P01', UNIQUE_VIOLATION]);

/**
 * By classes of SQLSTATE: the connection, a shutdown or a start, and a server that only reads, as one does that is
 * promoted soon or was the primary. Another connection may be better.
 */
const UNREACHABLE = /^(08|57P|25006|25P03)/;

/**
 * Likewise: resources, a statement that was cancelled at its time limit, the system, a lock that did not come; and a table, a
 * column, a schema or a right that somebody took away by hand, without which no job may be accused either.
 */
const UNAVAILABLE = /^(53|57|58|XX|55P03|42P01|42703|3F000|42501)/;

/** What Node and `pg` itself say of a connection that is gone, or does not come about. */
const CONNECTION_LOST =
  /^(ECONN|EPIPE|ETIMEDOUT|EHOST|ENET|ENOTFOUND|EAI_|ENOENT|EACCES)|connection (terminated|error|ended)|not queryable|was closed|timeout/i;

/** What the server answers with; `EPIPE` of the operating system looks the same, and tells of a call that failed. */
function isFromServer(error: Error): boolean {
  return /^[0-9A-Z]{5}$/.test(codeOf(error)) && !('syscall' in error);
}

/** The transaction lost a race that the next attempt may win. It concerns the whole transaction, not one row of many. */
export class LostRace extends StoreUnavailable {}

/** Nothing was committed, and another connection may be better: after a failover there is another server. */
export class Unreachable extends StoreUnavailable {}

/** The connection broke while the server committed: nobody knows whether it did, so that it must not be done again. */
export class LostCommit extends StoreUnavailable {}

/** The server, or all between, did not answer within our own time limit, or the server gave up shortly before. */
export class NoAnswer extends StoreUnavailable {
  /** @param said by the server, which gave up by itself: nothing was done, and the connection is as good as before */
  constructor(what: string, deadline: number, said?: Error) {
    super(said ?? new Error(`${what} within ${deadline} ms`));
  }
}

/** A statement that took longer than the server lets it, or that somebody cancelled. */
export const CANCELLED = '57014';

/** A lock did not come within `lock_timeout`. */
export const NO_LOCK = '55P03';

/** The server has ended a connection while it waited for what comes next: for who shut it down, and at a limit of time. */
const ENDED_BY_SERVER = /^(57P01|57P05|25P03)$/;

/** What the server itself says before it ends a connection: of what came after, it has done nothing. */
export function isEndedByServer(error: unknown): boolean {
  return error instanceof Error && isFromServer(error) && ENDED_BY_SERVER.test(codeOf(error));
}

/**
 * What the server itself says of a statement: what was sent behind it in the same transaction is not done. Of a connection
 * (class 08) a pooler speaks, which has lost the server and does not know what that has done.
 */
export function isSaidByServer(error: unknown): boolean {
  return error instanceof Error && isFromServer(error) && !codeOf(error).startsWith('08');
}

/** A statement behind one that failed. */
export const TRANSACTION_FAILED = '25P02';

export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** The system did not take what was written last: the other end had closed the connection before. */
export function isUnsent(error: unknown): boolean {
  return (
    codeOf(error) === 'EPIPE' && error instanceof Error && 'syscall' in error && error.syscall === 'write'
  );
}

/** What concerns every call and may work later, or the whole transaction; null for a fault of one call. */
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

/** A value that the database does not take: of many rows in one statement, one is to blame. */
export function isRefusedValue(error: unknown): boolean {
  return /^(22|23|42|54)/.test(codeOf(error));
}

/**
 * Cancelled, or without its lock, in the time that it has: somebody else holds what it needs, and calls that need nothing
 * of that go on.
 */
const HELD_UP = /^(57014|55P03)$/;

/** What it needs is not there, or not for this user: calls that do not need it go on. */
const MISSING = /^(42P01|42703|3F000|42501)$/;

/** The server itself has refused this call for what the call needs: it tells nothing of others. */
export function isHeldUp({ cause }: StoreUnavailable): boolean {
  return HELD_UP.test(codeOf(cause));
}

/** Likewise. */
export function isMissing({ cause }: StoreUnavailable): boolean {
  return MISSING.test(codeOf(cause));
}

/** The server was reached and refused: a full disk, a lock that did not come. Every node would have been refused. */
export function isOfServer(error: StoreUnavailable): boolean {
  return !(error instanceof Unreachable) && /^[0-9A-Z]{5}$/.test(codeOf(error.cause));
}
