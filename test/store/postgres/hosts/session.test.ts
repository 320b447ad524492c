/** One connection: what it sets, what it refuses, and that it never waits for ever. Time limit: 240 s. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { DatabaseHost } from '../../../../src/core/database/postgres-url.ts';
import { parsePostgresUrl } from '../../../../src/core/database/postgres-url.ts';
import { ConnectionFault } from '../../../../src/store/postgres/hosts/faults.ts';
import {
  openSession,
  type Session,
  type SessionOptions,
} from '../../../../src/store/postgres/hosts/session.ts';
import { closing } from '../../../closing.ts';
import { runUnless } from '../../../skipped.ts';
import { until } from '../../../until.ts';
import { type Cluster, startCluster } from '../clusters/cluster.ts';
import { openLink } from '../clusters/link.ts';
import { WITHOUT_POSTGRES } from '../clusters/programs.ts';
import { addressOf, faultOf, primaryAmong, sessionOptions } from './fixture.ts';

interface Context {
  cluster: Cluster;
}

const test = suite<Context>('sessions');

const ACCESS = ['host all snitch 127.0.0.1/32 scram-sha-256', 'host all barred 127.0.0.1/32 reject'];

test.before(async (context) => {
  context.cluster = await startCluster({ access: ACCESS });
  await context.cluster.query(`CREATE ROLE snitch LOGIN PASSWORD 'hunter/2'`);
});
test.after(({ cluster }) => cluster[Symbol.asyncDispose]());

const closed = (session: Session) => closing(Object.assign(session, { close: () => session.destroy() }));

/** A plain session, without checking whether it can be written to. */
async function opened({ port }: { port: number }, options: Partial<SessionOptions> = {}) {
  const host: DatabaseHost = { host: '127.0.0.1', port };
  const session = await openSession(host, sessionOptions(addressOf([port]), options));
  await session.prepare();
  return closed(session);
}

async function shown(session: Session, setting: string): Promise<unknown> {
  const { rows } = await session.client.query('SELECT current_setting($1) AS value', [setting]);
  return rows[0]?.value;
}

test('settings of the database and of the role that the store depends on are overruled', async ({
  cluster,
}) => {
  const hostile: [string, string][] = [
    ['client_encoding', 'LATIN1'],
    ['TimeZone', 'Asia/Kolkata'],
    ['search_path', 'evil, public'],
    ['standard_conforming_strings', 'off'],
    ['bytea_output', 'escape'],
    ['default_transaction_isolation', 'serializable'],
    ['DateStyle', 'SQL, DMY'],
    ['synchronous_commit', 'off'],
    ['statement_timeout', '0'],
    ['idle_session_timeout', '1s'],
    ['lock_timeout', '5ms'],
    ['client_min_messages', 'error'],
    ['transform_null_equals', 'on'],
    ['array_nulls', 'off'],
    ['extra_float_digits', '-5'],
  ];
  const database = await cluster.newDatabase();
  for (const [name, value] of hostile)
    await cluster.query(
      `ALTER DATABASE ${database} SET ${name} = ${value === 'evil, public' ? value : `'${value}'`}`,
    );
  const options = sessionOptions(addressOf([cluster.port], { database }), { answerWithinMs: 30_000 });
  const session = await openSession({ host: '127.0.0.1', port: cluster.port }, options);
  using _ = closed(session);
  await session.prepare();
  assert.is(await shown(session, 'search_path'), '"public", pg_temp');
  assert.is(await shown(session, 'client_encoding'), 'UTF8');
  assert.is(await shown(session, 'TimeZone'), 'UTC');
  assert.is(await shown(session, 'standard_conforming_strings'), 'on');
  assert.is(await shown(session, 'bytea_output'), 'hex');
  assert.is(await shown(session, 'default_transaction_isolation'), 'read committed');
  assert.is(await shown(session, 'DateStyle'), 'ISO, YMD');
  assert.is(await shown(session, 'synchronous_commit'), 'on');
  assert.is(await shown(session, 'statement_timeout'), '27s');
  assert.is(await shown(session, 'idle_session_timeout'), '0');
  assert.is(await shown(session, 'lock_timeout'), '0');
  assert.is(
    await shown(session, 'client_min_messages'),
    'warning',
    'the warning of a commit without standby',
  );
  assert.is(await shown(session, 'transform_null_equals'), 'off');
  assert.is(await shown(session, 'array_nulls'), 'on');
  assert.is(await shown(session, 'extra_float_digits'), '1');
  assert.is(await shown(session, 'application_name'), 'snitch');
  assert.equal((await session.client.query(`SELECT 'Ä€🎈' AS text`)).rows, [{ text: 'Ä€🎈' }]);
});

test('how far a standby must have followed stays as the operator wants it', async ({ cluster }) => {
  const database = await cluster.newDatabase();
  for (const level of ['local', 'remote_write', 'remote_apply']) {
    await cluster.query(`ALTER DATABASE ${database} SET synchronous_commit = ${level}`);
    const options = sessionOptions(addressOf([cluster.port], { database }), { purpose: 'sweep' });
    const session = await openSession({ host: '127.0.0.1', port: cluster.port }, options);
    using _ = closed(session);
    await session.prepare();
    assert.is(await shown(session, 'synchronous_commit'), level);
    assert.is(await shown(session, 'application_name'), 'snitch sweep');
  }
});

test('who has no right to ask for the timeline is let in all the same', async ({ cluster }) => {
  const database = await cluster.newDatabase();
  const url = (password: string) =>
    parsePostgresUrl(`postgres://snitch:${password}@127.0.0.1:${cluster.port}/${database}`);
  assert.is(await faultOf(url('hunter%2F2')), null);
  await cluster.query('REVOKE EXECUTE ON FUNCTION pg_walfile_name(pg_lsn) FROM PUBLIC', [], database);
  assert.is(await faultOf(url('hunter%2F2')), null);
});

test('what a person must mend is told as such, without the password', async ({ cluster }) => {
  const at = `127.0.0.1:${cluster.port}`;
  const lasting = async (url: string, words: RegExp) => {
    const fault = (await faultOf(parsePostgresUrl(url))) as ConnectionFault | null;
    assert.match(fault?.message ?? 'no fault', words);
    assert.ok(fault?.message.startsWith(`${at}: `) && fault.isLasting, url);
    assert.not.match(`${fault?.message} ${String(fault?.cause)}`, /wrongpass/);
  };
  await lasting(
    `postgres://snitch:wrongpass@${at}/postgres`,
    /password authentication failed for user "snitch"/,
  );
  await lasting(`postgres://snitch@${at}/postgres`, /asks for a password of snitch.*store\.password_file/);
  await lasting(`postgres://postgres@${at}/nothing`, /database "nothing" does not exist/);
  await lasting(`postgres://barred@${at}/postgres`, /pg_hba\.conf/);
  const gone = (await faultOf(addressOf([1]))) as ConnectionFault | null;
  assert.match(gone?.message ?? '', /ECONNREFUSED/);
  assert.not(gone?.isLasting);
});

test('the environment of the daemon changes nothing', async ({ cluster }) => {
  const names = ['PGPASSWORD', 'PGUSER', 'PGHOST', 'PGDATABASE', 'PGSSLMODE', 'PGAPPNAME', 'PGPORT'] as const;
  const before = { ...process.env };
  try {
    for (const name of names) process.env[name] = 'hunter/2';
    const fault = await faultOf(parsePostgresUrl(`postgres://snitch@127.0.0.1:${cluster.port}/postgres`));
    assert.match(fault?.message ?? '', /there is none/);
    assert.is(await faultOf(addressOf([cluster.port])), null);
  } finally {
    for (const name of names) {
      if (before[name] === undefined) delete process.env[name];
      else process.env[name] = before[name];
    }
  }
});

test('a Unix socket leads to the same server', async ({ cluster }) => {
  const socket = encodeURIComponent(cluster.socketDirectory);
  const url = `postgres://postgres@${socket}:${cluster.port}/postgres?sslmode=verify-full`;
  assert.is(await faultOf(parsePostgresUrl(url)), null);
});

test('a database of another encoding is refused', async ({ cluster }) => {
  await cluster.query(`CREATE DATABASE old ENCODING 'SQL_ASCII' LOCALE 'C' TEMPLATE template0`);
  const told = await primaryAmong([cluster.port], { address: addressOf([cluster.port], { database: 'old' }) })
    .connect()
    .catch((error: ConnectionFault) => error);
  assert.match((told as Error).message, /SQL_ASCII/);
  assert.ok((told as ConnectionFault).isLasting);
});

test('a statement that is not answered ends on the server too, where no standby ever answers', async () => {
  await using cluster = await startCluster();
  await cluster.query('CREATE TABLE t (n integer)');
  await cluster.set('synchronous_standby_names', 'nobody');
  using session = await opened(cluster, { answerWithinMs: 2_000 });
  const failed = await session.client.query('INSERT INTO t VALUES (1)').catch((error: Error) => error);
  assert.match(String(failed), /did not answer within 2 s/);
  assert.instance(failed, ConnectionFault);
  const others = () =>
    cluster.query(
      `SELECT 1 FROM pg_stat_activity WHERE application_name = 'snitch' AND backend_type = 'client backend'`,
    );
  await until(async () => (await others()).length === 0, 'the server has given up too');
});

test('a statement that takes too long is ended by the server, and the session stays', async ({ cluster }) => {
  using session = await opened(cluster, { answerWithinMs: 4_000 });
  const failed = await session.client.query('SELECT pg_sleep(30)').catch((error: Error) => error);
  assert.match(String(failed), /statement timeout/);
  assert.equal((await session.client.query('SELECT 1 AS one')).rows, [{ one: 1 }]);
});

test('a session that is idle for longer than an answer may take is left alone', async ({ cluster }) => {
  using session = await opened(cluster, { answerWithinMs: 1_000 });
  await cluster.query('SELECT pg_sleep(1.2)');
  assert.not(session.isBroken);
  assert.equal((await session.client.query('SELECT 1 AS one')).rows, [{ one: 1 }]);
});

test('all that a pipeline has written fails together, and nothing is left that nobody awaits', async ({
  cluster,
}) => {
  await using link = await openLink(cluster.port);
  using session = await opened({ port: link.port }, { answerWithinMs: 1_500, pipeline: true });
  link.hang();
  const answers = await Promise.allSettled(
    [1, 2, 3].map((n) => session.client.query('SELECT $1::int AS n', [n])),
  );
  assert.equal(
    answers.map(({ status }) => status),
    ['rejected', 'rejected', 'rejected'],
  );
  assert.ok(session.isBroken);
});

test('a server that takes no writes any more ends the session at the first one', async ({ cluster }) => {
  using session = await opened(cluster);
  await session.client.query('SET default_transaction_read_only = on');
  const failed = await session.client.query('CREATE TABLE never (n integer)').catch((error: Error) => error);
  assert.match(String(failed), /read-only transaction/);
  assert.ok(session.isBroken);
});

runUnless(WITHOUT_POSTGRES, test, 'sessions');
