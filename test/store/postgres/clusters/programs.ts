/** Where Debian puts PostgreSQL, and who may run it: initdb refuses root. */
import { execFileSync, type SpawnOptions, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The newest that is installed, or null. The versions that Snitch works with begin at 15. */
const BIN = [18, 17, 16, 15]
  .map((version) => `/usr/lib/postgresql/${version}/bin`)
  .find((directory) => existsSync(join(directory, 'initdb')));

/** Why tests with a cluster cannot run here, or null. */
export const WITHOUT_POSTGRES = BIN === undefined ? 'postgresql is not installed' : null;

export function programPath(name: string): string {
  return join(BIN ?? '/usr/lib/postgresql', name);
}

interface User {
  uid: number;
  gid: number;
}

/** The user that the clusters belong to: the one of this process, unless it is root. */
export function clusterUser(): User {
  const own = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  if (own.uid !== 0) return own;
  const accounts = readFileSync('/etc/passwd', 'utf8').split('\n');
  for (const name of ['postgres', 'nobody']) {
    const [, , uid, gid] = accounts.find((line) => line.startsWith(`${name}:`))?.split(':') ?? [];
    if (uid && gid) return { uid: Number(uid), gid: Number(gid) };
  }
  throw new Error('there is no user postgres and no user nobody to run a cluster as');
}

/** Nothing of the environment of the tests: a PGPORT or a locale would change what the programs do. */
export function asClusterUser(): { uid?: number; gid?: number; cwd: string; env: NodeJS.ProcessEnv } {
  const env = { PATH: '/usr/bin:/bin', LC_ALL: 'C.UTF-8', TZ: 'UTC' };
  return process.getuid?.() === 0 ? { ...clusterUser(), cwd: '/', env } : { cwd: '/', env };
}

/** Runs one of the programs to its end. */
export function runProgram(name: string, args: readonly string[]): string {
  return execFileSync(programPath(name), args, {
    ...asClusterUser(),
    encoding: 'utf8',
    timeout: 60_000,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Starts a program and leaves it running, in its own process group. */
export function startProgram(name: string, args: readonly string[], stdio: SpawnOptions['stdio']) {
  return spawn(programPath(name), args, { ...asClusterUser(), detached: true, stdio });
}
