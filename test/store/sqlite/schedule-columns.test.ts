/** The upgrade from the sixth schema, in which intervals alone said when a job is due. */
import { rmSync } from 'node:fs';
import Database from 'better-sqlite3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { migrations } from '../../../src/store/migrations/index.ts';
import { databasePath, prepareDataDir } from '../../../src/store/sqlite/connection.ts';
import { migrate } from '../../../src/store/sqlite/migrate.ts';
import { checkIn, DAY, HOUR, NOW, openIn, snitchOf, sweep, temporaryDirectory } from '../fixture.ts';

const CASE = 'case_aaaaaaaaaaaaaaaa';

/** One that waits and one that failed, as the version before wrote them. */
const CONTENT = `
INSERT INTO cases VALUES ('${CASE}', 'Operations', 'UTC', '[]', 'period', 1, NULL, 0, 1);
INSERT INTO snitches (id, token, case_id, name, notes, tags, alert_email, created_at) VALUES
  (3, 'waits', '${CASE}', 'waits', '', '[]', '[]', 3), (9, 'failed', '${CASE}', 'failed', '', '[]', '[]', 4);
INSERT INTO snitch_states (id, case_id, interval, alert_type, status, checked_in_at, last_check_in_at, due_at, look_at,
    postponed, check_in_count) VALUES
  (3, '${CASE}', 'hourly', 'basic', 'healthy', ${NOW}, ${NOW}, ${NOW + HOUR}, ${NOW + HOUR}, 0, 1),
  (9, '${CASE}', 'daily', 'smart', 'failed', ${NOW - 3 * DAY}, ${NOW - 3 * DAY}, ${NOW + DAY}, ${NOW + DAY}, 0, 1);
INSERT INTO status_counts VALUES ('${CASE}', 'healthy', 1), ('${CASE}', 'failed', 1);
`;

function writeVersion6(dataDir: string): void {
  prepareDataDir(dataDir);
  const db = new Database(databasePath(dataDir));
  try {
    db.pragma('journal_mode = WAL');
    migrate(db, migrations.slice(0, 6));
    db.exec(CONTENT);
  } finally {
    db.close();
  }
}

const upgrade = suite('upgrade to schedules');

upgrade('snitches go on by their intervals, and may have a schedule from then on', async () => {
  const dataDir = temporaryDirectory();
  try {
    writeVersion6(dataDir);
    await using store = openIn(dataDir);
    const owner = { id: CASE };
    const { state } = await snitchOf(store, owner, 'waits');
    assert.equal([state.schedule, state.timezone, state.grace], [null, null, null]);
    assert.equal([state.interval, state.dueAt], ['hourly', NOW + HOUR]);
    assert.is((await snitchOf(store, owner, 'failed')).state.status, 'failed');
    assert.is(await sweep(store, NOW + HOUR), 1);
    await checkIn(store, 'waits', NOW + HOUR);
    const changes = { schedule: { every: 5_400 }, grace: 60 };
    await store.updateSnitch(CASE, 'waits', changes, NOW + HOUR);
    assert.is((await snitchOf(store, owner, 'waits')).state.dueAt, NOW + HOUR + 5_460_000);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
});

upgrade.run();
