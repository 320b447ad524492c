/** How long the calls of the dashboard wait when the server asks them to, and what the user is told meanwhile. */
import type { Patience, Wait } from '../../api/turns.ts';
import { shortDuration } from '../../text/durations.ts';
import type { Store } from './store.ts';

/** Long enough for a key that is blocked twice in a row, because others use it too; in seconds. */
const RATE_LIMITED_S = 120;

/** @param signal ends all waiting; the waiting calls then fail with its reason */
export function patienceOf(store: Store, signal: AbortSignal): Patience {
  const onWait = (wait: Wait): void => {
    const text = words(wait);
    if (text !== null) store.dispatch({ kind: 'said', text, tone: 'plain', at: store.get().now });
  };
  // If the server cannot answer now, the snitches stay marked, and the banner says why.
  return { rateLimitedS: RATE_LIMITED_S, unavailableS: 0, onWait, signal };
}

/** Null for the pace, because an action on many snitches reports its own progress. */
function words({ reason, seconds }: Wait): string | null {
  if (reason === 'pace') return null;
  return `This key made too many calls: continuing in ${shortDuration(seconds * 1_000)}.`;
}
