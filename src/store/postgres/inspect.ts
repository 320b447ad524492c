/** Inspects a database from outside, as `snitch doctor` does, without changing anything. */
import type { PostgresAddress } from '../../core/database/postgres-url.ts';
import type { ListedNode } from '../node.ts';
import { codeOf, NO_LOCK } from './faults.ts';
import { Primary } from './hosts/primary.ts';
import { seenBy } from './hosts/seen-file.ts';
import { listNodes } from './nodes/signs.ts';
import { checkSchemaAccess } from './schema-access.ts';

export interface Standby {
  name: string;
  /** In PostgreSQL's words: `sync`, `quorum`, `potential` or `async`. */
  state: string;
}

/** A session of somebody else for which sessions of Snitch wait. */
export interface Holder {
  /** The server's process number. */
  process: number;
  /** Null for the server itself. */
  user: string | null;
  /**
   * The name that the program gives itself, or what the server does there; empty if neither is known or visible to us.
   */
  program: string;
  /** Null for the database's own host, and if this user is not allowed to see it. */
  from: string | null;
  /**
   * How long its transaction has lasted or, if this user cannot see that, how long Snitch has waited; in milliseconds.
   */
  heldMs: number;
}

/** A transaction prepared for a later commit, which sessions of Snitch wait for. It belongs to no session. */
export interface Prepared {
  name: string;
  /** Who prepared it. */
  user: string;
  /** Time since it was prepared, in milliseconds. */
  heldMs: number;
}

interface Counts {
  snitches: number;
  cases: number;
}

export interface Inspected {
  /** Such as `15.18`. */
  version: string;
  /** Null if no daemon has used this database yet; `held` if somebody has locked a table exclusively. */
  content: Counts | 'held' | null;
  nodes: ListedNode[];
  /** By the database's clock, in milliseconds. */
  now: number;
  standbys: Standby[];
  holders: Holder[];
  prepared: Prepared[];
  /** Whether a commit by this user waits for a standby, judging by the settings. */
  isSynchronous: boolean;
  /** The whole database with its indexes, in bytes. */
  size: number;
  /** Whether this user is allowed to see the standbys; without the right it looks as if there were none. */
  seesStandbys: boolean;
  /** The value of `synchronous_commit` for this user. */
  waitsFor: string;
}

interface Basics {
  begun: boolean;
  now: string;
  names: string;
  waits: string;
  size: string;
  sees: boolean;
}

/** Leaves out Snitch's own sessions, which end by their own limits, and sessions that were waited for only a moment. */
const HOLDERS = `SELECT DISTINCT ON (held.pid) held.pid AS process, held.usename AS "user",
    coalesce(nullif(held.application_name, ''), CASE WHEN held.usename IS NULL THEN held.backend_type END, '') AS program, host(held.client_addr) AS "from",
    round(extract(epoch FROM clock_timestamp() - coalesce(held.xact_start, waits.query_start)) * 1000)::float8 AS "heldMs"
  FROM pg_stat_activity AS waits CROSS JOIN LATERAL unnest(pg_blocking_pids(waits.pid)) AS by (pid)
    JOIN pg_stat_activity AS held ON held.pid = by.pid
  WHERE waits.datname = current_database() AND waits.wait_event_type = 'Lock' AND waits.application_name LIKE 'snitch%'
    AND coalesce(held.application_name, '') NOT LIKE 'snitch%' AND waits.query_start < clock_timestamp() - interval '1 second'
  ORDER BY held.pid, waits.query_start`;

/**
 * To the server, process 0 holds the locks of every prepared transaction: the locks themselves show which one it is.
 */
const PREPARED = `SELECT DISTINCT p.gid AS name, p.owner::text AS "user",
    round(extract(epoch FROM clock_timestamp() - p.prepared) * 1000)::float8 AS "heldMs"
  FROM pg_stat_activity AS waits JOIN pg_locks AS wanted ON wanted.pid = waits.pid AND NOT wanted.granted
    JOIN pg_locks AS held ON held.granted AND held.pid IS NULL AND held.locktype = wanted.locktype
      AND (held.database, held.relation, held.page, held.tuple, held.transactionid, held.classid, held.objid)
        IS NOT DISTINCT FROM
        (wanted.database, wanted.relation, wanted.page, wanted.tuple, wanted.transactionid, wanted.classid, wanted.objid)
    JOIN pg_locks AS own ON own.locktype = 'transactionid' AND own.pid IS NULL AND own.granted
      AND own.virtualtransaction = held.virtualtransaction
    JOIN pg_prepared_xacts AS p ON p.transaction = own.transactionid
  WHERE waits.datname = current_database() AND waits.application_name LIKE 'snitch%'
    AND 0 = ANY (pg_blocking_pids(waits.pid)) AND waits.query_start < clock_timestamp() - interval '1 second'
  ORDER BY p.gid`;

const COUNTS =
  'SELECT (SELECT count(*)::int FROM snitches) AS snitches, (SELECT count(*)::int FROM cases) AS cases';

/** Somebody may have locked the table exclusively. */
async function unlessHeld<T>(work: () => Promise<T>): Promise<T | 'held'> {
  try {
    return await work();
  } catch (error) {
    if (codeOf(error) === NO_LOCK) return 'held';
    throw error;
  }
}

/** The schema that holds everything Snitch stores. */
const SCHEMA = 'public';

/** In milliseconds. */
const PATIENCE = 10_000;

/** How long a locked table is waited for: long enough to see who else waits. In milliseconds. */
const LOCKED_FOR = 2_000;

/**
 * @param dataDir of the node on this host: what is kept there lets it refuse an old primary
 * @throws ConnectionFault if no host accepts writes, or a daemon could not start on what is there
 */
export async function inspectPostgres(address: PostgresAddress, dataDir: string): Promise<Inspected> {
  const ignore = () => undefined;
  const reached = { address, schema: SCHEMA, answerWithinMs: PATIENCE, purpose: 'doctor', pipeline: false };
  const session = await new Primary(reached, seenBy(dataDir), ignore).connect();
  const { client, facts } = session;
  const rows = async <Row extends object>(sql: string) => (await client.query<Row>(sql)).rows;
  try {
    await client.query(`SELECT set_config('lock_timeout', '${LOCKED_FOR}', false)`);
    await checkSchemaAccess(client, SCHEMA);
    const [basics] = await rows<Basics>(
      `SELECT to_regclass('nodes') IS NOT NULL AS begun, current_setting('synchronous_standby_names') AS names,
         current_setting('synchronous_commit') AS waits, pg_database_size(current_database()) AS size,
         pg_has_role('pg_read_all_stats', 'USAGE') AS sees, (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now`,
    );
    const standbys = await rows<Standby>(
      `SELECT application_name AS name, coalesce(sync_state, 'unknown') AS state FROM pg_stat_replication
       WHERE state = 'streaming' ORDER BY application_name`,
    );
    const heldUp = async () => ({
      holders: await rows<Holder>(HOLDERS),
      prepared: await rows<Prepared>(PREPARED),
    });
    const first = await heldUp();
    const content = basics?.begun ? await unlessHeld(() => rows<Counts>(COUNTS)) : null;
    const nodes = basics?.begun ? await unlessHeld(() => listNodes(client)) : [];
    // Whoever holds up the counts also holds up the list of nodes by now.
    const isHeld = content === 'held' || nodes === 'held';
    const isNobody = first.holders.length === 0 && first.prepared.length === 0;
    const found = isHeld && isNobody ? await heldUp() : first;
    return {
      version: facts.version,
      content: content === 'held' ? content : (content?.[0] ?? null),
      nodes: nodes === 'held' ? [] : nodes,
      now: Number(basics?.now),
      standbys,
      ...found,
      isSynchronous: basics?.names !== '' && basics?.waits !== 'local',
      size: Number(basics?.size),
      seesStandbys: basics?.sees ?? false,
      waitsFor: basics?.waits ?? '',
    };
  } finally {
    await session.end();
  }
}
