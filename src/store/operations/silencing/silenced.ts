/** Which snitches are silenced, for whoever looks at them. Their rows say nothing about it. */
import { concernedFrom, movedBy } from '../../../core/silences/due.ts';
import {
  type ActiveSilence,
  activeAt,
  covers,
  longestOver,
  merged,
  type Silence,
  type Silenceable,
  silentUntil,
  windowsOf,
} from '../../../core/silences/silence.ts';
import type { SilencedCandidate, SilencedSnitch, SilenceOver } from '../../silences.ts';
import type { Reading } from '../../transaction.ts';
import { learnedFor } from '../learned.ts';
import { keptBackOf } from '../silences/alarms.ts';
import { silencesSince } from '../silences/rows.ts';
import { getRules, getState, type KeptRules, type StateRow, toState } from '../states.ts';

export async function silencedAmong(
  tx: Reading,
  caseId: string,
  snitches: readonly SilencedCandidate[],
  now: number,
): Promise<ReadonlyMap<string, SilencedSnitch> | null> {
  const rules = await getRules(tx, caseId);
  if (!rules.hasSilences) return null;
  const silences = await silencesSince(tx, caseId, now, now);
  const active = activeAt(silences, now, rules.timezone);
  const found = new Map<string, SilencedSnitch>();
  if (active.length === 0) return found;
  for (const snitch of snitches) {
    const over = silencedBy(snitch, { silences, active }, rules, now);
    if (!over) continue;
    const { dueAt } = snitch;
    // No more is read of the others: a list may have a million of them.
    const row = dueAt !== null && dueAt <= over.until ? await getState(tx, snitch.token) : undefined;
    found.set(snitch.token, {
      ...over,
      dueAt: row ? await dueBehind(tx, row, snitch, over.until, rules) : dueAt,
    });
  }
  return found;
}

export async function silenceOver(
  tx: Reading,
  caseId: string,
  token: string,
  now: number,
): Promise<SilenceOver | null> {
  const rules = await getRules(tx, caseId);
  const row = rules.hasSilences ? await getState(tx, token) : undefined;
  if (row?.case_id !== caseId) return null;
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
  const since = concernedFrom(before, { rules, calendar: tx.calendar });
  const { dueAt } = before;
  if (since === null || dueAt === null) return dueAt;
  const stretch = { start: Math.min(since, until), end: until };
  const windows = (await silencesSince(tx, row.case_id, stretch.start, until))
    .filter((silence) => covers(silence, snitch))
    .flatMap((silence) => windowsOf(silence, stretch, rules.timezone))
    .map(({ start, end }) => ({ start, end: Math.min(end, until) }));
  const context = { rules, calendar: tx.calendar, ...(await learnedFor(tx, row)) };
  const reached = merged(windows).filter(({ start }) => start <= dueAt);
  return movedBy(before, reached, context).dueAt;
}
