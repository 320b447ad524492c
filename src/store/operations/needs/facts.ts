/** What is needed of a snitch, as its transition asks for it. */
import type { Needed } from '../../../core/needs/needs.ts';
import type { Awaitable, Reading } from '../../transaction.ts';
import { IS_COVERED, silencesOf } from './silenced.ts';

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

const neededWhere = (condition: string) => `
  SELECT ${COLUMNS} FROM needs AS d CROSS JOIN snitches AS m ON m.id = d.needed_id
    CROSS JOIN snitch_states AS s ON s.id = m.id
  WHERE d.snitch_id = +? AND d.needed_id IS NOT NULL AND ${condition}
  UNION ALL
  SELECT ${COLUMNS} FROM needs AS d CROSS JOIN snitch_tags AS t ON t.case_id = d.case_id AND t.tag = d.tag
    CROSS JOIN snitches AS m ON m.id = t.snitch_id CROSS JOIN snitch_states AS s ON s.id = m.id
  WHERE d.snitch_id = +? AND d.tag IS NOT NULL AND m.id <> d.snitch_id AND ${condition}
  ORDER BY 1`;

const NEEDED = neededWhere(CONCERNS);

/** The first one is enough: it holds what all of them would. */
const COVERED = `${neededWhere(IS_COVERED)} LIMIT 1`;

/** The time at which a snitch is looked at, and what concerns it then. */
interface Concern {
  /** Nothing that was down only before this: the last check-in of the snitch. */
  since: number;
  /** What is due by then. */
  soon: number;
  now: number;
}

/** What a snitch needs, in the order in which it names it, as far as it concerns its alerts; what is silenced at the end. */
export async function neededBy(
  tx: Reading,
  { id, case_id: caseId }: { id: number; case_id: string },
  { since, soon, now }: Concern,
): Promise<Needed[]> {
  const rows = await tx.all<NeededRow>(NEEDED, id, since, soon, id, since, soon);
  const needed = rows.map(toNeeded);
  for (const { scope, until, endedAt } of await silencesOf(tx, caseId, { since, now })) {
    const row = await tx.get<NeededRow>(COVERED, id, ...scope, id, ...scope);
    if (!row) continue;
    const one = toNeeded(row);
    needed.push({ ...one, silencedUntil: until, wellSince: laterOf(one.wellSince, endedAt) });
  }
  return needed;
}

function toNeeded(row: NeededRow): Needed {
  return {
    id: row.id,
    name: row.name,
    status: row.status,
    dueAt: row.due_at,
    lastCheckInAt: row.last_check_in_at,
    wellSince: row.well_since,
    silencedUntil: null,
  };
}

function laterOf(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.max(one, other);
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
