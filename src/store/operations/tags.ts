/** The index of tags. The tags themselves stand in the row of the snitch, in the order in which they were given. */
import type { Transaction } from '../transaction.ts';

/** A snitch of a case. */
interface Tagged {
  id: number;
  caseId: string;
}

/** Brings the index to the tags `after`, where it had `before`. */
export async function indexTags(
  tx: Transaction,
  { id, caseId }: Tagged,
  before: readonly string[],
  after: readonly string[],
): Promise<void> {
  for (const tag of new Set(before).difference(new Set(after))) {
    await tx.run('DELETE FROM snitch_tags WHERE case_id = ? AND tag = ? AND snitch_id = ?', caseId, tag, id);
  }
  for (const tag of new Set(after).difference(new Set(before))) {
    await tx.run('INSERT INTO snitch_tags (case_id, tag, snitch_id) VALUES (?, ?, ?)', caseId, tag, id);
  }
}
