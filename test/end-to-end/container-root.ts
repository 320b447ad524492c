/** The root of the container image, as the user and with the mounts that the daemon has in a container. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildRootfs, DATA_DIR, USER } from '../../packaging/container/build-rootfs.ts';
import { ENTER } from '../packaging/container-namespaces.ts';
import type { DaemonOptions } from './daemon-process.ts';

export interface ContainerRoot {
  path: string;
  /** How the daemon is started in it: only the directory of its data can be written. */
  options: DaemonOptions;
  remove(): void;
}

/** Only root can make one. */
export function makeContainerRoot(): ContainerRoot {
  const work = mkdtempSync(join(tmpdir(), 'snitch-container-root-'));
  const path = join(work, 'root');
  const dataDir = join(path, DATA_DIR);
  mkdirSync(path);
  execFileSync('tar', ['-xpf', buildRootfs(work), '-C', path]);
  // The number of the process stays that of the host, by which the test ends it.
  const enter = ['unshare', '--mount', 'sh', '-c', ENTER, 'sh', path, dataDir, DATA_DIR, '--'];
  const program = [...enter, 'setpriv', '--no-new-privs', 'chroot', `--userspec=${USER}:${USER}`, path];
  return {
    path,
    options: { root: path, dataDir, program: [...program, '/usr/bin/snitch'] },
    remove: () => rmSync(work, { recursive: true, force: true }),
  };
}
