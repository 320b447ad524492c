/**
 * Whether a suggestion is worth applying, by what it and the current setting would have reported of the same history.
 */
import { durationInWords } from '../../text/durations.ts';
import type { Outlook } from './outlook.ts';

/** Finding missed runs sooner by less than this share does not count as sooner. */
const NOTICEABLE = 0.1;

/**
 * A setting that would have raised one more false alarm, or left one more missed run unreported, is never better,
 * however soon it reports the others.
 *
 * @returns why it is not better, in words; null if it is
 */
export function whyNotBetter(present: Outlook, proposed: Outlook): string | null {
  if (proposed.falseAlarms > present.falseAlarms) {
    return `it would have raised ${alarms(proposed.falseAlarms)}, and the present settings ${alarms(present.falseAlarms)}`;
  }
  if (proposed.unnoticed > present.unnoticed) {
    return `missed runs unreported: it would have left ${proposed.unnoticed}, and the present settings ${present.unnoticed}`;
  }
  if (proposed.falseAlarms < present.falseAlarms || proposed.unnoticed < present.unnoticed) return null;
  return isSooner(present.foundAfter, proposed.foundAfter) ? null : whyNoSooner(present.foundAfter);
}

function isSooner(present: number | null, proposed: number | null): boolean {
  if (present === null || proposed === null) return present === null && proposed !== null;
  return proposed < (1 - NOTICEABLE) * present;
}

function whyNoSooner(present: number | null): string {
  const told = present === null ? '' : `: ${durationInWords(Math.round(present / 1_000) * 1_000)}`;
  return `the present settings would have reported a missed run as soon${told}`;
}

function alarms(count: number): string {
  if (count === 0) return 'none';
  return count === 1 ? '1 false alarm' : `${count} false alarms`;
}
