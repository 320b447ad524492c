/**
 * Plants small bugs in the core, the store, the delivery and the texts, one at a time, and reports which of them no
 * test notices.
 *
 *     node test/mutants/main.ts [--sample N] [--seed N] [--at-least PERCENT] [--minutes N] [--keep FILE] [--postgres] [PATTERN…]
 *
 * With `--postgres` they are planted in what only runs with PostgreSQL instead, and all tests share one cluster. A
 * pattern is a regular expression on the path below `src/`. `--sample` takes this many of all bugs, the same ones for
 * the same
 * `--seed`. `--minutes` ends the run after that time; with `--keep`, the same command continues from there, until the
 * code or a test changes. It exits with 1 if it was ended early, or if the tests noticed fewer than `--at-least` per
 * cent (90) of the bugs that change what the code does.
 */
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { type TestFile, testFiles } from '../runner/test-files.ts';
import { type Coverage, extentOf, type Range, readCoverage, runs } from './coverage.ts';
import { EQUIVALENTS, type Equivalent, equivalentOf } from './equivalents.ts';
import { type Mutation, mutationsOf } from './mutations.ts';
import { Progress, sumOfCode } from './progress.ts';
import { isAboutPostgres, isRunIn, LAST, POSTGRES_ROOMS, ROOMS, roomOf } from './rooms.ts';
import { shuffled } from './shuffled.ts';
import { copyTrees, type EnvOf, ROOT, type Tree, type Trees } from './tree.ts';

const { values: options, positionals: patterns } = parseArgs({
  allowPositionals: true,
  options: {
    sample: { type: 'string' },
    seed: { type: 'string', default: '1' },
    'at-least': { type: 'string', default: '90' },
    minutes: { type: 'string' },
    keep: { type: 'string' },
    postgres: { type: 'boolean', default: false },
  },
});

const rooms = options.postgres ? POSTGRES_ROOMS : ROOMS;

/** The most test files that are tried with one bug: of its own and near rooms, and of the server. */
const TRIED_AT_MOST = { near: 16, last: 8 };

/** A test file hangs if it takes more than this many times as long as without a bug, plus this many seconds. */
const PATIENCE = { times: 3, seconds: 10 };

interface Planted extends Mutation {
  file: string;
  line: number;
  original: string;
  /** Set if it is known to make no difference to what the code does. */
  equivalent: Equivalent | undefined;
}

/** The behaviour of a test without a bug. */
interface Measurement {
  isGood: boolean;
  /** Its coverage of the files in which bugs are planted. */
  covered: [file: string, processes: Range[][]][];
  seconds: number;
}

interface Measured {
  test: TestFile;
  coverage: Coverage;
  seconds: number;
}

/** `by` is the test that failed or was killed, or the compiler, which `.ci/run` calls before any test. */
type Verdict =
  | { how: 'noticed' | 'hangs'; by: string }
  | { how: 'SURVIVED' | 'NEVER RUN' }
  | { how: 'the same'; because: string };

const COMPILER = 'the compiler';

const interruption = new AbortController();
process.once('SIGINT', () => interruption.abort()).once('SIGTERM', () => interruption.abort());
if (options.minutes !== undefined) {
  setTimeout(() => interruption.abort(), Number(options.minutes) * 60_000).unref();
}

function bugsIn(file: string): Planted[] {
  const text = readFileSync(join(ROOT, 'src', file), 'utf8');
  return mutationsOf(file, text).map((mutation) => ({
    ...mutation,
    file,
    line: text.slice(0, mutation.start).split('\n').length,
    original: text.slice(mutation.start, mutation.end),
    equivalent: equivalentOf(file, text, mutation),
  }));
}

/** Reports known equivalents whose line has changed since: they no longer apply, and need another look. */
function tellGone(files: readonly string[], bugs: readonly Planted[]): void {
  const found = new Set(bugs.map(({ equivalent }) => equivalent));
  for (const known of EQUIVALENTS) {
    if (!files.includes(known.file) || found.has(known)) continue;
    console.log(`GONE      src/${known.file}: no change makes \`${known.becomes}\` any more`);
  }
}

function chosenBugs(): Planted[] {
  const wanted = patterns.map((pattern) => new RegExp(pattern.replace(/^(?:\.\/)?src\//, '')));
  const sources = rooms.flatMap((room) => room.sources);
  const files = globSync(sources, { cwd: join(ROOT, 'src') })
    .filter((file) => wanted.length === 0 || wanted.some((pattern) => pattern.test(file)))
    .sort();
  const bugs = files.flatMap(bugsIn);
  tellGone(files, bugs);
  if (options.sample === undefined) return bugs;
  return shuffled(bugs, Number(options.seed)).slice(0, Number(options.sample));
}

/** Works through `items`, one at a time in each tree. */
async function inTrees<T>(
  trees: readonly Tree[],
  items: readonly T[],
  work: (tree: Tree, item: T) => Promise<void>,
) {
  const waiting = items[Symbol.iterator]();
  await Promise.all(
    trees.map(async (tree) => {
      for (const item of waiting) {
        if (interruption.signal.aborted) return;
        await work(tree, item);
      }
    }),
  );
}

/** Runs a test without a bug: what it covers of `files`, how long it takes, whether it passes. Null if interrupted. */
async function measureOne(
  tree: Tree,
  test: TestFile,
  { scratch, files }: { scratch: string; files: ReadonlySet<string> },
): Promise<Measurement | null> {
  const directory = join(scratch, 'coverage', test.path);
  mkdirSync(directory, { recursive: true });
  process.env.NODE_V8_COVERAGE = directory;
  const running = tree.run({ ...test, limitS: test.limitS * PATIENCE.times });
  delete process.env.NODE_V8_COVERAGE;
  const { problem, passed, total, seconds, output } = await running;
  if (interruption.signal.aborted) return null;
  if (problem === null && passed === total) {
    const covered = [...readCoverage(directory, tree.path)].filter(([file]) => files.has(file));
    return { isGood: true, covered, seconds };
  }
  const head = output.split('\n').slice(0, 8).join('\n');
  console.log(`left out, because it fails without a bug: ${test.path}\n${problem ?? ''}\n${head}`);
  return { isGood: false, covered: [], seconds };
}

/**
 * The tests that execute the place of a bug: first the one of the same name, then those of the same room, ordered by how
 * much of its file they run, and last some of the server. If there are many, the last ones would hardly notice what the others miss, and would take
 * minutes.
 */
function testsFor({ file, runsAt }: Planted, measured: readonly Measured[]): Measured[] {
  const room = roomOf(file, rooms);
  const own = `${basename(file, '.ts')}.test.ts`;
  const rank = ({ test: { path } }: Measured) =>
    path.startsWith(`${room?.name}/`) ? (basename(path) === own ? 0 : 1) : 2;
  const sorted = measured
    .filter(
      ({ test, coverage }) => room && isRunIn(room, test) && runsAt.some((at) => runs(coverage, file, at)),
    )
    .map((one) => ({ one, rank: rank(one), extent: extentOf(one.coverage, file) }))
    .sort((a, b) => a.rank - b.rank || b.extent - a.extent || a.one.seconds - b.one.seconds)
    .map(({ one }) => one);
  const isLast = ({ test: { path } }: Measured) => LAST.test(path);
  const near = sorted.filter((one) => !isLast(one)).slice(0, TRIED_AT_MOST.near);
  return [...near, ...sorted.filter(isLast).slice(0, TRIED_AT_MOST.last)];
}

/**
 * A test that was killed before any part of it failed gets twice the time: the host may be busy with something else.
 */
async function outcomeWith(
  tree: Tree,
  test: TestFile,
  seconds: number,
): Promise<'passes' | 'noticed' | 'hangs'> {
  for (const times of [1, 2]) {
    const limitS = times * Math.ceil(seconds * PATIENCE.times + PATIENCE.seconds);
    const { problem, passed, total, output } = await tree.run({ ...test, limitS });
    if (interruption.signal.aborted) return 'passes';
    if (problem === null && passed === total) return 'passes';
    if (!problem?.startsWith('killed') || output.includes('✘')) return 'noticed';
  }
  return 'hangs';
}

/** A test that hangs has noticed the bug only if it does not hang without it: the host may be too busy for either. */
async function outcomeOf(
  tree: Tree,
  { test, seconds }: Measured,
  { plant, heal }: { plant: () => void; heal: () => void },
): Promise<'passes' | 'noticed' | 'hangs'> {
  for (let patience = 1; ; patience *= 2) {
    plant();
    const how = await outcomeWith(tree, test, patience * seconds);
    heal();
    if (how !== 'hangs' || (await outcomeWith(tree, test, patience * seconds)) === 'passes') return how;
  }
}

/** @returns null if it was interrupted */
async function tryBug(tree: Tree, bug: Planted, measured: readonly Measured[]): Promise<Verdict | null> {
  const tests = testsFor(bug, measured);
  const path = join(tree.path, 'src', bug.file);
  const text = readFileSync(path, 'utf8');
  const planted = text.slice(0, bug.start) + bug.replacement + text.slice(bug.end);
  const change = { plant: () => writeFileSync(path, planted), heal: () => writeFileSync(path, text) };
  for (const one of tests) {
    const how = await outcomeOf(tree, one, change);
    if (interruption.signal.aborted) return null;
    if (how !== 'passes') return { how, by: one.test.path };
  }
  change.plant();
  const isTyped = await tree.isTyped();
  change.heal();
  if (interruption.signal.aborted) return null;
  if (!isTyped) return { how: 'noticed', by: COMPILER };
  return { how: tests.length === 0 ? 'NEVER RUN' : 'SURVIVED' };
}

function oneLine(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > 70 ? `${line.slice(0, 69)}…` : line;
}

function print(verdict: Verdict, { file, line, original, replacement }: Planted): void {
  const by = 'by' in verdict ? `  (${verdict.by})` : '';
  const because = 'because' in verdict ? `  (${verdict.because})` : '';
  const change = `${oneLine(original)}  →  ${oneLine(replacement)}`;
  console.log(`${verdict.how.padEnd(9)} src/${file}:${line}  ${change}${by}${because}`);
}

/** @returns the share of the bugs other than equivalents that was noticed, in per cent */
function printTotals(verdicts: readonly [Planted, Verdict][]): number {
  const isNoticed = ([, verdict]: [Planted, Verdict]) => 'by' in verdict;
  const totals = (what: string, some: readonly [Planted, Verdict][]) => {
    const counted = some.filter(([, { how }]) => how !== 'the same');
    const noticed = counted.filter(isNoticed).length;
    const typed = counted.filter(([, verdict]) => 'by' in verdict && verdict.by === COMPILER).length;
    const hanging = counted.filter(([, { how }]) => how === 'hangs').length;
    const share = (100 * noticed) / (counted.length || 1);
    const same = some.length - counted.length;
    console.log(
      `${what}: ${noticed} of ${counted.length} noticed (${hanging} by hanging, ${typed} only by the compiler), ${share.toFixed(1)} %; ${same} more change nothing`,
    );
    return share;
  };
  console.log('');
  for (const room of rooms) {
    const own = verdicts.filter(([{ file }]) => roomOf(file, rooms) === room);
    if (own.length > 0) totals(room.name, own);
  }
  return totals('in all', verdicts);
}

/** The tests that can notice any of `bugs`, each measured unless that was done before. */
async function measure(
  { all, scratch }: Trees,
  bugs: readonly Planted[],
  progress: Progress<Measurement | Verdict>,
): Promise<Measured[]> {
  const own = rooms.filter((room) => bugs.some(({ file }) => roomOf(file, rooms) === room));
  const tests = testFiles([]).filter((test) => own.some((room) => isRunIn(room, test)));
  console.log(`${bugs.length} bugs; ${tests.length} test files are run without one first`);
  const files = new Set(bugs.map(({ file }) => file));
  const measured: Measured[] = [];
  await inTrees(all, tests, async (tree, test) => {
    const one = await progress.of(test.path, () => measureOne(tree, test, { scratch, files }));
    if (one?.isGood) measured.push({ test, coverage: new Map(one.covered), seconds: one.seconds });
  });
  return measured;
}

async function tryAll(
  trees: Trees,
  bugs: readonly Planted[],
  progress: Progress<Measurement | Verdict>,
): Promise<[Planted, Verdict][]> {
  const measured = await measure(trees, bugs, progress);
  const verdicts: [Planted, Verdict][] = [];
  await inTrees(trees.all, bugs, async (tree, bug) => {
    const { file, start, end, replacement, equivalent } = bug;
    const verdict: Verdict | null = equivalent
      ? { how: 'the same', because: equivalent.because }
      : await progress.of(JSON.stringify([file, start, end, replacement]), () => tryBug(tree, bug, measured));
    if (!verdict) return;
    print(verdict, bug);
    verdicts.push([bug, verdict]);
  });
  return verdicts;
}

/** Runs `work` with the environment of the tests, while the cluster that all of them share is running. */
async function withStores(work: (envOf: EnvOf) => Promise<void>): Promise<void> {
  if (!options.postgres) return work(() => ({}));
  const { addressOf, poolOf, startSharedCluster } = await import('../store/postgres/databases.ts');
  const { initializedIn } = await import('../store/postgres/clusters/cluster.ts');
  await using cluster = await startSharedCluster();
  const own = { SNITCH_TEST_POSTGRES: addressOf(cluster), ...initializedIn(cluster) };
  Object.assign(process.env, own);
  // The schema that all databases are copied from is made by code without a bug.
  await (await poolOf(cluster.socketDirectory)).end();
  await work(({ path }) => (isAboutPostgres(path) ? own : { ...own, SNITCH_TEST_STORE: 'postgres' }));
}

const bugs = chosenBugs();
if (bugs.length === 0) {
  console.error(`no bug can be planted in what matches ${patterns.join(' ')}`);
  process.exit(2);
}
const run = JSON.stringify([options.sample, options.seed, options.postgres, patterns, sumOfCode(ROOT)]);
const progress = new Progress<Measurement | Verdict>(options.keep, run);
await withStores(async (envOf) => {
  const trees = await copyTrees(Math.min(availableParallelism(), bugs.length), envOf, interruption.signal);
  try {
    const verdicts = await tryAll(trees, bugs, progress);
    const share = printTotals(verdicts);
    const left = bugs.length - verdicts.length;
    if (left > 0) console.log(`ended before ${left} of ${bugs.length} bugs were tried`);
    process.exitCode = left > 0 || share < Number(options['at-least']) ? 1 : 0;
  } finally {
    trees.remove();
  }
});
