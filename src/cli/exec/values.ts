/** `snitch exec --value NAME=COMMAND`: commands that run after the job and print a number that is reported. */
import type { ChildProcess } from 'node:child_process';
import { isValueName, MOST_VALUES, numberIn, VALUE_NAME_RULE } from '../../core/judgement/values.ts';
import { durationInWords } from '../../text/durations.ts';
import { UsageError } from '../failure/failure.ts';
import { tell } from './tell.ts';

export interface ValueCommand {
  name: string;
  /** For the shell. */
  command: string;
}

export interface Measured {
  /** Numbers as texts, by name. */
  values: Record<string, string>;
  /** What could not be measured, in words. */
  problems: string[];
}

export interface Measuring {
  commands: readonly ValueCommand[];
  env: NodeJS.ProcessEnv;
  /** Milliseconds for all of them together; they run at the same time. */
  limitMs: number;
  /** Ends them before their time. */
  signal: AbortSignal;
}

/** How much of a command's output is read, in characters: far more than a number has. */
const MOST_READ = 4_000;
/** Milliseconds to wait for the output after a command's end, if a process that it left behind holds the pipe. */
const PRINTED_WITHIN = 250;

/** @throws UsageError for anything that is not a name and a command: this is reported before the job runs */
export function valueCommandsOf(given: readonly string[]): ValueCommand[] {
  const commands = given.map((text) => {
    const equals = text.indexOf('=');
    const [name, command] = [text.slice(0, Math.max(0, equals)).trim(), text.slice(equals + 1).trim()];
    if (equals < 0 || command === '') {
      throw new UsageError(`--value "${text}": write NAME=COMMAND, such as bytes='du -sb /backup | cut -f1'`);
    }
    if (!isValueName(name)) throw new UsageError(`--value "${text}": ${VALUE_NAME_RULE}`);
    return { name, command };
  });
  const names = new Set(commands.map(({ name }) => name));
  if (names.size < commands.length) throw new UsageError('--value has the same name twice');
  if (names.size > MOST_VALUES) throw new UsageError(`--value is given more than ${MOST_VALUES} times`);
  return commands;
}

/** Never fails, and takes no longer than the limit: trouble with a value must not affect the job's own result. */
export async function measure({ commands, env, limitMs, signal }: Measuring): Promise<Measured> {
  const measured: Measured = { values: {}, problems: [] };
  const limit = AbortSignal.any([signal, AbortSignal.timeout(limitMs)]);
  const outcomes = await Promise.all(commands.map((one) => runOne(one, env, limit)));
  for (const [index, { number, problem, errors }] of outcomes.entries()) {
    const { name } = commands[index] ?? { name: '' };
    for (const line of errors) tell(`--value ${name}: ${line}`);
    if (number !== null) {
      measured.values[name] = number;
      continue;
    }
    const inTime = signal.aborted || !limit.aborted;
    const words =
      problem ?? (inTime ? 'was ended' : `took longer than ${durationInWords(limitMs)}, and was ended`);
    measured.problems.push(`no ${name}: its command ${words}`);
  }
  for (const problem of measured.problems) tell(problem);
  return measured;
}

interface Outcome {
  number: string | null;
  /** Null if it was ended from outside. */
  problem: string | null;
  /** What it said on stderr, line by line. */
  errors: string[];
}

function runOne({ command }: ValueCommand, env: NodeJS.ProcessEnv, limit: AbortSignal): Promise<Outcome> {
  const nothing = { number: null, errors: [] };
  if (limit.aborted) return Promise.resolve({ ...nothing, problem: null });
  try {
    const { spawn } = process.getBuiltinModule('node:child_process');
    // A group of its own, so that all that the command starts can be ended.
    const child = spawn('/bin/sh', ['-c', command], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env,
      detached: true,
    });
    return outcomeOf(child, limit);
  } catch (error) {
    return Promise.resolve({ ...nothing, problem: `cannot be run: ${(error as Error).message}` });
  }
}

function outcomeOf(child: ChildProcess, limit: AbortSignal): Promise<Outcome> {
  const printed = { out: '', err: '' };
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    if (printed.out.length <= MOST_READ) printed.out += text.slice(0, MOST_READ);
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    printed.err = (printed.err + text).slice(-MOST_READ);
  });
  return new Promise((resolve) => {
    const finish = (problem: string | null, isRight = false) => {
      limit.removeEventListener('abort', stop);
      // A process that still holds the pipes must not keep this one waiting.
      child.stdout?.destroy();
      child.stderr?.destroy();
      child.unref();
      const errors = printed.err.split('\n').filter((line) => line.trim() !== '');
      const number = isRight ? numberIn(printed.out) : null;
      const words = isRight && number === null ? notANumber(printed.out) : problem;
      resolve({
        number: number === null ? null : printed.out.trim(),
        problem: words,
        errors: errors.slice(-5),
      });
    };
    const stop = () => {
      killGroup(child);
      finish(null);
    };
    limit.addEventListener('abort', stop, { once: true });
    child.once('error', (error) => finish(`cannot be run: ${error.message}`));
    child.once('exit', (code, signal) => {
      const late = setTimeout(() => ended(), PRINTED_WITHIN);
      const ended = () => {
        clearTimeout(late);
        if (code === 0) finish(null, true);
        else finish(signal === null ? `failed with exit status ${code}` : `was killed by ${signal}`);
      };
      child.once('close', ended);
    });
  });
}

function notANumber(printed: string): string {
  const text = printed.trim();
  if (text === '') return 'printed nothing';
  return `printed "${[...text].slice(0, 40).join('')}", which is not a number`;
}

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended just now.
  }
}
