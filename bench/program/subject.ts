/** One program under test, with the databases that were made for it. */
import type { Sizes, Subject } from '../cases/case.ts';
import { fillDatabase, type JobsDatabase, plan } from '../database/jobs-database.ts';
import { usualScene, zoneAtNoon } from '../database/scene.ts';
import type { BareServer } from '../load/bare-server.ts';
import { databaseUrl, type PostgresCluster } from '../postgres/cluster.ts';
import { arm, fill } from '../postgres/tables.ts';
import type { Workplace } from '../workplace.ts';
import { type Program, startDaemon } from './daemon.ts';
import { processorTime, processorTimeOfAll } from './processor-time.ts';

/** By their number of snitches. They outlive a case, and are made again if one went wrong. */
export type Databases = Map<number, Promise<JobsDatabase>>;

/** Where the data is, if not in files: a server, and the port at which the daemon finds it. */
export interface OnPostgres {
  cluster: PostgresCluster;
  port: number;
  /** The database of each data directory. */
  names: Map<string, string>;
}

export interface Given {
  workplace: Workplace;
  sizes: Sizes;
  bare: BareServer;
  program: Program;
  databases: Databases;
  place: OnPostgres | null;
}

export function subjectOf({ workplace, sizes, bare, program, databases, place }: Given): Subject {
  const start = (dataDir: string, env: Readonly<Record<string, string>> = {}) => {
    const name = place?.names.get(dataDir);
    const store = place && name !== undefined ? { SNITCH_STORE_URL: databaseUrl(place.port, name) } : {};
    return startDaemon(workplace, program, dataDir, { ...store, ...env });
  };
  /** The program itself makes the tables, with its own migrations. */
  const make = async (count: number) => {
    const directory = workplace.newDirectory();
    if (place) place.names.set(directory, await place.cluster.newDatabase());
    const daemon = await start(directory);
    const now = Date.now();
    await daemon.call('PATCH', '/v1/case', { timezone: zoneAtNoon(now), reminders: 'off' });
    const { id: caseId } = (await (await daemon.call('GET', '/v1/case')).json()) as { id: string };
    await daemon.end();
    const { dataDir } = daemon;
    const name = place?.names.get(dataDir);
    if (!place || name === undefined)
      return fillDatabase(dataDir, { caseId, count, history: sizes.history, now });
    const url = databaseUrl(place.cluster.port, name);
    const database = { ...plan(dataDir, { count, history: sizes.history, now }), url };
    await fill(url, caseId, database.tokens, database.jobs);
    await arm(url, database.jobs, usualScene(database.midnight));
    return database;
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
    start,
    spent: ({ pid }) => ({
      daemon: processorTime(pid),
      database: place ? processorTimeOfAll(place.cluster.pid) : 0,
    }),
    wrapped: (wrapper) =>
      subjectOf({ workplace, sizes, bare, program: { ...program, wrapper }, databases, place }),
  };
}
