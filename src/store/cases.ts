/** The part of the store for cases; `now` is in milliseconds since the epoch. */
import type { Case, CaseSettings } from '../core/case.ts';

export interface CaseStore {
  /** Null where there is no such case. */
  getCase(id: string): Promise<Case | null>;
  listCases(): Promise<Case[]>;
  /**
   * Deletes a slice of the case's snitches before the case is deleted; false when few are left. An end on the way leaves
   * a case without them behind.
   */
  emptyCaseSlice(id: string): Promise<boolean>;
}

/** What people do with cases. */
export interface CaseActs {
  createCase(settings: CaseSettings, now: number): Promise<Case>;
  /** Deadlines that its rules change are set anew behind this, by `rescheduleSlice`; null where there is no such case. */
  updateCase(id: string, changes: Partial<CaseSettings>, now: number): Promise<Case | null>;
  /** With all that belongs to it, in one step, see `emptyCaseSlice`; false where there is no such case. */
  deleteCase(id: string): Promise<boolean>;
}
