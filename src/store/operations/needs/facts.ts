/** What is needed of a snitch, as its transition asks for it. */
import type { Needed } from '../../../core/needs/needs.ts';
import type { Awaitable, Reading } from '../../transaction.ts';

interface NeededRow {
  id: number;
  name: string;
  status: string;
  due_at: number | null;
  last_check_in_at: number | null;
  well_since: number | null;
}

const COLUMNS = 'd.position, m.id, m.name, s.status, s.due_at, s.last_check_in_at, s.well_since';

/** What is well, is not due before `soon` and has been well all along changes nothing: a tag may have thousands of those. */
const CONCERNS = `(s.status = 'failed' OR s.well_since > +? OR (s.due_at <= +? AND s.status IN ('healthy', 'errored')))`;

const NEEDED = `
  SELECT ${COLUMNS} FROM needs AS d CROSS JOIN snitches AS m ON m.id = d.needed_id
    CROSS JOIN snitch_states AS s ON s.id = m.id
  WHERE d.snitch_id = +? AND d.needed_id IS NOT NULL AND ${CONCERNS}
  UNION ALL
  SELECT ${COLUMNS} FROM needs AS d CROSS JOIN snitch_tags AS t ON t.case_id = d.case_id AND t.tag = d.tag
    CROSS JOIN snitches AS m ON m.id = t.snitch_id CROSS JOIN snitch_states AS s ON s.id = m.id
  WHERE d.snitch_id = +? AND d.tag IS NOT NULL AND m.id <> d.snitch_id AND ${CONCERNS}
  ORDER BY 1`;

/**
 * What the snitch `id` needs, in the order in which it names it, as far as it concerns its alerts.
 *
 * @param since nothing that was down only before this is of concern: the last check-in of the snitch
 * @param soon what is due by then is of concern
 */
export async function neededBy(
  tx: Reading,
  id: number,
  { since, soon }: { since: number; soon: number },
): Promise<Needed[]> {
  const rows = await tx.all<NeededRow>(NEEDED, id, since, soon, id, since, soon);
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    status: row.status,
    dueAt: row.due_at,
    lastCheckInAt: row.last_check_in_at,
    wellSince: row.well_since,
  }));
}

/** Whether `needed` is among what the snitch `id` needs. */
export async function isNeededBy(tx: Reading, id: number, needed: number): Promise<boolean> {
  const found = await tx.get(
    `SELECT 1 FROM needs AS d WHERE d.snitch_id = +? AND (d.needed_id = +? OR EXISTS (
       SELECT 1 FROM snitch_tags AS t WHERE t.case_id = d.case_id AND t.tag = d.tag AND t.snitch_id = +?))`,
    id,
    needed,
    needed,
  );
  return found !== undefined;
}

/** Whether any snitch of the case needs another: nearly always not, and then nothing more is asked. */
export function hasNeeds(tx: Reading, caseId: string): Promise<boolean> {
  return tx.remember(`needs ${caseId}`, async () => {
    return (await isAnyNeed(tx, caseId)) !== undefined;
  });
}

function isAnyNeed(tx: Reading, caseId: string): Awaitable<unknown> {
  return tx.get('SELECT 1 FROM needs WHERE case_id = +? LIMIT 1', caseId);
}
