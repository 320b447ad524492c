/** The part of the store for check-ins by name, the first of which can create its snitch. */
import type { CheckIn } from '../core/check-in.ts';
import type { SnitchFields } from '../core/snitch.ts';

export interface ProvisioningStore {
  /** The token of the snitch with exactly this name, the first created if there are several; null if there is none. */
  findTokenByName(caseId: string, name: string): Promise<string | null>;
}

/** What the first check-in of an unknown job does, if it comes with a key. */
export interface ProvisioningActs {
  /**
   * Creates a snitch and applies its first check-in. If a snitch of that name exists by now, it gets the check-in and
   * stays as it is. Of many calls at once, exactly one creates it.
   *
   * @returns whether it created one
   * @throws PlanLimitReached if the case has as many as it can have
   */
  applyFirstCheckIn(caseId: string, fields: SnitchFields, checkIn: Omit<CheckIn, 'token'>): Promise<boolean>;
}
