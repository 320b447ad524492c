/** The state and the name of a snitch as the public sees them: the same on status pages and on badges. */
import type { Status } from '../snitch.ts';

export type PublicState = 'well' | 'missing' | 'error' | 'planned' | 'paused' | 'pending';

/**
 * While a snitch is silenced, nobody expects anything from it, whatever its status. An acknowledged alarm, or an alert
 * held back, says nothing about the job and changes nothing here.
 */
export function publicState(status: Status, isSilenced: boolean): PublicState {
  if (status === 'paused' || status === 'pending') return status;
  if (isSilenced) return 'planned';
  if (status === 'healthy') return 'well';
  return status === 'failed' ? 'missing' : 'error';
}

/** The name for the public. */
export function publicNameOf({ name, publicName }: { name: string; publicName: string | null }): string {
  return publicName ?? name;
}
