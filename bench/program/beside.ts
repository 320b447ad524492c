/** Builds an earlier commit in a work tree of its own, outside of this one. */
import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Workplace } from '../workplace.ts';

const ROOT = join(import.meta.dirname, '../..');

/** Where the bundle of this work tree is. */
export const BUNDLE = join(ROOT, 'dist/snitch.mjs');

/** @returns the path of its bundle @throws Error if there is no such commit, or it cannot be built */
export function buildCommit(workplace: Workplace, commit: string): string {
  const tree = join(workplace.directory, 'beside');
  git('worktree', 'add', '--detach', '--force', tree, commit);
  workplace.atEnd(() => git('worktree', 'remove', '--force', tree));
  installPackages(tree);
  execFileSync(process.execPath, ['build.mjs'], { cwd: tree, stdio: 'inherit' });
  return join(tree, 'dist/snitch.mjs');
}

/** If the packages are the same as here, they are copied from here. */
function installPackages(tree: string): void {
  const locked = (root: string) => readFileSync(join(root, 'package-lock.json'), 'utf8');
  if (locked(tree) === locked(ROOT)) {
    const options = { recursive: true, verbatimSymlinks: true };
    cpSync(join(ROOT, 'node_modules'), join(tree, 'node_modules'), options);
  } else {
    execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: tree, stdio: 'inherit' });
  }
}

/** The commit, such as `28c8689`, and whether files differ from it; null if this is not a git work tree. */
export function commitHere(ignoring: string): { commit: string; changed: boolean } | null {
  try {
    const commit = git('rev-parse', '--short', 'HEAD').trim();
    const changes = git('status', '--porcelain', '--', '.', `:!${ignoring}`);
    return { commit, changed: changes !== '' };
  } catch {
    return null;
  }
}

/** @throws Error if there is no such commit */
export function nameOf(commit: string): string {
  try {
    return git('rev-parse', '--short', '--verify', `${commit}^{commit}`).trim();
  } catch (error) {
    throw new Error(`there is no commit ${commit}`, { cause: error });
  }
}

function git(...args: string[]): string {
  return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}
