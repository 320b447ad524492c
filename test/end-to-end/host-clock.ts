/**
 * The built program on a host whose clock is ahead or runs fast: options of Node that load a few lines before the program,
 * which itself knows nothing of them. What the operating system times, such as connections, stays real.
 */

interface HostClock {
  /** How far it is ahead of the real clock at `since`, in milliseconds. */
  ahead?: number;
  /** How many seconds pass in a real one. */
  speed?: number;
  /** Milliseconds since the epoch, the same for all processes of one host. */
  since: number;
}

/** For `nodeOptions` of a process. */
export function hostClock({ ahead = 0, speed = 1, since }: HostClock): string[] {
  const code = `
    import timers from 'node:timers';
    import promises from 'node:timers/promises';
    import { syncBuiltinESMExports } from 'node:module';
    const [now, monotonic] = [Date.now, performance.now.bind(performance)];
    Date.now = () => Math.floor(${since + ahead} + (now() - ${since}) * ${speed});
    performance.now = () => monotonic() * ${speed};
    for (const name of ['setTimeout', 'setInterval']) {
      const real = timers[name];
      globalThis[name] = timers[name] = (act, time = 0, ...rest) => real(act, time / ${speed}, ...rest);
    }
    const sleep = promises.setTimeout;
    promises.setTimeout = (time = 0, ...rest) => sleep(time / ${speed}, ...rest);
    syncBuiltinESMExports();`;
  return ['--import', `data:text/javascript,${encodeURIComponent(code)}`];
}
