/** Stores for tests that are not about who did what: everything is done in the name of the test. */
import type { Actor } from '../../src/core/activity/activity.ts';
import type { Acts } from '../../src/store/activity.ts';
import type { Setting } from '../../src/store/server-notes.ts';
import { openStore as open, type SqliteOptions } from '../../src/store/sqlite/sqlite-store.ts';
import type { Store as RealStore } from '../../src/store/store.ts';
import { lazily, ON_POSTGRES, openOnPostgres } from './postgres/open.ts';
import { beginDatabase } from './sqlite-template.ts';

export const TESTER: Actor = { keyId: null, name: 'the test' };

/** A store with the acts of people as well as its own work. Tests of the files set whatever setting comes to hand. */
export type Store = Omit<RealStore, 'setSetting'> &
  Acts & { setSetting(name: Setting, value: string): Promise<void> };

/**
 * On SQLite, or with SNITCH_TEST_STORE=postgres on PostgreSQL.
 *
 * @param options its `clock` says when the test does something
 */
export function openStore(options: SqliteOptions): Store {
  return acting(ON_POSTGRES ? lazily(openOnPostgres(options)) : open(options), options.clock);
}

/** As `openStore`, for tests that are not about how a database begins: in the empty directory there already is one. */
export function openEmptyStore(options: SqliteOptions): Store {
  if (!ON_POSTGRES) beginDatabase(options.dataDir);
  return openStore(options);
}

export function acting<Opened extends RealStore>(store: Opened, clock: () => number): Opened & Acts {
  const acts = Object.keys(store.by(TESTER, 0)) as (keyof Acts)[];
  const bound = acts.map((name) => [
    name,
    (...values: unknown[]) => {
      const act = store.by(TESTER, clock())[name] as (...given: unknown[]) => Promise<unknown>;
      return act(...values);
    },
  ]);
  return { ...store, ...(Object.fromEntries(bound) as Acts) };
}

/** What a test has put in the place of an act of `store` is used in whoever's name it is done. */
export function replaced(store: Store, given: Store): Store {
  const acts = Object.keys(store.by(TESTER, 0)) as (keyof Acts)[];
  const own = acts.filter((name) => given[name] !== store[name]).map((name) => [name, given[name]]);
  return { ...given, by: (actor, at) => ({ ...store.by(actor, at), ...Object.fromEntries(own) }) };
}

export type { SqliteOptions };
