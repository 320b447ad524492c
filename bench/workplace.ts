/** What a run of the benches leaves on the host while it lasts: one directory, and the processes that it started. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';

export class Workplace {
  readonly directory: string;
  readonly #children = new Set<ChildProcess>();
  readonly #atEnd: (() => void)[] = [];
  #count = 0;
  #isEnding = false;

  /** @param parent where the data will be: its file system is measured too */
  constructor(parent: string) {
    mkdirSync(parent, { recursive: true });
    this.directory = mkdtempSync(join(parent, 'snitch-bench-'));
  }

  /** A path that nothing else uses. */
  path(name: string): string {
    this.#count += 1;
    return join(this.directory, `${this.#count}-${name}`);
  }

  /** A new directory, as private as the program wants its data. */
  newDirectory(): string {
    const path = this.path('data');
    mkdirSync(path, { mode: 0o700 });
    return path;
  }

  /** Whether nothing new may be started any more. */
  get isEnding(): boolean {
    return this.#isEnding;
  }

  /** Kills the process at the end, if it is still running then. */
  holds<Child extends ChildProcess>(child: Child): Child {
    // A run that is interrupted may be just about to start another process.
    if (this.#isEnding) child.kill('SIGKILL');
    this.#children.add(child);
    child.once('exit', () => this.#children.delete(child));
    return child;
  }

  /** Does `work` at the end, in reverse order. */
  atEnd(work: () => void): void {
    this.#atEnd.unshift(work);
  }

  /** Kills all processes that still run, and waits until they are gone. */
  async clear(): Promise<void> {
    await Promise.all(
      [...this.#children].map(async (child) => {
        const exited = once(child, 'exit');
        child.kill('SIGKILL');
        await exited;
      }),
    );
  }

  async end(): Promise<void> {
    this.#isEnding = true;
    await this.clear();
    try {
      for (const work of this.#atEnd) work();
    } finally {
      rmSync(this.directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    }
  }
}
