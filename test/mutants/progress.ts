/** What a run has found out so far, kept in a file: the same command goes on from there when it was ended. */
import { createHash } from 'node:crypto';
import { appendFileSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** One finding a line, under a line that tells which run of which code it belongs to. */
export class Progress<Finding> {
  readonly #file: string | undefined;
  readonly #found = new Map<string, Finding>();

  /**
   * @param file where the findings are kept; undefined for nowhere
   * @param of what the findings are true of: those of anything else are dropped
   */
  constructor(file: string | undefined, of: string) {
    this.#file = file;
    if (file === undefined) return;
    const [head, ...lines] = contentOf(file).split('\n');
    if (head !== of) {
      writeFileSync(file, `${of}\n`);
      return;
    }
    // A line that was cut short when the run was killed is behind the last newline.
    for (const line of lines.slice(0, -1)) {
      const [name, finding] = JSON.parse(line) as [string, Finding];
      this.#found.set(name, finding);
    }
    writeFileSync(file, [head, ...lines.slice(0, -1), ''].join('\n'));
  }

  /** What is known already; otherwise what `find` finds, kept unless it is null. */
  async of<One extends Finding>(name: string, find: () => Promise<One | null>): Promise<One | null> {
    const known = this.#found.get(name);
    if (known !== undefined) return known as One;
    const finding = await find();
    if (finding !== null && this.#file !== undefined) {
      appendFileSync(this.#file, `${JSON.stringify([name, finding])}\n`);
    }
    return finding;
  }
}

function contentOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

/** A sum over the code and its tests: with another one, a bug that survived may be noticed by now. */
export function sumOfCode(root: string): string {
  const sum = createHash('sha256');
  const names = globSync('{src,test}/**/*.{ts,tsx}', { cwd: root, exclude: ['test/mutants/**'] });
  for (const name of names.sort()) {
    sum.update(`${name}\n`).update(readFileSync(join(root, name)));
  }
  return sum.digest('hex');
}
