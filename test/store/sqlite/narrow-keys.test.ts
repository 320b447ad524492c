/** The upgrade from the fifth schema, in which everything was keyed by the token. */
import { rmSync } from 'node:fs';
import Database from 'better-sqlite3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { migrations } from '../../../src/store/migrations/index.ts';
import { databasePath, prepareDataDir } from '../../../src/store/sqlite/connection.ts';
import { type MigrationProgress, migrate } from '../../../src/store/sqlite/migrate.ts';
import type { Store } from '../acting.ts';
import { openStore } from '../acting.ts';
import { checkIn, DAY, HOUR, MINUTE, NOW, queryDirectory, temporaryDirectory } from '../fixture.ts';

const CASE = 'case_aaaaaaaaaaaaaaaa';
const OTHER = 'case_bbbbbbbbbbbbbbbb';
const [NIGHTLY, FLAPPY, POSTPONED, GONE] = ['nightly', 'flappy', 'postponed', 'gone'] as const;

const LAST = JSON.stringify({
  decision: { type: 'snitch.errored', status: 'errored', previousStatus: 'healthy' },
  details: { interval: 'hourly', threadId: 'alert_flap' },
});

/** Numbers of snitches with gaps, as deletions leave them. */
const CONTENT = `
INSERT INTO cases VALUES
  ('${CASE}', 'Operations', 'Europe/Paris', '["ann@example.com"]', 'period', 1, NULL, 0, 1),
  ('${OTHER}', 'Billing', 'UTC', '[]', 'period', 1, 10, 0, 2);
INSERT INTO snitches (id, token, case_id, name, notes, tags, alert_email, created_at, owner) VALUES
  (3, '${NIGHTLY}', '${CASE}', 'nightly', 'n', '["db","prod"]', '[]', 3, 'jobs.yaml'),
  (250003, '${FLAPPY}', '${CASE}', 'flappy', '', '["prod"]', '[]', 4, NULL),
  (250004, '${POSTPONED}', '${OTHER}', 'postponed', '', '[]', '["bob@example.com"]', 5, NULL);
INSERT INTO snitch_states (token, case_id, interval, alert_type, status, checked_in_at, last_check_in_at, due_at,
    postponed, moved_from, thread_id, last_check_in_id, check_in_count) VALUES
  ('${NIGHTLY}', '${CASE}', 'daily', 'smart', 'healthy', ${NOW - DAY}, ${NOW - DAY}, ${NOW + DAY}, 0, NULL, NULL, 400001, 3),
  ('${FLAPPY}', '${CASE}', 'hourly', 'basic', 'errored', ${NOW}, ${NOW}, ${NOW + HOUR}, 0, NULL, 'alert_flap', 7, 1),
  ('${POSTPONED}', '${OTHER}', 'hourly', 'basic', 'healthy', ${NOW}, ${NOW}, ${NOW + 3 * HOUR}, 1, ${NOW + HOUR}, NULL, 8, 1);
INSERT INTO check_ins VALUES
  (5, NULL, '${NIGHTLY}', 1, ${NOW - 3 * DAY}, 'healthy', NULL, 'first', NULL, NULL, NULL),
  (6, NULL, '${GONE}', 1, ${NOW}, 'healthy', NULL, NULL, NULL, NULL, NULL),
  (7, NULL, '${FLAPPY}', 1, ${NOW}, 'error', 2, NULL, NULL, NULL, NULL),
  (8, NULL, '${POSTPONED}', 1, ${NOW}, 'healthy', NULL, NULL, NULL, NULL, NULL),
  (9, 5, '${NIGHTLY}', 2, ${NOW - 2 * DAY}, 'start', NULL, NULL, NULL, '192.0.2.1', 'run'),
  (400001, 9, '${NIGHTLY}', 3, ${NOW - DAY}, 'healthy', 0, 'third', 9, '192.0.2.1', 'run');
INSERT INTO check_in_outputs VALUES (6, 'of nobody'), (7, 'trace');
INSERT INTO first_check_ins VALUES ('${NIGHTLY}', ${NOW - DAY}), ('${NIGHTLY}', ${NOW - 3 * DAY}), ('${GONE}', ${NOW});
INSERT INTO flapping VALUES ('${FLAPPY}', ${NOW - HOUR}, ${NOW}, ${NOW + MINUTE}, 4, 'alert_flap', '${LAST}');
INSERT INTO blind_windows VALUES (1, ${NOW - HOUR}, ${NOW - 30 * MINUTE}, NULL), (2, ${NOW - MINUTE}, ${NOW}, '${FLAPPY}');
INSERT INTO postponements VALUES
  (1, '${OTHER}', '${POSTPONED}', ${NOW + HOUR}, ${NOW + 3 * HOUR}), (1, '${CASE}', '${GONE}', ${NOW}, ${NOW + HOUR});
`;

/** A database as the fifth migration leaves it. */
function writeVersion5(dataDir: string): void {
  prepareDataDir(dataDir);
  const db = new Database(databasePath(dataDir));
  try {
    db.pragma('journal_mode = WAL');
    migrate(db, migrations.slice(0, 5));
    db.exec(CONTENT);
  } finally {
    db.close();
  }
}

interface World {
  dataDir: string;
  store: Store;
}

const upgrade = suite<World>('upgrade to narrow keys');

upgrade.before.each((world) => {
  const dataDir = temporaryDirectory();
  writeVersion5(dataDir);
  Object.assign(world, { dataDir, store: openStore({ dataDir, clock: () => NOW }) });
});

upgrade.after.each(async ({ dataDir, store }) => {
  await store.close();
  rmSync(dataDir, { recursive: true });
});

upgrade('snitches, their tags and their counts', async ({ store }) => {
  const list = async (caseId: string, tags: string[]) =>
    (await store.listSnitches(caseId, { after: 0, limit: 10, tags })).snitches.map(({ token }) => token);
  assert.equal(await list(CASE, []), [NIGHTLY, FLAPPY]);
  assert.equal(await list(CASE, ['prod']), [NIGHTLY, FLAPPY]);
  assert.equal(await list(CASE, ['db']), [NIGHTLY]);
  assert.equal(await list(OTHER, ['prod']), []);
  assert.equal((await store.census()).snitches, { healthy: 2, errored: 1 });
  assert.is(await store.roomForSnitches(OTHER), 9);
  const { owned } = await store.listOwnership(CASE, { after: 0, limit: 10 });
  assert.equal(owned, [{ token: NIGHTLY, owner: 'jobs.yaml' }]);
});

upgrade('the log of each, in its order, and what was learned', async ({ store, dataDir }) => {
  const logged = await store.listCheckIns(CASE, NIGHTLY, { limit: 10, before: null });
  assert.equal(
    logged?.map(({ id, message, durationMs }) => [id, message, durationMs]),
    [
      [400001, 'third', 9],
      [9, null, null],
      [5, 'first', null],
    ],
  );
  assert.equal((await store.findLearned(NIGHTLY)).firstCheckIns, [NOW - 3 * DAY, NOW - DAY]);
  assert.equal((await store.findLearned(FLAPPY)).firstCheckIns, []);
  const [error] = (await store.listCheckIns(CASE, FLAPPY, { limit: 10, before: null })) ?? [];
  assert.equal([error?.exitStatus, error?.output], [2, 'trace']);
  assert.equal(queryDirectory(dataDir, 'SELECT id FROM check_ins WHERE id = 6'), []);
  assert.equal(queryDirectory(dataDir, 'SELECT check_in_id AS id FROM check_in_outputs'), [{ id: 7 }]);
});

upgrade('deadlines, and what blind windows did to them', async ({ store }) => {
  const state = (await store.getSnitch(OTHER, POSTPONED))?.state;
  assert.equal([state?.dueAt, state?.movedFrom, state?.postponed], [NOW + 3 * HOUR, NOW + HOUR, 1]);
  assert.equal(await store.listPostponements(OTHER, POSTPONED, 5), [
    { start: NOW - HOUR, end: NOW - 30 * MINUTE, dueAt: NOW + 3 * HOUR },
  ]);
  assert.equal((await store.applyDue(NOW + HOUR, null, 10)).changed, 1);
  assert.is((await store.getSnitch(CASE, FLAPPY))?.state.status, 'failed');
});

upgrade(
  'a window that was being worked through is worked through again, once',
  async ({ store, dataDir }) => {
    assert.equal(queryDirectory(dataDir, 'SELECT cursor FROM blind_windows ORDER BY id'), [
      { cursor: null },
      { cursor: 0 },
    ]);
    while (await store.postponeSlice(NOW));
    assert.equal(queryDirectory(dataDir, 'SELECT id FROM blind_windows WHERE cursor IS NOT NULL'), []);
  },
);

upgrade('a snitch that flaps goes on flapping', async ({ store, dataDir }) => {
  await checkIn(store, FLAPPY, NOW + 1);
  assert.equal(queryDirectory(dataDir, 'SELECT untold, alert_id FROM flapping'), [
    { untold: 5, alert_id: 'alert_flap' },
  ]);
});

upgrade('a new snitch gets a number that none had before', async ({ store, dataDir }) => {
  await store.deleteSnitch(OTHER, POSTPONED);
  const fields = { name: 'new', notes: '', tags: [], alertEmail: [] };
  await store.createSnitch(OTHER, { ...fields, interval: 'daily', alertType: 'basic' }, NOW);
  assert.equal(queryDirectory(dataDir, `SELECT id FROM snitches WHERE name = 'new'`), [{ id: 250005 }]);
});

upgrade.run();

const told = suite('progress of an upgrade');

told('each walk reports its progress, up to its end', () => {
  const dataDir = temporaryDirectory();
  writeVersion5(dataDir);
  const db = new Database(databasePath(dataDir));
  try {
    const progress: MigrationProgress[] = [];
    migrate(db, migrations, (one) => progress.push(one));
    const ofCheckIns = progress.filter(({ table }) => table === 'check_ins');
    assert.equal(
      ofCheckIns.map(({ done }) => done),
      [50_000, 100_000, 150_000, 200_000, 250_000, 300_000, 350_000, 399_997],
    );
    assert.ok(ofCheckIns.every(({ total }) => total === 399_997));
    assert.ok(progress.some(({ table }) => table === 'snitches'));
  } finally {
    db.close();
    rmSync(dataDir, { recursive: true });
  }
});

told.run();
