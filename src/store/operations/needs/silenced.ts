/** Needed snitches that a silence covers, or covered until recently: they hold alerts as failed ones do. */
import { lastWindow, type Silence } from '../../../core/silences/silence.ts';
import type { Reading } from '../../transaction.ts';
import { getRules } from '../silences/case-rules.ts';
import { silencesSince } from '../silences/rows.ts';

/** A silence, as it matters for a needed snitch. */
export interface InSilence {
  silence: Silence;
  /** When the silence ends; null for one that has ended. */
  until: number | null;
  /** When it ended; null for one that still holds. */
  endedAt: number | null;
}

/**
 * The silences of a case that hold, and those that ended since `since`, each with its latest window. Most cases have
 * none, and then nothing more is read.
 */
export async function silencesOf(
  tx: Reading,
  caseId: string,
  { since, now }: { since: number; now: number },
): Promise<InSilence[]> {
  const { hasSilences, timezone } = await getRules(tx, caseId);
  if (!hasSilences) return [];
  const silences = await silencesSince(tx, caseId, since, now);
  return silences.flatMap((silence) => {
    const window = lastWindow(silence, now, timezone);
    if (window === null || window.end <= since) return [];
    const holds = window.end > now;
    return [{ silence, until: holds ? window.end : null, endedAt: holds ? null : window.end }];
  });
}

/**
 * What silences cover together, for `IS_COVERED`: JSON arrays of tokens and of tags, and 1 if one covers everything.
 */
export function reachOf(silences: readonly InSilence[]): [tokens: string, tags: string, all: number] {
  const scopes = silences.map(({ silence }) => silence.scope);
  const tokens = scopes.flatMap((scope) => (scope.kind === 'tokens' ? scope.tokens : []));
  const tags = scopes.flatMap((scope) => (scope.kind === 'tags' ? scope.tags : []));
  return [JSON.stringify(tokens), JSON.stringify(tags), scopes.some(({ kind }) => kind === 'all') ? 1 : 0];
}

/** Its parameters are the three values of `reachOf`. */
export const IS_COVERED = `(m.token IN (SELECT value FROM json_each(+?))
    OR EXISTS (SELECT 1 FROM json_each(+?) AS covered CROSS JOIN snitch_tags AS own
      WHERE own.case_id = m.case_id AND own.tag = covered.value AND own.snitch_id = m.id)
    OR +? = 1)`;
