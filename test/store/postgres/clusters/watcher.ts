/** Ends what a test has started, even if the test was killed with SIGKILL and could not do so. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Socket } from 'node:net';

/**
 * Reads until the other end of its pipe is gone, which the kernel sees to however that process ended. Then it ends all
 * servers below the directory and removes it. A server that does not stop when it is told to at once is killed.
 */
const SCRIPT = `
cat >/dev/null
for file in "$1"/*/postmaster.pid; do
  [ -f "$file" ] || continue
  pid=$(head -n 1 "$file")
  kill -CONT "$pid" 2>/dev/null
  kill -QUIT "$pid" 2>/dev/null || continue
  for turn in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.1
  done
  kill -KILL "$pid" 2>/dev/null
done
rm -rf -- "$1"
`;

export interface Watcher {
  /** Ends and removes what is left, and waits for that. */
  finish(): Promise<void>;
  /** This process may end before. */
  unref(): void;
}

/** Watches over the clusters below `directory` until this process ends or `finish` is called. */
export function watchOver(directory: string): Watcher {
  const watcher: ChildProcess = spawn('/bin/sh', ['-c', SCRIPT, 'watcher', directory], {
    // The runner kills the group of a test file that hangs: the watcher must outlive that.
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const ended = once(watcher, 'exit');
  watcher.stdin?.on('error', () => undefined);
  return {
    finish: async () => {
      watcher.stdin?.end();
      await ended;
    },
    unref: () => {
      watcher.unref();
      // A pipe to a child can be told the same, which its type does not say.
      if (watcher.stdin instanceof Socket) watcher.stdin.unref();
    },
  };
}
