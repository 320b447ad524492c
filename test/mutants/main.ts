/**
 * Plants small bugs in the core, the store and the delivery, one at a time, and tells which of them no test notices.
 *
 *     node test/mutants/main.ts [--sample N] [--seed N] [--at-least PERCENT] [PATTERN…]
 *
 * A pattern is a regular expression on the path below `src/`. `--sample` takes so many of all bugs, the same ones for
 * the same `--seed`. It exits with 1 when fewer than `--at-least` per cent (90) were noticed.
 */
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type TestFile, testFiles } from '../runner/test-files.ts';
import { type Coverage, readCoverage, runs } from './coverage.ts';
import { type Mutation, mutationsOf } from './mutations.ts';
import { shuffled } from './shuffled.ts';
import { copyTrees, ROOT, type Tree } from './tree.ts';

const { values: options, positionals: patterns } = parseArgs({
  allowPositionals: true,
  options: {
    sample: { type: 'string' },
    seed: { type: 'string', default: '1' },
    'at-least': { type: 'string', default: '90' },
  },
});

/** The tests of a room, and of the rooms that use it and are quick. */
const TESTS_OF: Record<string, RegExp> = {
  core: /^(?:core|store|delivery|http)\//,
  store: /^(?:store|sweep|http)\//,
  delivery: /^delivery\//,
};

/** Migrations that have landed are held by their digests, which would notice everything. */
const SOURCES = ['core/**/*.ts', 'store/*.ts', 'store/{operations,sqlite}/**/*.ts', 'delivery/**/*.ts'];

/** A test file hangs when it takes so many times as long as without a bug, and so many seconds more. */
const PATIENCE = { times: 3, seconds: 10 };

interface Planted extends Mutation {
  file: string;
  line: number;
  original: string;
}

interface Measured {
  test: TestFile;
  coverage: Coverage;
  seconds: number;
}

/** `by` is the test that failed or was killed. */
type Verdict = { how: 'noticed' | 'hangs'; by: string } | { how: 'SURVIVED' | 'NEVER RUN' };

const interruption = new AbortController();
process.once('SIGINT', () => interruption.abort()).once('SIGTERM', () => interruption.abort());

function bugsIn(file: string): Planted[] {
  const text = readFileSync(join(ROOT, 'src', file), 'utf8');
  return mutationsOf(file, text).map((mutation) => ({
    ...mutation,
    file,
    line: text.slice(0, mutation.start).split('\n').length,
    original: text.slice(mutation.start, mutation.end),
  }));
}

function chosenBugs(): Planted[] {
  const wanted = patterns.map((pattern) => new RegExp(pattern.replace(/^(?:\.\/)?src\//, '')));
  const files = globSync(SOURCES, { cwd: join(ROOT, 'src') })
    .filter((file) => wanted.length === 0 || wanted.some((pattern) => pattern.test(file)))
    .sort();
  const bugs = files.flatMap(bugsIn);
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

/** Runs each test once as it is: what it covers, how long it takes, and that it passes. */
async function measure(
  trees: readonly Tree[],
  scratch: string,
  tests: readonly TestFile[],
): Promise<Measured[]> {
  const measured: Measured[] = [];
  await inTrees(trees, tests, async (tree, test) => {
    const directory = join(scratch, 'coverage', test.path);
    mkdirSync(directory, { recursive: true });
    process.env.NODE_V8_COVERAGE = directory;
    const running = tree.run({ ...test, limitS: test.limitS * PATIENCE.times });
    delete process.env.NODE_V8_COVERAGE;
    const { problem, passed, total, seconds, output } = await running;
    if (interruption.signal.aborted) return;
    const isGood = problem === null && passed === total;
    if (isGood) measured.push({ test, coverage: readCoverage(directory, tree.path), seconds });
    else console.log(`left out, because it fails without a bug: ${test.path}\n${problem ?? ''}\n${output}`);
  });
  return measured;
}

/** The tests that run the place of a bug: the one of the same name first, then its own room, the quickest first. */
function testsFor({ file, runsAt }: Planted, measured: readonly Measured[]): Measured[] {
  const room = file.slice(0, file.indexOf('/'));
  const mirror = file.replace(/\.ts$/, '.test.ts');
  const rank = ({ test: { path } }: Measured) => (path === mirror ? 0 : path.startsWith(`${room}/`) ? 1 : 2);
  return measured
    .filter(
      ({ test, coverage }) =>
        TESTS_OF[room]?.test(test.path) && runsAt.some((at) => runs(coverage, file, at)),
    )
    .sort((one, other) => rank(one) - rank(other) || one.seconds - other.seconds);
}

async function tryBug(tree: Tree, bug: Planted, measured: readonly Measured[]): Promise<Verdict> {
  const tests = testsFor(bug, measured);
  if (tests.length === 0) return { how: 'NEVER RUN' };
  const path = join(tree.path, 'src', bug.file);
  const text = readFileSync(path, 'utf8');
  writeFileSync(path, text.slice(0, bug.start) + bug.replacement + text.slice(bug.end));
  try {
    for (const { test, seconds } of tests) {
      const limitS = Math.ceil(seconds * PATIENCE.times + PATIENCE.seconds);
      const { problem, passed, total } = await tree.run({ ...test, limitS });
      if (problem?.startsWith('killed')) return { how: 'hangs', by: test.path };
      if (problem !== null || passed < total) return { how: 'noticed', by: test.path };
    }
    return { how: 'SURVIVED' };
  } finally {
    writeFileSync(path, text);
  }
}

function oneLine(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > 70 ? `${line.slice(0, 69)}…` : line;
}

function print(verdict: Verdict, { file, line, original, replacement }: Planted): void {
  const by = 'by' in verdict ? `  (${verdict.by})` : '';
  const change = `${oneLine(original)}  →  ${oneLine(replacement)}`;
  console.log(`${verdict.how.padEnd(9)} src/${file}:${line}  ${change}${by}`);
}

/** @returns the share that was noticed, in per cent */
function printTotals(verdicts: readonly [Planted, Verdict][]): number {
  const isNoticed = ([, verdict]: [Planted, Verdict]) => 'by' in verdict;
  const share = (some: readonly [Planted, Verdict][]) =>
    (100 * some.filter(isNoticed).length) / (some.length || 1);
  console.log('');
  for (const room of Object.keys(TESTS_OF)) {
    const own = verdicts.filter(([{ file }]) => file.startsWith(`${room}/`));
    if (own.length > 0)
      console.log(
        `${room}: ${own.filter(isNoticed).length} of ${own.length} noticed, ${share(own).toFixed(1)} %`,
      );
  }
  const hanging = verdicts.filter(([, verdict]) => verdict.how === 'hangs').length;
  const all = share(verdicts);
  console.log(
    `in all: ${verdicts.filter(isNoticed).length} of ${verdicts.length} noticed (${hanging} by hanging), ${all.toFixed(1)} %`,
  );
  return all;
}

const bugs = chosenBugs();
if (bugs.length === 0) {
  console.error(`no bug can be planted in what matches ${patterns.join(' ')}`);
  process.exit(2);
}
const rooms = [...new Set(bugs.map(({ file }) => file.slice(0, file.indexOf('/'))))];
const tests = testFiles([]).filter(
  ({ path, needs, waits }) =>
    needs === 'nothing' && !waits && rooms.some((room) => TESTS_OF[room]?.test(path)),
);
const trees = await copyTrees(Math.min(availableParallelism(), bugs.length), interruption.signal);
try {
  console.log(`${bugs.length} bugs; ${tests.length} test files are run without one first`);
  const measured = await measure(trees.all, trees.scratch, tests);
  const verdicts: [Planted, Verdict][] = [];
  await inTrees(trees.all, bugs, async (tree, bug) => {
    const verdict = await tryBug(tree, bug, measured);
    if (interruption.signal.aborted) return;
    print(verdict, bug);
    verdicts.push([bug, verdict]);
  });
  process.exitCode =
    printTotals(verdicts) < Number(options['at-least']) || interruption.signal.aborted ? 1 : 0;
} finally {
  trees.remove();
}
