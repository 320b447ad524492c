/** Wherever an upgrade begins, and however its steps look up what they rewrite, what comes of it is the same. */
import { existsSync, rmSync } from 'node:fs';
import Database from 'better-sqlite3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { migrations } from '../../../src/store/migrations/index.ts';
import { changeOf } from '../../../src/store/migrations/migration.ts';
import { databasePath } from '../../../src/store/sqlite/connection.ts';
import { migrate, migrateInParts } from '../../../src/store/sqlite/migrate.ts';
import { closing } from '../../closing.ts';
import { NOW, temporaryDirectory } from '../fixture.ts';
import { type Content, contentOf } from './content.ts';
import { BACKUP, CHECK, INVOICES, REPORT, writeVersion1 } from './version-1.ts';

interface World {
  dataDir: string;
}

const LATEST = migrations.length;

/** Ids so far apart that they are rewritten at different times, and what can be wrong with the id of the one before. */
const LOG: [id: number, previous: number | null, token: string][] = [
  [100_001, 2, BACKUP],
  [100_002, 100_001, BACKUP],
  // Its own was deleted, and another snitch was given that id, or nobody.
  [100_003, 5, CHECK],
  [100_004, 99, CHECK],
  [100_005, 200_001, INVOICES],
  [100_006, 4, 'gone'],
  [200_001, 100_003, CHECK],
  [200_002, 100_006, 'gone'],
  [200_003, 100_006, REPORT],
  [200_004, 100_005, INVOICES],
  [200_005, null, BACKUP],
];

const LOGGED = LOG.map(
  ([id, previous, token]) =>
    `(${id}, ${previous ?? 'NULL'}, '${token}', ${id % 7}, ${NOW - id}, 'healthy', NULL, 'of ${token}', NULL, NULL, NULL)`,
);

const EXTRA = `
INSERT INTO check_ins VALUES ${LOGGED.join(', ')};
INSERT INTO check_in_outputs VALUES (100001, 'kept'), (200002, 'of nobody');
INSERT INTO first_check_ins VALUES ('${REPORT}', ${NOW}), ('${REPORT}', 5), ('${REPORT}', -5), ('gone', 1);
`;

const outcome = suite<World>('what comes of an upgrade');

outcome.before.each((world) => {
  world.dataDir = temporaryDirectory();
});

outcome.after.each(({ dataDir }) => rmSync(dataDir, { recursive: true, force: true }));

/** A database of the first version that was brought to `version` by an earlier upgrade, and then to the present one. */
function upgradedBy(dataDir: string, version: number): Content {
  writeVersion1(dataDir, EXTRA);
  using db = closing(new Database(databasePath(dataDir)));
  migrate(db, migrations.slice(0, version));
  migrate(db, migrations);
  const content = contentOf(db);
  rmSync(dataDir, { recursive: true });
  return content;
}

outcome('it is the same from every version on', ({ dataDir }) => {
  const atOnce = upgradedBy(dataDir, 1);
  assert.is(atOnce.version, LATEST);
  for (let version = 2; version <= LATEST; version += 1)
    assert.equal(upgradedBy(dataDir, version), atOnce, `by way of version ${version}`);
});

/** Runs the migrations exactly as they landed, each walk in one go. */
function upgradeByTheText(db: Database.Database): void {
  const columns = db.prepare('SELECT name FROM pragma_table_info(?)').pluck();
  for (const migration of migrations.slice(1)) {
    const change = changeOf(migration);
    const made =
      typeof change === 'function' ? change((table, name) => columns.all(table).includes(name)) : change;
    for (const step of typeof made === 'string' ? [made] : made) {
      if (typeof step === 'string') db.exec(step);
      else db.prepare(step.sql).run(0, Number.MAX_SAFE_INTEGER);
    }
  }
  db.pragma(`user_version = ${LATEST}`);
}

outcome('it is what the text of the migrations says', ({ dataDir }) => {
  const upgraded = upgradedBy(dataDir, 1);
  writeVersion1(dataDir, EXTRA);
  using db = closing(new Database(databasePath(dataDir)));
  upgradeByTheText(db);
  assert.equal(upgraded, contentOf(db));
});

outcome('each check-in is of the snitch whose token it had', ({ dataDir }) => {
  writeVersion1(dataDir, EXTRA);
  using db = closing(new Database(databasePath(dataDir)));
  const columns =
    'c.id, previous_id, number, at, outcome, exit_status, message, duration_ms, source, run_id, token';
  const log = `SELECT ${columns} FROM check_ins AS c JOIN snitches AS n`;
  const before = db.prepare(`${log} USING (token) ORDER BY c.id`).all();
  migrate(db, migrations);
  assert.equal(db.prepare(`${log} ON n.id = c.snitch_id ORDER BY c.id`).all(), before);
  assert.is(db.prepare('SELECT COUNT(*) FROM check_ins').pluck().get(), before.length);
  assert.is(before.length, 6 + LOG.filter(([, , token]) => token !== 'gone').length);
});

outcome('who waits for the copy is told when it is there, and nothing has changed', ({ dataDir }) => {
  const before = writeVersion1(dataDir, EXTRA);
  using db = closing(new Database(databasePath(dataDir)));
  const told: { content: Content; isCopied: boolean }[] = [];
  const parts = migrateInParts(
    db,
    migrations,
    () => {},
    () =>
      told.push({
        content: contentOf(db),
        isCopied: existsSync(`${databasePath(dataDir)}.before-upgrade-from-1`),
      }),
  );
  while (!parts.next().done);
  assert.equal(told, [{ content: before, isCopied: true }]);
});

outcome.run();
