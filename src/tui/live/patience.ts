/** How the calls of the dashboard keep below the limit of the key, and wait where the server asks them to. */
import type { Patience, Wait } from '../../api/turns.ts';
import { shortDuration } from '../../text/durations.ts';
import type { Store } from './store.ts';

/** A key that was blocked twice in a row, by others who use it too, is waited for; in seconds. */
const RATE_LIMITED_S = 120;

/** @param signal ends what waits, with its reason */
export function patienceOf(store: Store, signal: AbortSignal): Patience {
  const onWait = (wait: Wait): void => {
    const text = words(wait);
    if (text !== null) store.dispatch({ kind: 'said', text, tone: 'plain', at: store.get().now });
  };
  // What a server that cannot answer now refuses stays marked, and its banner says why.
  return { rateLimitedS: RATE_LIMITED_S, unavailableS: 0, onWait, signal };
}

/** Null for the pace: an action on many says itself how far it is. */
function words({ reason, seconds }: Wait): string | null {
  if (reason === 'pace') return null;
  return `This key made too many calls: going on in ${shortDuration(seconds * 1_000)}.`;
}
