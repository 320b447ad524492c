/** What the benches must know about the tables in PostgreSQL: the same jobs in the same states as in SQLite. */
import type pg from 'pg';
import { DAY } from '../../src/text/durations.ts';
import type { Jobs, Scene } from '../database/scene.ts';
import { FORGET, place } from '../database/statements.ts';
import { connected } from './cluster.ts';

/** Tokens of one statement. */
const AT_ONCE = 50_000;

/** How many first check-ins are kept for each snitch. */
const LEARNED = 50;

const lastOfHistory = (id: string) => `(:history - 1) * :count + ${place(id)} + 1`;

/** Fills an empty database; the same as `Tables.fill`. */
export async function fill(
  url: string,
  caseId: string,
  tokens: readonly string[],
  jobs: Jobs,
): Promise<void> {
  await connected(url, async (client) => {
    await client.query('SET synchronous_commit = off');
    for (let from = 0; from < tokens.length; from += AT_ONCE) {
      await client.query(
        `INSERT INTO snitches (id, token, case_id, name, notes, tags, alert_email, created_at)
         SELECT $4 + n, token, $2, 'job ' || ($4 + n) || ' on a host', '', '["nightly"]', '[]', $3
         FROM unnest($1::text[]) WITH ORDINALITY AS t (token, n)`,
        [tokens.slice(from, from + AT_ONCE), caseId, jobs.first - DAY, from],
      );
    }
    await insertStates(client, jobs);
    await insertCheckIns(client, jobs);
    await client.query(
      `INSERT INTO snitch_tags (case_id, tag, snitch_id) SELECT case_id, 'nightly', id FROM snitches ORDER BY id`,
    );
    for (const table of ['snitches', 'check_ins'])
      await client.query(
        `SELECT setval(pg_get_serial_sequence('${table}', 'id'), (SELECT max(id) FROM ${table}))`,
      );
  });
}

async function insertStates(client: pg.Client, jobs: Jobs): Promise<void> {
  const kept = Math.min(jobs.history, LEARNED);
  const days = Array.from({ length: kept }, (_, index) => jobs.history - kept + index);
  const instants = days.map((day) => `:first + ${day} * :day + ${place('id')} * :spread / :count`);
  const packed = instants.map((instant) => `lpad(to_hex(${instant}), 12, '0')`).join(' || ');
  await run(
    client,
    `INSERT INTO snitch_states (id, case_id, interval, alert_type, status, postponed, last_check_in_id,
       check_in_count, first_check_ins)
     SELECT id, case_id, 'daily', 'basic', 'healthy', 0, ${lastOfHistory('id')}, :history, decode(${packed}, 'hex')
     FROM snitches ORDER BY id`,
    jobs,
  );
}

async function insertCheckIns(client: pg.Client, jobs: Jobs): Promise<void> {
  for (let day = 0; day < jobs.history; day += 1)
    await run(
      client,
      `INSERT INTO check_ins (id, previous_id, snitch_id, number, at, outcome, source)
       SELECT :n * :count + place + 1, CASE WHEN :n > 0 THEN (:n - 1) * :count + place + 1 END, id, :n + 1,
         :first + :n * :day + place * :spread / :count, 'healthy', '192.0.2.' || (id % 200)
       FROM (SELECT id, ${place('id')} AS place FROM snitches) AS night ORDER BY place`,
      { ...jobs, n: day },
    );
}

/** Brings all snitches into the states of `scene`, while no daemon runs; the same as `Tables.arm`. */
export async function arm(url: string, jobs: Jobs, scene: Scene): Promise<void> {
  const at = `:lastDay + ${place('id')} * :spread / :count`;
  await connected(url, async (client) => {
    await client.query('SET synchronous_commit = off');
    await client.query(`${FORGET} DELETE FROM nodes;`);
    await run(
      client,
      `UPDATE snitch_states SET status = 'healthy', thread_id = NULL, postponed = 0, moved_from = NULL,
         due_at = :dueAt, look_at = :lookAt, checked_in_at = ${at}, last_check_in_at = ${at},
         last_check_in_id = ${lastOfHistory('id')}
       WHERE due_at IS DISTINCT FROM :dueAt OR look_at IS DISTINCT FROM :lookAt OR status <> 'healthy'
         OR last_check_in_at NOT BETWEEN :lastDay AND :lastDay + :spread`,
      jobs,
      scene,
    );
    await run(
      client,
      `UPDATE snitch_states SET due_at = :failAt, look_at = :failAt, checked_in_at = checked_in_at - :day,
         last_check_in_at = last_check_in_at - :day
       WHERE ${place('id')} < :failing`,
      jobs,
      scene,
    );
    await client.query(
      `DELETE FROM status_counts;
       INSERT INTO status_counts (case_id, status, count)
         SELECT case_id, status, COUNT(*) FROM snitch_states GROUP BY case_id, status`,
    );
    // Otherwise autovacuum would do this in the middle of the measurement.
    await client.query('VACUUM ANALYZE');
    await client.query('CHECKPOINT');
  });
}

/** How far a sweep has come; see `Progress`. */
export async function look(
  url: string,
  instant: number,
  isCounted: boolean,
): Promise<{ decided: number; isWaiting: boolean }> {
  return connected(url, async (client) => {
    const { rows } = await client.query<{ decided: string; waiting: boolean }>(
      `SELECT (SELECT COUNT(*) FROM alerts WHERE $2 AND at >= $1) AS decided,
         EXISTS (SELECT 1 FROM snitch_states WHERE look_at <= $1) AS waiting`,
      [instant, isCounted],
    );
    return { decided: Number(rows[0]?.decided), isWaiting: rows[0]?.waiting ?? false };
  });
}

/** Runs a statement, with the values of `jobs` and `scene` as its named parameters. */
async function run(
  client: pg.Client,
  sql: string,
  jobs: Jobs & { n?: number },
  scene: Partial<Scene> = {},
): Promise<void> {
  const values: Record<string, number> = { ...jobs, ...scene, day: DAY };
  await client.query(sql.replace(/(?<!:):(\w+)/g, (_, name: string) => `${values[name] ?? 0}::bigint`));
}
