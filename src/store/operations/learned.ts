/** What is learned of jobs; it is stored in the rows of their states. */
import { type Interval, isMinuteInterval } from '../../core/interval.ts';
import { type Learned, NOTHING_LEARNED } from '../../core/late-runs.ts';
import type { SnitchState } from '../../core/snitch.ts';
import type { Reading, Transaction } from '../transaction.ts';
import { packLearned, unpackLearned } from './packed/learned.ts';

/** What was learned of the job, whatever the alert type. For minute intervals nothing is kept. */
export async function learnedFor(
  tx: Reading,
  { id, interval }: { id: number; interval: Interval },
): Promise<Learned> {
  return isMinuteInterval(interval) ? NOTHING_LEARNED : getLearned(tx, id);
}

export async function findLearned(tx: Reading, token: string): Promise<Learned> {
  const row = await tx.get<{ id: number }>('SELECT id FROM snitches WHERE token = ?', token);
  return row ? getLearned(tx, row.id) : NOTHING_LEARNED;
}

export const SELECT_LEARNED = 'SELECT first_check_ins FROM snitch_states WHERE id = ?';

/** Reads this column alone, because it is much longer than everything that a check-in always has to read. */
export async function getLearned(tx: Reading, id: number): Promise<Learned> {
  const row = await tx.get<{ first_check_ins: Uint8Array | null }>(SELECT_LEARNED, id);
  return unpackLearned(row?.first_check_ins ?? null);
}

const SELECT_LEARNED_AMONG = `SELECT id, first_check_ins FROM snitch_states
  WHERE id IN (SELECT CAST(value AS BIGINT) FROM json_each(+?))`;

/** The same for many jobs, by their numbers. */
export async function learnedForAll(
  tx: Reading,
  jobs: readonly { id: number; interval: Interval }[],
): Promise<ReadonlyMap<number, Learned>> {
  const ids = jobs.flatMap(({ id, interval }) => (isMinuteInterval(interval) ? [] : [id]));
  if (ids.length === 0) return new Map();
  const rows = await tx.all<{ id: number; first_check_ins: Uint8Array | null }>(
    SELECT_LEARNED_AMONG,
    JSON.stringify(ids),
  );
  return new Map(rows.map((row) => [row.id, unpackLearned(row.first_check_ins)]));
}

export async function saveLearned(tx: Transaction, { id }: { id: number }, learned: Learned): Promise<void> {
  await tx.run('UPDATE snitch_states SET first_check_ins = ? WHERE id = ?', packLearned(learned), id);
}

/**
 * Whether a change makes what was learned worthless: positions within periods of another length mean nothing, and since
 * nothing is learned while there is a schedule, what was known before it may be long out of date.
 */
export function isOutdated(before: Due, after: Due): boolean {
  return after.interval !== before.interval || (before.schedule !== null && after.schedule === null);
}

type Due = Pick<SnitchState, 'interval' | 'schedule'>;
