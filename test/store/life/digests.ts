/**
 * Digests of lives that are too long for anybody to read. To see what differs, let `TEST_LIFE` name a file, and compare
 * what is written there with and without a change.
 */
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';

/** Acts of which one line is written. */
export const TOGETHER = 10;

/** A line for the acts between two looks at everything: when the last of them was, and a digest of them all. */
export function digestsOf(lines: readonly string[]): string[] {
  if (process.env.TEST_LIFE) writeFileSync(process.env.TEST_LIFE, `${lines.join('\n')}\n`);
  const starts = lines.flatMap((line, index) => (/^\d/.test(line) ? [index] : []));
  const parts: string[] = [];
  for (let act = 0; act < starts.length; act += TOGETHER) {
    const own = lines.slice(starts[act], starts[act + TOGETHER]);
    const digest = createHash('sha256').update(own.join('\n')).digest('hex').slice(0, 16);
    parts.push(`${lines[starts[act] ?? 0]}: ${own.length} lines, ${digest}`);
  }
  return parts;
}
