/** Poolers between a node and its database: how they lend out connections cannot be asked, but shows. */
import type { Session } from './session.ts';

/** Others who use the same pooler may take a connection in between, so that once may show nothing. */
const TRIES = 3;

/** What PgBouncer says to `BEGIN` where it lends connections by statement, before it ends this one. */
const NO_TRANSACTIONS = /^transaction blocks not allowed in statement pooling mode/;

/**
 * Whether the pooler gives a connection to somebody else as soon as a transaction on it ends (`pool_mode = transaction`
 * or `statement`). Then another client gets the server process that has just answered this one, or keeps this one from it.
 *
 * @param open connects a second time, in the same way
 */
export async function lendsByTransaction(session: Session, open: () => Promise<Session>): Promise<boolean> {
  let other: Session;
  try {
    other = await open();
  } catch {
    // Where a second connection cannot be had now, nothing is shown, and the store does not come about either.
    return false;
  }
  try {
    for (let tries = 0; tries < TRIES; tries += 1) {
      const own = await processOf(session);
      await other.client.query('BEGIN');
      if ((await processOf(other)) === own || (await processOf(session)) !== own) return true;
      await other.client.query('ROLLBACK');
    }
    return false;
  } catch (error) {
    if (error instanceof Error && NO_TRANSACTIONS.test(error.message)) return true;
    throw error;
  } finally {
    other.destroy();
  }
}

async function processOf({ client }: Session): Promise<number | undefined> {
  const { rows } = await client.query<{ process: number }>('SELECT pg_backend_pid() AS process');
  return rows[0]?.process;
}
