/** What a client may set about how long runs take (`extensions: What a run must look like`). */
import { DAY, SECOND } from '../text/durations.ts';
import type { RunFields } from './snitch.ts';
import type { Checked } from './validation.ts';

/** Seconds: 31 days. */
export const LONGEST_RUNTIME = (31 * DAY) / SECOND;

export const NOTHING_WATCHED: RunFields = { maxRuntime: null };

/** The fields that are given; null for those not to be watched. */
export function readRunFields(body: Record<string, unknown>): Checked<Partial<RunFields>> {
  const { max_runtime: given } = body;
  if (given === undefined) return { value: {} };
  if (given === null) return { value: { maxRuntime: null } };
  const isRight = Number.isInteger(given) && Number(given) >= 1 && Number(given) <= LONGEST_RUNTIME;
  if (isRight) return { value: { maxRuntime: Number(given) } };
  const message = `must be a whole number of seconds from 1 to ${LONGEST_RUNTIME}, which is 31 days`;
  return { validations: [{ attribute: 'max_runtime', message }] };
}
