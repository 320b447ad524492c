/** A store on PostgreSQL with a given patience for answers, and separate connections to interfere with it. */
import { rmSync } from 'node:fs';
import type pg from 'pg';
import { openPostgresStore } from '../../../src/store/postgres/postgres-store.ts';
import { acting, type Store } from '../acting.ts';
import { NOW, temporaryDirectory } from '../fixture.ts';
import { poolOf } from './databases.ts';

export interface WithDeadline extends AsyncDisposable {
  store: Store;
  dataDir: string;
  /** Connections that nothing else has. */
  aside: pg.Pool;
}

/** @param deadline in milliseconds */
export async function openWithDeadline(deadline: number): Promise<WithDeadline> {
  const dataDir = temporaryDirectory();
  const clock = () => NOW;
  const store = acting(await openPostgresStore({ pool: await poolOf(dataDir), clock, deadline }), clock);
  const aside = await poolOf(dataDir, { max: 2 });
  return {
    store,
    dataDir,
    aside,
    [Symbol.asyncDispose]: async () => {
      await store.close();
      await aside.end();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
