import type { AlertKind } from '../core/alert.ts';
import type { Channel } from '../core/routing.ts';

/** What has been committed and may concern someone who waits. */
export type Change =
  /** Deliveries are due; by these channels, or by any where they are not named. */
  | { kind: 'deliveries'; channels?: readonly Channel[] }
  /** An alert of a snitch was decided, with so many deliveries. */
  | { kind: 'alert'; alertId: string; type: AlertKind; token: string; name: string; deliveries: number }
  /** A snitch was created, changed or deleted. */
  | { kind: 'snitch'; caseId: string; token: string }
  /** A silence of the case was made, changed or ended. */
  | { kind: 'silences'; caseId: string }
  /** What a status page of the case shows may have changed. */
  | { kind: 'shown'; caseId: string }
  /** The status page of the case was changed or taken away, or the case itself was. */
  | { kind: 'statusPage'; caseId: string }
  /** A key of a case was deleted; with `keyId` null all of them, or the case is on hold. */
  | { kind: 'access'; caseId: string; keyId: string | null }
  /** Another node may have changed anything: what was told of it was lost. */
  | { kind: 'reset' };
