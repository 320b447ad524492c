/** One connection that has a whole database to itself for the duration of a move. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { PostgresAddress } from '../../core/database/postgres-url.ts';
import { Primary } from '../postgres/hosts/primary.ts';
import { seenMemory } from '../postgres/hosts/seen-file.ts';
import type { Session } from '../postgres/hosts/session.ts';
import { MIGRATIONS } from '../postgres/migrate.ts';
import { CLOCK } from '../postgres/nodes/signs.ts';
import { LOCKS } from '../postgres/postgres-transaction.ts';
import { MoveFailed } from './move.ts';

/** The longest statement counts the rows of a large table on a slow disk. In milliseconds. */
const ANSWERS_WITHIN = 180_000;

/** How long to wait for a killed move, which the server notices after a moment; in milliseconds. */
const WAITS_FOR_OTHERS = 15_000;
const LOOKS_EVERY = 200;

/** How long somebody else can hold a table before the move fails, in milliseconds. */
const LOCK_WITHIN = 10_000;

/** A node without a sign of life for this long has ended, in milliseconds; longer than its own store tries to write. */
const SILENT_AFTER = 10_000;

/**
 * Connects to the host that accepts writes.
 *
 * @param dataDir of the node, which remembers the primary that it wrote to; null if it never did
 * @throws ConnectionFault
 */
export async function connect(address: PostgresAddress, dataDir: string | null): Promise<Session> {
  const ignore = () => undefined;
  // What is remembered counts here too, but only the node itself records it.
  const memory = { ...seenMemory(dataDir, ignore), keep: async () => undefined };
  const reached = { address, schema: 'public', answerWithinMs: ANSWERS_WITHIN, pipeline: false };
  const session = await new Primary(reached, memory, ignore).connect({ purpose: 'move' });
  // Between two statements, this side is busy with the other database.
  await session.client.query(
    `SELECT set_config('idle_in_transaction_session_timeout', '0', false),
       set_config('statement_timeout', '0', false), set_config('lock_timeout', '${LOCK_WITHIN}', false)`,
  );
  return session;
}

/**
 * From here until the end of the session, every daemon that starts on this database waits.
 *
 * @throws MoveFailed if another program already has it
 */
export async function haveAlone({ client }: Session, shown: string): Promise<void> {
  const until = performance.now() + WAITS_FOR_OTHERS;
  for (;;) {
    const { rows } = await client.query<{ mine: boolean }>(
      'SELECT pg_try_advisory_lock($1, hashtext($2)) AS mine',
      [LOCKS, MIGRATIONS],
    );
    if (rows[0]?.mine) return;
    if (performance.now() > until)
      throw new MoveFailed(
        `another program has ${shown} to itself, a \`snitch move\` or a daemon that upgrades it: wait until it is done`,
        'running',
      );
    await sleep(LOOKS_EVERY);
  }
}

const FOLLOWED = `SELECT pg_has_role('pg_read_all_stats', 'USAGE') AS sees, count(pid)::int AS standbys,
    count(pid) FILTER (WHERE sync_state IN ('sync', 'quorum'))::int AS awaited,
    CASE WHEN current_setting('synchronous_commit') IN ('off', 'local') THEN ''
      ELSE current_setting('synchronous_standby_names') END AS names
  FROM pg_stat_replication`;

/**
 * Otherwise, a commit that waits for an absent standby would be noticed only at the end of a long move.
 *
 * @throws MoveFailed if the commit waits for a standby and none is to be seen
 */
export async function refuseUnfollowed({ client }: Session, shown: string): Promise<void> {
  const { rows } = await client.query<{ names: string; sees: boolean; standbys: number; awaited: number }>(
    FOLLOWED,
  );
  const { names = '', sees = false, standbys = 0, awaited = 0 } = rows[0] ?? {};
  if (names === '' || awaited > 0 || (standbys > 0 && !sees)) return;
  throw new MoveFailed(
    `${shown} commits nothing now: it waits for a standby (synchronous_standby_names is ${names}), and none of those follows. Nothing was moved: start the standby; or, to go on without one, on the primary: ALTER SYSTEM RESET synchronous_standby_names; SELECT pg_reload_conf()`,
  );
}

export async function tablesIn({ client }: Session): Promise<Set<string>> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class AS c
     WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'f')
       AND NOT EXISTS (SELECT 1 FROM pg_depend AS d
         WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
     ORDER BY relname`,
  );
  return new Set(rows.map(({ name }) => name));
}

/** @throws MoveFailed if nodes are alive on this database */
export async function refuseLiving({ client }: Session, shown: string): Promise<void> {
  const { rows } = await client.query<{ name: string; ago: string }>(
    `SELECT name, greatest(0, ${CLOCK} - alive_at) AS ago FROM nodes
     WHERE stopped_at IS NULL AND alive_at > ${CLOCK} - $1::bigint ORDER BY alive_at DESC`,
    [SILENT_AFTER],
  );
  if (rows.length === 0) return;
  const names = rows.map(({ name }) => name).join(', ');
  const ago = (Math.max(...rows.map((row) => Number(row.ago))) / 1_000).toFixed(0);
  throw new MoveFailed(
    `daemons work on ${shown}: ${names} (a sign of life ${ago} s ago). Stop all of them first; one that was killed counts as ended ${SILENT_AFTER / 1_000} s after its last sign`,
    'running',
  );
}
