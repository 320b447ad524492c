/** The link in a message of an alarm, by which whoever reads it acknowledges that alarm and no other. */
import { DAY } from '../../text/durations.ts';

/** How long after the alarm its link is good, in milliseconds. */
export const LINK_LASTS = 7 * DAY;

/** @param at when the alarm was decided, in milliseconds since the epoch */
export function linkEndsAt(at: number): number {
  return at + LINK_LASTS;
}
