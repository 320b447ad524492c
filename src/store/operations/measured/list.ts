/** Measured values of snitches: one statement for a slice, which reads only what is returned. */
import type { ValueHistories } from '../../../core/judgement/usual.ts';
import type { Status } from '../../../core/snitch.ts';
import type { MeasuredSnitch, ReportedSnitch, TaggedSlice } from '../../snitches.ts';
import type { Awaitable, Reading } from '../../transaction.ts';
import { LAST_MISSING, ofThisSilence } from '../missing-since.ts';
import { heldIn } from '../needs/held-text.ts';
import { tagsIn } from '../snitch-rows.ts';

/** How many check-ins back the end of a run is searched for, past starts, log lines and check-ins that arrived late. */
const LOOKED_THROUGH = 20;

interface NamedRow {
  id: number;
  token: string;
  name: string;
  tags: string;
}

interface MeasuredRow extends NamedRow {
  status: Status;
  due_at: number | null;
  checked_in_at: number | null;
  last_check_in_at: number | null;
  acknowledged: string | null;
  needs: string | null;
  missing_since: number | null;
  /** The newest row of the log, which is nearly always the end of the last run. */
  log_previous_id: number | null;
  log_at: number | null;
  log_outcome: string | null;
  log_duration_ms: number | null;
}

const MEASURED = `n.id, n.token, n.name, n.tags, s.status, s.due_at, s.checked_in_at, s.last_check_in_at,
  s.acknowledged, s.needs, c.previous_id AS log_previous_id, c.at AS log_at, c.outcome AS log_outcome,
  c.duration_ms AS log_duration_ms,
  CASE WHEN s.status = 'failed' THEN (${LAST_MISSING}) END AS missing_since`;

const WITH_STATE = `CROSS JOIN snitch_states AS s ON s.id = n.id LEFT JOIN check_ins AS c ON c.id = s.last_check_in_id`;

/** Snitches with all of `tags`, in order of creation; `after` and `next` are positions in that order. */
export async function listMeasured(
  tx: Reading,
  caseId: string,
  slice: TaggedSlice,
): Promise<{ snitches: MeasuredSnitch[]; next: number | null }> {
  const rows = await select<MeasuredRow>(tx, caseId, slice, { columns: MEASURED, joined: WITH_STATE });
  const snitches: MeasuredSnitch[] = [];
  for (const row of rows) {
    if (!hasAll(row, slice.tags)) continue;
    snitches.push(toMeasured(row, await durationOf(tx, row)));
  }
  return { snitches, next: nextOf(rows, slice) };
}

/** Likewise, only snitches that ever reported a value, with the last of each value. */
export async function listReported(
  tx: Reading,
  caseId: string,
  slice: TaggedSlice,
): Promise<{ snitches: ReportedSnitch[]; next: number | null }> {
  const rows = await select<NamedRow & { histories: string }>(tx, caseId, slice, {
    columns: 'n.id, n.token, n.name, n.tags, v.histories',
    joined: 'CROSS JOIN snitch_values AS v ON v.snitch_id = n.id',
  });
  const snitches = rows
    .filter((row) => hasAll(row, slice.tags))
    .map((row) => ({ ...named(row), values: lastsIn(row.histories) }));
  return { snitches, next: nextOf(rows, slice) };
}

function select<Row extends NamedRow>(
  tx: Reading,
  caseId: string,
  { after, limit, tags: [tag] }: TaggedSlice,
  { columns, joined }: { columns: string; joined: string },
): Awaitable<Row[]> {
  if (tag === undefined) {
    return tx.all<Row>(
      `SELECT ${columns} FROM snitches AS n ${joined}
       WHERE n.case_id = +? AND n.id > +? ORDER BY n.id LIMIT +?`,
      caseId,
      after,
      limit,
    );
  }
  return tx.all<Row>(
    `SELECT ${columns} FROM snitch_tags AS t CROSS JOIN snitches AS n ON n.id = t.snitch_id ${joined}
     WHERE t.case_id = +? AND t.tag = +? AND t.snitch_id > +? ORDER BY t.snitch_id LIMIT +?`,
    caseId,
    tag,
    after,
    limit,
  );
}

/** The index already found those with the first tag. */
function hasAll(row: NamedRow, tags: readonly string[]): boolean {
  if (tags.length <= 1) return true;
  const own = tagsIn(row);
  return tags.every((tag) => own.includes(tag));
}

function nextOf(rows: readonly NamedRow[], { limit }: TaggedSlice): number | null {
  const last = rows.at(-1);
  return last && rows.length === limit ? last.id : null;
}

function named({ id, token, name, ...row }: NamedRow) {
  return { id, token, name, tags: tagsIn(row) };
}

function toMeasured(row: MeasuredRow, durationMs: number | null): MeasuredSnitch {
  const held = heldIn(row.needs);
  return {
    ...named(row),
    state: { status: row.status, dueAt: row.due_at },
    checkedInAt: row.checked_in_at,
    lastCheckInAt: row.last_check_in_at,
    durationMs,
    missingSince: missingSinceIn(row, held?.missed ?? null),
    isAcknowledged: row.acknowledged !== null,
    isHeld: row.status === 'failed' && held !== null,
  };
}

/** Nobody was told of a held alert, so no alert says what was missed. */
function missingSinceIn(row: MeasuredRow, missed: number | null): number | null {
  if (row.status !== 'failed') return null;
  return missed ?? ofThisSilence(row.missing_since, row);
}

interface Logged {
  previous_id: number | null;
  at: number;
  outcome: string;
  duration_ms: number | null;
}

/** How long the last finished run took; null if its start was not reported, or the log no longer has it. */
async function durationOf(tx: Reading, row: MeasuredRow): Promise<number | null> {
  const { last_check_in_at: last, log_at: at, log_outcome: outcome } = row;
  if (last === null || at === null || outcome === null) return null;
  let found: Logged | undefined = {
    at,
    outcome,
    previous_id: row.log_previous_id,
    duration_ms: row.log_duration_ms,
  };
  for (let steps = 0; found && steps < LOOKED_THROUGH; steps += 1) {
    if ((found.outcome === 'healthy' || found.outcome === 'error') && found.at === last)
      return found.duration_ms;
    if (found.previous_id === null) return null;
    found = await tx.get<Logged>(
      'SELECT previous_id, at, outcome, duration_ms FROM check_ins WHERE id = ?',
      found.previous_id,
    );
  }
  return null;
}

function lastsIn(histories: string): [name: string, last: number][] {
  const known = JSON.parse(histories) as ValueHistories;
  return Object.entries(known).map(([name, { last }]) => [name, last]);
}
