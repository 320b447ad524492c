/**
 * Work for one node at a time: it holds a lock for as long as its process shows on the lock's session that it lives.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { MINUTE } from '../../text/durations.ts';
import { ConnectionFault } from './hosts/faults.ts';
import type { Primary } from './hosts/primary.ts';
import type { Session } from './hosts/session.ts';
import { LOCKS } from './postgres-transaction.ts';

/** In milliseconds. Statements on the lock's connection only ask for the lock or show that the process lives. */
const ANSWERS_WITHIN = 8_000;

/** Between two signs of life, and between two attempts to get the lock; milliseconds. */
const EVERY = 1_000;
const TRIED_EVERY = 250;

/** A process that stands still this long, as on a suspended host, loses its session and so the lock; milliseconds. */
const STANDS_STILL_AFTER = 10_000;

const TRY = 'SELECT pg_try_advisory_lock($1, hashtext($2)) AS mine';

const HOLDER = `SELECT a.pid, a.application_name AS name,
    CASE WHEN a.client_port = -1 THEN 'the host of the database'
      ELSE coalesce(host(a.client_addr), 'a host that this user is not shown') END AS host
  FROM pg_locks AS l JOIN pg_stat_activity AS a ON a.pid = l.pid
  WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 2 AND l.classid::bigint = $1
    AND l.objid::bigint = (hashtext($2)::bigint & 4294967295)
    AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

/**
 * Who holds a lock of Snitch, for the log, so that somebody can look at that host or end that session.
 *
 * @returns null if nobody holds it any more
 */
export async function holderOf(client: pg.ClientBase, name: string): Promise<string | null> {
  const { rows } = await client.query<{ pid: number; name: string; host: string }>(HOLDER, [LOCKS, name]);
  const [holder] = rows;
  if (!holder) return null;
  return `"${holder.name}" from ${holder.host}, process ${holder.pid} of the database`;
}

export interface AloneOptions {
  readonly primary: Pick<Primary, 'connect'>;
  /** Called with the holder while this node waits: at once, and then each minute. */
  readonly onWait: (holder: string | null) => void;
  /** In milliseconds; for tests. */
  readonly standsStillAfter?: number;
}

/**
 * Runs `work` while no other node runs work of this name. `work` is given a function that throws if another node may
 * have taken over by now.
 *
 * @throws ConnectionFault if the lock cannot be had or was lost, and whatever `work` throws
 */
export async function alone<T>(
  { primary, onWait, standsStillAfter = STANDS_STILL_AFTER }: AloneOptions,
  name: string,
  work: (confirm: () => Promise<void>) => Promise<T>,
): Promise<T> {
  const session = await primary.connect({ purpose: name, answerWithinMs: ANSWERS_WITHIN, pipeline: false });
  try {
    await session.client.query(`SELECT set_config('idle_session_timeout', '${standsStillAfter}', false)`);
    await take(session, name, onWait);
    const sign = () => signOn(session, standsStillAfter);
    const signs = setInterval(() => void sign().catch(() => undefined), EVERY);
    return await work(sign).finally(() => clearInterval(signs));
  } finally {
    await session.end();
  }
}

/**
 * An answer that arrived before this process stood still says nothing about what came after. A monotonic clock stops
 * with a virtual machine, and the wall clock can be set: the longer of the two times counts.
 */
async function signOn({ client }: Session, standsStillAfter: number): Promise<void> {
  const [wall, monotonic] = [Date.now(), performance.now()];
  await client.query('SELECT 1');
  if (Math.max(Date.now() - wall, performance.now() - monotonic) >= standsStillAfter)
    throw new ConnectionFault('this node stood still, and another one may have taken its turn');
}

async function take({ client }: Session, name: string, onWait: AloneOptions['onWait']): Promise<void> {
  const attempt = async () => {
    const { rows } = await client.query<{ mine: boolean }>(TRY, [LOCKS, name]);
    return rows[0]?.mine === true;
  };
  await untilMine(attempt, async () => onWait(await holderOf(client, name)));
}

/**
 * Repeats `attempt` until it succeeds.
 *
 * @param tell called at once if the first attempt fails, and then every `every` milliseconds
 */
export async function untilMine(
  attempt: () => Promise<boolean>,
  tell: () => Promise<void>,
  every = MINUTE,
): Promise<void> {
  for (let toldAt = Number.NEGATIVE_INFINITY; !(await attempt()); ) {
    if (performance.now() - toldAt >= every) {
      toldAt = performance.now();
      await tell();
    }
    await sleep(TRIED_EVERY);
  }
}
