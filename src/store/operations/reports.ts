/** The numbers that jobs report: they are judged, stored with the check-in, and remembered to learn what is usual. */
import type { CheckIn, CheckInRecord } from '../../core/check-in.ts';
import { judge } from '../../core/judgement/judge.ts';
import { asksForUsual } from '../../core/judgement/rules.ts';
import { NO_HISTORIES, usualIn, type ValueHistories, withReport } from '../../core/judgement/usual.ts';
import type { Awaitable, Reading, Transaction } from '../transaction.ts';
import { rulesIn } from './run-rules.ts';
import type { Run } from './runs.ts';
import { getState, type StateRow } from './states.ts';

/** A check-in as it counts: if its run is not as expected, the outcome is an error. */
export interface Judged {
  checkIn: CheckIn;
  /** Why a run that was reported as a success counts as an error; null otherwise. */
  reason: string | null;
  /** The histories of the values to remember; null if no values came. */
  histories: ValueHistories | null;
}

/** Whether a check-in counts as it is, as nearly all do: it reports no values, and nothing is expected of its run. */
export function isTaken({ run_rules: rules }: Pick<StateRow, 'run_rules'>, { reported }: CheckIn): boolean {
  return rules === null && reported === undefined;
}

export function asTold(checkIn: CheckIn): Judged {
  return { checkIn, reason: null, histories: null };
}

export async function judged(
  tx: Reading,
  row: StateRow,
  checkIn: CheckIn,
  { durationMs }: Run,
): Promise<Judged> {
  const rules = rulesIn(row.run_rules);
  const { at, outcome } = checkIn;
  const values = checkIn.reported?.values ?? {};
  const isReport = Object.keys(values).length > 0;
  const before = isReport || asksForUsual(rules) ? await historiesOf(tx, row.id) : NO_HISTORIES;
  const usualOf = (name: string) => usualIn(before, name);
  const reason = outcome === 'healthy' ? judge({ durationMs, values }, rules, usualOf) : null;
  const counted: CheckIn = reason === null ? checkIn : { ...checkIn, outcome: 'error' };
  const expected = rules.expect?.map(({ value }) => value);
  const report = { at, values, isSuccess: counted.outcome === 'healthy' };
  return { checkIn: counted, reason, histories: isReport ? withReport(before, report, expected) : null };
}

async function historiesOf(tx: Reading, id: number): Promise<ValueHistories> {
  const row = await tx.get<{ histories: string }>(
    'SELECT histories FROM snitch_values WHERE snitch_id = ?',
    id,
  );
  return row ? (JSON.parse(row.histories) as ValueHistories) : NO_HISTORIES;
}

/** What is remembered of a snitch's values; empty if there is no such snitch. */
export async function findValues(tx: Reading, caseId: string, token: string): Promise<ValueHistories> {
  const row = await getState(tx, token);
  return row?.case_id === caseId ? historiesOf(tx, row.id) : NO_HISTORIES;
}

export function saveHistories(tx: Transaction, id: number, histories: ValueHistories): Awaitable<number> {
  return tx.run(
    `INSERT INTO snitch_values (snitch_id, histories) VALUES (?, ?)
     ON CONFLICT (snitch_id) DO UPDATE SET histories = excluded.histories`,
    id,
    JSON.stringify(histories),
  );
}

export function forgetValues(tx: Transaction, id: number): void {
  tx.put('DELETE FROM snitch_values WHERE snitch_id = ?', id);
}

type Kept = Pick<CheckInRecord, 'values' | 'dropped' | 'reason'>;

/** What the row of a check-in stores of its report; null for nothing. */
export function reportText({ checkIn, reason }: Judged): string | null {
  const { values = {}, dropped = [] } = checkIn.reported ?? {};
  const kept = {
    ...(Object.keys(values).length > 0 ? { values } : {}),
    ...(dropped.length > 0 ? { dropped } : {}),
    ...(reason === null ? {} : { reason }),
  };
  return Object.keys(kept).length > 0 ? JSON.stringify(kept) : null;
}

const NOTHING: Kept = { values: null, dropped: [], reason: null };

export function reportOf(text: string | null): Kept {
  return text === null ? NOTHING : { ...NOTHING, ...(JSON.parse(text) as Partial<Kept>) };
}
