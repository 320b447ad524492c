/**
 * Claims of one node of several. One statement walks the targets, takes those that no other node serves, and leases what
 * is due of them. What becomes of each delivery is decided by the operation that decides it anywhere.
 */
import type { ClaimedDelivery } from '../../core/delivery.ts';
import type { ClaimRequest } from '../deliveries.ts';
import { COLUMNS, claimTarget, type DueRow, lookAtClaimed } from '../operations/claims.ts';
import type { Transaction } from '../transaction.ts';
import { foreseeAlerts } from './claimed-alerts.ts';
import { CLOCK } from './nodes/signs.ts';

/** As in the order of the shared walk: behind `after`, and then from the first target on. */
const IN_TURN = (target: string) => `(${target} <= ?), ${target}`;

/**
 * Whoever has had a target keeps it while the lease lasts, so that what comes for one recipient meanwhile is gathered by
 * one node. Turns are taken in the order of the targets, so that two nodes never wait for each other in a circle.
 */
const claimIn = (now: string, due: string, until: string) => `WITH RECURSIVE walked AS (
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
  UPDATE deliveries AS d SET attempts = d.attempts + 1, fence = d.fence + 1, leased = 1, next_attempt_at = ${until}, node = ?
  FROM picked WHERE d.id = picked.id
  RETURNING ${COLUMNS.split(', ')
    .map((name) => (name === 'attempts' || name === 'fence' ? `d.${name} - 1 AS ${name}` : `d.${name}`))
    .join(', ')}`;

const CLAIM = claimIn('CAST(? AS BIGINT)', 'd.next_attempt_at <= ?', 'CAST(? AS BIGINT)');

/** Of one statement, so that an index can be asked with it. */
const NOW = 'CAST(extract(epoch FROM statement_timestamp()) * 1000 AS BIGINT)';

/**
 * Leases and turns begin and end by the clock of the database, whatever the clocks of the hosts say. What nobody has leased
 * is due by the clock of this host as well, because another host may have stamped it whose clock is ahead. What another
 * node leased is due when the lease is over, unless it is to be left alone.
 */
const CLAIM_BY_DATABASE = claimIn(
  NOW,
  `d.next_attempt_at <= greatest(CAST(? AS BIGINT), ${NOW}) AND (d.leased = 0
    OR d.next_attempt_at <= ${NOW} AND (d.node IS NULL OR d.node = ? OR CAST(? AS BIGINT) = 1))`,
  `${NOW} + CAST(? AS BIGINT)`,
);

/** Whose clock leases are measured with: the caller's, who has the database alone, or that of the database. */
export type LeaseClock = 'own' | 'database';

const NOTE_NODE =
  'UPDATE deliveries SET node = ? WHERE id IN (SELECT CAST(value AS BIGINT) FROM json_each(?))';

export interface Claiming {
  /** Who claims. */
  node: string;
  clock: LeaseClock;
  /** Whether what another node leased may be claimed when that lease is over. */
  mayTakeOver: boolean;
}

/** Looks through so many deliveries at most that need not be sent, or not yet. */
const LOOKED_THROUGH = 1_024;

export async function claimAsNode(
  tx: Transaction,
  claiming: Claiming,
  request: ClaimRequest,
): Promise<ClaimedDelivery[]> {
  const claimed: ClaimedDelivery[] = [];
  const passed = new Set(request.busy);
  const others: number[] = [];
  for (let looked = 0; claimed.length < request.limit && looked < LOOKED_THROUGH; ) {
    const limit = request.limit - claimed.length;
    const rows = await take(tx, claiming, { ...request, limit, busy: [...passed] });
    await foreseeAlerts(tx, rows);
    for (const [target, own] of Map.groupBy(rows, (row) => row.target)) {
      const before = claimed.length;
      for (const row of own) {
        const delivery = await lookAtClaimed(tx, row, request.now);
        if (delivery) claimed.push(delivery);
      }
      const got = claimed.length - before;
      // What is not to be sent makes room for what comes behind it.
      if (got < own.length) {
        const perTarget = request.perTarget - got;
        const more = await claimTarget(tx, { ...request, perTarget }, target, claimed.length);
        claimed.push(...more);
        others.push(...more.map(({ id }) => id));
      }
      passed.add(target);
    }
    looked += rows.length;
    if (rows.length < limit) break;
  }
  if (others.length > 0) tx.put(NOTE_NODE, claiming.node, JSON.stringify(others));
  return claimed;
}

/** The statement's rows, in the order in which the targets have their turn. */
async function take(
  tx: Transaction,
  { node, clock, mayTakeOver }: Claiming,
  { channel, now, leaseUntil, perTarget, limit, after, busy }: ClaimRequest,
): Promise<DueRow[]> {
  const isOwn = clock === 'own';
  const compared = isOwn ? [now] : [];
  const due = isOwn ? [now] : [now, node, mayTakeOver ? 1 : 0];
  const until = isOwn ? leaseUntil : leaseUntil - now;
  const rows = await tx.all<DueRow & { due: number }>(
    isOwn ? CLAIM : CLAIM_BY_DATABASE,
    ...[channel, channel, channel, JSON.stringify(busy), node, ...compared, channel, ...due, after, limit],
    ...[channel, node, until, ...compared, channel, ...due, perTarget, after, limit, until, node],
  );
  const key = ({ target }: DueRow) => (target <= after ? 1 : 0);
  return rows.sort(
    (one, other) => key(one) - key(other) || compare(one.target, other.target) || one.id - other.id,
  );
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/** Makes due what these nodes had claimed, and gives their targets free; right only where they are gone. */
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
 * As `releaseLeasesOf`, for nodes that may yet wake up: what they are writing just now is passed over. The claims keep
 * their fence, so that what one of them did send is taken for sent until somebody claims it anew.
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
