/** Copies of the source and its tests to plant bugs in: the checkout itself is never touched. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, normalize } from 'node:path';
import type { Outcome } from '../runner/run-file.ts';
import type { TestFile } from '../runner/test-files.ts';

export const ROOT = normalize(join(import.meta.dirname, '../..'));

/** What is not copied; the packages are linked. */
const LEFT = new Set(['node_modules', 'dist', '.git']);

export interface Tree {
  path: string;
  /** Runs a test file of this copy. */
  run(file: TestFile): Promise<Outcome>;
  /** Whether the compiler accepts this copy, as it must before any test is run. */
  isTyped(): Promise<boolean>;
}

export interface Trees {
  all: Tree[];
  /** A directory for the coverage of the tests. */
  scratch: string;
  remove(): void;
}

/** The variables that a test gets in addition to the environment of this process. */
export type EnvOf = (test: TestFile) => Record<string, string>;

export async function copyTrees(count: number, envOf: EnvOf, signal: AbortSignal): Promise<Trees> {
  const scratch = mkdtempSync(join(tmpdir(), 'snitch-mutants-'));
  const all: Tree[] = [];
  for (let index = 0; index < count; index += 1)
    all.push(await copyTree(join(scratch, `tree-${index}`), envOf, signal));
  return { all, scratch, remove: () => rmSync(scratch, { recursive: true, force: true }) };
}

async function copyTree(path: string, envOf: EnvOf, signal: AbortSignal): Promise<Tree> {
  mkdirSync(path);
  const names = readdirSync(ROOT).filter((name) => !LEFT.has(name));
  for (const name of names) cpSync(join(ROOT, name), join(path, name), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(path, 'node_modules'));
  // The runner of the copy runs the tests of the copy.
  const { runFile } = (await import(
    join(path, 'test/runner/run-file.ts')
  )) as typeof import('../runner/run-file.ts');
  return {
    path,
    run: (file) => runFile({ file, env: envOf(file), name: file.path }, 1, signal),
    isTyped: () => isTyped(path, signal),
  };
}

async function isTyped(path: string, signal: AbortSignal): Promise<boolean> {
  // What it knows of the other files is kept from one time to the next.
  const options = ['--noEmit', '-p', path, '--incremental', '--tsBuildInfoFile', `${path}.types`];
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
  const child = spawn(process.execPath, [compiler, ...options], { stdio: 'ignore', signal });
  // An abort is an error of the child as well.
  const [code] = await once(child, 'close').catch(() => [null]);
  return code === 0;
}
