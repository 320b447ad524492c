import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type DisposableTempDir, mkdtempDisposableSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compileCache } from '../compile-cache.ts';

export const SNITCH = fileURLToPath(new URL('../../bin/snitch', import.meta.url));

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** A built `snitch` as a process, in an environment without a configuration and in a new directory. */
export class SnitchProcess {
  stdout = '';
  stderr = '';
  readonly #child: ChildProcess;
  readonly #ended: Promise<number | null>;

  constructor(args: readonly string[], env: NodeJS.ProcessEnv) {
    const cache = compileCache(args[0] === 'serve' ? 'daemon' : 'command');
    this.#child = spawn(SNITCH, args, {
      env: { PATH: process.env.PATH, HOME: '/nonexistent', ...cache, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child.stdout?.setEncoding('utf8').on('data', (text) => {
      this.stdout += text;
    });
    this.#child.stderr?.setEncoding('utf8').on('data', (text) => {
      this.stderr += text;
    });
    this.#ended = once(this.#child, 'close').then(([code]) => code);
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  [Symbol.dispose](): void {
    this.kill('SIGKILL');
  }

  async ended(): Promise<Ended> {
    return { code: await this.#ended, stdout: this.stdout, stderr: this.stderr };
  }

  /** The first line of the log with this message, once it is there. */
  async logged(message: string): Promise<Record<string, unknown>> {
    const running = this.#ended.then(() => 'ended');
    for (;;) {
      const found = this.log().find(({ msg }) => msg === message);
      if (found) return found;
      if ((await Promise.race([running, delay(20)])) === 'ended') {
        throw new Error(`ended without "${message}":\n${this.stdout}\n${this.stderr}`);
      }
    }
  }

  log(): Record<string, unknown>[] {
    const whole = this.stdout.split('\n').slice(0, -1);
    return whole.map((line) => JSON.parse(line));
  }
}

function delay(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

export function runSnitch(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ended> {
  return new SnitchProcess(args, env).ended();
}

export function temporaryDirectory(): DisposableTempDir {
  return mkdtempDisposableSync(join(tmpdir(), 'snitch-'));
}
