/** The rows that hold what people said about their snitches. */
import type { Snitch, SnitchFields } from '../../core/snitch.ts';
import { textsIn } from './packed/texts.ts';
import { type StateRow, toState } from './states.ts';

export interface SnitchRow {
  id: number;
  token: string;
  case_id: string;
  name: string;
  public_name: string | null;
  notes: string;
  tags: string;
  alert_email: string;
  created_at: number;
}

export const SNITCH_COLUMNS = 'id, token, case_id, name, public_name, notes, tags, alert_email, created_at';

export function tagsIn({ tags }: Pick<SnitchRow, 'tags'>): string[] {
  return textsIn(tags);
}

/** The row with those texts that `changes` has. */
export function withChangedText(row: SnitchRow, changes: Partial<SnitchFields>): SnitchRow {
  return {
    ...row,
    name: changes.name ?? row.name,
    public_name: changes.publicName === undefined ? row.public_name : changes.publicName,
    notes: changes.notes ?? row.notes,
    tags: changes.tags ? JSON.stringify(changes.tags) : row.tags,
    alert_email: changes.alertEmail ? JSON.stringify(changes.alertEmail) : row.alert_email,
  };
}

export function toSnitch(
  row: SnitchRow,
  state: StateRow,
  past: Pick<Snitch, 'lastReport' | 'missingSince' | 'needs' | 'hold'>,
): Snitch {
  return {
    token: row.token,
    caseId: row.case_id,
    name: row.name,
    publicName: row.public_name,
    notes: row.notes,
    tags: tagsIn(row),
    alertEmail: textsIn(row.alert_email),
    createdAt: row.created_at,
    state: toState(state),
    ...past,
  };
}
