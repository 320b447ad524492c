/** One program under test, with the databases that were made for it. */
import type { Sizes, Subject } from '../cases/case.ts';
import { fillDatabase, type JobsDatabase } from '../database/jobs-database.ts';
import { zoneAtNoon } from '../database/scene.ts';
import type { BareServer } from '../load/bare-server.ts';
import type { Workplace } from '../workplace.ts';
import { type Program, startDaemon } from './daemon.ts';

/** By their number of snitches. They outlive a case, and are made anew where one went wrong. */
export type Databases = Map<number, Promise<JobsDatabase>>;

export interface Given {
  workplace: Workplace;
  sizes: Sizes;
  bare: BareServer;
  program: Program;
  databases: Databases;
}

export function subjectOf({ workplace, sizes, bare, program, databases }: Given): Subject {
  /** The program itself makes the file, with its own migrations. */
  const make = async (count: number) => {
    const daemon = await startDaemon(workplace, program, workplace.newDirectory());
    const now = Date.now();
    await daemon.call('PATCH', '/v1/case', { timezone: zoneAtNoon(now), reminders: 'off' });
    const { id: caseId } = (await (await daemon.call('GET', '/v1/case')).json()) as { id: string };
    await daemon.end();
    return fillDatabase(daemon.dataDir, { caseId, count, history: sizes.history, now });
  };
  return {
    workplace,
    sizes,
    bare,
    database(count) {
      const database = databases.get(count) ?? make(count);
      databases.set(count, database);
      return database;
    },
    start: (dataDir, env) => startDaemon(workplace, program, dataDir, env),
    wrapped: (wrapper) => subjectOf({ workplace, sizes, bare, program: { ...program, wrapper }, databases }),
  };
}
