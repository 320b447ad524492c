/** Why a store cannot write, for whoever asks whether the daemon is ready. */
import type { StoreUnavailable } from '../core/errors.ts';

/** Codes of SQLite, of the operating system, and of PostgreSQL (appendix A of its manual). */
const IN_WORDS: readonly [RegExp, string][] = [
  [/^(SQLITE_FULL|ENOSPC|EDQUOT)/, 'the disk is full'],
  [/^(SQLITE_READONLY|EROFS)/, 'the database or its disk is read-only'],
  [/^(SQLITE_IOERR|EIO)/, 'the disk fails, or is full'],
  [/^SQLITE_(BUSY|LOCKED)/, 'another program has locked the database'],
  [/^SQLITE_(CORRUPT|NOTADB)/, 'the database is damaged'],
  [/^53100/, 'the disk of PostgreSQL is full'],
  [/^53300/, 'PostgreSQL accepts no more connections'],
  [/^25006/, 'PostgreSQL is read-only'],
];

/**
 * For `StoreHealth`. Anybody may read it without a key, so it never has the words of the error itself, which may name a
 * file or a host.
 */
export function inWords(failure: StoreUnavailable | null): { because?: string } {
  const cause = failure?.cause;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  const [, because] = IN_WORDS.find(([pattern]) => pattern.test(code)) ?? [];
  return because === undefined ? {} : { because };
}
