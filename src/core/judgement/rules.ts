/**
 * What a run must look like to count as a success (`extensions: What a run must look like`).
 *
 * - **reported value**: a number that a job sends with a check-in, under a name of its choice:
 *   `bytes`.
 * - **expectation**: what a reported value must be.
 * - **usual**: the median of a value in the last successful runs.
 */

/** What one reported value must be; null is not checked. It is stored in the form of the API. */
export interface Expectation {
  value: string;
  min: number | null;
  max: number | null;
  /** At least and at most this many times the usual. */
  of_usual: readonly [low: number | null, high: number | null] | null;
  /** Whether a run that does not report the value is a failure. */
  required: boolean;
}

export interface RunRules {
  /** Seconds; null for any. A success that is known to have taken less counts as an error. */
  minRuntime: number | null;
  /** This many error check-ins in a row make the snitch errored. */
  failuresBeforeAlert: number;
  /** Null for nothing. */
  expect: readonly Expectation[] | null;
}

/** The rules of the contract: whatever the job says about its run is believed. */
export const ANY_RUN: RunRules = { minRuntime: null, failuresBeforeAlert: 1, expect: null };

export function isSameRules(one: RunRules, other: RunRules): boolean {
  return (
    one.minRuntime === other.minRuntime &&
    one.failuresBeforeAlert === other.failuresBeforeAlert &&
    (one.expect === other.expect || JSON.stringify(one.expect) === JSON.stringify(other.expect))
  );
}

/** Whether the rules compare a value with what is usual, so earlier reports must be known. */
export function asksForUsual({ expect }: Pick<RunRules, 'expect'>): boolean {
  return expect?.some(({ of_usual: ofUsual }) => ofUsual !== null) ?? false;
}

/** The rules with `changes`. What is not given stays as it is. */
export function rulesWith(
  { minRuntime, failuresBeforeAlert, expect }: RunRules,
  changes: { [Field in keyof RunRules]?: RunRules[Field] | undefined },
): RunRules {
  return {
    minRuntime: changes.minRuntime === undefined ? minRuntime : changes.minRuntime,
    failuresBeforeAlert: changes.failuresBeforeAlert ?? failuresBeforeAlert,
    expect: changes.expect === undefined ? expect : changes.expect,
  };
}
