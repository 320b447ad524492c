/** What every session sets, whatever defaults the operator, the database or the role have. */
import pg from 'pg';

export interface SetUp {
  readonly schema: string;
  readonly answerWithinMs: number;
}

/** Shorter than our own limit, so that the server gives up first and the connection stays usable. */
const SERVER_GIVES_UP_AT = 0.9;

/**
 * The share of our own time limit after which an idle transaction must belong to a node that hangs or is cut off:
 * whoever waits for its locks must get them before their own limit ends.
 */
const HANGS_AT = 0.5;

/** The same if that limit is long, in milliseconds. */
const HANGS_AFTER = 10_000;

/** How soon the server notices that a node's host is gone, and releases its locks. Milliseconds. */
const NODE_GONE_MS = 10_000;

/** When the server gives up what this program began, as settings of the server (milliseconds). */
export function limitsOfServer(answerWithinMs: number) {
  return {
    statement_timeout: Math.floor(answerWithinMs * SERVER_GIVES_UP_AT),
    idle_in_transaction_session_timeout: Math.floor(Math.min(HANGS_AFTER, answerWithinMs * HANGS_AT)),
  };
}

/** Settings that stay as they are unless they are unsafe, and those that only PostgreSQL 17 and later have. */
const REST = `SELECT set_config('synchronous_commit', 'on', false) AS set
    WHERE current_setting('synchronous_commit') = 'off'
  UNION ALL SELECT set_config(name, '0', false) FROM pg_settings WHERE name = 'transaction_timeout'`;

/**
 * `search_path` is pinned, and temporary tables come last, so that nobody can put a table of their own before ours.
 *
 * `synchronous_commit` stays as the operator has it (`local`, `remote_write`, `on` or `remote_apply`: how far a standby
 * must have followed), except `off`: then a crash would lose check-ins that were acknowledged.
 */
export async function setUp(client: pg.Client, { schema, answerWithinMs }: SetUp): Promise<void> {
  const settings: Record<string, string> = {
    client_encoding: 'UTF8',
    search_path: `${pg.escapeIdentifier(schema)}, pg_temp`,
    TimeZone: 'UTC',
    DateStyle: 'ISO, YMD',
    IntervalStyle: 'postgres',
    standard_conforming_strings: 'on',
    bytea_output: 'hex',
    default_transaction_isolation: 'read committed',
    default_transaction_deferrable: 'off',
    // Only a warning says that a commit may not have reached the standby.
    client_min_messages: 'warning',
    transform_null_equals: 'off',
    array_nulls: 'on',
    extra_float_digits: '1',
    lock_timeout: '0',
    idle_session_timeout: '0',
    // For statements this short, compiling takes longer than running.
    jit: 'off',
    client_connection_check_interval: '2000',
    tcp_keepalives_idle: '5',
    tcp_keepalives_interval: '2',
    tcp_keepalives_count: '3',
    tcp_user_timeout: `${NODE_GONE_MS}`,
  };
  const assigned = Object.entries({ ...settings, ...limitsOfServer(answerWithinMs) }).map(
    ([name, value]) => `set_config(${pg.escapeLiteral(name)}, ${pg.escapeLiteral(String(value))}, false)`,
  );
  await client.query(`SELECT ${assigned.join(', ')}`);
  await client.query(REST);
}
