/** What a snitch needs, as its transition asks for it. */
import type { Needed } from '../../../core/needs/needs.ts';
import { covers } from '../../../core/silences/silence.ts';
import type { Awaitable, Reading } from '../../transaction.ts';
import { type InSilence, IS_COVERED, reachOf, silencesOf } from './silenced.ts';

interface NeededRow {
  id: number;
  token: string;
  name: string;
  /** JSON. */
  tags: string;
  status: string;
  due_at: number | null;
  last_check_in_at: number | null;
  well_since: number | null;
}

const COLUMNS =
  'd.position, m.id, m.token, m.name, m.tags, s.status, s.due_at, s.last_check_in_at, s.well_since';

/**
 * A needed snitch that is well, is not due before `soon` and has been well all along changes nothing: a tag may have
 * thousands of those.
 */
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

const COVERED = `${neededWhere(IS_COVERED)} LIMIT +?`;

/**
 * The most snitches read at once that are covered by any silence. Hardly anybody needs more than these by name, but a
 * tag may have thousands.
 */
const COVERED_AT_ONCE = 100;

/** The time at which a snitch is examined, and what matters to it then. */
interface Concern {
  /** The last check-in of the snitch: what was down only before it does not matter. */
  since: number;
  /** What is due by then matters. */
  soon: number;
  now: number;
}

/** What a snitch needs, in the order in which it names it, as far as it matters for its alerts; silenced ones last. */
export async function neededBy(
  tx: Reading,
  { id, case_id: caseId }: { id: number; case_id: string },
  { since, soon, now }: Concern,
): Promise<Needed[]> {
  const rows = await tx.all<NeededRow>(NEEDED, id, since, soon, id, since, soon);
  const needed = rows.map(toNeeded);
  const silences = await silencesOf(tx, caseId, { since, now });
  for (const { row, until, endedAt } of await coveredBy(tx, id, silences)) {
    const one = toNeeded(row);
    needed.push({ ...one, silencedUntil: until, wellSince: laterOf(one.wellSince, endedAt) });
  }
  return needed;
}

/**
 * For each silence that covers anything the snitch needs, the first such thing: it holds as well as all of them would.
 * A case may have hundreds of silences, so one statement asks for all of them, unless that reads too much.
 */
async function coveredBy(
  tx: Reading,
  id: number,
  silences: readonly InSilence[],
): Promise<(InSilence & { row: NeededRow })[]> {
  if (silences.length === 0) return [];
  const rows = await firstCovered(tx, id, silences, COVERED_AT_ONCE);
  const areAll = rows.length < COVERED_AT_ONCE;
  const found: (InSilence & { row: NeededRow })[] = [];
  for (const one of silences) {
    const [row] = areAll ? rows.filter((row) => isCovered(one, row)) : await firstCovered(tx, id, [one], 1);
    if (row) found.push({ ...one, row });
  }
  return found;
}

function firstCovered(
  tx: Reading,
  id: number,
  silences: readonly InSilence[],
  limit: number,
): Awaitable<NeededRow[]> {
  const reach = reachOf(silences);
  return tx.all<NeededRow>(COVERED, id, ...reach, id, ...reach, limit);
}

function isCovered({ silence }: InSilence, row: NeededRow): boolean {
  return covers(silence, { token: row.token, tags: JSON.parse(row.tags) as string[] });
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

/** Whether any snitch of the case needs another: nearly always none does, and then nothing more is read. */
export function hasNeeds(tx: Reading, caseId: string): Promise<boolean> {
  return tx.remember(`needs ${caseId}`, async () => {
    return (await isAnyNeed(tx, caseId)) !== undefined;
  });
}

function isAnyNeed(tx: Reading, caseId: string): Awaitable<unknown> {
  return tx.get('SELECT 1 FROM needs WHERE case_id = +? LIMIT 1', caseId);
}
