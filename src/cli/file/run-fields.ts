/**
 * What an entry of a snitch file says about what a run must look like. An entry that names none of the fields leaves
 * them as they are: it may be from before they existed.
 */
import type { WireImported, WireSnitch } from '../../api/wire.ts';
import { expectTexts, mergedExpectations, readExpectText } from '../../core/judgement/expect-text.ts';
import type { Expectation } from '../../core/judgement/rules.ts';
import { Failure } from '../failure/failure.ts';
import { lengthText } from './due-fields.ts';

export const RUN_FIELDS = ['max_runtime', 'min_runtime', 'failures_before_alert', 'expect'] as const;

type Entry = Readonly<Record<string, unknown>>;

export function namesRuns(input: Entry): boolean {
  return RUN_FIELDS.some((field) => input[field] !== undefined);
}

/** Whether it has any rule about its runs. */
export function watchesRuns(snitch: Pick<WireSnitch, (typeof RUN_FIELDS)[number]>): boolean {
  const { failures_before_alert: failures = 1, ...others } = snitch;
  return (
    failures > 1 || RUN_FIELDS.some((field) => field !== 'failures_before_alert' && others[field] != null)
  );
}

/** The fields that are set, in the form of requests. */
export function runInput(snitch: Pick<WireSnitch, (typeof RUN_FIELDS)[number]>) {
  const { max_runtime, min_runtime, failures_before_alert = 1, expect } = snitch;
  return {
    ...(typeof max_runtime === 'number' ? { max_runtime } : {}),
    ...(typeof min_runtime === 'number' ? { min_runtime } : {}),
    ...(failures_before_alert > 1 ? { failures_before_alert } : {}),
    ...(expect?.length ? { expect } : {}),
  };
}

/** The same, as people write them in a file. */
export function runEntry(snitch: Pick<WireSnitch, (typeof RUN_FIELDS)[number]>) {
  const { max_runtime, min_runtime, expect, ...others } = runInput(snitch);
  return {
    ...(max_runtime === undefined ? {} : { max_runtime: lengthText(max_runtime) }),
    ...(min_runtime === undefined ? {} : { min_runtime: lengthText(min_runtime) }),
    ...others,
    ...(expect === undefined ? {} : { expect: expect.flatMap(expectTexts) }),
  };
}

/**
 * Understands texts such as `bytes>=1M` instead of the objects that the API accepts. Anything else is left for the
 * server to refuse.
 */
export function withExpectations(input: Entry): Entry {
  const { expect } = input;
  if (!Array.isArray(expect)) return input;
  const read = (expect as unknown[]).map((one) => (typeof one === 'string' ? readExpectText(one) : one));
  const texts = read.filter((one) => typeof one === 'object') as Expectation[];
  const areTexts = texts.length === read.length && expect.every((one) => typeof one === 'string');
  return { ...input, expect: areTexts ? mergedExpectations(texts) : read };
}

/** @throws Failure for a server that would ignore the fields */
export function checkKnowsRuns(understood: WireImported): void {
  const unknown = RUN_FIELDS.filter((field) => understood[field] === undefined);
  if (unknown.length === 0) return;
  throw new Failure(
    `nothing was changed: the server does not know ${unknown.join(', ')}, and must be updated first`,
  );
}
