/** `snitch exec` and `snitch spool` as processes in a new directory, and what the server has recorded. */
import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Test } from 'uvu';
import type { WireCheckIn, WireSnitch } from '../../../src/api/wire.ts';
import { compileCache } from '../../compile-cache.ts';
import { removeDataDir } from '../../data-directory.ts';
import { type DaemonProcess, startProcess } from '../../end-to-end/daemon-process.ts';
import { until } from '../../until.ts';
import { temporaryDirectory } from '../snitch-process.ts';

export const SNITCH = fileURLToPath(new URL('../../../bin/snitch', import.meta.url));

export interface Result {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

export interface StartOptions {
  stdio?: StdioOptions;
  input?: string;
  env?: NodeJS.ProcessEnv;
}

/** A running `snitch`. */
export class Running {
  readonly child: ChildProcess;
  readonly pid: number;
  stdout = '';
  stderr = '';
  readonly #closed: Promise<unknown[]>;

  constructor(child: ChildProcess) {
    this.child = child;
    this.pid = child.pid!;
    child.stdout?.setEncoding('utf8').on('data', (text) => {
      this.stdout += text;
    });
    child.stderr?.setEncoding('utf8').on('data', (text) => {
      this.stderr += text;
    });
    this.#closed = once(child, 'close');
  }

  async ended(): Promise<Result> {
    const [code, signal] = (await this.#closed) as [number | null, NodeJS.Signals | null];
    return { code, signal, stdout: this.stdout, stderr: this.stderr };
  }

  /** Until the job has printed this. */
  async printed(text: string): Promise<void> {
    await until(() => this.stdout.includes(text) || this.child.exitCode !== null);
    if (!this.stdout.includes(text)) throw new Error(`ended without "${text}": ${this.stdout}${this.stderr}`);
  }
}

/** Where jobs run: a home, a spool, and the address of a server. */
export class Host {
  url: string;
  readonly spool: string;
  readonly #directory = temporaryDirectory();
  readonly #running = new Set<ChildProcess>();

  constructor(url = 'http://127.0.0.1:1') {
    this.url = url;
    this.spool = join(this.#directory.path, 'spool');
    mkdirSync(join(this.#directory.path, 'tmp'));
  }

  get path(): string {
    return this.#directory.path;
  }

  /** In a new session, so that the terminal in which the tests run is not involved. */
  start(args: readonly string[], { stdio = 'pipe', input, env = {} }: StartOptions = {}): Running {
    const child = spawn(SNITCH, args, {
      env: {
        PATH: process.env.PATH,
        HOME: this.path,
        TMPDIR: join(this.path, 'tmp'),
        SNITCH_URL: this.url,
        SNITCH_SPOOL_DIR: this.spool,
        ...compileCache(),
        ...env,
      },
      stdio,
      detached: true,
    });
    this.#running.add(child);
    child.stdin?.on('error', () => {}).end(input ?? '');
    return new Running(child);
  }

  run(args: readonly string[], options: StartOptions = {}): Promise<Result> {
    return this.start(args, options).ended();
  }

  exec(token: string, command: string, options: StartOptions = {}): Promise<Result> {
    return this.run(['exec', token, '--', 'sh', '-c', command], options);
  }

  /** The names of the files in the spool. */
  kept(): string[] {
    try {
      return readdirSync(this.spool).sort();
    } catch {
      return [];
    }
  }

  remove(): void {
    for (const { pid, exitCode, signalCode } of this.#running) {
      if (pid === undefined || exitCode !== null || signalCode !== null) continue;
      try {
        process.kill(-pid, 'SIGKILL');
      } catch {
        // It has just ended.
      }
    }
    this.#directory.remove();
  }
}

/** A daemon for a suite, and a host with a snitch for each of its tests. */
export interface Jobs {
  daemon: DaemonProcess;
  host: Host;
  token: string;
}

export function withJobs<T extends Jobs>(test: Test<T>): void {
  test.before(async (context) => {
    context.daemon = await startProcess();
  });
  test.after(async ({ daemon }) => {
    await daemon.end();
    removeDataDir(daemon.dataDir);
  });
  test.before.each(async (context) => {
    context.host = new Host(context.daemon.url);
    context.token = await newSnitch(context.daemon);
  });
  test.after.each(({ host }) => host.remove());
}

export async function newSnitch(daemon: DaemonProcess, interval = 'daily'): Promise<string> {
  const answer = await daemon.call('POST', '/v1/snitches', { name: 'a job', interval });
  return ((await answer.json()) as WireSnitch).token;
}

/** The check-ins of a snitch, in the order of their times. */
export async function checkIns(daemon: DaemonProcess, token: string): Promise<WireCheckIn[]> {
  const answer = await daemon.call('GET', `/v1/snitches/${token}/check_ins`);
  const found = (await answer.json()) as WireCheckIn[];
  return found.reverse().sort((one, other) => Date.parse(one.at) - Date.parse(other.at));
}

/** The check-ins without their times. */
export async function outcomes(
  daemon: DaemonProcess,
  token: string,
): Promise<[outcome: string, exitStatus: number | null, message: string | null][]> {
  const found = await checkIns(daemon, token);
  return found.map(({ outcome, exit_status, message }) => [outcome, exit_status, message]);
}

export function startOn(port: number, dataDir: string): Promise<DaemonProcess> {
  return startProcess({ dataDir, env: { SNITCH_LISTEN: `127.0.0.1:${port}` } });
}
