/** Poolers between a node and its database: they do not say how they lend connections, but it shows. */
import type { Session } from './session.ts';

/** Other users of the same pooler may take a connection in between, so one try may show nothing. */
const TRIES = 3;

/** PgBouncer's answer to `BEGIN` if it lends connections by statement; it then ends this one. */
const NO_TRANSACTIONS = /^transaction blocks not allowed in statement pooling mode/;

/**
 * Whether the pooler hands a connection to another client as soon as a transaction on it ends (`pool_mode =
 * transaction` or `statement`). Then another client gets the server process that has just answered this one, or keeps
 * this one from it.
 *
 * @param open connects a second time, in the same way
 */
export async function lendsByTransaction(session: Session, open: () => Promise<Session>): Promise<boolean> {
  let other: Session;
  try {
    other = await open();
  } catch {
    // Without a second connection nothing can be shown, and the store cannot be opened either.
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
