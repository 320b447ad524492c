/** The first start on a database that is not as it should be: refused, with words that say what to do. Time limit: 240 s. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parsePostgresUrl } from '../../../src/core/database/postgres-url.ts';
import { inspectPostgres } from '../../../src/store/postgres/inspect.ts';
import { openStoreOnPostgres } from '../../../src/store/postgres/open.ts';
import { ending } from '../../closing.ts';
import { newDataDir, ownDirectory, removeDataDir } from '../../data-directory.ts';
import { freePort } from '../../free-port.ts';
import { runUnless, unless, without } from '../../skipped.ts';
import { until } from '../../until.ts';
import { rejection } from '../fixture.ts';
import { type Cluster, startCluster } from './clusters/cluster.ts';
import { asClusterUser, WITHOUT_POSTGRES } from './clusters/programs.ts';

interface Context {
  cluster: Cluster;
}

const test = suite<Context>('the first start on PostgreSQL');

test.before(async (context) => {
  context.cluster = await startCluster({ access: ['host all guarded 127.0.0.1/32 scram-sha-256'] });
  await context.cluster.query('CREATE ROLE snitch LOGIN');
  await context.cluster.query(`CREATE ROLE guarded LOGIN PASSWORD 'right'`);
});
test.after(({ cluster }) => cluster[Symbol.asyncDispose]());

/** The words of the refusal; empty if the store opens. */
async function refusal(url: string): Promise<string> {
  const dataDir = newDataDir();
  try {
    const address = { ...parsePostgresUrl(url), connectTimeoutMs: 20_000 };
    const options = { address, dataDir, clock: Date.now, version: '1.0.0', warn: () => {} };
    const store = await openStoreOnPostgres(options);
    await store.close();
    return '';
  } catch (error) {
    assert.is((error as { isLasting?: boolean }).isLasting, true, `waiting does not help: ${error}`);
    return (error as Error).message;
  } finally {
    removeDataDir(dataDir);
  }
}

const urlOf = (port: number, database: string, user = 'snitch') =>
  `postgres://${user}@127.0.0.1:${port}/${database}`;

async function prepared({ cluster }: Context, ...statements: string[]): Promise<string> {
  const database = await cluster.newDatabase();
  for (const sql of statements) await cluster.query(sql, [], database);
  return urlOf(cluster.port, database);
}

test('the owner of an empty database needs nothing else, whatever its collation', async ({ cluster }) => {
  const icu = `LOCALE_PROVIDER icu ICU_LOCALE 'tr-TR' LOCALE 'C.UTF-8'`;
  await cluster.query(`CREATE DATABASE turkish OWNER snitch ${icu} ENCODING UTF8 TEMPLATE template0`);
  assert.is(await refusal(urlOf(cluster.port, 'turkish')), '');
});

test('a user without the right to create tables is told what to grant, and then it works', async (context) => {
  const url = await prepared(context);
  const words = await refusal(url);
  assert.match(words, /^snitch may not make tables in the schema public of the database test_\d+:/);
  using place = ownDirectory();
  const looked = inspectPostgres(parsePostgresUrl(url), place.path);
  assert.is(((await rejection(looked)) as Error).message, words.trim(), 'doctor says the same');
  const grant = /GRANT ALL ON SCHEMA public TO "snitch"/.exec(words)?.[0] ?? '';
  await context.cluster.query(grant, [], parsePostgresUrl(url).database ?? '');
  assert.is(await refusal(url), '');
});

test('a schema that was dropped is not replaced by temporary tables', async (context) => {
  const owned = 'ALTER SCHEMA public OWNER TO snitch';
  const url = await prepared(context, owned, 'DROP SCHEMA public');
  assert.match(await refusal(url), /has no schema public: .* CREATE SCHEMA public AUTHORIZATION "snitch"/);
});

test('tables of another program are left alone', async (context) => {
  const owned = 'ALTER SCHEMA public OWNER TO snitch';
  const url = await prepared(context, owned, 'CREATE TABLE cases (x INTEGER)');
  assert.match(
    await refusal(url),
    /has tables of something else \(such as cases\): give Snitch its own empty database/,
  );
  const alike = await prepared(context, owned, 'CREATE TABLE schema_version (version TEXT)');
  assert.match(await refusal(alike), /has tables of something else \(such as schema_version\)/);
});

test("what an extension of the server has brought is in nobody's way", async (context) => {
  const owned = 'ALTER SCHEMA public OWNER TO snitch';
  const url = await prepared(context, owned, 'CREATE EXTENSION pg_stat_statements');
  assert.is(await refusal(url), '');
});

test('tables that a restore gave to another user are reported', async (context) => {
  const owned = 'ALTER SCHEMA public OWNER TO snitch';
  const url = await prepared(context, owned, 'CREATE TABLE schema_version (one BOOLEAN, version INTEGER)');
  assert.match(await refusal(url), /belong to postgres, and snitch may not change them: .*--role=snitch/);
});

test('a wrong password, name or address is reported with the remedy', async ({ cluster }) => {
  const { port } = cluster;
  assert.match(
    await refusal(urlOf(port, 'postgres', 'guarded:wrong')),
    /password authentication.*password_file/,
  );
  assert.not.match(await refusal(urlOf(port, 'postgres', 'guarded:wrong')), 'wrong@');
  assert.match(await refusal(urlOf(port, 'nobodys')), /"nobodys" does not exist: .*createdb --owner/);
  assert.match(await refusal(`${urlOf(port, 'postgres')}?sslmode=require`), /support SSL.*: set ssl = on/);
  await cluster.query('CREATE DATABASE closed');
  await cluster.query('REVOKE CONNECT ON DATABASE closed FROM PUBLIC');
  assert.match(await refusal(urlOf(port, 'closed')), /permission denied for database.*grant it CONNECT/);
});

/** PgBouncer as Debian has it, in front of one database. */
async function startBouncer(port: number, mode: 'session' | 'transaction' | 'statement') {
  const directory = mkdtempSync(join(tmpdir(), 'snitch-bouncer-'));
  const own = await freePort();
  const lines = [
    '[databases]',
    `* = host=127.0.0.1 port=${port}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${own}`,
    'unix_socket_dir =',
    'auth_type = trust',
    `auth_file = ${directory}/users`,
    `pool_mode = ${mode}`,
  ];
  writeFileSync(join(directory, 'bouncer.ini'), `${lines.join('\n')}\n`);
  writeFileSync(join(directory, 'users'), '"snitch" ""\n');
  chmodSync(directory, 0o755);

  const child = spawn('/usr/sbin/pgbouncer', [join(directory, 'bouncer.ini')], {
    ...asClusterUser(),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said += chunk;
  });
  const stop = async () => {
    if (child.exitCode === null) {
      child.kill('SIGKILL');
      await once(child, 'close');
    }
    rmSync(directory, { recursive: true, force: true });
  };
  await until(() => {
    if (child.exitCode !== null) throw new Error(`pgbouncer ended:\n${said}`);
    return said.includes('process up');
  }, 'pgbouncer is up');
  return ending({ port: own }, stop);
}

unless(without('/usr/sbin/pgbouncer', '-V'), test)(
  'a pooler that lends connections by transaction is refused, and one by session is used',
  async (context) => {
    const url = await prepared(context, 'ALTER SCHEMA public OWNER TO snitch');
    const database = parsePostgresUrl(url).database ?? '';
    for (const mode of ['transaction', 'statement'] as const) {
      await using bouncer = await startBouncer(context.cluster.port, mode);
      assert.match(
        await refusal(urlOf(bouncer.port, database)),
        /is a connection pooler that lends connections by transaction.*pool_mode = session/,
      );
    }
    await using session = await startBouncer(context.cluster.port, 'session');
    assert.is(await refusal(urlOf(session.port, database)), '');
  },
);

runUnless(WITHOUT_POSTGRES, test, 'the first start on PostgreSQL');
