import type { AlertKind } from '../core/alert.ts';
import type { Channel } from '../core/routing.ts';

/** What has been committed and may concern somebody who waits for it. */
export type Change =
  /** Deliveries are due: by these channels or, if absent, by any. */
  | { kind: 'deliveries'; channels?: readonly Channel[] }
  /** An alert of a snitch was decided, with this number of deliveries. */
  | { kind: 'alert'; alertId: string; type: AlertKind; token: string; name: string; deliveries: number }
  /** A snitch was created, changed or deleted. */
  | { kind: 'snitch'; caseId: string; token: string }
  /** A silence of the case was created, changed or ended. */
  | { kind: 'silences'; caseId: string }
  /** What a status page of the case shows may have changed. */
  | { kind: 'shown'; caseId: string }
  /** The status page of the case was changed or deleted, or the case itself was. */
  | { kind: 'statusPage'; caseId: string }
  /** A key of the case was deleted; if `keyId` is null, all of them were, or the case is on hold. */
  | { kind: 'access'; caseId: string; keyId: string | null }
  /** Another node may have changed anything: messages from it were lost. */
  | { kind: 'reset' };
