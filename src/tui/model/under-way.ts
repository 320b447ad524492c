/** When to read deliveries again: nothing in the stream of changes says that one has arrived. */
import type { WireDelivery } from '../../api/wire.ts';
import { SECOND } from '../../text/durations.ts';
import type { Effect, Screen, State } from './state.ts';

/** In milliseconds. */
const READ_EVERY = 5 * SECOND;

/**
 * What has to be read again because something on the screen is being delivered.
 *
 * @param before when that was looked at last
 */
export function rereadOf({ screen, link, now }: State, before: number): Effect[] {
  if (link.state === 'lost' || link.state === 'refused') return [];
  if (Math.floor(before / READ_EVERY) === Math.floor(now / READ_EVERY)) return [];
  if (!deliveriesOn(screen).some((one) => isUnderWay(one, now))) return [];
  return screen.kind === 'detail' ? [{ do: 'load-detail', token: screen.token }] : [{ do: 'load-alerts' }];
}

function deliveriesOn(screen: Screen): readonly WireDelivery[] {
  if (screen.kind === 'table') return [];
  const alerts = screen.kind === 'detail' ? screen.detail?.alerts : screen.alerts;
  const others = screen.kind === 'alerts' ? (screen.deliveries ?? []) : [];
  return [...others, ...(alerts ?? []).flatMap(({ deliveries }) => deliveries)];
}

/** One that is to be tried again later, or waits for its time, changes nothing until then. */
function isUnderWay({ state, sending, next_attempt_at: next }: WireDelivery, now: number): boolean {
  return state === 'pending' && (sending || next === null || Date.parse(next) <= now);
}
