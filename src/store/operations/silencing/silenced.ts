/** Which snitches are silenced, for whoever looks at them. Their rows say nothing about it. */
import { NOTHING_LEARNED } from '../../../core/late-runs.ts';
import { concernedFrom, movedBy } from '../../../core/silences/due.ts';
import {
  type ActiveSilence,
  activeAt,
  covers,
  longestOver,
  merged,
  type Silence,
  type Silenceable,
  type SilenceWindow,
  silentUntil,
  windowsOf,
} from '../../../core/silences/silence.ts';
import type { SnitchState } from '../../../core/snitch.ts';
import type { MovedSnitch, SilencedCandidate, SilencedSnitch, SilenceOver } from '../../silences.ts';
import type { Reading } from '../../transaction.ts';
import { learnedFor, learnedForAll } from '../learned.ts';
import { keptBackOf } from '../silences/alarms.ts';
import { silencesSince } from '../silences/rows.ts';
import { findRules, getState, type KeptRules, STATE_COLUMNS, type StateRow, toState } from '../states.ts';

export async function silencedAmong(
  tx: Reading,
  caseId: string,
  snitches: readonly SilencedCandidate[],
  now: number,
): Promise<ReadonlyMap<string, SilencedSnitch | MovedSnitch> | null> {
  const rules = await findRules(tx, caseId);
  if (!rules?.hasSilences) return null;
  const silences = await silencesSince(tx, caseId, now, now);
  const active = activeAt(silences, now, rules.timezone);
  const shown = snitches.map((snitch) => {
    const over = active.length === 0 ? null : silencedBy(snitch, { silences, active }, rules, now);
    return { snitch, over, until: over?.until ?? now };
  });
  const moved = await movedAmong(tx, caseId, shown, rules);
  const found = new Map<string, SilencedSnitch | MovedSnitch>();
  for (const { snitch, over } of shown) {
    const dueAt = moved.has(snitch.token) ? (moved.get(snitch.token) ?? null) : snitch.dueAt;
    if (over) found.set(snitch.token, { ...over, dueAt });
    else if (dueAt !== snitch.dueAt) found.set(snitch.token, { silence: null, until: null, dueAt });
  }
  return found;
}

const STATES_AMONG = `SELECT ${STATE_COLUMNS} FROM snitches AS n JOIN snitch_states AS s ON s.id = n.id
  WHERE n.token IN (SELECT value FROM json_each(+?))`;

/**
 * The deadlines that silences before `until` move, by token. The sweep moves a deadline only when it passes: until then
 * the row has the old one, at which nothing will happen. A list may have a million snitches, so these are two statements
 * for all of a slice, and the second only for those that a silence concerns.
 */
async function movedAmong(
  tx: Reading,
  caseId: string,
  shown: readonly { snitch: SilencedCandidate; until: number }[],
  rules: KeptRules,
): Promise<ReadonlyMap<string, number | null>> {
  const awaited = new Map(
    shown.flatMap((one) => (one.snitch.dueAt === null ? [] : [[one.snitch.token, one]])),
  );
  const concerned: { before: SnitchState; row: StateRow; windows: SilenceWindow[] }[] = [];
  const tokens = JSON.stringify([...awaited.keys()]);
  const rows = awaited.size === 0 ? [] : await tx.all<StateRow>(STATES_AMONG, tokens);
  for (const row of rows) {
    const one = awaited.get(row.token);
    if (!one || row.case_id !== caseId) continue;
    const before = toState(row);
    const windows = await windowsBefore(tx, { row, before, ...one }, rules);
    if (windows.length > 0) concerned.push({ before, row, windows });
  }
  const learned = await learnedForAll(
    tx,
    concerned.map(({ row }) => row),
  );
  const context = { rules, calendar: tx.calendar };
  return new Map(
    concerned.map(({ before, row, windows }) => [
      row.token,
      movedBy(before, windows, { ...context, ...(learned.get(row.id) ?? NOTHING_LEARNED) }).dueAt,
    ]),
  );
}

export async function silenceOver(
  tx: Reading,
  caseId: string,
  token: string,
  now: number,
): Promise<SilenceOver | null> {
  const rules = await findRules(tx, caseId);
  const row = rules?.hasSilences ? await getState(tx, token) : undefined;
  if (!rules || row?.case_id !== caseId) return null;
  const snitch = await silenceableOf(tx, row);
  const silences = await silencesSince(tx, caseId, now, now);
  const active = activeAt(silences, now, rules.timezone);
  const over = silencedBy(snitch, { silences, active }, rules, now);
  const dueAt = await dueBehind(tx, row, snitch, over?.until ?? now, rules);
  return {
    silenced: over && { ...over, dueAt },
    dueAt,
    isKeptBack: (await keptBackOf(tx, row.id)) !== null,
  };
}

/** When the silences over a snitch end, if several follow each other the last; null if none holds. */
export async function silenceEndOf(
  tx: Reading,
  row: StateRow,
  rules: KeptRules,
  now: number,
): Promise<number | null> {
  const snitch = await silenceableOf(tx, row);
  const silences = await silencesSince(tx, row.case_id, now, now);
  const active = activeAt(silences, now, rules.timezone);
  return silencedBy(snitch, { silences, active }, rules, now)?.until ?? null;
}

/** The silences that cover the snitch and are not over, whether or not they hold now. */
export async function silencesCovering(tx: Reading, row: StateRow, now: number): Promise<Silence[]> {
  const snitch = await silenceableOf(tx, row);
  return (await silencesSince(tx, row.case_id, now, now)).filter((silence) => covers(silence, snitch));
}

async function silenceableOf(tx: Reading, { id, token }: StateRow): Promise<Silenceable> {
  const row = await tx.get<{ tags: string }>('SELECT tags FROM snitches WHERE id = ?', id);
  return { token, tags: JSON.parse(row?.tags ?? '[]') as string[] };
}

function silencedBy(
  snitch: Silenceable,
  { silences, active }: { silences: readonly Silence[]; active: readonly ActiveSilence[] },
  { timezone }: KeptRules,
  now: number,
): { silence: Silence; until: number } | null {
  const longest = longestOver(active, snitch);
  if (!longest) return null;
  const covering = silences.filter((silence) => covers(silence, snitch));
  return { silence: longest.silence, until: silentUntil(covering, now, timezone) ?? longest.window.end };
}

/** When the next check-in is due, with the silences up to `now`. */
export async function dueBehindSilences(
  tx: Reading,
  row: StateRow,
  rules: KeptRules,
  now: number,
): Promise<number | null> {
  return dueBehind(tx, row, await silenceableOf(tx, row), now, rules);
}

/** When the next check-in is due, taking into account all silences that begin before `until`. */
async function dueBehind(
  tx: Reading,
  row: StateRow,
  snitch: Silenceable,
  until: number,
  rules: KeptRules,
): Promise<number | null> {
  const before = toState(row);
  const windows = await windowsBefore(tx, { row, before, snitch, until }, rules);
  if (windows.length === 0) return before.dueAt;
  const context = { rules, calendar: tx.calendar, ...(await learnedFor(tx, row)) };
  return movedBy(before, windows, context).dueAt;
}

/** The silences before `until` that may have kept the awaited run from checking in; merged, in order. */
async function windowsBefore(
  tx: Reading,
  { row, before, snitch, until }: { row: StateRow; before: SnitchState; snitch: Silenceable; until: number },
  rules: KeptRules,
): Promise<SilenceWindow[]> {
  const since = concernedFrom(before, { rules, calendar: tx.calendar });
  const { dueAt } = before;
  if (since === null || dueAt === null) return [];
  const stretch = { start: Math.min(since, until), end: until };
  const windows = (await silencesSince(tx, row.case_id, stretch.start, until))
    .filter((silence) => covers(silence, snitch))
    .flatMap((silence) => windowsOf(silence, stretch, rules.timezone))
    .map(({ start, end }) => ({ start, end: Math.min(end, until) }));
  return merged(windows).filter(({ start }) => start <= dueAt);
}
