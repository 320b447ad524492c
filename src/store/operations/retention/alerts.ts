/** Which alerts are deleted with their deliveries once they are old. */
import type { Transaction } from '../../transaction.ts';
import { pruneTexts } from '../alert-texts.ts';

/** The most alerts that are deleted at once: each may have been sent to hundreds of people. */
const SLICE = 200;

/** An alarm that a service is told of repeatedly while it lasts. */
const REPEATED = `SELECT 1 FROM channels AS c JOIN repeats AS r ON r.channel_id = c.id AND r.token = a.token
  WHERE c.case_id = a.case_id AND c.kind = 'alertmanager' AND r.alert_id = a.id`;

/** Where the outage of `a` was over, if that is still to be told: who is told what depends on what they were told. */
const END_PENDING = `SELECT 1 FROM deliveries AS d WHERE d.state = 'pending' AND d.alert_id = (
  SELECT r.id FROM alerts AS r
  WHERE r.token = a.token AND r.at >= a.at AND r.type = 'snitch.reporting' ORDER BY r.at, r.id LIMIT 1)`;

/** The alert `b` came before `a`, in the outage that `o` opened. */
const EARLIER = `b.token = a.token AND b.at >= COALESCE(o.at, 0) AND b.at <= a.at AND (b.at < a.at OR b.id < a.id)`;

const LATER = 'b.token = a.token AND b.at >= a.at AND (b.at > a.at OR b.id > a.id)';

/** What a delivery tells of what was heard at its target. */
const HEARD = 'd.channel, d.target, d.state, d.attempts = 0, d.leased = 0, d.reference IS NULL';

/** What was heard of the outage by `a` and not before. The set of what was heard before is made once for each `a`. */
const FIRST_HEARD = `SELECT ${HEARD} FROM deliveries AS d WHERE d.alert_id = a.id
  EXCEPT SELECT ${HEARD} FROM alerts AS b CROSS JOIN deliveries AS d ON d.alert_id = b.id WHERE ${EARLIER}`;

/**
 * The alert belongs to an outage that lasts, and is the first or the last of its type there, or the first by which
 * somebody heard of it. When the outage is over they are told, under the name that they know.
 */
const NEEDED = `SELECT 1 FROM snitches AS n JOIN snitch_states AS s ON s.id = n.id
    LEFT JOIN alerts AS o ON o.id = s.thread_id
  WHERE n.token = a.token AND s.thread_id IS NOT NULL AND a.at >= COALESCE(o.at, 0) AND (
    NOT EXISTS (SELECT 1 FROM alerts AS b WHERE ${EARLIER} AND b.type = a.type)
    OR NOT EXISTS (SELECT 1 FROM alerts AS b WHERE ${LATER} AND b.type = a.type)
    OR EXISTS (${FIRST_HEARD}))`;

/**
 * An alert is kept while one of its deliveries is pending. Of an outage that lasts, or whose end is not told yet, so
 * many are kept that all who were told of it can be told of its end.
 *
 * @returns whether there may be more
 */
export async function pruneAlerts(tx: Transaction, olderThan: number): Promise<boolean> {
  const rows = await tx.all<{ id: string; text_id: number | null }>(
    `SELECT id, text_id FROM alerts AS a WHERE at < +? AND NOT EXISTS (
       SELECT 1 FROM deliveries AS d WHERE d.alert_id = a.id AND d.state = 'pending')
     AND NOT EXISTS (${NEEDED}) AND NOT EXISTS (${END_PENDING}) AND NOT EXISTS (${REPEATED})
     ORDER BY at LIMIT +?`,
    olderThan,
    SLICE,
  );
  for (const { id } of rows) {
    await tx.run('DELETE FROM deliveries WHERE alert_id = ?', id);
    await tx.run('DELETE FROM alerts WHERE id = ?', id);
  }
  await pruneTexts(tx, new Set(rows.map(({ text_id: id }) => id).filter((id) => id !== null)));
  return rows.length === SLICE;
}
