/** A database as the very first version of the program left it, to try upgrades on. */
import Database from 'better-sqlite3';
import { migrations } from '../../src/store/migrations/index.ts';
import { migrate } from '../../src/store/sqlite/migrate.ts';
import { byToken } from './by-token.ts';
import { databaseIn, flush, plan } from './jobs-database.ts';
import { usualScene } from './scene.ts';
import { place, run } from './statements.ts';

const CASE = 'case_aaaaaaaaaaaaaaaa';

/** Writes daily snitches of one case, with one check-in each on each of `history` nights. */
export function writeFirstVersion(
  dataDir: string,
  { count, history }: { count: number; history: number },
): void {
  const { jobs, midnight, tokens } = plan(dataDir, { count, history, now: Date.now() });
  const db = new Database(databaseIn(dataDir));
  try {
    // Nobody needs the file if this fails.
    for (const quick of ['cache_size = -1000000', 'journal_mode = OFF', 'synchronous = OFF'])
      db.pragma(quick);
    migrate(db, migrations.slice(0, 1));
    db.exec(`INSERT INTO cases VALUES ('${CASE}', 'night', 'UTC', '[]', 'off', 1, NULL, 0, ${jobs.first})`);
    db.transaction(() => {
      byToken.fill(db, CASE, tokens, jobs);
      const at = `:lastDay + (SELECT ${place('id')} FROM snitches AS s WHERE s.token = t.token) * :spread / :count`;
      run(
        db,
        `UPDATE snitch_states AS t SET due_at = :dueAt, checked_in_at = ${at}, last_check_in_at = ${at}`,
        jobs,
        usualScene(midnight),
      );
    })();
    db.pragma('journal_mode = WAL');
  } finally {
    db.close();
  }
  flush(dataDir);
}
