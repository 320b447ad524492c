/** Whether what a delivery waits to tell still holds, asked once more in the transaction that would send it. */
import type { ChannelEvent } from '../channel.ts';
import type { Status } from '../snitch.ts';

/** A snitch, as far as it decides whether somebody who waited is told. */
export interface Standing {
  status: Status;
  /** Whether somebody has acknowledged the present alarm. */
  acknowledged: boolean;
}

/** Why it does not, in words that follow "it"; null where it does. @param standing null where the snitch is gone */
export function whyOver(event: ChannelEvent, standing: Standing | null): string | null {
  if (event === 'blind') return null;
  if (standing === null) return 'was deleted before';
  const { status, acknowledged } = standing;
  if (event === 'missing' || event === 'errored') {
    if (status === 'failed' || status === 'errored') return acknowledged ? ACKNOWLEDGED : null;
    return overBy(status);
  }
  return status === (event === 'paused' ? 'paused' : 'healthy') ? null : overBy(status);
}

/** What is shown of a delivery that an acknowledgement ended. */
export const ACKNOWLEDGED = 'was acknowledged before';

/** @param status the one that the snitch has got */
export function overBy(status: Status): string {
  return WORDS[status];
}

const WORDS: Record<Status, string> = {
  pending: 'began anew before',
  healthy: 'recovered before',
  failed: 'went missing before',
  errored: 'reported an error before',
  paused: 'was paused before',
};
