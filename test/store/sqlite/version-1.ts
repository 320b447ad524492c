/** A database as the first migration alone makes it, with rows as the program of that time wrote them. */
import { copyFileSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { migrations } from '../../../src/store/migrations/index.ts';
import { unpackInstants } from '../../../src/store/operations/packed/instants.ts';
import { databasePath } from '../../../src/store/sqlite/connection.ts';
import { DAY, HOUR, MINUTE, NOW, queryDirectory, temporaryDirectory } from '../fixture.ts';
import { type Content, contentOf } from './content.ts';

export const CASE = 'case_puhkzsog3gfsom5f';
export const BILLING = 'case_yos6ojby3gkxdca5';
export const ADMIN_KEY = 'snk_GreZZDnCCEA12mIGvb1HPQerXyxj9NCrDCSw3hTG';
export const WRITE_KEY = 'snk_rRtBmgFaLE9oxRoyTGZOYrxNpH6pxffddJAZsFQ8';
export const BACKUP = 'tdp3fgnvd3mtomjdoixluplpne';
export const CHECK = 'heunh4kltcz4v5rsg3scs5zrav';
export const REPORT = 'ngdhq7pqglvkqe3fkgcmedz5nv';
export const INVOICES = 'leoppszmzxs4y3zuo6de7amoto';
export const WEBHOOK = 'hook_fflihev26wdiddig';

const FILED = `
INSERT INTO cases VALUES
  ('${CASE}', 'Operations', 'Europe/Paris', '["ann@example.com","bob@example.com"]', 'hourly', 1, NULL, 0, ${NOW - 40 * DAY}),
  ('${BILLING}', 'Billing', 'UTC', '[]', 'off', 0, 5, 1, ${NOW - 30 * DAY});
INSERT INTO api_keys VALUES
  ('key_rshxxhkj74ahenya', NULL, 'first start', 'admin',
   '95d728e72a94ed50773cf4f725fd51d9af2a24a9425f7452027c1f54f7118ef9', ${NOW - 40 * DAY}, NULL),
  ('key_yl2763h6jigzmovi', '${CASE}', 'first start', 'write',
   '0fe11276d180892d71ccb2859530b6c4b68b7dd1c833d688124559bd13509695', ${NOW - 40 * DAY}, ${NOW});
INSERT INTO snitches VALUES
  (1, '${BACKUP}', '${CASE}', 'nightly-backup', 'Run by **cron** on db1', '["backup","db"]', '[]', ${NOW - 39 * DAY}),
  (2, '${CHECK}', '${CASE}', 'Größe prüfen', '', '[]', '["carol@example.com"]', ${NOW - 38 * DAY}),
  (3, '${REPORT}', '${CASE}', 'weekly report', '', '[]', '[]', ${NOW - 37 * DAY}),
  (7, '${INVOICES}', '${BILLING}', 'invoices', '', '[]', '[]', ${NOW - 29 * DAY});
INSERT INTO snitch_states VALUES
  ('${BACKUP}', '${CASE}', 'daily', 'smart', 'healthy', ${NOW - DAY + 3 * MINUTE}, ${NOW - DAY + 3 * MINUTE},
   ${NOW + 12 * HOUR}, NULL, NULL, NULL, 1, NULL, ${NOW - MINUTE}, 3, 3),
  ('${CHECK}', '${CASE}', 'hourly', 'basic', 'failed', ${NOW - 5 * HOUR}, ${NOW - 5 * HOUR},
   ${NOW + 40 * MINUTE}, NULL, NULL, NULL, 0, 'alert_w5q4uz24cdhee7qm', NULL, 4, 1),
  ('${REPORT}', '${CASE}', 'weekly', 'basic', 'paused', ${NOW - DAY}, ${NOW - DAY},
   ${NOW + 2 * DAY}, 'time', ${NOW + 2 * DAY}, 'healthy', 0, NULL, NULL, 5, 1),
  ('${INVOICES}', '${BILLING}', '15_minute', 'basic', 'errored', NULL, ${NOW - 10 * MINUTE},
   ${NOW + 10 * MINUTE}, NULL, NULL, NULL, 0, 'alert_npc3fy25rxcvbs72', NULL, 6, 1);
INSERT INTO webhooks VALUES
  ('${WEBHOOK}', '${CASE}', 'https://user:password@hooks.example.com/snitch',
   'whsec_2mlba4uSaJD8SxKRqOKrpwSmeVPrR7jB', 'whsec_j3Vk6slbG15WyTZTaP0qE1aErtEENWVx', ${NOW + DAY}, ${NOW - 39 * DAY});
`;

const HAPPENED = `
INSERT INTO check_ins VALUES
  (1, NULL, '${BACKUP}', 1, ${NOW - DAY}, 'start', NULL, NULL, NULL, '192.0.2.7', 'run-1'),
  (2, 1, '${BACKUP}', 2, ${NOW - DAY + 3 * MINUTE}, 'healthy', 0, '1.2 GB', ${3 * MINUTE}, '192.0.2.7', 'run-1'),
  (3, 2, '${BACKUP}', 3, ${NOW - MINUTE}, 'start', NULL, NULL, NULL, '192.0.2.7', NULL),
  (4, NULL, '${CHECK}', 1, ${NOW - 5 * HOUR}, 'healthy', NULL, NULL, NULL, '2001:db8::7', NULL),
  (5, NULL, '${REPORT}', 1, ${NOW - DAY}, 'healthy', NULL, NULL, NULL, NULL, NULL),
  (6, NULL, '${INVOICES}', 1, ${NOW - 10 * MINUTE}, 'error', 3, 'disk full', NULL, NULL, NULL);
INSERT INTO check_in_outputs VALUES (2, 'copied' || char(10) || 'done' || char(10)), (6, '${'x'.repeat(9_000)}');
INSERT INTO first_check_ins VALUES
  ('${BACKUP}', ${NOW - 2 * DAY}), ('${BACKUP}', ${NOW - DAY + 3 * MINUTE}), ('${CHECK}', ${NOW - 5 * HOUR});
INSERT INTO alerts VALUES
  ('alert_w5q4uz24cdhee7qm', '${CASE}', '${CHECK}', 'snitch.missing', ${NOW - HOUR},
   '{"token":"${CHECK}","name":"Größe prüfen","notes":"","tags":[],"status":"missing","previous_status":"healthy"}',
   '{"interval":"hourly","checkedInAt":${NOW - 5 * HOUR},"lastCheckInAt":${NOW - 5 * HOUR},"deadlineAt":${NOW - HOUR},"nextDueAt":${NOW + 40 * MINUTE},"message":null,"exitStatus":null,"threadId":null}', NULL),
  ('alert_npc3fy25rxcvbs72', '${BILLING}', '${INVOICES}', 'snitch.errored', ${NOW - 10 * MINUTE},
   '{"token":"${INVOICES}","name":"invoices","notes":"","tags":[],"status":"errored","previous_status":"pending"}',
   '{"interval":"15_minute","checkedInAt":null,"lastCheckInAt":${NOW - 10 * MINUTE},"deadlineAt":null,"nextDueAt":${NOW + 10 * MINUTE},"message":"disk full","exitStatus":3,"threadId":null}', NULL),
  ('alert_ratwtgyvuafy7jqi', '${CASE}', NULL, 'service.blind', ${NOW - 2 * HOUR}, NULL, NULL,
   '{"start":${NOW - 3 * HOUR},"end":${NOW - 2 * HOUR},"postponed":["nightly-backup"],"postponedCount":1}');
INSERT INTO deliveries VALUES
  (11, '${CASE}', 'alert_ratwtgyvuafy7jqi', 'email', 'ann@example.com', 'delivered', 1, 1, 0, NULL, NULL, ${NOW - HOUR}),
  (12, '${CASE}', 'alert_ratwtgyvuafy7jqi', 'email', 'bob@example.com', 'dead', 9, 9, 0, '550 no such user', NULL, NULL),
  (13, '${CASE}', 'alert_w5q4uz24cdhee7qm', 'webhook', '${WEBHOOK}', 'pending', 2, 2, 0, 'status 503', ${NOW + MINUTE}, NULL),
  (14, '${CASE}', 'alert_w5q4uz24cdhee7qm', 'email', 'carol@example.com', 'pending', 1, 1, 1, NULL, ${NOW + MINUTE}, NULL);
UPDATE sqlite_sequence SET seq = 20 WHERE name = 'deliveries';
INSERT INTO blind_windows VALUES (1, ${NOW - 3 * HOUR}, ${NOW - 2 * HOUR}, NULL), (2, ${NOW - 3 * MINUTE}, ${NOW - MINUTE}, '');
INSERT INTO postponements VALUES (1, '${CASE}', '${BACKUP}');
INSERT INTO reschedules VALUES ('${CASE}', 1, 0);
INSERT INTO settings VALUES
  ('canary', '7'), ('credentials', 'made'), ('liveness', '${NOW - MINUTE}'), ('maintenance', 'on'), ('retention.cursor', '0');
`;

/** The form in which the first schema was settled, and those in which it was committed before under the same version. */
export const FORMS = (() => {
  const settled = String(migrations[0]);
  const withOldIndexes = settled
    .replace('ON webhooks (case_id, created_at, id)', 'ON webhooks (case_id)')
    .replace('(channel, target, next_attempt_at)', '(channel, target, case_id, next_attempt_at)');
  const withoutLeases = withOldIndexes.replace(/ {2}-- 1 while a sender has it.*\n {2}leased .*\n/, '');
  return { settled, withOldIndexes, withoutLeases };
})();

/**
 * Writes it to `dataDir` as a daemon leaves it that was killed: what happened last is only in the log.
 *
 * @param extra SQL for rows beside those
 * @param form of the schema
 */
export function writeVersion1(dataDir: string, extra = '', form = FORMS.settled): Content {
  const source = temporaryDirectory();
  const db = new Database(join(source, 'snitch.db'));
  try {
    db.pragma('journal_mode = WAL');
    db.pragma('wal_autocheckpoint = 0');
    db.exec(`${form}; PRAGMA user_version = 1; ${FILED}`);
    db.pragma('wal_checkpoint(TRUNCATE)');
    const hasLeases = form.includes('leased INTEGER');
    db.exec(hasLeases ? HAPPENED : HAPPENED.replace(/('(?:delivered|dead|pending)', \d+, \d+), \d+/g, '$1'));
    db.exec(extra);
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    for (const suffix of ['', '-wal']) copyFileSync(db.name + suffix, databasePath(dataDir) + suffix);
    return contentOf(db);
  } finally {
    db.close();
    rmSync(source, { recursive: true });
  }
}

const TOKEN = '(SELECT token FROM snitches AS n WHERE n.id = t.snitch_id) AS token';

/** Where the schema of today keeps what a column of the first one had, under another name. */
const MOVED: Record<string, Record<string, string>> = {
  snitch_states: { token: '(SELECT token FROM snitches AS n WHERE n.id = t.id) AS token' },
  check_ins: { token: TOKEN },
  postponements: { token: TOKEN },
  // What a window that was being worked through begins with: '' then, and 0 now.
  blind_windows: { cursor: "CASE cursor WHEN 0 THEN '' END AS cursor" },
};

/** The rows of `before`, as they are now in the database: of its tables and with its columns, in its order. */
export function rowsOfVersion1(dataDir: string, before: Content): Content['rows'] {
  const entries = Object.entries(before.rows).map(([table, rows]) => {
    if (table === 'first_check_ins') return [table, firstCheckInsIn(dataDir)];
    const columns = Object.keys(rows[0] as object).map((column) => MOVED[table]?.[column] ?? column);
    const ofThen = table === 'sqlite_sequence' ? ` WHERE name <> 'snitches'` : '';
    return [table, queryDirectory(dataDir, `SELECT ${columns.join()} FROM ${table} AS t${ofThen}`)];
  });
  return inOneOrder(Object.fromEntries(entries));
}

/** A table of the first schema that had no ids is in the order of its tokens, and today in that of its snitches. */
export function inOneOrder(rows: Content['rows']): Content['rows'] {
  const byToken = (one: unknown, other: unknown) => (tokenIn(one) < tokenIn(other) ? -1 : 1);
  const {
    snitch_states: states = [],
    first_check_ins: first = [],
    sqlite_sequence: ids = [],
    ...others
  } = rows;
  return {
    ...others,
    snitch_states: states.toSorted(byToken),
    first_check_ins: first.toSorted(byToken),
    sqlite_sequence: ids.toSorted((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1)),
  };
}

function tokenIn(row: unknown): string {
  const { token, at } = row as { token: string; at?: number };
  return `${token} ${at ?? ''}`;
}

function firstCheckInsIn(dataDir: string): unknown[] {
  const rows = queryDirectory<{ token: string; first_check_ins: Uint8Array }>(
    dataDir,
    'SELECT token, first_check_ins FROM snitches JOIN snitch_states USING (id) WHERE first_check_ins IS NOT NULL',
  );
  return rows.flatMap(({ token, first_check_ins: kept }) =>
    unpackInstants(kept).map((at) => ({ token, at })),
  );
}
