/**
 * Runs the tests, each file with a time limit, as many at once as the host has cores. If there are many, quick ones of
 * one room share a process, one after the other; every other file has a process of its own.
 *
 *     node test/runner/main.ts [--fast] [--no-skips] [--postgres] [PATTERN…]
 *
 * `--fast` leaves out what needs the built program, waits in real time, declares a limit of two minutes and more, or says
 * `Not with --fast`;
 * `--no-skips` fails when a test was skipped.
 * `--postgres` runs the tests of the store's contract and of whole daemons once more on PostgreSQL, all of them on one
 * cluster.
 * A pattern is a regular expression on the path below `test/`. `TEST_PATIENCE=3` makes every limit three times as long.
 */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { type Batch, inBatches } from './batches.ts';
import { build } from './build.ts';
import { printOutcome, printTotals } from './report.ts';
import { type Outcome, type Run, runInTurn } from './run-file.ts';
import { scratchIn } from './scratch.ts';
import { type TestFile, testFiles } from './test-files.ts';

const { values: options, positionals: patterns } = parseArgs({
  allowPositionals: true,
  options: { fast: { type: 'boolean' }, 'no-skips': { type: 'boolean' }, postgres: { type: 'boolean' } },
});

/** A file that declares at least this limit, in seconds, has much to compute: `--fast` leaves it out. */
const SLOW_S = 120;

/** With `--fast`, this share of the cases of property tests and random tests is tried: see `test/cases.ts`. */
const FAST_SHARE = '0.2';

/** On PostgreSQL each statement goes to another process and back: a run may take this many times as long. */
const LONGER_ON_POSTGRES = 2;

/** How many files that mostly wait run beside those that compute. */
const WAITING_AT_ONCE = 3;

/** With `--fast` there are none of those, but the others also wait now and then, for sockets, timers and threads. */
const FAST_PER_CORE = 3;

const CORES = availableParallelism();

const patience = Number(process.env.TEST_PATIENCE ?? 1);
const outcomes: Outcome[] = [];
const scratch = scratchIn('/dev/shm', process.availableMemory());
process.once('exit', () => scratch?.[Symbol.dispose]());
const inMemory: Record<string, string> = scratch ? { TMPDIR: scratch.path } : {};
// The cluster that test files share is started by this process itself.
Object.assign(process.env, inMemory);
const interruption = new AbortController();
process.once('SIGINT', () => interruption.abort()).once('SIGTERM', () => interruption.abort());

/** Takes the batches of `own` one after the other, and when there are none left, those of `others`. */
async function work(own: Iterator<Batch, undefined>, others: Iterator<Batch, undefined>): Promise<void> {
  for (;;) {
    const batch = own.next().value ?? others.next().value;
    if (!batch || interruption.signal.aborted) return;
    const [{ file }] = batch;
    if (file.needs !== 'nothing') await built[file.needs];
    const some = await runInTurn(batch, patience, interruption.signal);
    for (const outcome of some) printOutcome(outcome);
    outcomes.push(...some);
  }
}

/**
 * A worker with no file of its own kind left helps with the other kind: files that compute also wait, for processes
 * that they start, and would leave a part of the host idle.
 */
async function runAll(runs: readonly Run[]): Promise<void> {
  const of = (waits: boolean) => inBatches(runs.filter(({ file }) => file.waits === waits)).values();
  const [computing, waiting] = [of(false), of(true)];
  const workers = (count: number, own: Iterator<Batch, undefined>, others: Iterator<Batch, undefined>) =>
    Array.from({ length: count }, () => work(own, others));
  await Promise.all([
    ...workers(CORES * (options.fast ? FAST_PER_CORE : 1), computing, waiting),
    ...workers(options.fast ? 0 : WAITING_AT_ONCE, waiting, computing),
  ]);
}

/** Runs each file, and with `--postgres` those that are about both databases once more. */
async function runAllStores(files: readonly TestFile[]): Promise<void> {
  const share: Record<string, string> = options.fast
    ? { TEST_SHARE: process.env.TEST_SHARE ?? FAST_SHARE }
    : {};
  const envOf = ({ isOnDisk }: TestFile) => ({ ...(isOnDisk ? {} : inMemory), ...share });
  const runs: Run[] = files.map((file) => ({ file, env: envOf(file), name: file.path }));
  if (!options.postgres) return runAll(runs);
  const { addressOf, startSharedCluster } = await import('../store/postgres/databases.ts');
  const { initializedIn } = await import('../store/postgres/clusters/cluster.ts');
  await using cluster = await startSharedCluster();
  // Files about PostgreSQL alone also make their databases there, or start their clusters from a copy of its initial
  // one.
  const own = { SNITCH_TEST_POSTGRES: addressOf(cluster), ...initializedIn(cluster) };
  const env = { SNITCH_TEST_STORE: 'postgres', ...own };
  const again = files.filter(({ isOnBoth }) => isOnBoth);
  const onPostgres = (file: TestFile): Run => ({
    file: { ...file, limitS: LONGER_ON_POSTGRES * file.limitS },
    env: { ...envOf(file), ...env },
    name: `${file.path} on PostgreSQL`,
  });
  const once = runs.map((run) => ({ ...run, env: { ...run.env, ...own } }));
  await runAll([...once, ...again.map(onPostgres)]);
}

function isFast({ needs, waits, limitS, isSlow }: TestFile): boolean {
  return needs === 'nothing' && !waits && limitS < SLOW_S && !isSlow;
}

const all = testFiles(patterns);
const files = options.fast ? all.filter(isFast) : all;
if (files.length === 0) {
  console.error(`no test file matches ${patterns.join(' ')}`);
  process.exit(2);
}
const started = performance.now();
const built = build(new Set(files.map(({ needs }) => needs)), () => interruption.abort());
await runAllStores(files);
const isGood = printTotals(outcomes, { noSkips: options['no-skips'] ?? false, started });
process.exit(isGood && !interruption.signal.aborted ? 0 : 1);
