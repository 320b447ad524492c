/** Whether what is suggested is worth setting, by what both would have told of the same history. */
import { durationInWords } from '../../text/durations.ts';
import type { Outlook } from './outlook.ts';

/** A missed run that is found by less than this share sooner is found as soon. */
const NOTICEABLE = 0.1;

/**
 * Nothing is better that would have raised one more false alarm, or left one more miss untold, however soon it tells the
 * others.
 *
 * @returns why it is not better, in words; null where it is
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
