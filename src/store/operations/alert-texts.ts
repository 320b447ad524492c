/** The long texts of alerts, each stored once: a snitch that alerts often has the same notes each time. */
import { createHash } from 'node:crypto';
import type { AlertSnitch } from '../../core/alert.ts';
import type { Transaction } from '../transaction.ts';

/** Texts up to this length, in characters, are stored in the alert itself: a row of their own would save nothing. */
const INLINE = 128;

/** If two transactions store the same new text at once, it is stored once. */
const KEEP = `INSERT INTO alert_texts (hash, text) VALUES (?, ?)
  ON CONFLICT (hash) DO UPDATE SET text = excluded.text`;

type Text = Pick<AlertSnitch, 'notes' | 'tags'>;

export const SELECT_TEXT = 'SELECT id FROM alert_texts WHERE hash = ?';

/** The text as it is stored; null if it is short enough for the alert itself. */
export function longText({ notes, tags }: Text): string | null {
  const text = JSON.stringify({ notes, tags } satisfies Text);
  return text.length <= INLINE ? null : text;
}

export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

/** The part of the snitch for the alert's own row, and the number of the text with the rest. */
export async function keepSnitch(
  tx: Transaction,
  snitch: AlertSnitch,
): Promise<{ json: string; textId: number | null }> {
  const { notes, tags, ...rest } = snitch;
  const text = longText({ notes, tags });
  if (text === null) return { json: JSON.stringify(snitch), textId: null };
  const hash = hashOf(text);
  const known = await tx.getHeld<{ id: number }>(SELECT_TEXT, hash);
  const textId = known?.id ?? (await tx.insert(KEEP, hash, text));
  return { json: JSON.stringify(rest), textId };
}

/** Its fields in the order in which the payload of a webhook has them. */
export function snitchOf(json: string, text: string | null): AlertSnitch {
  const kept = JSON.parse(json) as AlertSnitch;
  if (text === null) return kept;
  const { token, name, status, previous_status } = kept;
  const { notes, tags } = JSON.parse(text) as Text;
  return { token, name, notes, tags, status, previous_status };
}

/** Deletes those of `ids` that no alert uses any more. */
export async function pruneTexts(tx: Transaction, ids: Iterable<number>): Promise<void> {
  for (const id of ids) {
    // An alert that is just being written with the text locks it, and is seen by the next statement.
    await tx.getHeld('SELECT id FROM alert_texts WHERE id = ?', id);
    await tx.run(
      'DELETE FROM alert_texts WHERE id = ? AND NOT EXISTS (SELECT 1 FROM alerts WHERE text_id = ?)',
      id,
      id,
    );
  }
}
