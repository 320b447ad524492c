/** Runs one test file in a process of its own, and ends that process whatever it does. */
import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TEST, type TestFile } from './test-files.ts';

/** A file, and how it is run. */
export interface Run {
  file: TestFile;
  /** What its process is told beside the environment of the runner. */
  env: Record<string, string>;
  /** What its results are called. */
  name: string;
}

export interface Outcome {
  /** What was run: a file below `test/`, and perhaps how. */
  path: string;
  total: number;
  passed: number;
  skipped: number;
  /** Why tests were skipped, as they said it. */
  reasons: string[];
  /** What they said of this run in lines that begin with `NOTE: `, such as which of two ways they took. */
  notes: string[];
  /** What is wrong with the file besides failed tests, in words, or null. */
  problem: string | null;
  output: string;
  seconds: number;
}

/** How long a process may go on after its last test, in milliseconds. */
const LINGERS = 15_000;

/** More is cut from the front: what a file that runs wild prints must not fill the memory. */
const MOST_OUTPUT = 4 << 20;

/**
 * The test files, and whatever Node they start, share what V8 has compiled. Hundreds of processes would otherwise each
 * strip the types from the same modules and compile them again, which was a third of the time of a run.
 */
const ENVIRONMENT = {
  ...process.env,
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(tmpdir(), 'node-compile-cache'),
};

/** @param patience multiplies the file's limit, for machines that are slower than most */
export function runFile({ file, env, name }: Run, patience: number, signal: AbortSignal): Promise<Outcome> {
  const started = performance.now();
  const loader = file.path.endsWith('.tsx') ? ['--import', 'tsx'] : [];
  const child = spawn(
    process.execPath,
    [...loader, join(import.meta.dirname, 'child.ts'), join(TEST, file.path)],
    // A group of its own, so that what the tests have started ends with it.
    { stdio: ['ignore', 'pipe', 'pipe'], detached: true, env: { ...ENVIRONMENT, ...env } },
  );
  let output = '';
  let problem: string | null = null;
  const end = (reason: string) => {
    problem ??= reason;
    killGroup(child.pid);
  };
  const limit = file.limitS * patience;
  const timer = setTimeout(() => end(`killed: it was not done after ${limit} s`), limit * 1_000);
  let lingering: NodeJS.Timeout | undefined;
  const read = (chunk: string) => {
    output = (output + chunk).slice(-MOST_OUTPUT);
    if (lingering || !/^ {2}Duration: /m.test(output.slice(-4_000))) return;
    lingering = setTimeout(() => end('killed: its tests were done, and something still ran'), LINGERS);
  };
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', read);
  const abort = () => end('interrupted');
  signal.addEventListener('abort', abort);
  return new Promise((resolve) => {
    child.on('error', (error) => end(error.message));
    child.on('close', (code, killedBy) => {
      clearTimeout(timer);
      clearTimeout(lingering);
      signal.removeEventListener('abort', abort);
      killGroup(child.pid);
      const seconds = (performance.now() - started) / 1_000;
      resolve(outcomeOf({ path: name, output, problem, code, killedBy, seconds }));
    });
  });
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // All of the group have ended already.
  }
}

interface Ended {
  path: string;
  output: string;
  problem: string | null;
  code: number | null;
  killedBy: NodeJS.Signals | null;
  seconds: number;
}

/** A file that ended without totals counts as one failed test, so that it cannot be overlooked. */
function outcomeOf({ path, output, problem, code, killedBy, seconds }: Ended): Outcome {
  const number = (name: string /** the last one: tests may print totals of their own */) =>
    Number([...output.matchAll(new RegExp(`^ {2}${name}: +(\\d+)`, 'gm'))].at(-1)?.[1] ?? Number.NaN);
  const [total, passed, skipped] = [number('Total'), number('Passed'), number('Skipped')];
  const reasons = [...output.matchAll(/^SKIPPED: (.+)$/gm)].map(([, reason = '']) => reason);
  const notes = [...output.matchAll(/(?<=^|\s)NOTE: (.+)$/gm)].map(([, note = '']) => note);
  if (Number.isNaN(total)) {
    const how = killedBy ? `by ${killedBy}` : `with ${code}`;
    const because = problem ?? `it ended ${how} before its tests did`;
    return { path, total: 1, passed: 0, skipped: 0, reasons, notes, problem: because, output, seconds };
  }
  const silent =
    code !== 0 && total === passed ? `it exited ${killedBy ?? code} though its tests passed` : null;
  const swallowed =
    passed < total && !/ FAIL /.test(output) ? 'a hook before or after the tests failed' : null;
  const nothing = total === 0 && skipped === 0 ? 'it ran no test' : null;
  return {
    path,
    total,
    passed,
    skipped,
    reasons,
    notes,
    problem: problem ?? nothing ?? silent ?? swallowed,
    output,
    seconds,
  };
}
