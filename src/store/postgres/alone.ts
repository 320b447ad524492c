/** What one node at a time does: it holds a lock as long as its process gives signs on the session of that. */
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { MINUTE } from '../../text/durations.ts';
import { ConnectionFault } from './hosts/faults.ts';
import type { Primary } from './hosts/primary.ts';
import type { Session } from './hosts/session.ts';
import { LOCKS } from './postgres-transaction.ts';

/** A statement on the connection of the lock only asks for the lock or shows that the process lives; milliseconds. */
const ANSWERS_WITHIN = 8_000;

/** Between two signs, and between two attempts to get the lock; milliseconds. */
const EVERY = 1_000;
const TRIED_EVERY = 250;

/** A process that stands still, as a suspended host does, loses its session after so many milliseconds, and the lock with it. */
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
 * Who has a lock of Snitch, for the log, so that somebody can look at that host or end that session.
 *
 * @returns null where nobody has it any more
 */
export async function holderOf(client: pg.ClientBase, name: string): Promise<string | null> {
  const { rows } = await client.query<{ pid: number; name: string; host: string }>(HOLDER, [LOCKS, name]);
  const [holder] = rows;
  if (!holder) return null;
  return `"${holder.name}" from ${holder.host}, process ${holder.pid} of the database`;
}

export interface AloneOptions {
  readonly primary: Pick<Primary, 'connect'>;
  /** Told who is waited for, where somebody is: at once, and each minute. */
  readonly onWait: (holder: string | null) => void;
  /** In milliseconds; for tests. */
  readonly standsStillAfter?: number;
}

/**
 * Runs `work` while no other node does what has this name. `work` is given what throws where another one may do it by now.
 *
 * @throws ConnectionFault where the lock cannot be had or was lost, and what `work` throws
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
 * An answer that was there before this process stood still tells nothing of what came after. A monotonic clock stands still
 * with a virtual machine, and the wall clock may be set: the longer time counts.
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
 * Attempts it until it succeeds.
 *
 * @param tell called at once where the first attempt fails, and then each `every` milliseconds
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
