/** Asks a server what it is, in words that every version of PostgreSQL understands. */
import type pg from 'pg';
import type { ServerFacts } from './facts.ts';
import { codeOf } from './faults.ts';

const BASICS = `
  SELECT current_setting('server_version_num')::int AS "versionNumber",
    current_setting('server_version') AS version,
    current_setting('server_encoding') AS encoding,
    pg_is_in_recovery() AS "isStandby",
    current_setting('transaction_read_only') = 'on' AS "isReadOnly",
    pg_backend_pid() AS backend`;

/**
 * `pg_control_checkpoint()` names the old timeline for a while after a promotion, until the next checkpoint. The name
 * of the file that is being written has the new one from the first byte on.
 */
const LINEAGE = `
  SELECT (SELECT system_identifier::text FROM pg_control_system()) AS cluster,
    CASE WHEN NOT pg_is_in_recovery()
      THEN ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int END AS timeline`;

type Lineage = Pick<ServerFacts, 'cluster' | 'timeline'>;

/** No right to ask, no such function, or not supported: some services hide it, and fence old primaries themselves. */
const UNTOLD = ['42501', '42883', '0A000'];

/** @throws the error of the connection or of the server */
export async function queryFacts(client: pg.Client): Promise<ServerFacts> {
  const { rows } = await client.query<Omit<ServerFacts, keyof Lineage>>(BASICS);
  const [basics] = rows;
  if (!basics) throw new Error('the server says nothing of itself');
  return { ...basics, ...(await queryLineage(client)) };
}

async function queryLineage(client: pg.Client): Promise<Lineage> {
  try {
    const { rows } = await client.query<Lineage>(LINEAGE);
    return rows[0] ?? { cluster: null, timeline: null };
  } catch (error) {
    if (UNTOLD.includes(codeOf(error))) return { cluster: null, timeline: null };
    throw error;
  }
}
