/** What a run has found out so far, kept in a file, so that the same command can continue after it was ended. */
import { createHash } from 'node:crypto';
import { appendFileSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** One finding a line, below a first line that says which run and which code they belong to. */
export class Progress<Finding> {
  readonly #file: string | undefined;
  readonly #found = new Map<string, Finding>();

  /**
   * @param file where the findings are kept; undefined for nowhere
   * @param of identifies the run and the code: findings about anything else are dropped
   */
  constructor(file: string | undefined, of: string) {
    this.#file = file;
    if (file === undefined) return;
    const [head, ...lines] = contentOf(file).split('\n');
    if (head !== of) {
      writeFileSync(file, `${of}\n`);
      return;
    }
    // If the run was killed, a line that was cut short may follow the last newline.
    for (const line of lines.slice(0, -1)) {
      const [name, finding] = JSON.parse(line) as [string, Finding];
      this.#found.set(name, finding);
    }
    writeFileSync(file, [head, ...lines.slice(0, -1), ''].join('\n'));
  }

  /** The finding that is known already; otherwise what `find` returns, which is kept unless it is null. */
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

/** A checksum of the code and its tests. If it has changed, a bug that survived may be noticed by now. */
export function sumOfCode(root: string): string {
  const sum = createHash('sha256');
  const names = globSync('{src,test}/**/*.{ts,tsx}', { cwd: root, exclude: ['test/mutants/**'] });
  for (const name of names.sort()) {
    sum.update(`${name}\n`).update(readFileSync(join(root, name)));
  }
  return sum.digest('hex');
}
