/** The schema from version 6 on: check-ins and states are keyed by the number of the snitch. */
import type Database from 'better-sqlite3';
import type { Jobs } from './scene.ts';
import {
  alertsSince,
  FORGET,
  insertCheckIns,
  insertSnitches,
  isPostponed,
  place,
  readList,
  run,
} from './statements.ts';
import type { Tables } from './tables.ts';

/** How many first check-ins are kept for each snitch. */
const LEARNED = 50;

/** The check-in of the last day of the history. A state that is reset must name it again: the list looks it up. */
const LAST_OF_HISTORY = `(:history - 1) * :count + ${place('id')} + 1`;

export const byNumber: Tables = {
  fill(db, caseId, tokens, jobs) {
    insertSnitches(db, caseId, tokens, jobs);
    insertStates(db, jobs);
    insertCheckIns(db, jobs, { column: 'snitch_id', value: 'id' });
    db.exec(
      `INSERT INTO snitch_tags (case_id, tag, snitch_id) SELECT case_id, 'nightly', id FROM snitches ORDER BY id`,
    );
  },
  arm(db, jobs, scene) {
    db.exec(FORGET);
    const at = `:lastDay + ${place('id')} * :spread / :count`;
    run(
      db,
      `UPDATE snitch_states SET status = 'healthy', thread_id = NULL, postponed = 0, moved_from = NULL,
         due_at = :dueAt, look_at = :lookAt, checked_in_at = ${at}, last_check_in_at = ${at},
         last_check_in_id = ${LAST_OF_HISTORY}
       WHERE due_at IS NOT :dueAt OR look_at IS NOT :lookAt OR status <> 'healthy'
         OR last_check_in_at NOT BETWEEN :lastDay AND :lastDay + :spread`,
      jobs,
      scene,
    );
    run(
      db,
      `UPDATE snitch_states SET due_at = :failAt, look_at = :failAt, checked_in_at = checked_in_at - :day,
         last_check_in_at = last_check_in_at - :day
       WHERE ${place('id')} < :failing`,
      jobs,
      scene,
    );
    db.exec(
      `DELETE FROM status_counts;
       INSERT INTO status_counts (case_id, status, count)
         SELECT case_id, status, COUNT(*) FROM snitch_states GROUP BY case_id, status`,
    );
  },
  alertsSince,
  isWaiting: (db, instant) =>
    db.prepare('SELECT 1 FROM snitch_states WHERE look_at <= ? LIMIT 1').get(instant) !== undefined,
  isPostponed,
  readList: (db) => readList(db, 't.id = s.id'),
};

/** The row itself holds the first check-ins of the last periods: six bytes each, big-endian, ascending. */
function insertStates(db: Database.Database, jobs: Jobs): void {
  const kept = Math.min(jobs.history, LEARNED);
  const days = Array.from({ length: kept }, (_, index) => jobs.history - kept + index);
  const instants = days.map((day) => `:first + ${day} * :day + ${place('id')} * :spread / :count`);
  const packed = `unhex(printf('${'%012x'.repeat(kept)}', ${instants.join(', ')}))`;
  run(
    db,
    `INSERT INTO snitch_states (id, case_id, interval, alert_type, status, postponed, last_check_in_id,
       check_in_count, first_check_ins)
     SELECT id, case_id, 'daily', 'basic', 'healthy', 0, ${LAST_OF_HISTORY}, :history, ${packed}
     FROM snitches ORDER BY id`,
    jobs,
  );
}
