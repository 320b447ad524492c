import { rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { concernOfLeftDatabase } from '../../src/daemon/left-database.ts';
import { ownDirectory } from '../data-directory.ts';

const test = suite('a database that was left for PostgreSQL');

/** @param at seconds */
function put(path: string, at: number): void {
  writeFileSync(path, 'x');
  utimesSync(path, at, at);
}

test('a daemon that starts on it warns, unless the database was used or restored since', () => {
  using place = ownDirectory();
  const [database, log, seen] = ['snitch.db', 'snitch.db-wal', 'postgres-primary.json'].map((name) =>
    join(place.path, name),
  ) as [string, string, string];
  assert.is(concernOfLeftDatabase(place.path), null, 'nothing is there');
  put(seen, 2_000);
  assert.is(concernOfLeftDatabase(place.path), null, 'there is no database that could be meant');
  put(database, 1_000);
  const concern = concernOfLeftDatabase(place.path);
  assert.match(concern?.message ?? '', 'has worked on PostgreSQL since');
  assert.match(concern?.remedy ?? '', 'store.url');
  put(log, 3_000);
  assert.is(concernOfLeftDatabase(place.path), null, 'the database was used since');
  rmSync(log);
  put(database, 3_000);
  assert.is(concernOfLeftDatabase(place.path), null, 'it was brought back');
});

test.run();
