/** The part of the store for cases; `now` is in milliseconds since the epoch. */
import type { Actor } from '../core/activity/activity.ts';
import type { Case, CaseSettings } from '../core/case.ts';

export interface CaseStore {
  /** Null if there is no such case. */
  getCase(id: string): Promise<Case | null>;
  listCases(): Promise<Case[]>;
  /**
   * Deletes a slice of the case's snitches before the case itself is deleted; false when few are left. If the process
   * ends in between, the case stays, without the snitches deleted so far, unless its deletion is planned.
   */
  emptyCaseSlice(id: string): Promise<boolean>;
  /** From now on `deletionSlice` deletes the case in the name of `by`, even after a restart; false if there is none. */
  planDeletion(id: string, by: Actor): Promise<boolean>;
  /** Takes a slice of the cases whose deletion is planned; false when nothing is left to do. */
  deletionSlice(now: number): Promise<boolean>;
}

/** What people do with cases. */
export interface CaseActs {
  createCase(settings: CaseSettings, now: number): Promise<Case>;
  /** `rescheduleSlice` then sets the deadlines that changed rules affect; null if there is no such case. */
  updateCase(id: string, changes: Partial<CaseSettings>, now: number): Promise<Case | null>;
  /** With everything that belongs to it, in one step (see `emptyCaseSlice`); false if there is no such case. */
  deleteCase(id: string): Promise<boolean>;
}
