/**
 * Claims of one node among several. One statement walks the targets, takes those that no other node serves, and leases
 * what is due for them. What becomes of each delivery is decided by the same operation as anywhere else.
 */
import type { ClaimedDelivery } from '../../core/delivery.ts';
import type { ClaimRequest } from '../deliveries.ts';
import { COLUMNS, type DueRow, lookAtClaimed } from '../operations/claims.ts';
import type { Reading, Transaction } from '../transaction.ts';
import { foreseeAlerts } from './claimed-alerts.ts';
import { CLOCK } from './nodes/signs.ts';

/** The order of the shared walk: first the targets after `after`, then from the first target on. */
const IN_TURN = (target: string) => `(${target} <= ?), ${target}`;

/** How a statement expresses what is due, and when a lease ends. */
interface ClockWords {
  now: string;
  due: string;
  until: string;
}

/** Leases what was picked. Returns the rows as they were before. */
const lease = (until: string) =>
  `UPDATE deliveries AS d SET attempts = d.attempts + 1, fence = d.fence + 1, leased = 1, next_attempt_at = ${until}, node = ?
  FROM picked WHERE d.id = picked.id
  RETURNING ${COLUMNS.split(', ')
    .map((name) => (name === 'attempts' || name === 'fence' ? `d.${name} - 1 AS ${name}` : `d.${name}`))
    .join(', ')}`;

/**
 * The node that had a target keeps it while the lease lasts, so that whatever comes for one recipient meanwhile is
 * gathered by one node. Turns are taken in the order of the targets, so that no two nodes wait for each other.
 */
const claimIn = ({ now, due, until }: ClockWords) => `WITH RECURSIVE walked AS (
    (SELECT target FROM deliveries WHERE state = 'pending' AND channel = ? ORDER BY target LIMIT 1)
    UNION ALL
    SELECT (SELECT d.target FROM deliveries AS d
      WHERE d.state = 'pending' AND d.channel = ? AND d.target > walked.target ORDER BY d.target LIMIT 1)
    FROM walked WHERE walked.target IS NOT NULL
  ), free AS (
    SELECT w.target FROM walked AS w LEFT JOIN turns AS t ON t.channel = ? AND t.target = w.target
    WHERE w.target IS NOT NULL AND NOT w.target IN (SELECT value FROM json_each(?))
      AND (t.target IS NULL OR t.node = ? OR t.until <= ${now})
      AND EXISTS (SELECT 1 FROM deliveries AS d WHERE d.state = 'pending' AND d.channel = ? AND d.target = w.target
        AND ${due})
    ORDER BY ${IN_TURN('w.target')} LIMIT ?
  ), mine AS (
    INSERT INTO turns AS t (channel, target, node, until)
    SELECT ?, target, ?, ${until} FROM free ORDER BY target
    ON CONFLICT (channel, target) DO UPDATE SET node = excluded.node, until = greatest(t.until, excluded.until)
      WHERE t.node = excluded.node OR t.until <= ${now}
    RETURNING t.target
  ), picked AS (
    SELECT d.id FROM mine CROSS JOIN LATERAL (
      SELECT d.id, d.next_attempt_at FROM deliveries AS d
      WHERE d.state = 'pending' AND d.channel = ? AND d.target = mine.target AND ${due}
      ORDER BY d.next_attempt_at, d.id LIMIT ? FOR UPDATE SKIP LOCKED) AS d
    ORDER BY ${IN_TURN('mine.target')}, d.next_attempt_at, d.id LIMIT ?
  )
  ${lease(until)}`;

/** More deliveries for a target whose turn this node has just taken, except those already examined. */
const moreIn = ({ due, until }: ClockWords) => `WITH picked AS (
    SELECT d.id FROM deliveries AS d
    WHERE d.state = 'pending' AND d.channel = ? AND d.target = ? AND ${due}
      AND NOT d.id IN (SELECT CAST(value AS BIGINT) FROM json_each(?))
    ORDER BY d.next_attempt_at, d.id LIMIT ? FOR UPDATE SKIP LOCKED
  )
  ${lease(until)}`;

const OWN = { now: 'CAST(? AS BIGINT)', due: 'd.next_attempt_at <= ?', until: 'CAST(? AS BIGINT)' };

/** Constant within a statement, so that an index can be used with it. */
const NOW = 'CAST(extract(epoch FROM statement_timestamp()) * 1000 AS BIGINT)';

/**
 * Leases and turns begin and end by the clock of the database, whatever the clocks of the hosts say. A delivery that
 * nobody has leased is also due by the clock of this host, because a host whose clock is ahead may have stamped it. A
 * delivery that another node leased is due when the lease ends, unless it must be left alone.
 */
const SHARED = {
  now: NOW,
  due: `d.next_attempt_at <= greatest(CAST(? AS BIGINT), ${NOW}) AND (d.leased = 0
    OR d.next_attempt_at <= ${NOW} AND (d.node IS NULL OR d.node = ? OR CAST(? AS BIGINT) = 1))`,
  until: `${NOW} + CAST(? AS BIGINT)`,
};

const CLAIM = { own: claimIn(OWN), database: claimIn(SHARED) };
const CLAIM_MORE = { own: moreIn(OWN), database: moreIn(SHARED) };

/** The clock that measures leases: the caller's, if it has the database to itself, or the database's. */
export type LeaseClock = 'own' | 'database';

export interface Claiming {
  /** The node that claims. */
  node: string;
  clock: LeaseClock;
  /** Whether a delivery that another node leased may be claimed when that lease ends. */
  mayTakeOver: boolean;
}

/** The most deliveries that one claim examines, counting those that need not be sent, or not yet. */
const LOOKED_THROUGH = 1_024;

/** Likewise for one target, in addition to what the first claim returned. */
const LOOKED_THROUGH_OF_ONE = 256;

export async function claimAsNode(
  tx: Transaction,
  claiming: Claiming,
  request: ClaimRequest,
): Promise<ClaimedDelivery[]> {
  const claimed: ClaimedDelivery[] = [];
  const passed = new Set(request.busy);
  for (let looked = 0; claimed.length < request.limit && looked < LOOKED_THROUGH; ) {
    const limit = request.limit - claimed.length;
    const rows = await take(tx, claiming, { ...request, limit, busy: [...passed] });
    await foreseeAlerts(tx, rows);
    for (const [target, own] of Map.groupBy(rows, (row) => row.target)) {
      const got = await lookAtAll(tx, own, request.now);
      claimed.push(...got);
      // A delivery that is not sent makes room for one after it.
      if (got.length < own.length) {
        const most = Math.min(request.perTarget - got.length, request.limit - claimed.length);
        claimed.push(...(await claimMore(tx, claiming, request, { target, most, looked: own })));
      }
      passed.add(target);
    }
    looked += rows.length;
    if (rows.length < limit) break;
  }
  return claimed;
}

async function lookAtAll(tx: Transaction, rows: readonly DueRow[], now: number): Promise<ClaimedDelivery[]> {
  const claimed: ClaimedDelivery[] = [];
  for (const row of rows) {
    const delivery = await lookAtClaimed(tx, row, now);
    if (delivery) claimed.push(delivery);
  }
  return claimed;
}

/** By the same rules as the first claim, for the target whose turn that claim took. */
async function claimMore(
  tx: Transaction,
  claiming: Claiming,
  request: ClaimRequest,
  { target, most, looked }: { target: string; most: number; looked: readonly DueRow[] },
): Promise<ClaimedDelivery[]> {
  const { due, until } = valuesOf(claiming, request);
  const claimed: ClaimedDelivery[] = [];
  const seen = looked.map(({ id }) => id);
  while (claimed.length < most && seen.length < LOOKED_THROUGH_OF_ONE) {
    const limit = most - claimed.length;
    const rows = await tx.all<DueRow>(
      CLAIM_MORE[claiming.clock],
      ...[request.channel, target, ...due, JSON.stringify(seen), limit, until, claiming.node],
    );
    rows.sort((one, other) => one.id - other.id);
    await foreseeAlerts(tx, rows);
    claimed.push(...(await lookAtAll(tx, rows, request.now)));
    seen.push(...rows.map(({ id }) => id));
    if (rows.length < limit) break;
  }
  return claimed;
}

/** The statement's rows, in the order in which the targets take turns. */
async function take(tx: Transaction, claiming: Claiming, request: ClaimRequest): Promise<DueRow[]> {
  const { node, clock } = claiming;
  const { channel, perTarget, limit, after, busy } = request;
  const { now, due, until } = valuesOf(claiming, request);
  // Rows that the claim has no room for are not locked: others may be using them.
  const most = Math.min(perTarget, limit);
  const rows = await tx.all<DueRow>(
    CLAIM[clock],
    ...[channel, channel, channel, JSON.stringify(busy), node, ...now, channel, ...due, after, limit],
    ...[channel, node, until, ...now, channel, ...due, most, after, limit, until, node],
  );
  const key = ({ target }: DueRow) => (target <= after ? 1 : 0);
  return rows.sort(
    (one, other) => key(one) - key(other) || compare(one.target, other.target) || one.id - other.id,
  );
}

/** The values of the statements' parameters, in their order. */
function valuesOf({ node, clock, mayTakeOver }: Claiming, { now, leaseUntil }: ClaimRequest) {
  return clock === 'own'
    ? { now: [now], due: [now], until: leaseUntil }
    : { now: [], due: [now, node, mayTakeOver ? 1 : 0], until: leaseUntil - now };
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/**
 * How far the clock that all nodes share is ahead of this host's, in milliseconds; negative if it is behind.
 *
 * @param now of this host
 */
export async function databaseAhead(tx: Reading, now: number): Promise<number> {
  const row = await tx.get<{ now: number }>(`SELECT ${NOW} AS now`);
  return row ? row.now - now : 0;
}

const NEXT = `SELECT next_attempt_at AS at, ${NOW} AS now FROM deliveries WHERE state = 'pending'
  ORDER BY next_attempt_at LIMIT 1`;

/**
 * When the next delivery can be claimed, by the clock of this host. It is due as soon as either clock says so:
 * otherwise a host whose clock is behind would leave it waiting for that much longer.
 *
 * @param now of this host
 */
export async function nextDueByEither(tx: Reading, now: number): Promise<number | null> {
  const next = await tx.get<{ at: number; now: number }>(NEXT);
  return next ? next.at - Math.max(0, next.now - now) : null;
}

/** Makes due what these nodes had claimed, and releases their targets. Only correct if those nodes are gone. */
export async function releaseLeasesOf(tx: Transaction, nodes: readonly string[], now: number): Promise<void> {
  const gone = JSON.stringify(nodes);
  await tx.run(
    `UPDATE deliveries SET leased = 0, next_attempt_at = ?
     WHERE state = 'pending' AND leased = 1 AND node IN (SELECT value FROM json_each(?))`,
    now,
    gone,
  );
  await tx.run('DELETE FROM turns WHERE until <= ? OR node IN (SELECT value FROM json_each(?))', now, gone);
}

const FREE_DELIVERIES = `UPDATE deliveries SET leased = 0, next_attempt_at = least(next_attempt_at, ${CLOCK})
  WHERE id IN (SELECT id FROM deliveries WHERE state = 'pending' AND leased = 1
    AND node IN (SELECT value FROM json_each(?)) FOR UPDATE SKIP LOCKED)`;

const LEFT = `SELECT 1 AS one FROM deliveries WHERE state = 'pending' AND leased = 1
  AND node IN (SELECT value FROM json_each(?)) LIMIT 1`;

/**
 * As `releaseLeasesOf`, for nodes that may yet wake up: rows that one of them is writing right now are skipped. The
 * claims keep their fence, so a delivery that such a node did send still counts as sent until somebody claims it again.
 */
export async function freeClaimsOf(
  tx: Transaction,
  nodes: readonly string[],
): Promise<{ isAll: boolean; freed: number }> {
  const gone = JSON.stringify(nodes);
  const turns = await tx.run('DELETE FROM turns WHERE node IN (SELECT value FROM json_each(?))', gone);
  const deliveries = await tx.run(FREE_DELIVERIES, gone);
  const left = await tx.get(LEFT, gone);
  return { isAll: left === undefined, freed: turns + deliveries };
}
