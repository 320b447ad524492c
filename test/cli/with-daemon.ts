/** Commands against a daemon of their own. */
import { removeDataDir } from '../data-directory.ts';
import { type DaemonProcess, startProcess } from '../end-to-end/daemon-process.ts';
import { type Ended, runSnitch } from './snitch-process.ts';

export interface Commands {
  daemon: DaemonProcess;
  /** Runs a command on the daemon's host, without a terminal. */
  run(...args: string[]): Promise<Ended>;
  /** The same, where it must succeed: what it printed as JSON. */
  json<T = Record<string, unknown>>(...args: string[]): Promise<T>;
  env: NodeJS.ProcessEnv;
  end(): Promise<void>;
}

export async function withDaemon(env: Record<string, string> = {}): Promise<Commands> {
  const daemon = await startProcess({ env });
  const own = { SNITCH_DATA_DIR: daemon.dataDir, TZ: 'UTC', ...env };
  const run = (...args: string[]) => runSnitch(args, own);
  return {
    daemon,
    run,
    env: own,
    json: async <T>(...args: string[]) => {
      const { code, stdout, stderr } = await run(...args, '--json');
      if (code !== 0) throw new Error(`snitch ${args.join(' ')} ended with ${code}: ${stderr}`);
      return JSON.parse(stdout) as T;
    },
    end: async () => {
      await daemon.end();
      removeDataDir(daemon.dataDir);
    },
  };
}
