/**
 * What an entry of a snitch file says about when its job is due. Files from before schedules existed name none of the
 * three fields, and leave them as they are. An entry that names one of them describes all three.
 */

import { isObject } from '../../core/input.ts';
import { DAY, durationOf, HOUR, MINUTE, SECOND } from '../../text/durations.ts';

export const DUE_FIELDS = ['schedule', 'timezone', 'grace'] as const;

type Entry = Readonly<Record<string, unknown>>;

export function namesDue(input: Entry): boolean {
  return DUE_FIELDS.some((field) => input[field] !== undefined);
}

/** Understands lengths such as `10m` instead of seconds. Anything else is left for the server to refuse. */
export function withSeconds(input: Entry): Record<string, unknown> {
  const { schedule, grace, max_runtime: maxRuntime, min_runtime: minRuntime } = input;
  const every = isObject(schedule) ? schedule.every : undefined;
  return {
    ...input,
    ...(typeof grace === 'string' ? { grace: secondsIn(grace) } : {}),
    ...(typeof maxRuntime === 'string' ? { max_runtime: secondsIn(maxRuntime) } : {}),
    ...(typeof minRuntime === 'string' ? { min_runtime: secondsIn(minRuntime) } : {}),
    ...(isObject(schedule) && typeof every === 'string'
      ? { schedule: { ...schedule, every: secondsIn(every) } }
      : {}),
  };
}

/** Text that is not a length is left for the server to refuse. */
export function secondsIn(text: string): unknown {
  const ms = durationOf(text);
  return ms === null ? text : ms / SECOND;
}

/** `10m`: in the largest unit of which the seconds are a whole number, so that nothing is lost. */
export function lengthText(seconds: number): string {
  const ms = seconds * SECOND;
  for (const [unit, sign] of UNITS) {
    if (ms > 0 && ms % unit === 0) return `${ms / unit}${sign}`;
  }
  return `${seconds}s`;
}

const UNITS = [
  [DAY, 'd'],
  [HOUR, 'h'],
  [MINUTE, 'm'],
] as const;
