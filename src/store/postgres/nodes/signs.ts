/** Signs of life of the nodes in the database; each function is atomic. */
import type pg from 'pg';
import type { BlindWindow } from '../../../core/blind-window.ts';
import { WEEK } from '../../../text/durations.ts';
import type { ListedNode } from '../../node.ts';
import { type Verdict, verdictOn } from './verdict.ts';

/** The node that gives the signs. */
export type Node = Pick<ListedNode, 'id' | 'name' | 'version' | 'schemaVersion'>;

/** Stores the window in the transaction that is open on this connection. */
export type OpenWindow = (client: pg.ClientBase, window: BlindWindow) => Promise<void>;

/** The database's clock, in whole milliseconds; unlike `now()` it goes on during a transaction. */
export const CLOCK = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint';

/** Only one node at a time decides what a gap was. 77 is for this lock alone; the others are under `LOCKS`. */
const LOCK = `SELECT pg_advisory_xact_lock(77, hashtext('liveness'))`;

/** If all earlier nodes said goodbye, nobody accepted check-ins after the last of them ended. In milliseconds. */
const AFTER_GOODBYES = 0;

/** How long nodes that have ended are still listed. */
const LISTED_FOR = WEEK;
/** Signs come once a second and take a while to arrive; in milliseconds. */
const BETWEEN_SIGNS = 2_000;

/** A living node gives several signs in this time, even if one of them is lost. In milliseconds. */
const SURE_AFTER = 3_000;

interface Signs {
  last: string | null;
  now: string;
  /** The last sign of this node. */
  own: string | null;
  /** Whether there is a node that has not said goodbye. */
  lives: boolean | null;
  /** Whether another node has taken this one for dead. */
  freed: boolean | null;
  /** Whether the last living node left its callers waiting at the socket that this node has now. */
  held: boolean | null;
}

/** The answer to an ordinary sign. */
interface Everyday extends Pick<Answer, 'hasDead' | 'hasProven'> {
  now: string;
  last: string;
  before: string;
  isUnsure: boolean;
}

/** The answer to a sign of life. */
export interface Answer {
  readonly verdict: Verdict;
  /** Another node has released what this one had claimed: none of it can be sent. */
  readonly wasFreed: boolean;
  /** A node is silent and its claims are not released yet. */
  readonly hasDead: boolean;
  /** One such node is known to be dead, however briefly this one has lived: see `PROVEN`. */
  readonly hasProven: boolean;
  /** This host's clock is at least this far ahead of the database's, in milliseconds; negative if it is behind. */
  readonly clockAheadMs: number;
  /** The database's clock between the request and the answer, in milliseconds. */
  readonly databaseNow: number;
  /** The last sign of this node that is stored now, and the one that was stored before; null for none. */
  readonly kept: { readonly last: number; readonly before: number | null };
}

/**
 * A node that has been silent this long is dead to the others, in milliseconds of the database's clock. Once its own
 * last sign is older than `SIGN_PROVES_FOR`, it sends nothing that it claimed, which leaves a few seconds for clocks that run
 * unevenly.
 */
export const DEAD_AFTER = 10_000;

interface SignOptions {
  node: Node;
  threshold: number;
  ownNow: () => number;
  open: OpenWindow;
  isFirst?: boolean;
  heldSocket?: string | null;
}

/** The longest that clients are assumed to wait for an answer, in milliseconds; as for a daemon that is alone. */
const LONGEST_WAIT = 30_000;

/**
 * Records that this node lives. An ordinary sign is one statement and takes no lock. Only if no node gave a sign for
 * longer than the threshold, or the clock was set back, do the nodes decide what that means, one after the other. It is
 * committed as durably as check-ins are, so that it fails if they do: a database that accepts no check-ins must not
 * look alive.
 *
 * @param isFirst this node begins: if all others have ended in order, any gap counts
 * @param heldSocket if it was held since a node stopped in order, no caller since then was lost (`decisions: blind`)
 * @param ownNow this host's clock, in milliseconds, to be compared
 * @throws the error of the database; then no sign was given, and no window opened
 */
export async function giveSign(
  client: pg.ClientBase,
  { node, threshold, ownNow, open, isFirst = false, heldSocket = null }: SignOptions,
): Promise<Answer> {
  const asked = ownNow();
  const { rows, rowCount } = await client.query<Everyday>({
    name: 'sign of life',
    text: `UPDATE nodes SET alive_at = greatest(alive_at, c.now), clock_ahead_ms = $3, stopped_at = NULL
      FROM (SELECT ${CLOCK} AS now, (SELECT alive_at FROM nodes WHERE id = $1) AS before) AS c
      WHERE id = $1 AND freed_at IS NULL
        AND (SELECT max(alive_at) FROM nodes) BETWEEN c.now - $2::bigint AND c.now + $2::bigint
      RETURNING c.now, c.before, nodes.alive_at AS last, ${HAS_DEAD}, ${IS_UNSURE} AS "isUnsure"`,
    values: [node.id, threshold, clockAhead.get(client) ?? 0, DEAD_AFTER],
  });
  if (rowCount === 1) {
    // Half the round trip is the best guess of when the database read its clock.
    const half = (ownNow() - asked) / 2;
    const databaseNow = Number(rows[0]?.now);
    const ahead = Math.round(asked + half) - databaseNow;
    clockAhead.set(client, ahead);
    const clockAheadMs = Math.sign(ahead) * Math.max(0, Math.abs(ahead) - Math.abs(half));
    const { hasDead = false, hasProven = false, isUnsure = false } = rows[0] ?? {};
    const verdict: Verdict = isUnsure
      ? await inTransaction(client, () => settleUnsure(client, open))
      : { kind: 'alive' };
    const kept = { last: Number(rows[0]?.last), before: Number(rows[0]?.before) };
    return { verdict, wasFreed: false, hasDead, hasProven, clockAheadMs, databaseNow, kept };
  }
  return inTransaction(client, () => giveLockedSign(client, { node, threshold, open, isFirst, heldSocket }));
}

const DEAD = `FROM nodes AS other
  WHERE other.id <> $1 AND other.freed_at IS NULL AND other.alive_at < c.now - $4::bigint`;

/**
 * Proves `other` dead: nodes that began after its last sign lived long enough, so the database was there, and it gave
 * no sign. If each node dies soon after its start, no single life is long enough. Time that several lived at once
 * counts once, and a life through a blind window counts from its end: the database may have been away for all.
 */
export const PROVEN = `(SELECT coalesce(sum(greatest(0, alive_at - greatest(began, counted))), 0)
  FROM (SELECT alive_at, began,
      max(alive_at) OVER (ORDER BY began ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS counted
    FROM (SELECT run.alive_at, greatest(run.started_at, (SELECT max(ended_at) FROM blind_windows
        WHERE ended_at BETWEEN run.started_at AND run.alive_at)) AS began
      FROM nodes AS run WHERE run.started_at > other.alive_at) AS lives) AS lived) >= ${DEAD_AFTER}`;

const HAS_DEAD = `EXISTS (SELECT 1 ${DEAD}) AS "hasDead", EXISTS (SELECT 1 ${DEAD} AND ${PROVEN}) AS "hasProven"`;

const IS_UNSURE = 'EXISTS (SELECT 1 FROM nodes WHERE unsure_from IS NOT NULL)';

/** Measured at one sign and written with the next. */
const clockAhead = new WeakMap<pg.ClientBase, number>();

async function giveLockedSign(
  client: pg.ClientBase,
  { node, threshold, open, isFirst, heldSocket }: Required<Omit<SignOptions, 'ownNow'>>,
): Promise<Answer> {
  await client.query(LOCK);
  // A separate statement, because one that waited for the lock would see the data from before it waited.
  const { rows } = await client.query<Signs>(
    `SELECT max(alive_at) AS last, max(alive_at) FILTER (WHERE id = $1) AS own, ${CLOCK} AS now, bool_or(stopped_at IS NULL) AS lives,
       bool_or(id = $1 AND freed_at IS NOT NULL) AS freed,
       bool_or(held_socket = $2 AND stopped_at >= ${CLOCK} - $3::bigint
         AND alive_at = (SELECT max(alive_at) FROM nodes)) AS held FROM nodes`,
    [node.id, heldSocket, LONGEST_WAIT],
  );
  const [signs] = rows;
  const now = Number(signs?.now);
  const last = signs?.last == null ? null : Number(signs.last);
  const wasHeld = isFirst && signs?.held === true;
  const onGap = verdictOn(last, now, isFirst && signs?.lives === false ? AFTER_GOODBYES : threshold);
  const verdict: Verdict = wasHeld && onGap.kind === 'blind' ? { kind: 'alive' } : onGap;
  if (verdict.kind === 'blind') await open(client, verdict.window);
  if (verdict.kind === 'clock set back')
    await client.query('UPDATE nodes SET alive_at = $1 WHERE alive_at > $1', [now]);
  const isUnsure = isFirst && !wasHeld && verdict.kind === 'alive' && last !== null && last < now;
  await client.query(
    `INSERT INTO nodes (id, name, version, started_at, alive_at, unsure_from, schema_version)
     VALUES ($1, $2, $3, $4, $4, $5, $6)
     ON CONFLICT (id) DO UPDATE SET alive_at = greatest(nodes.alive_at, excluded.alive_at), stopped_at = NULL,
       freed_at = NULL`,
    [node.id, node.name, node.version, now, isUnsure ? last : null, node.schemaVersion],
  );
  await client.query('DELETE FROM nodes WHERE alive_at < $1', [now - LISTED_FOR]);
  await client.query('DELETE FROM waiting_nodes WHERE id = $1 OR alive_at < $2', [node.id, now - LISTED_FOR]);
  const unknown = { hasDead: false, hasProven: false, clockAheadMs: 0 };
  const kept = { last: now, before: signs?.own == null ? null : Number(signs.own) };
  return { verdict, wasFreed: signs?.freed ?? false, ...unknown, databaseNow: now, kept };
}

interface Unsure {
  id: string;
  from: string;
  begun: string;
  /** Whether some node lived both before and after this one began. */
  lived: boolean;
  isOver: boolean;
}

/**
 * Decides about nodes that began soon after the last sign of another. If none of the nodes that were there gives
 * another sign, they were dead by then, and nobody accepted check-ins in between: a quick restart is a window, as it is
 * for a program that has its database to itself. Any node can decide this, however briefly the node in question lives.
 */
async function settleUnsure(client: pg.ClientBase, open: OpenWindow): Promise<Verdict> {
  await client.query(LOCK);
  const { rows } = await client.query<Unsure>(
    `SELECT id, unsure_from AS from, started_at AS begun, started_at < ${CLOCK} - $1::bigint AS "isOver",
       EXISTS (SELECT 1 FROM nodes AS other WHERE other.id <> own.id AND other.started_at < own.started_at
         AND other.alive_at > own.started_at) AS lived
     FROM nodes AS own WHERE unsure_from IS NOT NULL ORDER BY started_at`,
    [SURE_AFTER],
  );
  const settled = rows.filter(({ lived, isOver }) => lived || isOver);
  const missed = settled.filter(({ lived }) => !lived);
  await client.query('UPDATE nodes SET unsure_from = NULL WHERE id = ANY($1)', [settled.map(({ id }) => id)]);
  if (missed.length === 0) return { kind: 'alive' };
  const window = {
    start: Math.min(...missed.map(({ from }) => Number(from))),
    end: Math.max(...missed.map(({ begun }) => Number(begun))),
  };
  await open(client, window);
  return { kind: 'blind', window };
}

/** The node ends in order. Its last sign stays, because a gap begins there if no other node lives. */
export async function sayGoodbye(client: pg.ClientBase, { id }: Node): Promise<void> {
  await client.query(`UPDATE nodes SET stopped_at = ${CLOCK} WHERE id = $1`, [id]);
}

/** Call it once everybody was answered: callers from now on wait at this socket, until the next start or in vain. */
export async function sayHeld(client: pg.ClientBase, { id }: Node, socket: string): Promise<void> {
  await client.query('UPDATE nodes SET held_socket = $2 WHERE id = $1 AND stopped_at IS NOT NULL', [
    id,
    socket,
  ]);
}

/** The newest first. */
export async function listNodes(client: pg.ClientBase): Promise<ListedNode[]> {
  const { rows } = await client.query<Record<string, string | null>>(
    `SELECT id, name, version, started_at AS "startedAt", alive_at AS "aliveAt", stopped_at AS "stoppedAt",
       clock_ahead_ms AS "clockAheadMs", schema_version AS "schemaVersion", NULL AS waits FROM nodes
     UNION ALL SELECT id, name, version, started_at, alive_at, NULL, 0, schema_version, 'yes' FROM waiting_nodes
       WHERE alive_at > ${CLOCK} - ${DEAD_AFTER}
     ORDER BY "startedAt" DESC, id`,
  );
  return rows.map(({ id, name, version, startedAt, aliveAt, stoppedAt, clockAheadMs, ...schema }) => ({
    id: id ?? '',
    name: name ?? '',
    version: version ?? '',
    startedAt: Number(startedAt),
    aliveAt: Number(aliveAt),
    stoppedAt: stoppedAt == null ? null : Number(stoppedAt),
    clockAheadMs: Number(clockAheadMs),
    schemaVersion: Number(schema.schemaVersion),
    waits: schema.waits != null,
  }));
}

/**
 * Whether the transaction that is open on this connection can look for missed deadlines: not while it is undecided what
 * a gap was, nor while a blind window still has deadlines to postpone. A node that stood still for a while asks
 * here before it gives its next sign of life, and must not accuse anybody.
 */
export async function maySweep(client: pg.ClientBase, threshold: number): Promise<boolean> {
  const { rows } = await client.query<{ may: boolean }>(
    `SELECT NOT EXISTS (SELECT 1 FROM blind_windows WHERE cursor IS NOT NULL) AND NOT ${IS_UNSURE}
       AND coalesce((SELECT max(alive_at) FROM nodes) BETWEEN ${CLOCK} - $1::bigint AND ${CLOCK} + $1::bigint, FALSE) AS may`,
    [threshold],
  );
  return rows[0]?.may ?? false;
}

/**
 * As `maySweep`, for a node with this id: it must itself have given a sign of life within the threshold, and not be
 * stopping. A node that stood still in between does not know what the others did. If the last sign that was answered is
 * missing, this database lacks what was written since, and nobody has noticed yet. In the SQL of the shared operations.
 */
export const MAY_SWEEP = `SELECT NOT EXISTS (SELECT 1 FROM blind_windows WHERE cursor IS NOT NULL)
    AND NOT ${IS_UNSURE} AND EXISTS (SELECT 1 FROM nodes WHERE id = ? AND stopped_at IS NULL
      AND alive_at BETWEEN ${CLOCK} - CAST(? AS BIGINT) AND ${CLOCK} + CAST(? AS BIGINT) AND alive_at >= CAST(? AS BIGINT)) AS may`;

/**
 * Whether any node but the one with this id lived from the first number of milliseconds ago until the second, or a
 * little less: between two signs that is unknown.
 */
export const OTHERS_LIVED = `SELECT EXISTS (SELECT 1 FROM nodes WHERE id <> ? AND stopped_at IS NULL
    AND started_at <= ${CLOCK} - CAST(? AS BIGINT)
    AND alive_at > ${CLOCK} - CAST(? AS BIGINT) - ${BETWEEN_SIGNS}) AS lived`;

async function inTransaction<T>(client: pg.ClientBase, work: () => Promise<T>): Promise<T> {
  await client.query('BEGIN');
  try {
    const result = await work();
    await client.query('COMMIT');
    return result;
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}
