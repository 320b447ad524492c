/** Has another process check the database, and reads what it found. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { CheckLine } from './check-file.ts';

/** The most of the process's error output that goes into a line of the log, in characters. */
const LONGEST_COMPLAINT = 500;

/** The parts of the environment that the process needs: where SQLite's addon can be put, and nothing secret. */
const PASSED_ON = ['PATH', 'TMPDIR', 'HOME', 'RUNTIME_DIRECTORY', 'STATE_DIRECTORY', 'XDG_RUNTIME_DIR'];

export type CheckOutcome =
  | { kind: 'well'; durationMs: number }
  | { kind: 'damaged'; details: string }
  /** Nothing is known: the process could not be started, or ended too early. */
  | { kind: 'undone'; reason: string };

/** How many tables were checked, of how many. */
export interface CheckProgress {
  done: number;
  of: number;
}

export class BackgroundCheck {
  readonly #child: ChildProcess;
  readonly #began = performance.now();
  readonly #finish: (outcome: CheckOutcome) => void;
  readonly #kill = (): void => void this.#child.kill('SIGKILL');
  #progress: CheckProgress | null = { done: 0, of: 0 };
  #complaint = '';

  /**
   * @param command that checks the file named after it, as `checkFile` does
   * @param path of the database
   * @param finish called once with what was found, and never after `stop`
   * @throws Error if the system refuses another process at once
   */
  constructor(command: readonly string[], path: string, finish: (outcome: CheckOutcome) => void) {
    this.#finish = finish;
    const [program = '', ...values] = command;
    // When its input ends, the process knows that nobody waits for it any more.
    this.#child = spawn(program, [...values, path], { stdio: 'pipe', env: environment() });
    // It is killed with the daemon, and a line that ends too early means nothing.
    process.once('exit', this.#kill);
    for (const stream of this.#child.stdio) stream?.on('error', () => {});
    this.#child.stderr?.on('data', (data: Buffer) => {
      this.#complaint = `${this.#complaint}${data}`.slice(0, LONGEST_COMPLAINT);
    });
    if (this.#child.stdout)
      createInterface({ input: this.#child.stdout }).on('line', (line) => this.#hear(line));
    this.#child.once('error', ({ message }) => this.#end({ kind: 'undone', reason: message }));
    this.#child.once('close', (code, signal) => {
      // A service manager or a terminal sends this to all processes of a service, including the daemon.
      if (signal === 'SIGTERM' || signal === 'SIGINT') this.stop();
      this.#end({ kind: 'undone', reason: this.#reason(code, signal) });
    });
  }

  /** Null when it is over. */
  get progress(): CheckProgress | null {
    return this.#progress;
  }

  /** Ends it at once, wherever it is. */
  stop(): void {
    this.#progress = null;
    this.#kill();
    process.off('exit', this.#kill);
  }

  #hear(line: string): void {
    let said: CheckLine;
    try {
      said = JSON.parse(line) as CheckLine;
    } catch {
      return;
    }
    if ('damage' in said) this.#end({ kind: 'damaged', details: said.damage });
    else if ('well' in said)
      this.#end({ kind: 'well', durationMs: Math.round(performance.now() - this.#began) });
    else if (this.#progress) this.#progress = said;
  }

  #end(outcome: CheckOutcome): void {
    if (this.#progress === null) return;
    this.#progress = null;
    process.off('exit', this.#kill);
    this.#finish(outcome);
  }

  #reason(code: number | null, signal: NodeJS.Signals | null): string {
    const end = signal ? `it was ended by ${signal}` : `it ended with ${code}`;
    return [end, this.#complaint.trim()].filter((part) => part !== '').join(': ');
  }
}

function environment(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    PASSED_ON.flatMap((name) => (name in process.env ? [[name, process.env[name]]] : [])),
  );
}
