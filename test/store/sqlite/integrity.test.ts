/** Damage in a database file is reported by table, and nothing about intact tables. Alone in its process. */
import { closeSync, openSync, rmSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type Database from 'better-sqlite3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openFile } from '../../../src/store/sqlite/addon.ts';
import { type CheckLine, checkFile } from '../../../src/store/sqlite/check-file.ts';
import { damageIn, damageOf, tablesToCheck } from '../../../src/store/sqlite/integrity.ts';
import { rejection, temporaryDirectory } from '../fixture.ts';

const test = suite<{ dir: string; path: string }>('the integrity of a database');

test.before.each((context) => {
  context.dir = temporaryDirectory();
  context.path = join(context.dir, 'some.db');
  const db = openFile(context.path);
  try {
    db.exec(`CREATE TABLE small (id INTEGER); INSERT INTO small VALUES (1);
      CREATE TABLE "o'large" (text TEXT);
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
      INSERT INTO "o'large" SELECT printf('%0100d', i) FROM n;`);
  } finally {
    db.close();
  }
});

test.after.each(({ dir }) => rmSync(dir, { recursive: true }));

function withFile(path: string, use: (db: Database.Database) => void): void {
  const db = openFile(path, { fileMustExist: true });
  try {
    use(db);
  } finally {
    db.close();
  }
}

/** Writes over the last page, which is one of the large table. */
function damage(path: string): void {
  const fd = openSync(path, 'r+');
  try {
    writeSync(fd, Buffer.alloc(4_096, 0xa5), 0, 4_096, statSync(path).size - 4_096);
  } finally {
    closeSync(fd);
  }
}

test('a whole database has nothing wrong in any table', ({ path }) => {
  withFile(path, (db) => {
    const tables = tablesToCheck(db);
    assert.equal(tables, ['sqlite_schema', "o'large", 'small']);
    for (const table of tables) assert.is(damageIn(db, table), null, table);
    assert.is(damageOf(db), null);
  });
});

test('damage is reported for the table that has it, in one line', ({ path }) => {
  damage(path);
  withFile(path, (db) => {
    assert.is(damageIn(db, 'small'), null);
    for (const told of [damageIn(db, "o'large"), damageOf(db)]) {
      assert.match(told ?? '', /page \d+/);
      assert.not.match(told ?? '', /\n|\*\*\*/);
    }
  });
});

test('a check of a file says how far it is, and at the end what it found', async ({ path }) => {
  const said = async () => {
    const lines: CheckLine[] = [];
    await checkFile(path, (line) => lines.push(line));
    return lines;
  };
  const progress = [0, 1, 2].map((done) => ({ done, of: 3 }));
  assert.equal(await said(), [...progress, { well: true }]);
  damage(path);
  const [first, second, found, ...more] = await said();
  assert.equal([first, second, more], [...progress.slice(0, 2), []]);
  assert.ok(found && 'damage' in found && found.damage.endsWith(", in o'large"), JSON.stringify(found));
});

test('a file that is no database any more is found damaged, and one that is gone is not', async ({
  path,
}) => {
  writeFileSync(path, Buffer.alloc(8_192, 0xa5));
  const lines: CheckLine[] = [];
  await checkFile(path, (line) => lines.push(line));
  assert.equal(lines, [{ damage: 'file is not a database' }]);
  rmSync(path);
  assert.ok(await rejection(checkFile(path, () => undefined)));
});

test('a table that cannot be checked does not count as damage', ({ path }) => {
  withFile(path, (db) => {
    db.close();
    assert.throws(() => damageIn(db, 'small'), /not open/);
  });
});

test.run();
