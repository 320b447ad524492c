/** Runs test files in a process of their own, one or several in turn, and makes sure that the process ends. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Sections } from './sections.ts';
import { TEST, type TestFile } from './test-files.ts';

/** A file, and how it is run. */
export interface Run {
  file: TestFile;
  /** The variables that its process gets in addition to the environment of the runner. */
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
  /** What they said about this run in lines that begin with `NOTE: `, such as which of two ways they took. */
  notes: string[];
  /** What is wrong with the file besides failed tests, in words, or null. */
  problem: string | null;
  output: string;
  seconds: number;
}

/** How long a process may go on after its last test, in milliseconds. */
const LINGERS = 15_000;

/**
 * The test files, and whatever Node they start, share what V8 has compiled. Hundreds of processes would otherwise each
 * strip the types from the same modules and compile them again, which was a third of the time of a run.
 */
const ENVIRONMENT = {
  ...process.env,
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(tmpdir(), 'node-compile-cache'),
};

/** @param patience multiplies the file's limit, for machines that are slower than most */
export async function runFile(run: Run, patience: number, signal: AbortSignal): Promise<Outcome> {
  const [outcome] = await runInOneProcess([run], patience, signal);
  return outcome as Outcome;
}

/**
 * Runs files in one process, one after the other, each with its own limit: what all of them load is loaded once. Those
 * that come after one that was killed, or that ended the process, get a new one.
 *
 * @param runs all with the same environment
 */
export async function runInTurn(
  runs: readonly Run[],
  patience: number,
  signal: AbortSignal,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  while (outcomes.length < runs.length && !signal.aborted) {
    outcomes.push(...(await runInOneProcess(runs.slice(outcomes.length), patience, signal)));
  }
  return outcomes;
}

function start(runs: readonly Run[], mark: string): ChildProcess {
  const paths = runs.map(({ file }) => join(TEST, file.path));
  const loader = paths.some((path) => path.endsWith('.tsx')) ? ['--import', 'tsx'] : [];
  return spawn(
    process.execPath,
    [...loader, join(import.meta.dirname, 'child.ts'), mark, ...paths],
    // Its own process group, so that whatever the tests have started ends with it.
    { stdio: ['ignore', 'pipe', 'pipe'], detached: true, env: { ...ENVIRONMENT, ...runs[0]?.env } },
  );
}

/** @returns the outcomes of the files that were begun, at least of the first one */
function runInOneProcess(runs: readonly Run[], patience: number, signal: AbortSignal): Promise<Outcome[]> {
  const mark = `test file ${randomUUID()}`;
  const child = start(runs, mark);
  let problem: string | null = null;
  const end = (reason: string) => {
    problem ??= reason;
    killGroup(child.pid);
  };
  let timer: NodeJS.Timeout | undefined;
  let lingering: NodeJS.Timeout | undefined;
  const began = (index: number) => {
    clearTimeout(timer);
    const limit = (runs[index]?.file.limitS ?? 0) * patience;
    timer = setTimeout(() => end(`killed: it was not done after ${limit} s`), limit * 1_000);
  };
  began(0);
  const sections = new Sections(mark, began);
  const read = (stream: 'stdout' | 'stderr') => (chunk: string) => {
    sections.add(stream, chunk);
    if (lingering || sections.count < runs.length || !sections.hasDuration) return;
    lingering = setTimeout(() => end('killed: its tests were done, and something still ran'), LINGERS);
  };
  child.stdout?.setEncoding('utf8').on('data', read('stdout'));
  child.stderr?.setEncoding('utf8').on('data', read('stderr'));
  const abort = () => end('interrupted');
  signal.addEventListener('abort', abort);
  return new Promise((resolve) => {
    child.on('error', (error) => end(error.message));
    child.on('close', (code, killedBy) => {
      clearTimeout(timer);
      clearTimeout(lingering);
      signal.removeEventListener('abort', abort);
      killGroup(child.pid);
      const ended = sections.end();
      const last = ended.length - 1;
      const outcomes: Outcome[] = [];
      for (const [index, { output, seconds }] of ended.entries()) {
        const path = runs[index]?.name ?? '';
        // How the process ended concerns the file that ran last, unless it only says that an earlier file failed.
        const told = { problem, code, killedBy, isForOthers: code === 1 && outcomes.some(hasFailed) };
        const how = index === last ? told : { problem: null, code: null, killedBy: null, isForOthers: false };
        outcomes.push(outcomeOf({ path, output, seconds, ...how }));
      }
      resolve(outcomes);
    });
  });
}

function hasFailed({ passed, total }: Outcome): boolean {
  return passed < total;
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The whole group has ended already.
  }
}

interface Ended {
  path: string;
  output: string;
  problem: string | null;
  code: number | null;
  killedBy: NodeJS.Signals | null;
  /** Whether the exit code is explained by earlier files that failed. */
  isForOthers: boolean;
  seconds: number;
}

/** A file that ended without totals counts as one failed test, so that it cannot be overlooked. */
function outcomeOf({ path, output, problem, code, killedBy, isForOthers, seconds }: Ended): Outcome {
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
    (killedBy || (code && !isForOthers)) && total === passed
      ? `it exited ${killedBy ?? code} though its tests passed`
      : null;
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
