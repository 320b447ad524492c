/** Whether this process is in a container, and what only matters there. */
const { existsSync, statSync } = process.getBuiltinModule('node:fs');

/** What podman and docker leave in every container. */
const MARKS = ['/run/.containerenv', '/.dockerenv'];

/** Process 1 is otherwise the system's own, which this program never is. */
export function isInContainer(env: NodeJS.ProcessEnv = process.env): boolean {
  if (process.pid === 1 || env.container || env.KUBERNETES_SERVICE_HOST) return true;
  return MARKS.some((path) => existsSync(path));
}

/** Whether a directory is part of the container itself, and so goes with it. @throws the error of the file system */
export function isInImage(path: string): boolean {
  return statSync(path).dev === statSync('/').dev;
}
