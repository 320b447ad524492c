/** Whether this process is in a container, and what only matters there. */
const { readFileSync, realpathSync } = process.getBuiltinModule('node:fs');

/**
 * Outside containers process 1 is the system's init, never this program. The variable is set by the image and by
 * podman, for commands that run next to the daemon. The marker files of container engines prove nothing: virtual
 * machines made from images have them too.
 */
export function isInContainer(env: NodeJS.ProcessEnv = process.env): boolean {
  return process.pid === 1 || Boolean(env.container);
}

/**
 * Whether a directory is part of the container itself, and so lost with it: nothing is mounted there or above it.
 *
 * @throws the error of the file system
 */
export function isInImage(path: string): boolean {
  return !isMounted(realpathSync(path), readFileSync('/proc/self/mountinfo', 'utf8'));
}

/** @param mounts proc_pid_mountinfo(5): the fifth field of a line is the place, with spaces written as `\\040` */
export function isMounted(path: string, mounts: string): boolean {
  const places = mounts.split('\n').map((line) => unescaped(line.split(' ')[4] ?? '/'));
  return places.some((place) => place !== '/' && (path === place || path.startsWith(`${place}/`)));
}

function unescaped(place: string): string {
  return place.replace(/\\([0-7]{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8)));
}
