/** Runs commands against a real daemon. */
import { readFileSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import type { WireCase, WireSnitch } from '../../src/api/wire.ts';
import { inOrder } from '../../src/cli/snitches/list-order.ts';
import { newDataDir, removeDataDir } from '../data-directory.ts';
import { type DaemonProcess, startProcess } from '../end-to-end/daemon-process.ts';
import { type Ended, runSnitch } from './snitch-process.ts';

export interface Commands {
  daemon: DaemonProcess;
  /** Runs a command on the daemon's host, without a terminal. */
  run(...args: string[]): Promise<Ended>;
  /** Runs a command that must succeed. @returns the JSON that it printed */
  json<T = Record<string, unknown>>(...args: string[]): Promise<T>;
  /**
   * Makes a snitch, daily unless `fields` name another interval, by one request. What stands before the test of a command, and
   * what is looked at after it, costs a twentieth of a command in this way.
   */
  make(name: string, fields?: Partial<WireSnitch>): Promise<WireSnitch>;
  /** All snitches of the case in the order of their names, by one request. */
  listed(): Promise<WireSnitch[]>;
  /** The one with this name or token, by one request. */
  named(name: string): Promise<WireSnitch>;
  env: NodeJS.ProcessEnv;
  end(): Promise<void>;
}

export async function withDaemon(env: Record<string, string> = {}): Promise<Commands> {
  const daemon = await startProcess({ env });
  const end = (signal?: NodeJS.Signals) => endOf(daemon, signal);
  return commandsFor({ ...daemon, end }, { SNITCH_DATA_DIR: daemon.dataDir, TZ: 'UTC', ...env }, async () => {
    const isAlive = isRunning(daemon);
    if (isAlive) await daemon.end();
    removeDataDir(daemon.dataDir);
    if (!isAlive) refuseDeath(daemon);
  });
}

/** Those that a test has already ended. */
const ended = new WeakSet<DaemonProcess>();

function endOf(daemon: DaemonProcess, signal?: NodeJS.Signals): Promise<number | null> {
  if (isRunning(daemon)) ended.add(daemon);
  return daemon.end(signal);
}

function isRunning({ child }: DaemonProcess): boolean {
  return child.exitCode === null && child.signalCode === null;
}

/** @throws Error where no test has ended the daemon: it died during the present one */
function refuseDeath(daemon: DaemonProcess): void {
  if (ended.has(daemon)) return;
  const { child, log } = daemon;
  const how = child.exitCode ?? child.signalCode;
  throw new Error(`the daemon ended with ${how} during this test:\n${log.slice(-20).join('\n')}`);
}

function commandsFor(daemon: DaemonProcess, env: NodeJS.ProcessEnv, end: () => Promise<void>): Commands {
  const run = (...args: string[]) => runSnitch(args, env);
  return {
    daemon,
    run,
    env,
    ...requestsOf(daemon),
    json: async <T>(...args: string[]) => {
      const { code, stdout, stderr } = await run(...args, '--json');
      if (code !== 0) throw new Error(`snitch ${args.join(' ')} ended with ${code}: ${stderr}`);
      return JSON.parse(stdout) as T;
    },
    end,
  };
}

function requestsOf({ call }: DaemonProcess): Pick<Commands, 'make' | 'listed' | 'named'> {
  const ask = async <T>(method: string, path: string, body?: unknown) => {
    const answer = await call(method, path, body);
    const said = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path} was answered with ${answer.status}: ${said}`);
    return JSON.parse(said) as T;
  };
  const listed = async () => inOrder(await ask<WireSnitch[]>('GET', '/v1/snitches'), 'name');
  return {
    make: (name, fields = {}) => ask('POST', '/v1/snitches', { name, interval: 'daily', ...fields }),
    listed,
    named: async (name) => {
      const found = (await listed()).filter((one) => one.name === name || one.token === name);
      const [one] = found;
      if (!one || found.length > 1) throw new Error(`${found.length} snitches are called ${name}`);
      return one;
    },
  };
}

/** The one that the tests of a file share, and those of the other files in its process. */
let shared: Promise<DaemonProcess> | null = null;

/**
 * Commands against a case of their own, as empty as that of a new daemon, on a daemon that all tests of the file share:
 * starting one costs as much as ten commands. A test that needs settings of its own, other cases, the log or the files of
 * the daemon takes `withDaemon`. `daemon.end()` does end the daemon; the next test gets a new one.
 */
export async function withCase(): Promise<Commands> {
  shared ??= startShared();
  const daemon = await shared;
  const made = await daemon.call('POST', '/v1/cases', { name: 'default' }, daemon.adminKey);
  const { id } = (await made.json()) as WireCase;
  const path = `/v1/cases/${id}/api_keys`;
  const key = await daemon.call('POST', path, { name: 'first start' }, daemon.adminKey);
  const { key: apiKey } = (await key.json()) as { key: string };
  const dataDir = newDataDir();
  const credentials = parse(readFileSync(join(daemon.dataDir, 'credentials.yaml'), 'utf8')) as object;
  const text = stringify({ ...credentials, api_key: apiKey });
  writeFileSync(join(dataDir, 'credentials.yaml'), text, { mode: 0o600 });
  const own: DaemonProcess = {
    ...daemon,
    dataDir,
    apiKey,
    call: (method, wanted, body, given = apiKey) => daemon.call(method, wanted, body, given),
    end: (signal) => {
      shared = null;
      daemon.child.ref();
      return endOf(daemon, signal);
    },
  };
  return commandsFor(own, { SNITCH_DATA_DIR: dataDir, TZ: 'UTC' }, async () => {
    removeDataDir(dataDir);
    if (isRunning(daemon)) {
      // Its tokens are free again for the next test.
      await daemon.call('DELETE', `/v1/cases/${id}`, undefined, daemon.adminKey);
      return;
    }
    if (!ended.has(daemon)) shared = null;
    refuseDeath(daemon);
  });
}

/** Goes with the process of the tests, which it does not keep alive. */
async function startShared(): Promise<DaemonProcess> {
  const daemon = await startProcess();
  daemon.child.unref();
  for (const stream of [daemon.child.stdout, daemon.child.stderr]) (stream as Socket | null)?.unref();
  process.once('exit', () => {
    daemon.child.kill('SIGKILL');
    removeDataDir(daemon.dataDir);
  });
  return daemon;
}
