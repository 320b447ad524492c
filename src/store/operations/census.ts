import type { ValueHistories } from '../../core/judgement/usual.ts';
import { type Census, type LastValue, MOST_LAST_VALUES } from '../server-notes.ts';
import type { Reading } from '../transaction.ts';
import { countByStatus } from './status-counts.ts';

/** Counts for the metrics. */
export async function takeCensus(tx: Reading): Promise<Census> {
  const blind = await tx.get<{ total: number | null }>(
    'SELECT SUM(ended_at - started_at) AS total FROM blind_windows',
  );
  return {
    snitches: await countByStatus(tx),
    outbox: await countOutbox(tx),
    firstDueAt: await firstDueAt(tx),
    blindMs: blind?.total ?? 0,
    lastValues: await lastValues(tx),
  };
}

/**
 * In a storm a hundred thousand deliveries can be pending, and check-ins wait while they are counted: both counts read
 * nothing but an index, which takes a fiftieth of the time that reading the deliveries and their alerts takes.
 */
async function countOutbox(tx: Reading): Promise<Census['outbox']> {
  const counts = await tx.get<{ pending: number; waiting: number }>(
    `SELECT (SELECT COUNT(*) FROM deliveries WHERE state = 'pending') AS pending,
       (SELECT COUNT(*) FROM deliveries WHERE state = 'pending' AND waiting_token IS NOT NULL) AS waiting`,
  );
  return { pending: counts?.pending ?? 0, waiting: counts?.waiting ?? 0, oldestAlertAt: await oldestOf(tx) };
}

/** How many deliveries are searched for the oldest alert: of each case those made first, and of all those due first. */
const SEARCHED = 100;

/** A delivery that waits for its time is late only from then on. */
const LATE_FROM = 'MIN(CASE WHEN d.waits IS NULL THEN a.at ELSE d.next_attempt_at END)';

/** What was made first may wait for its time, and what is due first may be newer than what is being retried. */
async function oldestOf(tx: Reading): Promise<number | null> {
  const row = await tx.get<{ made: number | null; due: number | null }>(
    `SELECT (SELECT MIN((SELECT ${LATE_FROM} FROM (
         SELECT alert_id, waits, next_attempt_at FROM deliveries
         WHERE case_id = c.id AND state = 'pending' ORDER BY id LIMIT +?) AS d
       JOIN alerts AS a ON a.id = d.alert_id)) FROM cases AS c) AS made,
       (SELECT ${LATE_FROM} FROM (
         SELECT alert_id, waits, next_attempt_at FROM deliveries
         WHERE state = 'pending' ORDER BY next_attempt_at LIMIT +?) AS d
       JOIN alerts AS a ON a.id = d.alert_id) AS due`,
    SEARCHED,
    SEARCHED,
  );
  const found = [row?.made ?? null, row?.due ?? null].filter((at) => at !== null);
  return found.length === 0 ? null : Math.min(...found);
}

async function lastValues(tx: Reading): Promise<LastValue[]> {
  const rows = await tx.all<{ case_name: string; name: string; histories: string }>(
    `SELECT c.name AS case_name, n.name, v.histories FROM snitch_values AS v
     CROSS JOIN snitches AS n ON n.id = v.snitch_id CROSS JOIN cases AS c ON c.id = n.case_id
     WHERE v.snitch_id > +? ORDER BY v.snitch_id LIMIT +?`,
    0,
    MOST_LAST_VALUES,
  );
  const found: LastValue[] = [];
  for (const { case_name: caseName, name, histories } of rows) {
    for (const [value, { last }] of Object.entries(JSON.parse(histories) as ValueHistories)) {
      found.push({ case: caseName, snitch: name, value, last });
    }
    if (found.length >= MOST_LAST_VALUES) break;
  }
  return found.slice(0, MOST_LAST_VALUES);
}

/** How many rows are searched for the earliest deadline: just after a busy midnight it may not be among them. */
const LOOKED_THROUGH = 1_000;

/**
 * When the sweep has something to do next. The time at which it looks at a snitch has an index; a check-in may have moved
 * the deadline behind it, while one that passed in a silence waits for its end.
 */
async function firstDueAt(tx: Reading): Promise<number | null> {
  const row = await tx.get<{ first: number | null }>(
    `SELECT MIN(CASE WHEN look_at > due_at THEN look_at ELSE due_at END) AS first FROM (
       SELECT look_at, due_at FROM snitch_states WHERE look_at IS NOT NULL ORDER BY look_at LIMIT +?) AS first_looks`,
    LOOKED_THROUGH,
  );
  return row?.first ?? null;
}
