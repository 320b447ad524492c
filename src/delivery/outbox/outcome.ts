/** What became of one attempt to deliver. */
import { failureInWords } from '../messages/failure.ts';

export type Outcome =
  | { kind: 'delivered' }
  /** `error` in words for a person; `retryAfter` is the wait in milliseconds that the target asked for. */
  | { kind: 'retry'; error: string; retryAfter?: number }
  /** Trying again can never work. */
  | { kind: 'dead'; error: string };

/** Whatever `send` throws counts as a failure of this one delivery: the others go on. */
export async function attempt(send: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return await send();
  } catch (error) {
    return { kind: 'retry', error: failureInWords(error, 'the target') };
  }
}
