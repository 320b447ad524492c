/**
 * How long a daemon that was killed under load some hours ago takes until it listens: its write-ahead log was not
 * copied into the database, and most jobs should have checked in while it was away.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { HOUR } from '../../src/text/durations.ts';
import { arm, databaseIn, flush, type JobsDatabase, observe } from '../database/jobs-database.ts';
import { usualScene } from '../database/scene.ts';
import { load, writeTokens } from '../load/wrk.ts';
import { type Case, counted, type Subject } from './case.ts';

/** When it died, in milliseconds after midnight: two thirds of the jobs of the night had not run. */
const DIED_AT = 2 * HOUR;

/** Milliseconds. */
const PATIENCE = 300_000;
const LOOKED_EVERY = 50;

const SET_LIVENESS = join(import.meta.dirname, '../database/set-liveness.ts');

export const start: Case = {
  name: 'start',
  rounds: 3,
  lines: ({ million, thousand }) => [
    {
      what: `Start until it listens, ${counted(million)} snitches, after a kill and a blind window`,
      figure: 'listens',
      unit: 's',
      beside: { figure: 'listensSmall', name: counted(thousand) },
      aim: { of: 'figure', most: 2.5 },
    },
    {
      what: 'Until all deadlines of that window are postponed',
      figure: 'postponed',
      unit: 's',
      beside: { figure: 'postponedSmall', name: counted(thousand) },
    },
  ],
  async open(subject) {
    const { million, thousand } = subject.sizes;
    const large = await subject.database(million);
    const small = await subject.database(thousand);
    for (const database of [large, small]) await killUnderLoad(subject, database);
    return {
      async round() {
        const one = await startCopy(subject, small);
        const other = await startCopy(subject, large);
        return {
          listens: other.listens,
          postponed: other.postponed,
          listensSmall: one.listens,
          postponedSmall: one.postponed,
        };
      },
      end: async () => {},
    };
  },
};

async function killUnderLoad(subject: Subject, database: JobsDatabase): Promise<void> {
  const { workplace, sizes, start: begin } = subject;
  arm(database, usualScene(database.midnight));
  const daemon = await begin(database.dataDir);
  const tokens = writeTokens(workplace.path('tokens'), database.tokens);
  const { connections, requests: most } = sizes;
  const count = Math.ceil(database.tokens.length / 100);
  const part = { tokens, connections, seconds: 1, most, from: 0, count, once: false };
  await load(workplace, { ...part, url: daemon.url });
  await daemon.kill();
  // A process that closed the file would copy the log into the database, so this one kills itself.
  const path = databaseIn(database.dataDir);
  const child = spawn(process.execPath, [SET_LIVENESS, path, String(database.midnight + DIED_AT)], {
    stdio: 'inherit',
  });
  const [, signal] = await once(workplace.holds(child), 'exit');
  if (signal !== 'SIGKILL') throw new Error('the last sign of life could not be set back');
}

/** Starts on a copy, so that each round begins as the first one did. */
async function startCopy(subject: Subject, { dataDir }: JobsDatabase) {
  const copy = subject.workplace.newDirectory();
  cpSync(dataDir, copy, { recursive: true, filter: (path) => !path.endsWith('-shm') });
  flush(copy);
  const daemon = await subject.start(copy);
  const postponed = await untilPostponed(copy);
  await daemon.kill();
  rmSync(copy, { recursive: true });
  return { listens: daemon.startedIn / 1_000, postponed: (daemon.startedIn + postponed) / 1_000 };
}

/** Milliseconds from when it listened until all deadlines were postponed. */
async function untilPostponed(dataDir: string): Promise<number> {
  const before = performance.now();
  for (;;) {
    const elapsed = performance.now() - before;
    if (observe(dataDir, (db, tables) => tables.isPostponed(db))) return elapsed;
    if (elapsed > PATIENCE) throw new Error(`not all was postponed within ${PATIENCE / 1_000} s`);
    await sleep(LOOKED_EVERY);
  }
}
