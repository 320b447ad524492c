/** The part of the store for check-ins. */
import type { CheckIn, CheckInRecord } from '../core/check-in.ts';
import type { ValueHistories } from '../core/judgement/usual.ts';
import type { KnownRuns } from '../core/runs.ts';
import type { Page } from './page.ts';

export interface CheckInStore {
  /** Records a check-in, moves its snitch and decides the alert; false if no snitch has this token. */
  applyCheckIn(checkIn: CheckIn): Promise<boolean>;
  /** Newest first, at most as many as are kept; null if the case has no such snitch. */
  listCheckIns(caseId: string, token: string, page: Page): Promise<CheckInRecord[] | null>;
  /** What the last runs of a snitch reported, by the name of the value; empty if the case has no such snitch. */
  findValues(caseId: string, token: string): Promise<ValueHistories>;
  /** The runs under way, and how long they usually take; empty if no snitch has this token. */
  findRuns(token: string): Promise<KnownRuns>;
}
