/** What a run of the tests prints: a line for each file as it ends, all output of a failed one, and the totals. */
import type { Outcome } from './run-file.ts';

export function isGood({ problem, passed, total }: Outcome): boolean {
  return problem === null && passed === total;
}

export function printOutcome(outcome: Outcome): void {
  const { path, passed, total, skipped, seconds, problem } = outcome;
  const counts = `${passed}/${total}${skipped > 0 ? `, ${skipped} skipped` : ''}`;
  console.log(`${isGood(outcome) ? 'ok    ' : 'FAILED'} ${path} (${counts}) ${seconds.toFixed(1)} s`);
  for (const note of outcome.notes) console.log(`       ${note}`);
  if (problem !== null) console.log(`       ${problem}`);
  if (!isGood(outcome)) console.log(outcome.output.replace(/^/gm, '    | '));
}

/** @returns whether everything passed, and with `noSkips` nothing was skipped */
export function printTotals(
  outcomes: readonly Outcome[],
  { noSkips, started }: { noSkips: boolean; started: number },
): boolean {
  const sum = (count: (outcome: Outcome) => number) => outcomes.reduce((total, one) => total + count(one), 0);
  const [total, passed, skipped] = [
    sum((one) => one.total),
    sum((one) => one.passed),
    sum((one) => one.skipped),
  ];
  const bad = outcomes.filter((outcome) => !isGood(outcome));
  for (const { path, reasons } of outcomes) {
    for (const reason of reasons) console.log(`skipped in ${path}: ${reason}`);
  }
  for (const { path, problem } of bad) console.log(`FAILED ${path}${problem === null ? '' : `: ${problem}`}`);
  // A file that went wrong although each of its tests passed is one more failure.
  const failed = total - passed + bad.filter((one) => one.total === one.passed).length;
  const isRefused = noSkips && skipped > 0;
  if (isRefused) console.log('FAILED: no test may be skipped here');
  const seconds = Math.round((performance.now() - started) / 1_000);
  console.log(`\n${outcomes.length} files in ${seconds} s`);
  console.log(`${passed} passed, ${failed + (isRefused ? 1 : 0)} failed, ${skipped} skipped`);
  return failed === 0 && !isRefused;
}
