/** Decides whether a run that its job reported as a success was one (`extensions: What a run must look like`). */
import { durationInWords, SECOND } from '../../text/durations.ts';
import { exactNumber, roundedNumber } from './number-words.ts';
import type { Expectation, RunRules } from './rules.ts';
import type { ReportedValues } from './values.ts';

/** What is known of a run that ended well, according to its job. */
export interface EndedRun {
  /** Milliseconds; null if its start was not reported. */
  durationMs: number | null;
  values: ReportedValues;
}

/** The usual figure of a value, or null if too few successful runs reported it. */
export type UsualOf = (value: string) => number | null;

/** How many broken expectations a reason names. */
const NAMED = 3;

/** Why the run counts as an error, in words; null if it was the success that its job reported. */
export function judge(run: EndedRun, rules: RunRules, usualOf: UsualOf): string | null {
  if (rules.minRuntime === null && rules.expect === null) return null;
  const broken = [...tooShort(run, rules), ...brokenBy(run.values, rules, usualOf)];
  if (broken.length === 0) return null;
  const more = broken.length - NAMED;
  return more > 0 ? `${broken.slice(0, NAMED).join('; ')}; and ${more} more` : broken.join('; ');
}

function tooShort({ durationMs }: EndedRun, { minRuntime }: RunRules): string[] {
  if (minRuntime === null || durationMs === null || durationMs >= minRuntime * SECOND) return [];
  return [`too short: ${durationInWords(durationMs)} of at least ${durationInWords(minRuntime * SECOND)}`];
}

function brokenBy(values: ReportedValues, { expect }: RunRules, usualOf: UsualOf): string[] {
  const faults: string[] = [];
  for (const expectation of expect ?? []) {
    const number = Object.hasOwn(values, expectation.value) ? values[expectation.value] : undefined;
    const fault = faultOf(number ?? null, expectation, usualOf);
    if (fault !== null) faults.push(`${expectation.value} ${fault}`);
  }
  return faults;
}

function faultOf(
  number: number | null,
  { value, min, max, of_usual: ofUsual, required }: Expectation,
  usualOf: UsualOf,
): string | null {
  if (number === null) return required ? 'is missing' : null;
  if (min !== null && number < min) return `${exactNumber(number)} is below ${exactNumber(min)}`;
  if (max !== null && number > max) return `${exactNumber(number)} is above ${exactNumber(max)}`;
  return ofUsual === null ? null : unusual(number, ofUsual, usualOf(value));
}

/** Nothing is compared with a usual below zero, because half of that is more, not less. */
function unusual(
  number: number,
  [low, high]: NonNullable<Expectation['of_usual']>,
  usual: number | null,
): string | null {
  if (usual === null || usual < 0) return null;
  const [told, normal] = [roundedNumber(number), roundedNumber(usual)];
  if (low !== null && number < low * usual) return `${told} is less than ${shareOf(low)} usual ${normal}`;
  if (high !== null && number > high * usual) return `${told} is more than ${shareOf(high)} usual ${normal}`;
  return null;
}

const SHARES: Record<number, string> = {
  0.1: 'a tenth of the',
  0.25: 'a quarter of the',
  0.5: 'half of the',
  0.75: 'three quarters of the',
  1: 'the',
  2: 'twice the',
};

/** `half of the`, `3 times the`: the words before `usual`. */
export function shareOf(factor: number): string {
  return SHARES[factor] ?? `${exactNumber(factor)} times the`;
}
