/** The part of the store for cases; `now` is in milliseconds since the epoch. */
import type { Case, CaseSettings } from '../core/case.ts';

export interface CaseStore {
  /** Null if there is no such case. */
  getCase(id: string): Promise<Case | null>;
  listCases(): Promise<Case[]>;
  /**
   * Deletes a slice of the case's snitches before the case itself is deleted; false when few are left. If the process
   * ends in between, the case stays, without the snitches deleted so far.
   */
  emptyCaseSlice(id: string): Promise<boolean>;
}

/** What people do with cases. */
export interface CaseActs {
  createCase(settings: CaseSettings, now: number): Promise<Case>;
  /** `rescheduleSlice` then sets the deadlines that changed rules affect; null if there is no such case. */
  updateCase(id: string, changes: Partial<CaseSettings>, now: number): Promise<Case | null>;
  /** With everything that belongs to it, in one step (see `emptyCaseSlice`); false if there is no such case. */
  deleteCase(id: string): Promise<boolean>;
}
