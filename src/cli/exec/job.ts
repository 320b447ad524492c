/** The job of `snitch exec` as a process: starts it, passes on signals, and ends it when its time is over. */
import type { ChildProcess, StdioOptions } from 'node:child_process';
import { delay } from '../../system/delay.ts';
import { isAlive } from '../../system/process-alive.ts';
import { whyNotStarted } from './not-started.ts';
import { terminalOf } from './terminal.ts';

export interface JobLimits {
  /** Milliseconds after which the job is ended; null for never. */
  timeoutMs: number | null;
  /** Milliseconds between SIGTERM and SIGKILL. */
  killAfterMs: number;
}

export interface JobSetting {
  stdio: StdioOptions;
  env: NodeJS.ProcessEnv;
}

export interface JobEnd {
  /** What `snitch exec` exits with. Like a shell it uses 128 + signal, 126 and 127. */
  code: number;
  signal: NodeJS.Signals | null;
  /** Whether the time given with `--timeout` was over before the job was. */
  timedOut: boolean;
  /** Why the command could not be started, in words. */
  failure: string | null;
}

export interface Job {
  ended: Promise<JobEnd>;
  /** Resolves once nothing is left of a job whose time was over; for any other, when it has ended. */
  gone: Promise<void>;
  /** Null if nothing could be started. */
  child: ChildProcess | null;
}

export const FORWARDED = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const;

/** Keys pressed at a terminal send these to the whole foreground group, which includes the job. */
const TYPED: readonly NodeJS.Signals[] = ['SIGINT', 'SIGQUIT'];

/**
 * Starts the job and passes on the signals that arrive while it runs.
 *
 * @param onLateSignal is called for signals that arrive after its end
 */
export function startJob(
  command: readonly string[],
  { stdio, env }: JobSetting,
  limits: JobLimits,
  onLateSignal: () => void,
): Job {
  const [file = '', ...args] = command;
  // A session of its own puts the job into a group that can be ended as a whole. But it takes away the terminal, and
  // the signals to our group, so the job gets a session only if it needs one.
  const detached = limits.timeoutMs !== null && !terminalOf().controls;
  const notStarted = (error: NodeJS.ErrnoException): JobEnd => ({
    ...whyNotStarted(error, file, env.PATH ?? ''),
    signal: null,
    timedOut: false,
  });
  let running: ChildProcess | null = null;
  for (const signal of FORWARDED) {
    process.on(signal, () => {
      if (running === null) onLateSignal();
      else if (!(TYPED.includes(signal) && !detached && terminalOf().foreground)) running.kill(signal);
    });
  }
  try {
    const child = process.getBuiltinModule('node:child_process').spawn(file, args, { stdio, env, detached });
    running = child;
    const limit = limitTime(child, limits, detached);
    const ended = endOf(child, limit, notStarted).finally(() => {
      running = null;
    });
    return { ended, gone: ended.then(() => limit.gone()), child };
  } catch (error) {
    // Arguments that no process can have, such as those with a NUL, are refused before anything is started.
    const ended = Promise.resolve(notStarted(error as NodeJS.ErrnoException));
    return { ended, gone: Promise.resolve(), child: null };
  }
}

function endOf(
  child: ChildProcess,
  limit: TimeLimit,
  notStarted: (error: NodeJS.ErrnoException) => JobEnd,
): Promise<JobEnd> {
  return new Promise((resolve) => {
    // A signal that cannot be delivered is an error of the child too. Only an error before the start is its end.
    child.on('error', (error) => {
      if (child.pid !== undefined) return;
      limit.clear();
      resolve(notStarted(error));
    });
    child.once('exit', (code, signal) => {
      limit.clear();
      const number = signal === null ? 0 : process.getBuiltinModule('node:os').constants.signals[signal];
      resolve({ code: code ?? 128 + number, signal, timedOut: limit.reached(), failure: null });
    });
  });
}

interface TimeLimit {
  reached(): boolean;
  /** For when the job itself has ended. */
  clear(): void;
  /** Waits for what the job started, and kills it when that takes too long. */
  gone(): Promise<void>;
}

/** How often to look whether something is left, in milliseconds. */
const LOOK_EVERY = 50;

function limitTime(child: ChildProcess, { timeoutMs, killAfterMs }: JobLimits, group: boolean): TimeLimit {
  let killAt: number | null = null;
  const timers: NodeJS.Timeout[] = [];
  if (timeoutMs !== null) {
    const end = () => {
      killAt = performance.now() + killAfterMs;
      kill(child, 'SIGTERM', group);
      timers.push(setTimeout(() => kill(child, 'SIGKILL', group), killAfterMs));
    };
    timers.push(setTimeout(end, timeoutMs));
  }
  return {
    reached: () => killAt !== null,
    clear: () => {
      for (const timer of timers) clearTimeout(timer);
    },
    gone: async () => {
      if (killAt === null || !group) return;
      while (isLeft(child)) {
        if (performance.now() >= killAt) return kill(child, 'SIGKILL', group);
        await delay(LOOK_EVERY);
      }
    },
  };
}

/** Whether the group of the job still has a process. While it has one, no other group can get its number. */
function isLeft({ pid }: ChildProcess): boolean {
  return pid !== undefined && isAlive(-pid);
}

function kill(child: ChildProcess, signal: NodeJS.Signals, group: boolean): void {
  if (child.pid === undefined) return;
  try {
    if (group) process.kill(-child.pid, signal);
    else child.kill(signal);
  } catch {
    // It has ended just now, and its `exit` event is about to come.
  }
}
