/** How a delivery is shown: its state, what it waits for, and why it was not sent. */
import type { WireDelivery, WireStatus } from '../../api/wire.ts';
import { exactTime } from '../output/output.ts';
import type { Paint, Style } from '../output/style.ts';

const STATE_PAINTS: Record<WireDelivery['state'], Paint | null> = {
  pending: 'yellow',
  delivered: 'green',
  dead: 'red',
  dropped: null,
};
/** The signs of the statuses that mean the same. */
const STATE_SIGNS: Record<WireDelivery['state'], WireStatus> = {
  pending: 'pending',
  delivered: 'healthy',
  dead: 'failed',
  dropped: 'paused',
};

export function stateText({ state }: WireDelivery, { terminal, signs }: Style): string {
  return terminal && Object.hasOwn(STATE_SIGNS, state)
    ? `${signs.status[STATE_SIGNS[state]]} ${state}`
    : state;
}

export function statePaint({ state }: WireDelivery): Paint | null {
  return Object.hasOwn(STATE_PAINTS, state) ? STATE_PAINTS[state] : null;
}

/** Shown after the time of the next attempt. */
const WAITS = {
  none: '',
  after: ', if it lasts until then and nobody acknowledges it',
  hours: ', when the hours of its target begin, if it lasts until then',
  opening: ', when the hours of its target begin',
} as const;

/** A delivery that was dropped had no attempt that could fail. */
export function reasonLabel({ state }: WireDelivery): string {
  return state === 'dropped' ? 'Why' : 'Last error';
}

export function nextText({ next_attempt_at, waits }: WireDelivery, style: Style): string {
  return `${exactTime(next_attempt_at, style, 'none')}${WAITS[waits ?? 'none']}`;
}
