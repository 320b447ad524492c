/** What became of one attempt to deliver. */
import type { ChannelSettings } from '../../core/channel.ts';
import { failureInWords } from '../messages/failure.ts';

export type Outcome =
  /** `reference` is the message as the service knows it; `settings` are those by which it was found after a move. */
  | { kind: 'delivered'; reference?: string; settings?: ChannelSettings }
  /**
   * `error` in words for a person; `retryAfter` is the wait in milliseconds that the target asked for, and `holdFor` one
   * that it wants for everything that is sent to it. What was still answered at the `attempts`th attempt is a refusal for
   * good.
   */
  | { kind: 'retry'; error: string; retryAfter?: number; holdFor?: number; attempts?: number }
  /** Trying again can never work. */
  | { kind: 'dead'; error: string };

/** @param wait in milliseconds, where the target asked for one */
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

/** The target takes nothing at all for now. @param wait in milliseconds, where it says for how long */
export function busy(error: string, wait: number | null = null): Outcome {
  return wait === null ? retry(error) : { kind: 'retry', error, retryAfter: wait, holdFor: wait };
}
