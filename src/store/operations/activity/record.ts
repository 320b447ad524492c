/** Records who did what, in the transaction of the change itself. */
import {
  type Act,
  type Action,
  LONGEST_NAME,
  MOST_ENTRIES,
  type Subject,
} from '../../../core/activity/activity.ts';
import { type Details, keptDetails } from '../../../core/activity/changes.ts';
import { shorten } from '../../../text/printable.ts';
import type { Transaction } from '../../transaction.ts';

/** The owner of entries that concern the whole server. */
export const SERVER = '';

/** The most old entries deleted with each new one, if there are more than are kept. */
const GO_AT_ONCE = 10;

export interface Done {
  /** Null for what concerns the whole server. */
  caseId: string | null;
  action: Action;
  subject: Subject;
  details?: Details;
}

export async function record(
  tx: Transaction,
  { by, at }: Act,
  { caseId, action, subject, details = {} }: Done,
): Promise<void> {
  const owner = caseId ?? SERVER;
  // Waiting for an answer here would hold the case for longer, so the database itself counts the entries.
  await tx.lock(`activity ${owner}`);
  tx.put(
    `INSERT INTO activity (case_id, number, at, key_id, key_name, action, subject_id, subject_name, details)
     VALUES (?, coalesce((${NEWEST}), 0) + 1, ?, ?, ?, ?, ?, ?, ?)`,
    owner,
    owner,
    at,
    by.keyId,
    shorten(by.name, LONGEST_NAME),
    action,
    subject.id,
    shorten(subject.name, LONGEST_NAME),
    keptDetails(details),
  );
  tx.put(
    `DELETE FROM activity WHERE number <= (${NEWEST}) - +? AND id IN (
       SELECT id FROM activity WHERE case_id = +? ORDER BY id LIMIT +?)`,
    owner,
    MOST_ENTRIES,
    owner,
    GO_AT_ONCE,
  );
}

/** The number of the newest entry of a case. */
const NEWEST = 'SELECT number FROM activity WHERE case_id = +? ORDER BY id DESC LIMIT 1';

/** Deletes a slice of the entries older than `olderThan`; false when nothing more is left to delete. */
export async function pruneActivity(tx: Transaction, olderThan: number, slice: number): Promise<boolean> {
  const deleted = await tx.run(
    'DELETE FROM activity WHERE id IN (SELECT id FROM activity WHERE at < +? ORDER BY at LIMIT +?)',
    olderThan,
    slice,
  );
  return deleted === slice;
}
