/** Texts that tests have written down, so that whatever behaves differently later is noticed. */
import { readFileSync, writeFileSync } from 'node:fs';
import * as assert from 'uvu/assert';

/**
 * Compares the lines with those in `file`. If they differ because a change of behaviour is wanted, write them down again
 * with `TEST_KEEP=1` in the environment, and read the difference line by line.
 */
export function assertKept(file: string, lines: readonly string[]): void {
  if (process.env.TEST_KEEP) writeFileSync(file, `${lines.join('\n')}\n`);
  const kept = readFileSync(file, 'utf8').trimEnd().split('\n');
  const first = lines.findIndex((line, index) => line !== kept[index]);
  const from = Math.max(0, first - 3);
  assert.equal(lines.slice(from, first + 1), kept.slice(from, first + 1));
  assert.is(lines.length, kept.length);
}

/** As JSON, with instants as times. */
export function inOneLine(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'number' && part > 1e12 && part < 1e14 ? new Date(part).toISOString() : part,
  );
}
