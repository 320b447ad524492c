/** A whole run whose build fails. Not with --fast: it starts the runner. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ending } from '../closing.ts';
import { TEST } from './test-files.ts';

/** Longer than any machine needs to end a run, and much shorter than the test below would run by itself, in milliseconds. */
const PATIENCE = 60_000;

/** Fails as soon as a test runs. */
const FAILING_BUILD = `
  import { existsSync } from 'node:fs';
  setInterval(() => existsSync('runs') && process.exit(1), 20);`;

const HANGING = `
  // Time limit: 600 s.
  import { writeFileSync } from 'node:fs';
  import { suite } from 'uvu';
  const test = suite('hanging');
  test('it hangs', () => {
    writeFileSync('runs', '');
    return new Promise((resolve) => setTimeout(resolve, 600_000));
  });
  test.run();`;

const NEEDS_THE_PROGRAM = `
  import { writeFileSync } from 'node:fs';
  import { suite } from 'uvu';
  const test = suite('of the program');
  test('it starts dist/snitch.mjs', () => writeFileSync('began without the program', ''));
  test.run();`;

const test = suite<{ root: string }>('a run whose build fails');

test.before.each((context) => {
  context.root = mkdtempSync(join(tmpdir(), 'snitch-run-'));
  mkdirSync(join(context.root, 'test'));
  cpSync(join(TEST, 'runner'), join(context.root, 'test/runner'), {
    recursive: true,
    filter: (path) => !path.endsWith('.test.ts'),
  });
  symlinkSync(join(TEST, '../node_modules'), join(context.root, 'node_modules'));
  writeFileSync(join(context.root, 'package.json'), '{ "type": "module" }');
});
test.after.each(({ root }) => rmSync(root, { recursive: true }));

test('it ends the tests that run, begins no others, and fails', async ({ root }) => {
  writeFileSync(join(root, 'build.mjs'), FAILING_BUILD);
  writeFileSync(join(root, 'test/hanging.test.ts'), HANGING);
  writeFileSync(join(root, 'test/program.test.ts'), NEEDS_THE_PROGRAM);
  await using child = ending(
    spawn(process.execPath, ['test/runner/main.ts'], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] }),
    (running) => running.kill(),
  );
  let wasEnded = false;
  const late = setTimeout(() => {
    wasEnded = child.kill();
  }, PATIENCE);
  const [said, complaints, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ]);
  clearTimeout(late);
  assert.not.ok(wasEnded, 'it ends by itself');
  assert.is(code, 1, complaints);
  assert.match(complaints, 'the build failed');
  assert.match(said, /FAILED hanging\.test\.ts.*\n +interrupted/);
  assert.not.match(said, /FAILED program\.test\.ts|ok +program/);
});

test.run();
