/** Two stores on one database, as two nodes have it. */
import { rmSync } from 'node:fs';
import type { PostgresOptions } from '../../../src/store/postgres/postgres-store.ts';
import { acting, type Store } from '../acting.ts';
import { NOW, temporaryDirectory } from '../fixture.ts';
import { openOnPostgres, queryOnPostgres } from './open.ts';

export interface Pair extends AsyncDisposable {
  dataDir: string;
  one: Store;
  other: Store;
  both: readonly Store[];
  query<Row>(sql: string, ...values: (string | number | null)[]): Promise<Row[]>;
}

/** @param otherOptions of the second one, where they differ */
export async function openPair(
  options: Partial<PostgresOptions> = {},
  otherOptions: Partial<PostgresOptions> = {},
): Promise<Pair> {
  const dataDir = temporaryDirectory();
  const open = async (node: string, given: Partial<PostgresOptions>) => {
    const { clock = () => NOW } = given;
    return acting(await openOnPostgres({ dataDir, node, ...given, clock }), clock);
  };
  const [one, other] = [await open('one', options), await open('other', { ...options, ...otherOptions })];
  return {
    dataDir,
    one,
    other,
    both: [one, other],
    query: (sql, ...values) => queryOnPostgres(dataDir, sql, ...values),
    [Symbol.asyncDispose]: async () => {
      await Promise.all([one.close(), other.close()]);
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** What became of each: its value, or the name of its error. */
export async function outcomes(calls: readonly Promise<unknown>[]): Promise<unknown[]> {
  const settled = await Promise.allSettled(calls);
  return settled.map((one) => (one.status === 'fulfilled' ? 'done' : (one.reason as Error).constructor.name));
}
