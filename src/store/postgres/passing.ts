/** Which faults at the start may pass by themselves, so that a daemon waits, and which only a person can mend. */
import { unavailable } from './faults.ts';
import { ConnectionFault } from './hosts/faults.ts';

/**
 * A host that is not reached, whose name is not known, that only starts, or takes no writes, may be there later: it is often
 * started beside this program, and so is what knows its name. A password, a database, a certificate or rights that are
 * wrong stay so until somebody changes them.
 *
 * @returns what is waited for, in words that may be shown to anybody; null where waiting does not help
 */
export function reasonToWait(error: unknown): string | null {
  if (error instanceof ConnectionFault) return error.isLasting ? null : NOT_THERE;
  return unavailable(error) === null ? null : NOT_THERE;
}

const NOT_THERE = 'the database cannot be reached, or takes no writes yet';
