/** The built program as a process, with its own data directory. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parse } from 'yaml';
import { compileCache } from '../compile-cache.ts';
import { newDataDir } from '../data-directory.ts';
import { storeSettings } from '../store/postgres/databases.ts';

const PROGRAM = join(import.meta.dirname, '../../dist/snitch.mjs');

/** The executable, and programs in another root, are run as users have them. */
function shared({ program, root }: DaemonOptions): Record<string, string> {
  return program || root ? {} : compileCache('daemon');
}

/** These variables must contain the process id, which only the process itself knows. */
const AS_LISTENER = ['sh', '-c', 'LISTEN_FDS=1 LISTEN_PID=$$ exec "$@"', 'sh'];

/** `await using daemon = await startProcess()` kills one that still runs at the end of the block. */
export interface DaemonProcess extends AsyncDisposable {
  url: string;
  pid: number;
  dataDir: string;
  adminKey: string;
  apiKey: string;
  /** Every line it logged. */
  log: string[];
  child: ChildProcess;
  /** Calls the API with the case's key, or with `key`. */
  call(method: string, path: string, body?: unknown, key?: string): Promise<Response>;
  /** Ends it with `signal`. @returns its exit code, or null if the signal killed it */
  end(signal?: NodeJS.Signals): Promise<number | null>;
}

export interface DaemonOptions {
  dataDir?: string;
  env?: Record<string, string>;
  /** A command to run the program with, such as `strace …`. */
  wrapper?: readonly string[];
  /** Options of Node itself. */
  nodeOptions?: readonly string[];
  /** The executable, instead of the bundle on this Node. */
  program?: readonly string[];
  /** The directory that the program sees as `/`. */
  root?: string;
  /** Another node on the same database. */
  keysOf?: Pick<DaemonProcess, 'adminKey' | 'apiKey'>;
  /** A listening socket that is passed as by a service manager. */
  socket?: number;
  /** Kills it, even while it starts. */
  signal?: AbortSignal;
}

/** Starts the daemon on a free port and waits until it listens. Its store is the one that SNITCH_TEST_STORE names. */
export async function startProcess(options: DaemonOptions = {}): Promise<DaemonProcess> {
  const { root = '', socket } = options;
  const dataDir = options.dataDir ?? (root ? mkdtempSync(join(root, 'data-')) : newDataDir());
  const program = options.program ?? [process.execPath, ...(options.nodeOptions ?? []), PROGRAM];
  const command = [...(options.wrapper ?? []), ...(socket ? AS_LISTENER : []), ...program, 'serve'];
  const child = spawn(command[0] as string, command.slice(1), {
    env: {
      PATH: process.env.PATH,
      ...shared(options),
      SNITCH_LISTEN: '127.0.0.1:0',
      SNITCH_DATA_DIR: dataDir.slice(root.length),
      SNITCH_RATE_LIMIT_PER_MINUTE: '0',
      SNITCH_LOG_FORMAT: 'json',
      ...(await storeSettings(dataDir)),
      ...options.env,
    },
    stdio: ['ignore', 'pipe', 'pipe', ...(socket ? [socket] : [])],
    ...(options.signal && { signal: options.signal, killSignal: 'SIGKILL' }),
  });
  const log: string[] = [];
  const { url, pid } = await listening(child, log);
  const credentials = credentialsIn(dataDir, options);
  return {
    url,
    pid,
    dataDir,
    adminKey: credentials.admin_key,
    apiKey: credentials.api_key,
    log,
    child,
    call: (method, path, body, key = credentials.api_key) => call(url, key, method, path, body),
    end: (signal = 'SIGTERM') => end(child, pid, signal),
    [Symbol.asyncDispose]: async () => void (await end(child, pid, 'SIGKILL')),
  };
}

/** With several nodes on one database, only the first has the keys. */
function credentialsIn(dataDir: string, { keysOf }: DaemonOptions): { admin_key: string; api_key: string } {
  if (keysOf) return { admin_key: keysOf.adminKey, api_key: keysOf.apiKey };
  return parse(readFileSync(join(dataDir, 'credentials.yaml'), 'utf8'));
}

async function listening(child: ChildProcess, log: string[]): Promise<{ url: string; pid: number }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ url: string; pid: number }>();
  for (const stream of [child.stdout, child.stderr]) {
    if (!stream) continue;
    createInterface({ input: stream }).on('line', (line) => {
      log.push(line);
      if (line.includes('"msg":"listening"')) resolve(JSON.parse(line) as { url: string; pid: number });
    });
  }
  child.once('error', reject);
  child.once('exit', (code) => reject(new Error(`the daemon ended with ${code}:\n${log.join('\n')}`)));
  const { url, pid } = await promise;
  child.removeAllListeners('exit');
  return { url, pid };
}

async function call(
  url: string,
  key: string,
  method: string,
  path: string,
  body: unknown,
): Promise<Response> {
  const authorization = `Basic ${Buffer.from(`${key}:`).toString('base64')}`;
  return fetch(`${url}${path}`, {
    method,
    headers: { authorization, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

async function end(child: ChildProcess, pid: number, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  const exited = once(child, 'exit');
  process.kill(pid, signal);
  const [code] = (await exited) as [number | null];
  return code;
}
