/** The rows of silences, and which of them cover a snitch. For every operation that decides who is told. */
import { ruleIn } from '../../../core/job-schedule.ts';
import type { Silences } from '../../../core/silences/due.ts';
import {
  covers,
  merged,
  type Silence,
  type SilenceScope,
  type SilenceTime,
  type SilenceWindow,
  windowsOf,
} from '../../../core/silences/silence.ts';
import { DAY } from '../../../text/durations.ts';
import type { Reading } from '../../transaction.ts';

export interface SilenceRow {
  id: string;
  case_id: string;
  /** JSON. */
  scope: string;
  from_at: number | null;
  to_at: number | null;
  /** JSON. */
  schedule: string | null;
  duration: number | null;
  timezone: string | null;
  note: string;
  made_by: string;
  created_at: number;
  ended_at: number | null;
}

export const SILENCE_COLUMNS =
  'id, case_id, scope, from_at, to_at, schedule, duration, timezone, note, made_by, created_at, ended_at';

export function toSilence(row: SilenceRow): Silence {
  return {
    id: row.id,
    caseId: row.case_id,
    scope: JSON.parse(row.scope) as SilenceScope,
    time: timeOf(row),
    note: row.note,
    by: row.made_by,
    createdAt: row.created_at,
    endedAt: row.ended_at,
  };
}

function timeOf({ from_at: from, to_at: to, schedule, duration, timezone }: SilenceRow): SilenceTime {
  if (schedule === null) return { kind: 'once', from: from ?? 0, to: to ?? 0 };
  return { kind: 'recurring', schedule: ruleIn(schedule), duration: duration ?? 0, timezone };
}

/**
 * How long a silence is kept once it is over, because it may have kept a run from checking in whose deadline is still
 * to come; in milliseconds.
 */
export const KEPT_FOR = 400 * DAY;

/** Most deadlines look back no further than yesterday, and need not read what was silenced last month. */
const LOOKS_BACK = [2 * DAY, 9 * DAY, 63 * DAY, KEPT_FOR] as const;

/**
 * The case's silences that were not over at `since`, and maybe more; read once in a transaction for all who look back to
 * the same day. `now` may be to come: what waits for the hours of its target asks about their beginning.
 */
export function silencesSince(
  tx: Reading,
  caseId: string,
  since: number,
  now: number,
): Promise<readonly Silence[]> {
  const back = LOOKS_BACK.find((length) => now - length <= since) ?? KEPT_FOR;
  const from = Math.floor((now - back) / DAY) * DAY;
  return tx.remember(`silences ${caseId} ${from}`, async () => {
    const rows = await tx.all<SilenceRow>(
      `SELECT ${SILENCE_COLUMNS} FROM silences WHERE case_id = +? AND over_at > +? ORDER BY over_at, id`,
      caseId,
      from,
    );
    return rows.map(toSilence);
  });
}

/** A snitch to examine, by the row of its state. */
export interface Looked {
  id: number;
  token: string;
  case_id: string;
}

/**
 * @param stretch ends with the present time
 * @param timezone that of the case
 */
export async function silencesOver(
  tx: Reading,
  row: Looked,
  stretch: SilenceWindow,
  timezone: string,
): Promise<Silences> {
  const windows = await windowsOver(tx, row, stretch, timezone);
  const until = Math.max(...windows.map(({ end }) => end));
  return {
    ended: merged(windows.filter(({ end }) => end <= stretch.end)),
    until: until > stretch.end ? until : null,
  };
}

/** The same as plain windows, in order; one that holds now counts up to now. */
export async function silencesUpTo(
  tx: Reading,
  row: Looked,
  stretch: SilenceWindow,
  timezone: string,
): Promise<SilenceWindow[]> {
  const windows = await windowsOver(tx, row, stretch, timezone);
  return merged(windows.map(({ start, end }) => ({ start, end: Math.min(end, stretch.end) })));
}

async function windowsOver(
  tx: Reading,
  row: Looked,
  stretch: SilenceWindow,
  timezone: string,
): Promise<SilenceWindow[]> {
  const { start: since, end: now } = stretch;
  const upToNow = { start: since, end: now + 1 };
  const { token } = row;
  const reaching = (await silencesSince(tx, row.case_id, since, now))
    .filter(({ scope }) => scope.kind !== 'tokens' || covers({ scope }, { token, tags: [] }))
    .map((silence) => ({ silence, windows: windowsOf(silence, upToNow, timezone) }))
    .filter(({ windows }) => windows.length > 0);
  if (reaching.length === 0) return [];
  const asksForTags = reaching.some(({ silence }) => silence.scope.kind === 'tags');
  const snitch = { token, tags: asksForTags ? await tagsOf(tx, row.id) : [] };
  return reaching.filter(({ silence }) => covers(silence, snitch)).flatMap((one) => one.windows);
}

/** When the silence ends that covers the snitch now; null if none does. */
export async function silencedUntil(
  tx: Reading,
  row: Looked,
  now: number,
  timezone: string,
): Promise<number | null> {
  return (await silencesOver(tx, row, { start: now, end: now }, timezone)).until;
}

async function tagsOf(tx: Reading, id: number): Promise<string[]> {
  const row = await tx.get<{ tags: string }>('SELECT tags FROM snitches WHERE id = ?', id);
  return row ? (JSON.parse(row.tags) as string[]) : [];
}
