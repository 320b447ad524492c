/** Runs the dashboard on the terminal of this process, and restores the terminal however the dashboard ends. */
import { createClient } from '../api/client.ts';
import type { Patience } from '../api/turns.ts';
import { startApp, type Target } from './app.tsx';
import { snapshot } from './snapshot.ts';
import { lookOf } from './terminal/capabilities.ts';

export interface DashboardOptions {
  url: string;
  apiKey: string;
  timeoutMs: number;
  /** The server's name and all the servers to choose from, if there are several. */
  serverName: string | null;
  servers: readonly NamedServer[];
  readonly: boolean;
  program: string;
}

/** A server from the settings. */
export interface NamedServer {
  name: string;
  url: string;
  /** Null if there is no usable key; `problem` says why. */
  apiKey: string | null;
  problem: string | null;
}

/** How long a server may take to say how it is, in milliseconds. */
const GLANCE = 5_000;

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** @returns the exit code, once the user has quit */
export async function runDashboard(options: DashboardOptions): Promise<number> {
  const { stdin, stdout, env } = process;
  const look = lookOf(env);
  if (!stdin.isTTY || !stdout.isTTY) {
    const client = createClient(options);
    const snitches = await client.listSnitches();
    stdout.write(snapshot(snitches, client.now(), look.glyphs));
    return 0;
  }
  const { url: server, serverName, readonly, program } = options;
  const servers = options.servers.map((one) => targetOf(one, options.timeoutMs));
  const connect = (patience?: Patience) => createClient({ ...options, ...(patience ? { patience } : {}) });
  const app = startApp({
    connect,
    server,
    serverName,
    servers,
    readonly,
    stdin,
    stdout,
    look,
    env,
    program,
    clock: Date.now,
  });
  const crash = onCrash(app.close);
  // On a signal Ink would restore the screen, but not the mouse. So signals close the dashboard like everything else.
  for (const signal of SIGNALS) process.once(signal, app.close);
  let undone: readonly string[] = [];
  try {
    await Promise.race([app.exited, crash]);
    undone = app.unfinished();
  } finally {
    app.close();
  }
  for (const line of undone) process.stderr.write(`snitch: ${line}\n`);
  return undone.length === 0 ? 0 : 1;
}

function targetOf({ name, url, apiKey, problem }: NamedServer, timeoutMs: number): Target {
  if (apiKey === null) return { name, url, connect: null, glance: null, problem };
  const glance = () => createClient({ url, apiKey, timeoutMs: GLANCE });
  const connect = (patience?: Patience) =>
    createClient({ url, apiKey, timeoutMs, ...(patience ? { patience } : {}) });
  return { name, url, connect, glance, problem };
}

/** Rejects with the first defect, after restoring the terminal, so that its message is not lost with the screen. */
function onCrash(restore: () => void): Promise<never> {
  return new Promise((_, reject) => {
    const fail = (error: unknown) => {
      restore();
      reject(error instanceof Error ? error : new Error(String(error)));
    };
    process.once('uncaughtException', fail);
    process.once('unhandledRejection', fail);
  });
}
