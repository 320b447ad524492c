/** Reads the lengths of time and the instants that options accept. */
import { durationOf } from '../../text/durations.ts';
import { understandUntil } from '../../text/until.ts';
import { UsageError } from '../failure/failure.ts';

/** No timer can wait for longer: almost 25 days, in milliseconds. */
const LONGEST = 2 ** 31 - 1;

/** @throws UsageError naming the option */
export function parseDuration(text: string, option: string): number {
  const ms = durationOf(text);
  if (ms === null) {
    throw new UsageError(`${option}: "${text}" is not a length of time: write 30s, 5m, 2h or 1d`);
  }
  if (ms <= 0) throw new UsageError(`${option}: "${text}" is no time at all: it must be longer`);
  if (ms > LONGEST) throw new UsageError(`${option}: "${text}" is too long: 24d is the most`);
  return ms;
}

/**
 * What `--until` means, in the form of the API.
 *
 * @param now milliseconds since the epoch
 * @throws UsageError for anything that is not understood or is in the past
 */
export function parseUntil(text: string, now: number): string {
  const understood = understandUntil(text, now);
  if ('problem' in understood) throw new UsageError(`--until: ${understood.problem}`);
  return understood.until;
}
