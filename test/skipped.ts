/** Tests that this host cannot run: they are counted as skipped, and the reason is said. */
import { spawnSync } from 'node:child_process';
import { suite, type Test } from 'uvu';

/** Why tests that need `program` cannot run here, or null where it is installed. */
export function without(program: string, ...args: string[]): string | null {
  return spawnSync(program, args.length > 0 ? args : ['--version'], { stdio: 'ignore' }).error
    ? `${program} is not installed`
    : null;
}

/** Where only root may do what the test does: why it cannot run here, or null. */
export function withoutRoot(): string | null {
  return process.getuid?.() === 0 ? null : 'it needs root';
}

/** `test` itself if nothing is missing; otherwise a function that counts each test as skipped, with the reason. */
export function unless<T>(
  reason: string | null,
  test: Test<T>,
): (name: string, run: (context: T) => unknown) => void {
  if (reason === null) return (name, run) => test(name, async (context) => void (await run(context)));
  return (name) => {
    console.log(`SKIPPED: ${name}: ${reason}`);
    test.skip();
  };
}

/** Runs a suite; where a reason is given, it is counted as one skipped test and the reason is said. */
export function runUnless<T>(reason: string | null, test: Test<T>, name: string): void {
  if (reason === null) {
    test.run();
    return;
  }
  const skipped = suite(name);
  unless(reason, skipped)(name, () => undefined);
  skipped.run();
}
