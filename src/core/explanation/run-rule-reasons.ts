/** Says in words what is expected of the runs of a snitch, what is usual for them, and how many errors are forgiven. */
import { durationInWords, SECOND } from '../../text/durations.ts';
import { shareOf } from '../judgement/judge.ts';
import { exactNumber, roundedNumber } from '../judgement/number-words.ts';
import type { Expectation } from '../judgement/rules.ts';
import { LEAST_RUNS, usualIn, type ValueHistories } from '../judgement/usual.ts';
import type { CaseRules, SnitchState } from '../snitch.ts';

/** One sentence for each rule that is set. */
export function expectationReasons(
  { minRuntime, expect }: Pick<SnitchState, 'minRuntime' | 'expect'>,
  histories: ValueHistories,
): string[] {
  return [
    ...(minRuntime === null
      ? []
      : [`A run that took less than ${durationInWords(minRuntime * SECOND)} counts as an error.`]),
    ...(expect ?? []).map(
      (one) => `Each run is expected to report ${inWords(one)}${usualOf(one, histories)}.`,
    ),
  ];
}

/** What is said about errors that do not count yet; nothing if the first one counts. */
export function toleranceReasons(
  { failuresBeforeAlert, errorsInRow, status }: SnitchState,
  { errorNotices }: Pick<CaseRules, 'errorNotices'>,
): string[] {
  if (failuresBeforeAlert === 1 || !errorNotices) return [];
  const rule = `It becomes errored after ${failuresBeforeAlert} error check-ins in a row`;
  if (errorsInRow === 0 || status === 'errored') return [`${rule}.`];
  return [`${rule}; the last ${errorsInRow === 1 ? 'check-in was one' : `${errorsInRow} were`}.`];
}

/** `bytes, 1 or more`; `errors, from 0 to 3, if any`. */
export function inWords({ value, min, max, of_usual: ofUsual, required }: Expectation): string {
  const [low, high] = ofUsual ?? [null, null];
  const limits = [
    rangeOf(min, max, exactNumber),
    low === null ? '' : `at least ${shareOf(low)} usual`,
    high === null ? '' : `at most ${shareOf(high)} usual`,
    required ? '' : 'if it reports it at all',
  ];
  return [value, ...limits.filter((one) => one !== '')].join(', ');
}

function rangeOf(min: number | null, max: number | null, show: (number: number) => string): string {
  if (min !== null && max !== null) return min === max ? show(min) : `from ${show(min)} to ${show(max)}`;
  if (min !== null) return `${show(min)} or more`;
  return max === null ? '' : `${show(max)} or less`;
}

function usualOf({ value, of_usual: ofUsual }: Expectation, histories: ValueHistories): string {
  if (ofUsual === null) return '';
  const usual = usualIn(histories, value);
  const known = Object.hasOwn(histories, value) ? (histories[value]?.runs.length ?? 0) : 0;
  if (usual === null) {
    return `; what is usual is not known yet, with ${known} of at least ${LEAST_RUNS} successful runs`;
  }
  if (usual < 0) return `; the usual ${roundedNumber(usual)} is below zero, so it is not compared`;
  return `; the usual is ${roundedNumber(usual)}, the median of the last ${known} successful runs`;
}
