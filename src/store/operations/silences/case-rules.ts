/** What the state machine must know about a case, and whether its silences must be read. */
import type { CaseRules, Reminders } from '../../../core/snitch.ts';
import type { Reading } from '../../transaction.ts';

export interface RulesRow {
  timezone: string;
  reminders: Reminders;
  error_notices: number;
  has_silences: number;
}

/** The rules of a case, and whether any silence is stored: most cases have none, and then nothing more is read. */
export interface KeptRules extends CaseRules {
  hasSilences: boolean;
}

/** @throws CaseGone, which cannot be for a snitch that was read in the same transaction */
export function getRules(tx: Reading, caseId: string): Promise<KeptRules> {
  return tx.remember(rulesKey(caseId), () => readRules(tx, caseId));
}

/** Null for a case that is gone: somebody may delete it between two reads of a request. */
export function findRules(tx: Reading, caseId: string): Promise<KeptRules | null> {
  return getRules(tx, caseId).catch((error: unknown) => {
    if (error instanceof CaseGone) return null;
    throw error;
  });
}

class CaseGone extends Error {}

async function readRules(tx: Reading, caseId: string): Promise<KeptRules> {
  const row = await tx.get<RulesRow>(SELECT_RULES, caseId);
  if (!row) throw new CaseGone(`case ${caseId} does not exist`);
  return toRules(row);
}

/** Whether it has a silence is read along with them, so that a check-in needs no further query. */
export const RULES_COLUMNS = `timezone, reminders, error_notices,
  EXISTS (SELECT 1 FROM silences WHERE case_id = cases.id) AS has_silences`;
const SELECT_RULES = `SELECT ${RULES_COLUMNS} FROM cases WHERE id = ?`;

/** The key under which `getRules` remembers the rules of a case. */
export function rulesKey(caseId: string): string {
  return `rules ${caseId}`;
}

export function toRules(row: RulesRow): KeptRules {
  return {
    timezone: row.timezone,
    reminders: row.reminders,
    errorNotices: row.error_notices === 1,
    hasSilences: row.has_silences === 1,
  };
}
