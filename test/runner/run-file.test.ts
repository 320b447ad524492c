/** The runner on files that go wrong: each is ended, named and counted. Not with --fast: it waits for those that hang. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { inBatches } from './batches.ts';
import { type Outcome, type Run, runFile, runInTurn } from './run-file.ts';
import { TEST } from './test-files.ts';

const test = suite<{ dir: string }>('the runner');

test.before.each((context) => {
  context.dir = mkdtempSync(join(tmpdir(), 'snitch-runner-'));
});
test.after.each(({ dir }) => rmSync(dir, { recursive: true }));

/** A file with these statements about a suite `test`. */
function sample(dir: string, body: string, limitS = 30, name = 'sample'): Run {
  const file = join(dir, `${name}.ts`);
  const uvu = import.meta.resolve('uvu');
  writeFileSync(file, `import { suite } from '${uvu}';\nconst test = suite('${name}');\n${body}\n`);
  const described = {
    needs: 'nothing',
    waits: false,
    isOnBoth: false,
    isSlow: false,
    isOnDisk: false,
    sharesProcess: true,
    limitS,
  } as const;
  return { file: { ...described, path: relative(TEST, file) }, env: {}, name: `a ${name}` };
}

function run(dir: string, body: string, limitS = 30, env: Record<string, string> = {}): Promise<Outcome> {
  return runFile({ ...sample(dir, body, limitS), env }, 1, new AbortController().signal);
}

/** Runs such files in one process. */
function inTurn(dir: string, bodies: Record<string, string>): Promise<Outcome[]> {
  // Those that do not hang must be able to finish on a busy host too.
  const limitS = (name: string) => (name === 'hanging' ? 3 : 40);
  const runs = Object.entries(bodies).map(([name, body]) => sample(dir, body, limitS(name), name));
  return runInTurn(runs, 1, new AbortController().signal);
}

const counts = ({ total, passed, skipped }: Outcome) => [total, passed, skipped];

test('a good file passes, and its skipped tests are counted with their reason', async ({ dir }) => {
  const body =
    "test('one', () => {});\ntest.skip();\nconsole.log('SKIPPED: two: no printer\\nNOTE: by hand');\ntest.run();";
  const outcome = await run(dir, body);
  assert.equal([counts(outcome), outcome.reasons, outcome.problem], [[1, 1, 1], ['two: no printer'], null]);
  assert.equal(outcome.notes, ['by hand']);
});

test('a file can be run in another way, and its results then have another name', async ({ dir }) => {
  const body = "test('one', () => console.log('NOTE: in ' + process.env.SAMPLE_WAY));\ntest.run();";
  const { path, notes } = await run(dir, body, 30, { SAMPLE_WAY: 'another way' });
  assert.equal([path, notes], ['a sample', ['in another way']]);
});

test('a failed test is counted', async ({ dir }) => {
  const outcome = await run(dir, "test('one', () => { throw new Error('planted'); });\ntest.run();");
  assert.equal([counts(outcome), outcome.problem], [[1, 0, 0], null]);
  assert.match(outcome.output, 'planted');
});

for (const hook of ['before', 'after.each']) {
  test(`a hook that fails is a failure that says why: ${hook}`, async ({ dir }) => {
    const body = `test.${hook}(() => { throw new Error('planted'); });\ntest('one', () => {});\ntest.run();`;
    const { problem, passed, output } = await run(dir, body);
    assert.equal([passed, problem], [0, 'a hook before or after the tests failed']);
    assert.match(output, `HOOK FAILED: ${hook.replace('.', ' ')} of sample: Error: planted`);
    assert.match(output, 'sample.ts:3', 'with its place');
  });
}

test('why a test could not begin is said even if the hook after it fails for want of that', async ({
  dir,
}) => {
  const body = [
    "test.before.each(() => { throw new Error('planted'); });",
    'test.after.each(({ opened }) => opened.close());',
    "test('one', () => {});\ntest.run();",
  ];
  const { problem, output } = await run(dir, body.join('\n'));
  assert.is(problem, 'a hook before or after the tests failed');
  assert.match(output, 'HOOK FAILED: before each of sample: Error: planted');
});

test('a file that hangs is killed with all that it has started', async ({ dir }) => {
  const body = [
    "import { spawn } from 'node:child_process';",
    "test('one', () => new Promise(() => {",
    "  const child = spawn('sleep', ['600'], { stdio: 'inherit' });",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of a program
    '  console.log(`started ${child.pid}`);',
    '}));',
    'test.run();',
  ];
  const outcome = await run(dir, body.join('\n'), 2);
  assert.equal([counts(outcome), outcome.problem], [[1, 0, 0], 'killed: it was not done after 2 s']);
  const [, pid = ''] = /started (\d+)/.exec(outcome.output) ?? [];
  await isGone(Number(pid));
});

async function isGone(pid: number): Promise<void> {
  assert.ok(pid > 0, 'it started something');
  for (let tries = 0; tries < 100; tries += 1) {
    try {
      process.kill(pid, 0);
    } catch {
      return;
    }
    await sleep(20);
  }
  assert.unreachable('what it had started still runs');
}

test('a file that ends before its tests do is a failure', async ({ dir }) => {
  const outcome = await run(dir, "test('one', () => process.exit(0));\ntest.run();");
  assert.equal([counts(outcome), outcome.problem], [[1, 0, 0], 'it ended with 1 before its tests did']);
});

test('a file without a test is a failure', async ({ dir }) => {
  assert.is((await run(dir, 'test.run();')).problem, 'it ran no test');
});

test('a test that leaves something running is a failure', async ({ dir }) => {
  const outcome = await run(dir, "test('one', () => void setInterval(() => {}, 1_000));\ntest.run();");
  assert.is(outcome.problem, 'killed: its tests were done, and something still ran');
  assert.match(outcome.output, /still running after the tests: .*Timeout/);
});

const PID = "test('pid', () => console.log('pid ' + process.pid));";
const GOOD = `${PID}\ntest.run();`;
const pidsIn = (outcomes: readonly Outcome[]) => outcomes.map(({ output }) => /pid (\d+)/.exec(output)?.[1]);

test('files that share a process are counted, and shown, each by itself', async ({ dir }) => {
  const bad = `${PID}\ntest('bad', () => { console.error('planted'); throw new Error('for it'); });\ntest.run();`;
  const skipped = `${PID}\ntest.skip();\nconsole.log('SKIPPED: no printer');\ntest.run();`;
  const outcomes = await inTurn(dir, { one: GOOD, two: bad, three: skipped, four: 'test.run();' });
  assert.equal(
    outcomes.map(({ path }) => path),
    ['a one', 'a two', 'a three', 'a four'],
  );
  assert.equal(outcomes.map(counts), [
    [1, 1, 0],
    [2, 1, 0],
    [1, 1, 1],
    [0, 0, 0],
  ]);
  assert.equal(
    outcomes.map(({ problem }) => problem),
    [null, null, null, 'it ran no test'],
  );
  assert.equal(outcomes[2]?.reasons, ['no printer']);
  assert.equal(
    outcomes.map(({ output }) => output.includes('planted') && output.includes('for it')),
    [false, true, false, false],
  );
  assert.is(new Set(pidsIn(outcomes.slice(0, 3))).size, 1, 'in one process');
});

const ENDED = 'it ended with 1 before its tests did';
const ENDS: Record<string, [body: string, problem: string]> = {
  hanging: ['new Promise(() => setInterval(() => {}, 1_000))', 'killed: it was not done after 3 s'],
  ending: ['process.exit(0)', ENDED],
  throwing: ["new Promise(() => setTimeout(() => { throw new Error('late'); }))", ENDED],
};

for (const [what, [expression, expected]] of Object.entries(ENDS)) {
  test(`those after one that goes wrong get a new process: ${what}`, async ({ dir }) => {
    const body = `test('x', () => ${expression});\ntest.run();`;
    const outcomes = await inTurn(dir, { one: GOOD, [what]: body, three: GOOD, four: GOOD });
    assert.equal(
      outcomes.map(({ problem }) => problem),
      [null, expected, null, null],
    );
    assert.equal(
      outcomes.map(({ passed }) => passed),
      [1, 0, 1, 1],
    );
    const [first, , third, fourth] = pidsIn(outcomes);
    assert.ok(first && third && first !== third);
    assert.is(fourth, third);
  });
}

test('a file that passes is not blamed for one before it', async ({ dir }) => {
  const fails = `test('x', () => { throw new Error('planted'); });\ntest.run();`;
  const outcomes = await inTurn(dir, { one: fails, two: GOOD });
  assert.equal(
    outcomes.map(({ passed, problem }) => [passed, problem]),
    [
      [0, null],
      [1, null],
    ],
  );
});

test('what a file says of itself excuses none after it: neither what it prints, nor that it failed', async ({
  dir,
}) => {
  const exits = `${PID}\ntest.run();\nprocess.on('exit', () => { process.exitCode = 1; });`;
  const printing = `test('x', () => console.log('a FAIL of another program'));\ntest.run();`;
  const printed = await inTurn(dir, { one: printing, two: exits });
  assert.equal(
    printed.map(({ problem }) => problem),
    [null, 'it exited 1 though its tests passed'],
  );
  const fails = `test('x', () => { throw new Error('planted'); });\ntest.run();`;
  const [, ended] = await inTurn(dir, { one: fails, two: "test('x', () => process.exit(1));\ntest.run();" });
  assert.is(ended?.problem, ENDED);
});

test('what a file of several leaves running is told with its name', async ({ dir }) => {
  const leaves = `${PID}\ntest('x', () => void setInterval(() => {}, 1_000));\ntest.run();`;
  const outcomes = await inTurn(dir, { one: GOOD, two: leaves, three: GOOD });
  const last = outcomes[2];
  assert.is(last?.problem, 'killed: its tests were done, and something still ran');
  assert.match(String(last?.output), /when the tests of a file were done:\n(?:.*\n)?.*two\.ts: .*Timeout/);
});

test('only many files share processes, with those of their room on the same database', ({ dir }) => {
  const plain = sample(dir, '');
  const runs = ['core', 'store'].flatMap((room) =>
    Array.from({ length: 14 }, (_, index) => ({
      ...plain,
      file: { ...plain.file, path: `${room}/${index}` },
    })),
  );
  const alone = { ...plain, file: { ...plain.file, path: 'store/alone', sharesProcess: false } };
  const onOther = { ...plain, file: { ...plain.file, path: 'store/x' }, env: { ON: 'another' } };
  const paths = inBatches([...runs, alone, onOther]).map((batch) => batch.map(({ file }) => file.path));
  assert.equal(
    paths.map((some) => some.length),
    [12, 12, 2, 2, 1, 1],
  );
  for (const some of paths) assert.is(new Set(some.map((path) => path.split('/')[0])).size, 1);
  assert.equal(
    inBatches(runs.slice(0, 19)).map(({ length }) => length),
    Array.from({ length: 19 }, () => 1),
  );
});

test.run();
