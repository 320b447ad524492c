import Database from 'better-sqlite3';
import { StoreUnavailable } from '../../core/errors.ts';

const DISK_FAULTS = /^SQLITE_(FULL|IOERR|READONLY|CANTOPEN|BUSY|LOCKED|NOLFS|PERM|NOMEM|CORRUPT|NOTADB)/;
const DAMAGE = /^SQLITE_(CORRUPT|NOTADB)/;

/** A refusal by the disk or the file system concerns every call and may pass; null for a fault of one call alone. */
export function unavailable(error: unknown): StoreUnavailable | null {
  if (error instanceof StoreUnavailable) return error;
  if (error instanceof Database.SqliteError && DISK_FAULTS.test(error.code))
    return new StoreUnavailable(error);
  return null;
}

/** The database is inconsistent: only a restart, which checks it, can say more. */
export function isDamage({ cause }: StoreUnavailable): boolean {
  return cause instanceof Database.SqliteError && DAMAGE.test(cause.code);
}
