/** What the statements of all forms of the schema share. */
import type Database from 'better-sqlite3';
import { DAY } from '../../src/text/durations.ts';
import type { Jobs, Scene } from './scene.ts';

/**
 * The place of a snitch in the order in which the jobs check in, from 0: a permutation unrelated to any other order.
 */
export function place(id: string): string {
  return `((${id} * :stride) % :count)`;
}

/** Deletes what was decided, and every sign that a daemon was ever alive: then no time counts as blind. */
export const FORGET = `
  DELETE FROM alerts; DELETE FROM deliveries; DELETE FROM flapping; DELETE FROM blind_windows;
  DELETE FROM postponements; DELETE FROM settings WHERE name IN ('liveness', 'stopped');`;

/** The jobs in the order in which they check in, so that rows inserted from it get their ids in this order. */
const NIGHT = `
  CREATE TEMP TABLE night (
    place INTEGER PRIMARY KEY, id INTEGER NOT NULL, token TEXT NOT NULL, source TEXT NOT NULL
  )`;

export function insertSnitches(
  db: Database.Database,
  caseId: string,
  tokens: readonly string[],
  { first }: Jobs,
): void {
  const insert = db.prepare(
    `INSERT INTO snitches (id, token, case_id, name, notes, tags, alert_email, created_at)
     VALUES (?, ?, ?, 'job ' || ? || ' on a host', '', '["nightly"]', '[]', ?)`,
  );
  tokens.forEach((token, index) => {
    insert.run(index + 1, token, caseId, index + 1, first - DAY);
  });
}

/** The log of all days. @param key the column that names the snitch, and what it holds of `night` */
export function insertCheckIns(
  db: Database.Database,
  jobs: Jobs,
  key: { column: string; value: 'id' | 'token' },
): void {
  db.exec(NIGHT);
  const order = place('id');
  run(
    db,
    `INSERT INTO night SELECT ${order}, id, token, '192.0.2.' || (id % 200) FROM snitches ORDER BY ${order}`,
    jobs,
  );
  for (let day = 0; day < jobs.history; day += 1) {
    run(
      db,
      `INSERT INTO check_ins (id, previous_id, ${key.column}, number, at, outcome, source)
       SELECT :n * :count + place + 1, CASE WHEN :n > 0 THEN (:n - 1) * :count + place + 1 END, ${key.value}, :n + 1,
         :first + :n * :day + place * :spread / :count, 'healthy', source
       FROM night ORDER BY place`,
      { ...jobs, n: day },
    );
  }
  db.exec('DROP TABLE night');
}

export function alertsSince(db: Database.Database, instant: number): number {
  return Number(db.prepare('SELECT COUNT(*) FROM alerts WHERE at >= ?').pluck().get(instant));
}

/** A blind window has a cursor until all its deadlines are postponed. */
export function isPostponed(db: Database.Database): boolean {
  const windows = db
    .prepare('SELECT COUNT(*) AS opened, COUNT(cursor) AS unfinished FROM blind_windows')
    .get();
  const { opened, unfinished } = windows as { opened: number; unfinished: number };
  return opened > 0 && unfinished === 0;
}

/** Sets when the daemon was last seen alive. */
export function setLiveness(db: Database.Database, instant: number): void {
  db.prepare(
    `INSERT INTO settings (name, value) VALUES ('liveness', ?)
     ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
  ).run(String(instant));
}

/** Runs a statement, with the values of `jobs` and `scene` as its named parameters. */
export function run(
  db: Database.Database,
  sql: string,
  jobs: Jobs & { n?: number },
  scene: Partial<Scene> = {},
): void {
  const values: Record<string, number> = { ...jobs, ...scene, day: DAY };
  const named = [...sql.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
  // SQLite divides as integers only if both operands are, and a plain JavaScript number would be bound as a real.
  db.prepare(sql).run(Object.fromEntries(named.map((name) => [name, BigInt(values[name] ?? 0)])));
}

/** All that a list of snitches shows. @param joined the condition that joins the state `t` to the snitch `s` */
export function readList(db: Database.Database, joined: string): unknown[] {
  return db
    .prepare(
      `SELECT s.id, s.token, s.name, s.notes, s.tags, s.alert_email, s.created_at, t.interval, t.alert_type,
         t.status, t.checked_in_at, t.last_check_in_at, t.due_at, c.at, c.outcome, c.exit_status, c.message
       FROM snitches AS s JOIN snitch_states AS t ON ${joined}
         LEFT JOIN check_ins AS c ON c.id = t.last_check_in_id
       WHERE s.case_id = (SELECT id FROM cases LIMIT 1) ORDER BY s.id`,
    )
    .all();
}
