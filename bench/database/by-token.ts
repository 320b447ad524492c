/** The schema up to version 5: check-ins and states are keyed by the token. */
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

const PLACE_OF_STATE = `(SELECT ${place('s.id')} FROM snitches AS s WHERE s.token = snitch_states.token)`;

export const byToken: Tables = {
  fill(db, caseId, tokens, jobs) {
    insertSnitches(db, caseId, tokens, jobs);
    run(
      db,
      `INSERT INTO snitch_states (token, case_id, interval, alert_type, status, postponed, last_check_in_id,
         check_in_count)
       SELECT token, case_id, 'daily', 'basic', 'healthy', 0, (:history - 1) * :count + ${place('id')} + 1, :history
       FROM snitches ORDER BY token`,
      jobs,
    );
    insertCheckIns(db, jobs, { column: 'token', value: 'token' });
    run(
      db,
      `WITH RECURSIVE days(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM days WHERE n + 1 < :history)
       INSERT INTO first_check_ins (token, at)
       SELECT token, :first + n * :day + ${place('id')} * :spread / :count
       FROM (SELECT id, token FROM snitches ORDER BY token) CROSS JOIN days`,
      jobs,
    );
  },
  arm(db, jobs, scene) {
    db.exec(FORGET);
    run(
      db,
      `UPDATE snitch_states SET status = 'healthy', thread_id = NULL, postponed = 0, moved_from = NULL,
         due_at = :dueAt, checked_in_at = :lastDay + ${PLACE_OF_STATE} * :spread / :count,
         last_check_in_at = :lastDay + ${PLACE_OF_STATE} * :spread / :count
       WHERE due_at IS NOT :dueAt OR status <> 'healthy'
         OR last_check_in_at NOT BETWEEN :lastDay AND :lastDay + :spread`,
      jobs,
      scene,
    );
    run(
      db,
      `UPDATE snitch_states SET due_at = :failAt, checked_in_at = checked_in_at - :day,
         last_check_in_at = last_check_in_at - :day
       WHERE token IN (SELECT token FROM snitches WHERE ${place('id')} < :failing)`,
      jobs,
      scene,
    );
  },
  alertsSince,
  isWaiting: (db, instant) =>
    db.prepare('SELECT 1 FROM snitch_states WHERE due_at <= ? LIMIT 1').get(instant) !== undefined,
  isPostponed,
  readList: (db) => readList(db, 't.token = s.token'),
};
