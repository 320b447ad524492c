/** The job of `snitch exec` as a process: started, signalled, ended when its time is over. */
import type { ChildProcess, StdioOptions } from 'node:child_process';
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
  /** What `snitch exec` exits with: as a shell would, 128 + signal, 126 or 127 included. */
  code: number;
  signal: NodeJS.Signals | null;
  /** The time given with `--timeout` was over before the job was. */
  timedOut: boolean;
  /** Why the command could not be started, in words. */
  failure: string | null;
}

export interface Job {
  ended: Promise<JobEnd>;
  /** Null where nothing could be started. */
  child: ChildProcess | null;
}

export const FORWARDED = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const;

/** Keys of a terminal send these to the whole foreground group, the job included. */
const TYPED: readonly NodeJS.Signals[] = ['SIGINT', 'SIGQUIT'];

/**
 * Starts the job and passes on the signals that arrive as long as it runs.
 *
 * @param onLateSignal is called for those that arrive after its end
 */
export function startJob(
  command: readonly string[],
  { stdio, env }: JobSetting,
  limits: JobLimits,
  onLateSignal: () => void,
): Job {
  const [file = '', ...args] = command;
  // A session of its own makes a group that can be ended as a whole. It would cost the job its terminal, where there
  // is one, and separate it from the signals to our group; so it gets one only where it is needed.
  const detached = limits.timeoutMs !== null && !terminalOf().controls;
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
    const ended = endOf(child, limits, detached).finally(() => {
      running = null;
    });
    return { ended, child };
  } catch (error) {
    // Arguments that no process can be given, such as those with a NUL, are refused before anything is tried.
    return { ended: Promise.resolve(notStarted(error as NodeJS.ErrnoException)), child: null };
  }
}

function endOf(child: ChildProcess, limits: JobLimits, group: boolean): Promise<JobEnd> {
  const limit = limitTime(child, limits, group);
  return new Promise((resolve) => {
    // A signal that cannot be delivered is an error of the child too; only one before the start is its end.
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

function limitTime(child: ChildProcess, { timeoutMs, killAfterMs }: JobLimits, group: boolean) {
  let reached = false;
  const timers: NodeJS.Timeout[] = [];
  if (timeoutMs !== null) {
    const end = () => {
      reached = true;
      kill(child, 'SIGTERM', group);
      timers.push(setTimeout(() => kill(child, 'SIGKILL', group), killAfterMs));
    };
    timers.push(setTimeout(end, timeoutMs));
  }
  return {
    reached: () => reached,
    clear: () => {
      for (const timer of timers) clearTimeout(timer);
    },
  };
}

function kill(child: ChildProcess, signal: NodeJS.Signals, group: boolean): void {
  if (child.pid === undefined) return;
  try {
    if (group) process.kill(-child.pid, signal);
    else child.kill(signal);
  } catch {
    // It has ended in this moment; its exit is about to be told.
  }
}

/** The codes of a shell: 127 for a command that is not there, 126 for one that cannot be run. */
function notStarted(error: NodeJS.ErrnoException): JobEnd {
  const missing = error.code === 'ENOENT';
  const reasons: Record<string, string> = {
    ENOENT: 'command not found',
    EACCES: 'permission denied',
    E2BIG: 'too many arguments',
  };
  const failure = reasons[error.code ?? ''] ?? error.code ?? 'not a command';
  return { code: missing ? 127 : 126, signal: null, timedOut: false, failure };
}
