/** What an idle daemon keeps in memory, and how large its database is. */
import { statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { arm, databaseIn } from '../database/jobs-database.ts';
import { usualScene } from '../database/scene.ts';
import { memoryOf } from '../program/daemon.ts';
import { type Case, counted, type Subject } from './case.ts';

export const resident: Case = {
  name: 'resident',
  rounds: 1,
  lines: ({ million, thousand }) => [
    {
      what: `Resident at ${counted(million)}, idle`,
      figure: 'large',
      unit: 'bytes',
      beside: { figure: 'small', name: counted(thousand) },
      aim: { of: 'figure', most: 250e6 },
    },
  ],
  async open(subject) {
    const { million, thousand } = subject.sizes;
    return {
      round: async () => ({
        small: await residentAt(subject, thousand),
        large: await residentAt(subject, million),
      }),
      end: async () => {},
    };
  },
};

async function residentAt(subject: Subject, count: number): Promise<number> {
  const database = await subject.database(count);
  arm(database, usualScene(database.midnight));
  const daemon = await subject.start(database.dataDir);
  await sleep(subject.sizes.quiet * 1_000);
  const memory = memoryOf(daemon.pid);
  await daemon.end();
  return memory.resident;
}

export const size: Case = {
  name: 'size',
  rounds: 1,
  lines: ({ million, history }) => [
    {
      what: `Database of ${counted(million)} snitches with ${history} check-ins each`,
      figure: 'bytes',
      unit: 'bytes',
      aim: { of: 'figure', most: 1e9 },
    },
  ],
  async open(subject) {
    const { dataDir } = await subject.database(subject.sizes.million);
    return { round: async () => ({ bytes: statSync(databaseIn(dataDir)).size }), end: async () => {} };
  },
};
