/** What the sweep will do with a snitch that sends nothing more, for whoever asks. */
import { nextAlertOf } from '../../../core/explanation/prospect.ts';
import { LONGEST_DOUBT } from '../../../core/hold.ts';
import { NOTHING_LEARNED } from '../../../core/late-runs.ts';
import { isDown } from '../../../core/needs/needs.ts';
import { concernedFrom } from '../../../core/silences/due.ts';
import type { SnitchState } from '../../../core/snitch.ts';
import type { Prospect } from '../../silences.ts';
import type { Reading } from '../../transaction.ts';
import { getLearned } from '../learned.ts';
import { neededBy } from '../needs/facts.ts';
import { keptBackOf } from '../silences/alarms.ts';
import { silencesUpTo } from '../silences/rows.ts';
import { getRules, getState, type KeptRules, type StateRow, toState } from '../states.ts';
import { silenceEndOf } from './silenced.ts';

export async function findProspect(
  tx: Reading,
  caseId: string,
  token: string,
  now: number,
): Promise<Prospect | null> {
  const row = await getState(tx, token);
  if (row?.case_id !== caseId) return null;
  const rules = await getRules(tx, caseId);
  const state = toState(row);
  const since = row.last_check_in_at ?? Number.MIN_SAFE_INTEGER;
  const needs = row.needs === null ? [] : await neededBy(tx, row, { since, soon: now + LONGEST_DOUBT, now });
  const learned = row.alert_type === 'smart' ? await getLearned(tx, row.id) : NOTHING_LEARNED;
  const nextAlertAt = nextAlertOf(state, {
    ...{ now, rules, calendar: tx.calendar, ...learned, needs },
    windows: rules.hasSilences ? await windowsOver(tx, row, state, rules, now) : [],
    isKeptBack: rules.hasSilences && (await keptBackOf(tx, row.id)) !== null,
  });
  const down = needs.find(isDown);
  return {
    nextAlertAt,
    down: down
      ? { name: down.name, silencedUntil: down.status === 'failed' ? null : down.silencedUntil }
      : null,
  };
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
