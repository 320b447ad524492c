/** Whether what a waiting delivery would say is still true, checked again in the transaction that would send it. */
import type { ChannelEvent } from '../channel.ts';
import type { Status } from '../snitch.ts';

/** What of a snitch decides whether a waiting delivery is sent. */
export interface Standing {
  status: Status;
  /** Whether somebody has acknowledged the current alarm. */
  acknowledged: boolean;
}

/** Why it is no longer true, in words that follow "it"; null if it is. @param standing null if the snitch is gone */
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

/** What is shown for a delivery that an acknowledgement ended. */
export const ACKNOWLEDGED = 'was acknowledged before';

/** @param status the status that the snitch now has */
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
