/** The part of the store for check-ins by name, the first of which may make its snitch. */
import type { CheckIn } from '../core/check-in.ts';
import type { SnitchFields } from '../core/snitch.ts';

export interface ProvisioningStore {
  /** The token of the snitch with exactly this name, of several the one that was made first; null where there is none. */
  findTokenByName(caseId: string, name: string): Promise<string | null>;
}

/** What the first check-in of an unknown job does, by a key. */
export interface ProvisioningActs {
  /**
   * Makes a snitch and applies its first check-in, unless there is one of the name by now, which takes the check-in and
   * stays as it is. Of many calls at once exactly one makes it.
   *
   * @returns whether it made one
   * @throws PlanLimitReached where the case has as many as it may
   */
  applyFirstCheckIn(caseId: string, fields: SnitchFields, checkIn: Omit<CheckIn, 'token'>): Promise<boolean>;
}
