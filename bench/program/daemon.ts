/** One built program, and its daemon as a process of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parse } from 'yaml';
import type { Workplace } from '../workplace.ts';

export interface Program {
  /** The file that Node runs. */
  bundle: string;
  /** Goes before it: `strace …`. */
  wrapper: readonly string[];
  nodeOptions: readonly string[];
}

export interface Daemon {
  url: string;
  pid: number;
  dataDir: string;
  apiKey: string;
  /** Milliseconds from the start of the process until it listened. */
  startedIn: number;
  call(method: string, path: string, body?: unknown): Promise<Response>;
  /** Ends it in order, and resolves when it is gone. */
  end(): Promise<void>;
  kill(): Promise<void>;
}

/** How many of its last lines are reported if a daemon ends before it listens. */
const LINES_KEPT = 20;

export async function startDaemon(
  workplace: Workplace,
  { bundle, wrapper, nodeOptions }: Program,
  dataDir: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Daemon> {
  const [command = '', ...args] = [...wrapper, process.execPath, ...nodeOptions, bundle, 'serve'];
  const before = performance.now();
  const child = workplace.holds(
    spawn(command, args, {
      env: {
        PATH: process.env.PATH,
        SNITCH_LISTEN: '127.0.0.1:0',
        SNITCH_DATA_DIR: dataDir,
        SNITCH_RATE_LIMIT_PER_MINUTE: '0',
        SNITCH_LOG_FORMAT: 'json',
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  );
  const { url, pid } = await listening(child);
  const startedIn = performance.now() - before;
  const credentials = parse(readFileSync(join(dataDir, 'credentials.yaml'), 'utf8')) as { api_key: string };
  return {
    url,
    pid,
    dataDir,
    apiKey: credentials.api_key,
    startedIn,
    call: (method, path, body) => call(`${url}${path}`, credentials.api_key, method, body),
    end: () => end(child, pid, 'SIGTERM'),
    kill: () => end(child, pid, 'SIGKILL'),
  };
}

interface Listening {
  url: string;
  /** The process of the daemon itself, and not that of its wrapper. */
  pid: number;
}

/** Its output is read for as long as it runs, so that it never waits for a reader. */
async function listening(child: ChildProcess): Promise<Listening> {
  const { promise, resolve, reject } = Promise.withResolvers<Listening>();
  const said: string[] = [];
  let listens = false;
  for (const stream of [child.stdout, child.stderr]) {
    if (!stream) continue;
    createInterface({ input: stream }).on('line', (line) => {
      if (listens) return;
      said.push(line);
      if (!line.includes('"msg":"listening"')) return;
      listens = true;
      resolve(JSON.parse(line) as Listening);
    });
  }
  child.once('error', reject);
  child.once('close', (code, signal) => {
    reject(
      new Error(
        `the daemon ended with ${signal ?? code} before it listened:\n${said.slice(-LINES_KEPT).join('\n')}`,
      ),
    );
  });
  return promise;
}

async function call(url: string, key: string, method: string, body: unknown): Promise<Response> {
  const response = await fetch(url, {
    method,
    headers: { authorization: `Basic ${btoa(`${key}:`)}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!response.ok)
    throw new Error(`${method} ${url} was answered ${response.status}: ${await response.text()}`);
  return response;
}

async function end(child: ChildProcess, pid: number, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  process.kill(pid, signal);
  await exited;
}

/** Bytes of a process's memory that are in use, or that were at the most since `forgetPeak`. */
export function memoryOf(pid: number): { resident: number; peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const field = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) * 1024;
  return { resident: field('VmRSS'), peak: field('VmHWM') };
}

/** Makes the kernel start counting the peak of a process's memory again. */
export function forgetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}
