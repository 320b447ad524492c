/** The runner on files that go wrong: each is ended, named and counted. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Outcome, runFile } from './run-file.ts';
import { TEST } from './test-files.ts';

const test = suite<{ dir: string }>('the runner');

test.before.each((context) => {
  context.dir = mkdtempSync(join(tmpdir(), 'snitch-runner-'));
});
test.after.each(({ dir }) => rmSync(dir, { recursive: true }));

/** Runs a file with these statements about a suite `test`. */
function run(dir: string, body: string, limitS = 30, env: Record<string, string> = {}): Promise<Outcome> {
  const file = join(dir, 'sample.ts');
  const uvu = import.meta.resolve('uvu');
  writeFileSync(file, `import { suite } from '${uvu}';\nconst test = suite('sample');\n${body}\n`);
  const described = { needs: 'nothing', waits: false, isOnBoth: false, limitS } as const;
  const path = relative(TEST, file);
  return runFile({ file: { ...described, path }, env, name: 'a sample' }, 1, new AbortController().signal);
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

test.run();
