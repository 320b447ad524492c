/** Whether a database file holds what SQLite wrote there. */
import Database from 'better-sqlite3';

/**
 * The tables in the order in which they are checked. The list of tables itself comes first; with it SQLite checks the
 * free pages.
 */
export function tablesToCheck(db: Database.Database): string[] {
  const tables = db.prepare(
    `SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 ORDER BY name`,
  );
  return ['sqlite_schema', ...(tables.pluck().all() as string[])];
}

/**
 * What is wrong with the table and its indexes, in SQLite's words; null if nothing is. The log can be restarted between
 * two tables, but not while one is examined.
 *
 * @throws SqliteError if the table could not be examined
 */
export function damageIn(db: Database.Database, table: string): string | null {
  try {
    const answer = db.pragma(`quick_check('${table.replaceAll("'", "''")}')`, { simple: true });
    return answer === 'ok' ? null : inOneLine(answer);
  } catch (error) {
    if (isDamaged(error)) return error.message;
    throw error;
  }
}

/**
 * The same for all tables; null if nothing is wrong.
 *
 * @throws SqliteError if the database could not be examined
 */
export function damageOf(db: Database.Database): string | null {
  const answer = db.pragma('quick_check(1)', { simple: true });
  return answer === 'ok' ? null : inOneLine(answer);
}

/** Without the heading that SQLite adds for each database of a connection. */
export function inOneLine(answer: unknown): string {
  return String(answer)
    .replace(/^\*{3} in database \w+ \*{3}\s*/, '')
    .replaceAll(/\s*\n\s*/g, '; ');
}

/** What was in an unreadable sector is lost, whatever SQLite's own pages say. */
export function isDamaged(error: unknown): error is Error {
  return (
    error instanceof Database.SqliteError &&
    /^SQLITE_(CORRUPT|NOTADB|IOERR_(READ|SHORT_READ|CORRUPTFS))/.test(error.code)
  );
}
