/** A case: the team that owns snitches, API keys, webhooks and members (`spec §1`). */
import type { CaseRules } from './snitch.ts';

export interface Case extends CaseRules {
  id: string;
  name: string;
  /** Email addresses of the team. */
  members: string[];
  /** Null for no limit. */
  maxSnitches: number | null;
  onHold: boolean;
  createdAt: number;
}

/** What people can set on a case. */
export type CaseSettings = Pick<
  Case,
  'name' | 'timezone' | 'members' | 'reminders' | 'errorNotices' | 'maxSnitches' | 'onHold'
>;
