/** One server of PostgreSQL: its directory, its process, and the ways in which that starts and ends. */
import { type ChildProcess, execFileSync } from 'node:child_process';
import { appendFileSync, chownSync, closeSync, existsSync, openSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../../../until.ts';
import { clusterUser, startProgram } from './programs.ts';

export class PostgresServer {
  /** Of its data. */
  readonly directory: string;
  readonly port: number;
  readonly #log: string;
  #process: ChildProcess | null = null;

  constructor(directory: string, port: number) {
    this.directory = directory;
    this.port = port;
    this.#log = `${directory}.log`;
  }

  get pid(): number {
    if (this.#process?.pid === undefined) throw new Error('the server does not run');
    return this.#process.pid;
  }

  /** What the server has written to its log. */
  log(): string {
    return existsSync(this.#log) ? readFileSync(this.#log, 'utf8') : '';
  }

  /** Adds lines to `postgresql.conf`, or to another file of the directory; a later line wins there. */
  configure(lines: readonly string[], file = 'postgresql.conf'): void {
    appendFileSync(join(this.directory, file), `${lines.join('\n')}\n`);
  }

  /** Starts it, and waits until it takes connections; a standby only reads. */
  async start(): Promise<void> {
    const log = openSync(this.#log, 'a', 0o600);
    try {
      this.#process = startProgram('postgres', ['-D', this.directory], ['ignore', log, log]);
    } finally {
      closeSync(log);
    }
    const started = this.#process;
    await until(() => {
      if (started.exitCode !== null) throw new Error(`the server did not start:\n${this.log()}`);
      return this.#isReady();
    }, 'the server takes connections');
  }

  /** The eighth line of this file says how far the server named in the first line has come. */
  #isReady(): boolean {
    const lines = this.#pidFile();
    return lines[0] === String(this.#process?.pid) && /^(ready|standby)/.test(lines[7] ?? '');
  }

  #pidFile(): string[] {
    const file = join(this.directory, 'postmaster.pid');
    return existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
  }

  /** Ends it: in order with SIGINT, as after a crash with SIGQUIT. */
  async stop(signal: 'SIGINT' | 'SIGQUIT' = 'SIGINT'): Promise<void> {
    if (!this.#process) return;
    process.kill(this.pid, 'SIGCONT');
    process.kill(this.pid, signal);
    await this.#ended();
  }

  /** Like a power cut of its host: the server and all its processes end at once, without notifying clients. */
  async kill(): Promise<void> {
    const { pid } = this;
    // The server itself goes first, because it would end the others in order when one of them dies.
    const children = childrenOf(pid);
    for (const one of [pid, ...children]) endNow(one);
    await this.#ended();
    await until(() => children.every((one) => !isAlive(one)), 'all processes of the server are gone');
    freeMemory(this.#pidFile()[6]);
    rmSync(join(this.directory, 'postmaster.pid'), { force: true });
  }

  async #ended(): Promise<void> {
    const ended = this.#process;
    await until(
      () => ended === null || ended.exitCode !== null || ended.signalCode !== null,
      'the server ends',
    );
    this.#process = null;
  }

  /** This process may end before it. */
  unref(): void {
    this.#process?.unref();
  }

  get isRunning(): boolean {
    return this.#process !== null;
  }

  /** Sends a signal to each process of the server whose title has `words` in it, such as `walsender`. */
  signalProcesses(words: string, signal: NodeJS.Signals): void {
    const matching = childrenOf(this.pid).filter((pid) => titleOf(pid).includes(words));
    if (matching.length === 0) throw new Error(`the server has no process ${words}`);
    for (const pid of matching) process.kill(pid, signal);
  }

  /** Gives a file that a test wrote to the user of the server. */
  own(path: string): void {
    if (process.getuid?.() !== 0) return;
    const { uid, gid } = clusterUser();
    chownSync(path, uid, gid);
  }
}

function childrenOf(pid: number): number[] {
  try {
    const list = execFileSync('pgrep', ['-P', String(pid)], { encoding: 'utf8' });
    return list.trim().split('\n').map(Number);
  } catch {
    return [];
  }
}

function titleOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

function isAlive(pid: number): boolean {
  return titleOf(pid) !== '';
}

function endNow(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended already.
  }
}

/** A killed server leaves a small segment of shared memory behind, and a host has a limited number of those. */
function freeMemory(line: string | undefined): void {
  const id = line?.trim().split(/\s+/)[1];
  if (!id) return;
  try {
    execFileSync('ipcrm', ['-m', id], { stdio: 'ignore' });
  } catch {
    // It is gone already.
  }
}
