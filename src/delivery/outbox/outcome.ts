/** What became of one attempt to deliver. */
import type { ChannelSettings } from '../../core/channel.ts';
import { failureInWords } from '../messages/failure.ts';

export type Outcome =
  /** `reference` is the service's own id for the message; `settings` are the new ones if the target has moved. */
  | { kind: 'delivered'; reference?: string; settings?: ChannelSettings }
  /**
   * `error` in words for a person; `retryAfter` is the wait in milliseconds that the target asked for, and `holdFor` a
   * wait for everything that is sent to it. From the `attempts`th attempt on, the failure becomes a refusal for good if
   * the attempt before failed in the same way.
   */
  | { kind: 'retry'; error: string; retryAfter?: number; holdFor?: number; attempts?: number }
  /** A retry can never work. */
  | { kind: 'dead'; error: string };

/** @param wait in milliseconds, if the target asked for one */
export function retry(error: string, wait: number | null = null): Outcome {
  return wait === null ? { kind: 'retry', error } : { kind: 'retry', error, retryAfter: wait };
}

/** Whatever `send` throws counts as a failure of this one delivery: the others go on. */
export async function attempt(send: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return await send();
  } catch (error) {
    return retry(failureInWords(error, 'the target'));
  }
}

/** The target accepts nothing at all for now. @param wait in milliseconds, if it says for how long */
export function busy(error: string, wait: number | null = null): Outcome {
  return wait === null ? retry(error) : { kind: 'retry', error, retryAfter: wait, holdFor: wait };
}
