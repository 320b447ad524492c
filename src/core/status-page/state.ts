/** How a snitch is, and what it is called, as far as the public is told: the same on status pages and on badges. */
import type { Status } from '../snitch.ts';

export type PublicState = 'well' | 'missing' | 'error' | 'planned' | 'paused' | 'pending';

/**
 * As long as it is silenced nobody expects anything of it, whatever its status. That somebody acknowledged an alarm, or that an
 * alert is held back, says nothing about the job, and changes nothing.
 */
export function publicState(status: Status, isSilenced: boolean): PublicState {
  if (status === 'paused' || status === 'pending') return status;
  if (isSilenced) return 'planned';
  if (status === 'healthy') return 'well';
  return status === 'failed' ? 'missing' : 'error';
}

/** The name that was released. */
export function publicNameOf({ name, publicName }: { name: string; publicName: string | null }): string {
  return publicName ?? name;
}
