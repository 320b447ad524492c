/** Runs the dashboard on the terminal of this process, and leaves it as it was on every way out. */
import { createClient } from '../api/client.ts';
import { startApp } from './app.tsx';
import { snapshot } from './snapshot.ts';
import { lookOf } from './terminal/capabilities.ts';

export interface DashboardOptions {
  url: string;
  apiKey: string;
  timeoutMs: number;
  readonly: boolean;
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** @returns the exit code, once it was quit */
export async function runDashboard(options: DashboardOptions): Promise<number> {
  const { stdin, stdout, env } = process;
  const client = createClient(options);
  const look = lookOf(env);
  if (!stdin.isTTY || !stdout.isTTY) {
    stdout.write(snapshot(await client.listSnitches(), Date.now(), look.glyphs));
    return 0;
  }
  const { url: server, readonly } = options;
  const app = startApp({ client, server, readonly, stdin, stdout, look, env, clock: Date.now });
  const crash = onCrash(app.close);
  // Ink restores the screen on a signal too, but not the mouse; this way everything is restored by the one way out.
  for (const signal of SIGNALS) process.once(signal, app.close);
  try {
    await Promise.race([app.exited, crash]);
    return 0;
  } finally {
    app.close();
  }
}

/** Rejects with the first defect, once the terminal is restored, so that its message is not lost with the screen. */
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
