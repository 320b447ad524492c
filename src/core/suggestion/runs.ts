/** How long runs may take, and what they may report, judging by past runs. */
import { DAY, SECOND } from '../../text/durations.ts';
import { LEAST_RUNS, usualOf } from '../judgement/usual.ts';
import { median, type PastEnd } from './history.ts';
import { roundUp } from './round-lengths.ts';

/** The range of what was seen. */
export interface Seen {
  least: number;
  /** The median; for reported values, the one that runs are judged by. */
  usual: number;
  most: number;
  count: number;
}

export interface SuggestedRuntime {
  /** Seconds: `max_runtime`. */
  seconds: number;
  /** Milliseconds. */
  seen: Seen;
}

/** An expectation as a snitch stores it. */
export interface SuggestedExpectation {
  value: string;
  min: number | null;
  max: number | null;
  /** Shares of the median of the runs before. */
  ofUsual: readonly [number, number] | null;
  required: boolean;
  seen: Seen;
  /** How many of the successful runs would not have met it. */
  unmet: number;
}

/** A run counts as hung once it takes twice as long as the longest one and three times as long as usual. */
const BEYOND_LONGEST = 2;
const BEYOND_USUAL = 3;
const LONGEST_RUNTIME = 31 * DAY;

/** How much room a share gets below the lowest and above the highest that was seen, as a factor. */
const ROOM = 1.5;

/** If results vary by more than this factor, their share of the usual one says nothing. */
const MOST_VARIED = 10;

const MOST_VALUES = 20;

/** @returns null if too few runs reported their start */
export function suggestRuntime(ends: readonly PastEnd[]): SuggestedRuntime | null {
  const seen = seenOf(successes(ends).flatMap(({ durationMs }) => (durationMs === null ? [] : [durationMs])));
  if (!seen || seen.count < LEAST_RUNS) return null;
  const wanted = Math.max(BEYOND_LONGEST * seen.most, BEYOND_USUAL * seen.usual, SECOND);
  return { seconds: Math.min(LONGEST_RUNTIME, roundUp(wanted)) / SECOND, seen };
}

/** One for each value that the last runs reported; those that vary without bounds are only required. */
export function suggestExpectations(ends: readonly PastEnd[]): SuggestedExpectation[] {
  const reports = successes(ends).filter(({ values }) => values !== undefined);
  const names = new Set(reports.flatMap(({ values = {} }) => Object.keys(values)));
  return [...names]
    .sort()
    .slice(0, MOST_VALUES)
    .flatMap((name) => {
      const runs = successes(ends).map(({ values = {} }) => values[name]);
      const first = runs.findIndex((value) => value !== undefined);
      const suggested = suggestExpectation(name, runs.slice(first));
      return suggested ? [suggested] : [];
    });
}

/** @param runs the values of the successful runs since the first that reported it, in order */
function suggestExpectation(
  value: string,
  runs: readonly (number | undefined)[],
): SuggestedExpectation | null {
  const numbers = runs.filter((number) => number !== undefined);
  const range = seenOf(numbers);
  const usual = usualOf(numbers);
  if (range === null || usual === null) return null;
  const seen = { ...range, usual };
  const required = numbers.length === runs.length;
  const expectation = { value, min: null, max: null, ofUsual: null, required, seen, unmet: 0 };
  if (seen.least === seen.most) return { ...expectation, min: seen.least, max: seen.most };
  const shares = sharesOfUsual(numbers);
  const [lowest, highest] = [Math.min(...shares), Math.max(...shares)];
  const isSteady = shares.length > 0 && lowest >= 1 / MOST_VARIED && highest <= MOST_VARIED;
  if (isSteady) {
    const ofUsual = [floorShare(lowest / ROOM), ceilShare(highest * ROOM)] as const;
    return { ...expectation, ofUsual };
  }
  if (seen.least > 0) return { ...expectation, min: twoDigits(seen.least / 2) };
  return required ? expectation : null;
}

function sharesOfUsual(numbers: readonly number[]): number[] {
  return numbers.slice(LEAST_RUNS).map((number, index) => {
    const usual = usualOf(numbers.slice(0, index + LEAST_RUNS)) ?? 0;
    return usual > 0 ? number / usual : Number.NaN;
  });
}

function successes(ends: readonly PastEnd[]): PastEnd[] {
  return ends.filter(({ outcome }) => outcome === 'healthy');
}

function seenOf(numbers: readonly number[]): Seen | null {
  if (numbers.length === 0) return null;
  const [least, most] = [Math.min(...numbers), Math.max(...numbers)];
  return { least, usual: median(numbers), most, count: numbers.length };
}

/** Shares in steps of a twentieth, and from 1 on of a half: what a person would write. */
function floorShare(share: number): number {
  return Math.floor(share * 20 + 1e-9) / 20;
}

function ceilShare(share: number): number {
  return Math.ceil(share * 2 - 1e-9) / 2;
}

function twoDigits(number: number): number {
  return Number(number.toPrecision(2));
}
