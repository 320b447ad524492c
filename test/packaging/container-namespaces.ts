/** Runs a program as process 1 in a read-only root without a container engine: unshare, mount and chroot do the same. */
import { type ChildProcess, execFileSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { composeService } from './compose-service.ts';
import type { Engine, Run } from './container-engine.ts';

/** The same as ENV in the Containerfile, except the port, because all share one network. */
const ENVIRONMENT = {
  PATH: '/usr/bin',
  HOME: '/var/lib/snitch',
  SNITCH_DATA_DIR: '/var/lib/snitch',
  SNITCH_LISTEN: '0.0.0.0:0',
  container: 'oci',
};

function variables(given: Record<string, string> = {}): string[] {
  return Object.entries({ ...ENVIRONMENT, ...given }).map(([name, value]) => `${name}=${value}`);
}

/** Mounts each pair (source, place in the root) in a namespace that ends with the process, and executes the program. */
export const ENTER = `set -e
root=$1; shift
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
while [ "$1" != -- ]; do mount --bind "$1" "$root$2"; shift 2; done
shift
mount -o remount,bind,ro "$root"
exec "$@"`;

/** Unpacks the image's archive. */
export function namespaces(work: string, archive: string): Engine {
  const root = join(work, 'root');
  mkdirSync(root, { mode: 0o755 });
  execFileSync('tar', ['-xpf', archive, '-C', root]);
  execFileSync('mknod', ['-m', '666', join(root, 'dev/null'), 'c', '1', '3']);
  const { user } = composeService();
  return {
    name: 'unshare and chroot',
    env: process.env,
    // `env` searches for programs on the path that it has just set.
    command: (_name, run) => [
      ...['unshare', '--mount', '--pid', '--fork', '--kill-child', 'sh', '-c', ENTER, 'sh', root],
      ...[
        ...mountsOf(work, root, run),
        '--',
        'setpriv',
        '--no-new-privs',
        'env',
        '-i',
        ...variables(run.env),
      ],
      ...['/usr/sbin/chroot', `--userspec=${user}`, root, '/usr/bin/snitch', ...(run.args ?? ['serve'])],
    ],
    pidOf: (_name, child) => childOf(child),
    exec: (pid, _name, args) => {
      const [uid = '', gid = ''] = user.split(':');
      return [
        ...['env', '-i', ...variables({}), '/usr/bin/nsenter', '--target', String(pid), '--mount', '--pid'],
        ...['--root', '--setuid', uid, '--setgid', gid, '--', '/usr/bin/snitch', ...args],
      ];
    },
    addressOf: (_name, log) => {
      const line = log.find((one) => one.includes('"msg":"listening"')) ?? '{}';
      return (JSON.parse(line) as { url: string }).url;
    },
    paste: null,
    remove: () => undefined,
  };
}

/** A volume that is used for the first time gets owner and mode from its place in the image. */
function mountsOf(work: string, root: string, { volume, mounts = {} }: Run): string[] {
  const own = volume.startsWith('/') ? volume : named(work, root, volume, '/var/lib/snitch');
  const given = Object.entries(mounts).map(([target, source]) => {
    const from = source.startsWith('/') ? source : named(work, root, source, target);
    const place = join(root, target);
    mkdirSync(dirname(place), { recursive: true });
    if (existsSync(place)) return [from, target];
    if (statSync(from).isDirectory()) mkdirSync(place);
    else writeFileSync(place, '');
    return [from, target];
  });
  return [own, '/var/lib/snitch', ...given.flat()];
}

function named(work: string, root: string, name: string, target: string): string {
  const path = join(work, 'volumes', name);
  if (existsSync(path)) return path;
  mkdirSync(path, { recursive: true });
  const { uid, gid, mode } = statSync(join(root, target));
  chownSync(path, uid, gid);
  chmodSync(path, mode & 0o777);
  return path;
}

/** `unshare` waits for the first process of the namespace, which is its only child. */
function childOf({ pid }: ChildProcess): number | null {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return Number(children.split(' ')[0]) || null;
}
