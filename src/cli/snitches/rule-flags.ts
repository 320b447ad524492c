/** The options that say when a run counts as an error, and how many errors are tolerated, for `create` and `edit`. */
import type { Command } from 'commander';
import type { SnitchInput } from '../../api/client.ts';
import type { WireSnitch } from '../../api/wire.ts';
import { EXPECT_FORMS, mergedExpectations, readExpectText } from '../../core/judgement/expect-text.ts';
import type { Expectation } from '../../core/judgement/rules.ts';
import { collectAnew } from '../command/command.ts';
import { UsageError } from '../failure/failure.ts';
import { secondsOf } from './due-flags.ts';

/** False is for `--no-expect` and its like, which only `edit` has. */
export interface RuleFlags {
  minRuntime?: string | false;
  failuresBeforeAlert?: string | false;
  expect?: string[] | false;
}

export type RuleInput = Pick<SnitchInput, 'min_runtime' | 'failures_before_alert' | 'expect'>;

export function addRuleOptions(command: Command): Command {
  return command
    .option(
      '--min-runtime <duration>',
      'a run that is known to have taken less counts as an error, such as 5m (needs reported starts: `snitch exec`)',
    )
    .option('--failures-before-alert <count>', 'alert only after this many errors in a row, 1 to 10')
    .option(
      '--expect <expectation>',
      `what the job must report (in quotes): ${EXPECT_FORMS}; repeat it for several`,
      collectAnew,
    );
}

export function addRuleRemovals(command: Command): Command {
  return command
    .option('--no-min-runtime', 'accept runs of any length')
    .option('--no-failures-before-alert', 'alert after the first error')
    .option('--no-expect', 'expect no values of the job');
}

/** Only what is given. @throws UsageError for anything not understood, which says what to write */
export function rulesOf({ minRuntime, failuresBeforeAlert, expect }: RuleFlags): RuleInput {
  const input: RuleInput = {};
  if (minRuntime !== undefined) {
    input.min_runtime = minRuntime === false ? null : secondsOf(minRuntime, '--min-runtime');
  }
  if (failuresBeforeAlert !== undefined) {
    input.failures_before_alert = failuresBeforeAlert === false ? null : countOf(failuresBeforeAlert);
  }
  if (expect !== undefined) {
    input.expect = expect === false ? null : mergedExpectations(expect.map(expectationOf));
  }
  return input;
}

function countOf(text: string): number {
  const count = /^\d{1,2}$/.test(text.trim()) ? Number(text) : 0;
  if (count >= 1 && count <= 10) return count;
  throw new UsageError(`--failures-before-alert: "${text}" is not a whole number from 1 to 10`);
}

function expectationOf(text: string): Expectation {
  // This looks as if nothing were expected, but would make each run without a value of this name an error.
  if (text.trim().toLowerCase() === 'none')
    throw new UsageError(
      `--expect "${text}": leave it out, or write --no-expect in \`snitch edit\`, to expect nothing`,
    );
  const read = readExpectText(text);
  if (typeof read !== 'string') return read;
  throw new UsageError(`--expect "${text}": ${read}\nunderstood are, in quotes: ${EXPECT_FORMS}`);
}

/** Which of the `wanted` settings the answer lacks because the server is too old, in words. */
export function rulesLost(snitch: WireSnitch, wanted: RuleInput): string[] {
  const expected = wanted.expect?.length ?? 0;
  return [
    wanted.min_runtime && snitch.min_runtime !== wanted.min_runtime ? 'its shortest run' : '',
    (wanted.failures_before_alert ?? 1) > 1 && snitch.failures_before_alert !== wanted.failures_before_alert
      ? 'how many errors it tolerates'
      : '',
    expected > 0 && snitch.expect?.length !== expected ? 'what it expects' : '',
  ].filter((one) => one !== '');
}
