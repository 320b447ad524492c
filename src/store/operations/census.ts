import type { ValueHistories } from '../../core/judgement/usual.ts';
import { type Census, type LastValue, MOST_LAST_VALUES } from '../server-notes.ts';
import type { Reading } from '../transaction.ts';
import { countByStatus } from './status-counts.ts';

/** Counts for the metrics. */
export async function takeCensus(tx: Reading): Promise<Census> {
  const outbox = await tx.get<{ pending: number; waiting: number; oldest: number | null }>(
    // A delivery that waits for its time is late only from then on.
    `SELECT COUNT(*) AS pending, COUNT(d.waits) AS waiting,
       MIN(CASE WHEN d.waits IS NULL THEN a.at ELSE d.next_attempt_at END) AS oldest
     FROM deliveries AS d JOIN alerts AS a ON a.id = d.alert_id WHERE d.state = 'pending'`,
  );
  const blind = await tx.get<{ total: number | null }>(
    'SELECT SUM(ended_at - started_at) AS total FROM blind_windows',
  );
  return {
    snitches: await countByStatus(tx),
    outbox: {
      pending: outbox?.pending ?? 0,
      waiting: outbox?.waiting ?? 0,
      oldestAlertAt: outbox?.oldest ?? null,
    },
    firstDueAt: await firstDueAt(tx),
    blindMs: blind?.total ?? 0,
    lastValues: await lastValues(tx),
  };
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

/** A deadline is never earlier than the time at which the sweep looks at it, and that time has an index. */
async function firstDueAt(tx: Reading): Promise<number | null> {
  const row = await tx.get<{ first: number | null }>(
    `SELECT MIN(due_at) AS first FROM (
       SELECT due_at FROM snitch_states WHERE look_at IS NOT NULL ORDER BY look_at LIMIT +?) AS first_looks`,
    LOOKED_THROUGH,
  );
  return row?.first ?? null;
}
