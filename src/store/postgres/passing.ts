/** Which faults at the start may pass by themselves, so that a daemon waits, and which only a person can mend. */
import { unavailable } from './faults.ts';
import { ConnectionFault } from './hosts/faults.ts';
import { OlderNodesLive } from './nodes/older.ts';

/**
 * A host that is not reached, whose name is not known, that only starts, or takes no writes, may be there later: it is often
 * started beside this program, and so is what knows its name. A password, a database, a certificate or rights that are
 * wrong stay so until somebody changes them.
 *
 * @returns what is waited for, in words that may be shown to anybody; null where waiting does not help
 */
export function reasonToWait(error: unknown): string | null {
  if (error instanceof ConnectionFault) return error.isLasting ? null : NOT_THERE;
  if (error instanceof OlderNodesLive) return OLDER_NODES;
  return unavailable(error) === null ? null : NOT_THERE;
}

const OLDER_NODES =
  'nodes of an older version are at work on the database, and the upgrade of its schema waits for them';

const NOT_THERE = 'the database cannot be reached, or takes no writes yet';
