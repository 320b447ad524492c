/** What a migration that would break nodes of an older version has to wait for. */
import type pg from 'pg';
import { CLOCK, DEAD_AFTER } from './signs.ts';
import { SCHEMAS } from './versions.ts';

/** Nodes of an older version are running: the database stays as it is until they have ended. */
export class OlderNodesLive extends Error {
  override readonly name = 'OlderNodesLive';

  constructor(nodes: readonly string[]) {
    super(`the schema is upgraded when no node of an older version lives any more: ${nodes.join(', ')}`);
  }
}

interface Older {
  name: string;
  version: string;
  schema: number;
  isStopping: boolean;
}

const OLDER = `SELECT name, version, schema_version AS schema, stopped_at IS NOT NULL AS "isStopping" FROM nodes
  WHERE schema_version < $1 AND alive_at > ${CLOCK} - ${DEAD_AFTER} ORDER BY name`;

const HAVE = 'SELECT pg_try_advisory_xact_lock($1, $2) AS mine';

/** Ends sessions of nodes that hang or are cut off, but not those on other databases. */
const END = `SELECT pg_terminate_backend(pid) FROM pg_locks
  WHERE locktype = 'advisory' AND classid = $1::bigint::oid AND objid = $2::bigint::oid AND objsubid = 2 AND granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

/**
 * Returns once no program that knows the schema only up to a version before `oldest` works on the database, or can
 * start to before the transaction on this connection ends. Nodes that are dead by their signs of life lose their
 * sessions.
 *
 * @param from the version of the database; programs older than the version before it were refused already
 * @throws OlderNodesLive if one lives, or has only just lost its sessions
 */
export async function fenceOlderNodes(client: pg.ClientBase, from: number, oldest: number): Promise<void> {
  const { rows: older } = await client.query<Older>(OLDER, [oldest]);
  const named = older.map(({ name, version, schema }) => `${name} (${version}, schema version ${schema})`);
  if (older.some(({ isStopping }) => !isStopping)) throw new OlderNodesLive(named);
  for (let version = Math.max(0, from - 1); version < oldest; version += 1) {
    const { rows } = await client.query<{ mine: boolean }>(HAVE, [SCHEMAS, version]);
    if (rows[0]?.mine) continue;
    if (older.length === 0) await client.query(END, [SCHEMAS, version]);
    throw new OlderNodesLive(older.length > 0 ? named : ['one that gives no signs of life']);
  }
}

/** Shows the others that a node with this id waits; it does not count as a living node. */
export async function noteWaiting(
  client: pg.ClientBase,
  { id, name, version, schemaVersion }: Pick<Waiting, 'id' | 'name' | 'version' | 'schemaVersion'>,
): Promise<void> {
  await client.query(
    `INSERT INTO waiting_nodes (id, name, version, schema_version, started_at, alive_at)
     SELECT $1, $2, $3, $4, now, now FROM (SELECT ${CLOCK} AS now) AS c
     ON CONFLICT (id) DO UPDATE SET alive_at = excluded.alive_at`,
    [id, name, version, schemaVersion],
  );
}

interface Waiting {
  id: string;
  name: string;
  version: string;
  schemaVersion: number;
}
