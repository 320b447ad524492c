/** `snitch serve --demo`: a daemon with a temporary store and an invented past. It never touches the real store. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import { openStore } from '../store/sqlite/sqlite-store.ts';
import { makePast, type RunningJob } from './past.ts';
import { runOn } from './present.ts';

export interface Demo {
  dataDir: string;
  /** The configuration of the demo: its own data, and nothing that could reach anybody outside. */
  settings(config: Config): Config;
  /** Keeps its jobs checking in at the daemon that listens on `url`. */
  begin(url: string): void;
  /** Stops the jobs and deletes the data. */
  end(): void;
}

export async function prepareDemo(clock: () => number): Promise<Demo> {
  const dataDir = mkdtempSync(join(tmpdir(), 'snitch-demo-'));
  const remove = () => rmSync(dataDir, { recursive: true, force: true });
  let stop = () => {};
  const jobs = await fill(dataDir, clock).catch((error: unknown) => {
    remove();
    throw error;
  });
  return {
    dataDir,
    settings: (config) => ({ ...config, store: null, dataDir, smtp: null, baseUrl: null, checkInBase: null }),
    begin: (url) => {
      stop = runOn(jobs, url, clock);
    },
    end: () => {
      stop();
      remove();
    },
  };
}

async function fill(dataDir: string, clock: () => number): Promise<RunningJob[]> {
  const store = openStore({ dataDir, clock });
  try {
    return await makePast(store, clock());
  } finally {
    await store.close();
  }
}
