/** The part of the store for check-ins. */
import type { CheckIn, CheckInRecord } from '../core/check-in.ts';
import type { KnownRuns } from '../core/runs.ts';
import type { Page } from './page.ts';

export interface CheckInStore {
  /** Records a check-in, moves its snitch and decides the alert; false when no snitch has this token. */
  applyCheckIn(checkIn: CheckIn): Promise<boolean>;
  /** Newest first, no more than are kept; null when the case has no such snitch. */
  listCheckIns(caseId: string, token: string, page: Page): Promise<CheckInRecord[] | null>;
  /** The runs that are going on, and how long they usually take; nothing where no snitch has this token. */
  findRuns(token: string): Promise<KnownRuns>;
}
