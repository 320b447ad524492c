/** The link in an alarm's message with which the reader acknowledges that alarm and no other. */
import { DAY } from '../../text/durations.ts';

/** How long an alarm's link stays valid, in milliseconds. */
export const LINK_LASTS = 7 * DAY;

/** @param at when the alarm was decided, in milliseconds since the epoch */
export function linkEndsAt(at: number): number {
  return at + LINK_LASTS;
}
