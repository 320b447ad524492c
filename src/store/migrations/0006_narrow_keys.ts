/**
 * What changes at every check-in is keyed by the number of the snitch instead of its token, and a check-in writes one
 * row of it and one of the log, whichever check-in of its period it is:
 *
 * - The places that smart deadlines learn from stand in the row of the state, six bytes for each instant, ascending.
 * - The sweep finds what is due by `look_at`, which is never later than `due_at`. A check-in moves only `due_at`, so
 *   that it leaves the index alone; the sweep moves `look_at` after it.
 * - A number is never given twice (AUTOINCREMENT), because the log of a deleted snitch is pruned much later.
 *
 * Tags have an index, and how many snitches a case has in each status is counted where it changes.
 */
import type { Step } from './migration.ts';

const SNITCHES: Step[] = [
  `CREATE TABLE new_snitches (
     id INTEGER PRIMARY KEY AUTOINCREMENT,
     token TEXT NOT NULL,
     case_id TEXT NOT NULL,
     name TEXT NOT NULL,
     notes TEXT NOT NULL,
     tags TEXT NOT NULL,
     alert_email TEXT NOT NULL,
     created_at BIGINT NOT NULL,
     owner TEXT
   );`,
  {
    over: 'snitches',
    sql: `INSERT INTO new_snitches (id, token, case_id, name, notes, tags, alert_email, created_at, owner)
          SELECT id, token, case_id, name, notes, tags, alert_email, created_at, owner
          FROM snitches WHERE id > ? AND id <= ? ORDER BY id`,
  },
  `DROP TABLE snitches;
   ALTER TABLE new_snitches RENAME TO snitches;
   CREATE UNIQUE INDEX snitches_by_token ON snitches (token);
   CREATE INDEX snitches_of_case ON snitches (case_id, id);`,
];

const STATES: Step[] = [
  `CREATE TABLE new_states (
     id INTEGER PRIMARY KEY,
     case_id TEXT NOT NULL,
     interval TEXT NOT NULL,
     alert_type TEXT NOT NULL,
     status TEXT NOT NULL,
     checked_in_at BIGINT,
     last_check_in_at BIGINT,
     -- Null when nothing is awaited.
     due_at BIGINT,
     -- When the sweep looks at the row: never later than due_at.
     look_at BIGINT,
     pause_kind TEXT,
     pause_until BIGINT,
     remembered TEXT,
     postponed INTEGER NOT NULL,
     moved_from BIGINT,
     paused_at BIGINT,
     thread_id TEXT,
     open_start_at BIGINT,
     last_check_in_id BIGINT,
     check_in_count BIGINT NOT NULL,
     -- The first check-ins of the last periods: milliseconds in six bytes each, big-endian, ascending.
     first_check_ins BLOB
   );`,
  {
    over: 'snitches',
    sql: `INSERT INTO new_states (id, case_id, interval, alert_type, status, checked_in_at, last_check_in_at, due_at,
            look_at, pause_kind, pause_until, remembered, postponed, moved_from, paused_at, thread_id, open_start_at,
            last_check_in_id, check_in_count, first_check_ins)
          SELECT n.id, s.case_id, s.interval, s.alert_type, s.status, s.checked_in_at, s.last_check_in_at, s.due_at,
            s.due_at, s.pause_kind, s.pause_until, s.remembered, s.postponed, s.moved_from, s.paused_at, s.thread_id,
            s.open_start_at, s.last_check_in_id, s.check_in_count,
            (SELECT unhex(group_concat(printf('%012x', MAX(0, f.at)), '' ORDER BY f.at))
             FROM first_check_ins AS f WHERE f.token = n.token)
          FROM snitches AS n CROSS JOIN snitch_states AS s ON s.token = n.token
          WHERE n.id > ? AND n.id <= ? ORDER BY n.id`,
  },
  `DROP TABLE first_check_ins;
   DROP TABLE snitch_states;
   ALTER TABLE new_states RENAME TO snitch_states;
   CREATE INDEX snitch_states_to_look_at ON snitch_states (look_at) WHERE look_at IS NOT NULL;`,
];

const CHECK_INS: Step[] = [
  `CREATE TABLE new_check_ins (
     id INTEGER PRIMARY KEY,
     previous_id BIGINT,
     snitch_id BIGINT NOT NULL,
     number BIGINT NOT NULL,
     at BIGINT NOT NULL,
     outcome TEXT NOT NULL,
     exit_status INTEGER,
     message TEXT,
     duration_ms BIGINT,
     source TEXT,
     run_id TEXT
   );`,
  {
    over: 'check_ins',
    sql: `INSERT INTO new_check_ins (id, previous_id, snitch_id, number, at, outcome, exit_status, message,
            duration_ms, source, run_id)
          SELECT c.id, c.previous_id, n.id, c.number, c.at, c.outcome, c.exit_status, c.message, c.duration_ms,
            c.source, c.run_id
          FROM check_ins AS c CROSS JOIN snitches AS n ON n.token = c.token
          WHERE c.id > ? AND c.id <= ? ORDER BY c.id`,
  },
  // The log of deleted snitches stays behind, which the pruning would have removed.
  `DROP TABLE check_ins;
   ALTER TABLE new_check_ins RENAME TO check_ins;
   DELETE FROM check_in_outputs WHERE check_in_id NOT IN (SELECT id FROM check_ins);`,
];

const FLAPPING: Step[] = [
  `CREATE TABLE new_flapping (
     snitch_id INTEGER PRIMARY KEY,
     since BIGINT NOT NULL,
     changed_at BIGINT NOT NULL,
     settle_at BIGINT NOT NULL,
     untold BIGINT NOT NULL,
     -- The alert that opened the flapping: what is told of it later joins its thread.
     alert_id TEXT NOT NULL,
     -- The last change, as the alert of it would be.
     last TEXT NOT NULL
   );
   INSERT INTO new_flapping (snitch_id, since, changed_at, settle_at, untold, alert_id, last)
     SELECT n.id, f.since, f.changed_at, f.settle_at, f.untold, f.alert_id, f.last
     FROM flapping AS f JOIN snitches AS n ON n.token = f.token;
   DROP TABLE flapping;
   ALTER TABLE new_flapping RENAME TO flapping;
   CREATE INDEX flapping_to_settle ON flapping (settle_at);`,
];

/** A window that was being worked through begins at its front: a window postpones a deadline only once. */
const BLIND_WINDOWS: Step[] = [
  `CREATE TABLE new_windows (
     id INTEGER PRIMARY KEY AUTOINCREMENT,
     started_at BIGINT NOT NULL,
     ended_at BIGINT NOT NULL,
     -- The last snitch that was looked at for postponement; null when all were.
     cursor BIGINT
   );
   INSERT INTO new_windows (id, started_at, ended_at, cursor)
     SELECT id, started_at, ended_at, CASE WHEN cursor IS NULL THEN NULL ELSE 0 END FROM blind_windows;
   DROP TABLE blind_windows;
   ALTER TABLE new_windows RENAME TO blind_windows;
   CREATE TABLE new_postponements (
     window_id BIGINT NOT NULL,
     case_id TEXT NOT NULL,
     snitch_id BIGINT NOT NULL,
     due_before BIGINT,
     due_at BIGINT,
     PRIMARY KEY (window_id, case_id, snitch_id)
   ) WITHOUT ROWID;
   INSERT INTO new_postponements (window_id, case_id, snitch_id, due_before, due_at)
     SELECT p.window_id, p.case_id, n.id, p.due_before, p.due_at
     FROM postponements AS p JOIN snitches AS n ON n.token = p.token;
   DROP TABLE postponements;
   ALTER TABLE new_postponements RENAME TO postponements;`,
];

const TAGS_AND_COUNTS: Step[] = [
  `CREATE TABLE snitch_tags (
     case_id TEXT NOT NULL,
     tag TEXT NOT NULL,
     snitch_id BIGINT NOT NULL,
     PRIMARY KEY (case_id, tag, snitch_id)
   ) WITHOUT ROWID;`,
  {
    over: 'snitches',
    sql: `INSERT INTO snitch_tags (case_id, tag, snitch_id)
          SELECT DISTINCT s.case_id, t.value, s.id FROM snitches AS s, json_each(CASE WHEN json_valid(s.tags) THEN s.tags ELSE '[]' END) AS t
          WHERE s.id > ? AND s.id <= ?`,
  },
  `CREATE TABLE status_counts (
     case_id TEXT NOT NULL,
     status TEXT NOT NULL,
     count BIGINT NOT NULL,
     PRIMARY KEY (case_id, status)
   ) WITHOUT ROWID;
   INSERT INTO status_counts (case_id, status, count)
     SELECT case_id, status, COUNT(*) FROM snitch_states GROUP BY case_id, status;`,
];

export const steps: Step[] = [
  ...SNITCHES,
  ...STATES,
  ...CHECK_INS,
  ...FLAPPING,
  ...BLIND_WINDOWS,
  ...TAGS_AND_COUNTS,
];
