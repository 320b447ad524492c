import { StoreUnavailable } from '../../core/errors.ts';

/** A serialization failure, a deadlock, and a row that somebody else inserted first: the next attempt sees it. */
const LOST_RACES = new Set(['40001', '40P01', '23505']);

/**
 * By classes of SQLSTATE: the connection, resources, an operator's intervention (a shutdown, a statement that was
 * cancelled at its time limit), the system, a lock that was not given in time, and a server that only reads.
 */
const UNAVAILABLE = /^(08|53|57|58|XX|55P03|25006|25P03)/;

/** What Node and `pg` itself say of a connection that is gone. */
const CONNECTION_LOST =
  /^(ECONN|EPIPE|ETIMEDOUT|EHOST|ENET|ENOTFOUND|EAI_|ENOENT|EACCES|CERT_|ERR_TLS)|onnection terminated|timeout|onnection error|not queryable|was closed|Connection ended|Client has encountered/i;

/** The transaction lost a race that the next attempt may win. It concerns the whole transaction, not one row of many. */
export class LostRace extends StoreUnavailable {}

export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** What concerns every call and may work later, or the whole transaction; null for a fault of one call. */
export function unavailable(error: unknown): StoreUnavailable | null {
  if (error instanceof StoreUnavailable) return error;
  if (!(error instanceof Error)) return null;
  const code = codeOf(error);
  if (LOST_RACES.has(code)) return new LostRace(error);
  if (/^[0-9A-Z]{5}$/.test(code)) return UNAVAILABLE.test(code) ? new StoreUnavailable(error) : null;
  return CONNECTION_LOST.test(code) || CONNECTION_LOST.test(error.message)
    ? new StoreUnavailable(error)
    : null;
}

/** A value that the database does not take: of many rows in one statement, one is to blame. */
export function isRefusedValue(error: unknown): boolean {
  return /^(22|23|54)/.test(codeOf(error));
}
