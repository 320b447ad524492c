/** What the sweep will do with a snitch that sends nothing more, for whoever asks. */
import { nextAlertOf, type ProspectContext } from '../../../core/explanation/prospect.ts';
import { LONGEST_DOUBT } from '../../../core/hold.ts';
import { isDown } from '../../../core/needs/needs.ts';
import { concernedFrom } from '../../../core/silences/due.ts';
import { merged, plannedWindows, type Silence } from '../../../core/silences/silence.ts';
import type { SnitchState } from '../../../core/snitch.ts';
import { DAY } from '../../../text/durations.ts';
import type { Prospect } from '../../silences.ts';
import type { Reading } from '../../transaction.ts';
import { learnedFor } from '../learned.ts';
import { neededBy } from '../needs/facts.ts';
import { keptBackOf } from '../silences/alarms.ts';
import { silencesUpTo } from '../silences/rows.ts';
import { findRules, getState, type KeptRules, type StateRow, toState } from '../states.ts';
import { silenceEndOf, silencesCovering } from './silenced.ts';

export async function findProspect(
  tx: Reading,
  caseId: string,
  token: string,
  now: number,
): Promise<Prospect | null> {
  const row = await getState(tx, token);
  if (row?.case_id !== caseId) return null;
  const rules = await findRules(tx, caseId);
  if (!rules) return null;
  const state = toState(row);
  const since = row.last_check_in_at ?? Number.MIN_SAFE_INTEGER;
  const needs = row.needs === null ? [] : await neededBy(tx, row, { since, soon: now + LONGEST_DOUBT, now });
  const learned = await learnedFor(tx, row);
  const context = {
    ...{ now, rules, calendar: tx.calendar, ...learned, needs },
    windows: rules.hasSilences ? await windowsOver(tx, row, state, rules, now) : [],
    isKeptBack: rules.hasSilences && (await keptBackOf(tx, row.id)) !== null,
  };
  const silences = rules.hasSilences ? await silencesCovering(tx, row, now) : [];
  const { nextAlertAt, planned } = throughPlanned(state, context, silences);
  const down = needs.find(isDown);
  return {
    nextAlertAt,
    planned,
    down: down
      ? { name: down.name, silencedUntil: down.status === 'failed' ? null : down.silencedUntil }
      : null,
  };
}

/** How far ahead silences are foreseen, and how many windows of them. */
const FORESEEN = 400 * DAY;
const MOST_FORESEEN = 2_000;

/** This many times as far as to the next alarm without them, however many they are: no fewer tell that none comes. */
const LEAST_FORESEEN = 8;

/**
 * The next alarm with the silences to come, and which of these delays it. It is looked for twice as far ahead each time,
 * because a silence may come every hour and the next run in a month.
 */
function throughPlanned(
  state: SnitchState,
  context: ProspectContext,
  silences: readonly Silence[],
): Pick<Prospect, 'nextAlertAt' | 'planned'> {
  const { now, rules } = context;
  const nextAlertAt = nextAlertOf(state, context);
  if (nextAlertAt === null) return { nextAlertAt, planned: null };
  const among = { now, timezone: rules.timezone, most: MOST_FORESEEN };
  const before = plannedWindows(silences, { ...among, until: nextAlertAt + 1 });
  const delaying = before?.at(-1);
  if (!delaying) return { nextAlertAt, planned: null };
  const { silence, start, end } = delaying;
  const planned = { start, end, by: silence.by, note: silence.note };
  const first = nextAlertAt + 1 - now;
  const least = LEAST_FORESEEN * first;
  for (let ahead = first; ahead <= Math.max(least, FORESEEN); ahead *= 2) {
    const most = ahead <= least ? Number.POSITIVE_INFINITY : MOST_FORESEEN;
    const windows = plannedWindows(silences, { ...among, until: now + ahead, most });
    if (windows === null) break;
    const foreseen = nextAlertOf(state, { ...context, windows: merged([...context.windows, ...windows]) });
    if (foreseen === nextAlertAt) return { nextAlertAt, planned: null };
    if (foreseen === null || foreseen < now + ahead) return { nextAlertAt: foreseen, planned };
  }
  return { nextAlertAt: null, planned };
}

async function windowsOver(
  tx: Reading,
  row: StateRow,
  state: SnitchState,
  rules: KeptRules,
  now: number,
): Promise<{ start: number; end: number }[]> {
  const since = Math.min(concernedFrom(state, { rules, calendar: tx.calendar }) ?? now, now);
  const windows = await silencesUpTo(tx, row, { start: since, end: now }, rules.timezone);
  const until = await silenceEndOf(tx, row, rules, now);
  return windows.map(({ start, end }) => ({ start, end: end === now && until !== null ? until : end }));
}
