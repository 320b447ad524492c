/** Lengths of time as a person would write them. */
import { DAY, HOUR, MINUTE, SECOND } from '../../text/durations.ts';

const STEPS = [
  ...[1, 2, 5, 10, 15, 20, 30, 45].map((seconds) => seconds * SECOND),
  ...[1, 2, 3, 5, 10, 15, 20, 30, 45, 60, 90].map((minutes) => minutes * MINUTE),
  ...[2, 3, 4, 5, 6, 8, 10, 12, 15, 18].map((hours) => hours * HOUR),
];

/** The shortest such length that is not shorter than `length`; from a day on, whole days. */
export function roundUp(length: number): number {
  return STEPS.find((step) => step >= length) ?? Math.ceil(length / DAY) * DAY;
}
