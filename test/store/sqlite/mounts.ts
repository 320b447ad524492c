/** Separate file systems for tests of full and read-only disks; only root can mount. */
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { temporaryDirectory } from '../fixture.ts';

export interface Mount {
  path: string;
  /** Mounts it again with other options: `ro`, `size=20m`. */
  remount(options: string): void;
  remove(): void;
}

/** A file system in memory, or null if this process is not allowed to mount. */
export function mountTmpfs(options: string): Mount | null {
  const path = temporaryDirectory();
  if (!run('mount', '-t', 'tmpfs', '-o', options, 'tmpfs', path)) {
    rmSync(path, { recursive: true });
    return null;
  }
  return {
    path,
    remount: (changed) => {
      if (!run('mount', '-o', `remount,${changed}`, path)) throw new Error(`cannot remount ${path}`);
    },
    remove: () => {
      if (!run('umount', path)) run('umount', '-l', path);
      rmSync(path, { recursive: true, force: true });
    },
  };
}

/** Why tests of disks that are mounted cannot run here, or null. */
export function withoutMounts(): string | null {
  const mount = mountTmpfs('size=1m');
  mount?.remove();
  return mount ? null : 'this process may not mount';
}

function run(command: string, ...options: string[]): boolean {
  return spawnSync(command, options, { stdio: 'ignore' }).status === 0;
}
