/** TLS to a real server by each mode of libpq: what is verified, and what is not. Time limit: 240 s. */
import { chmodSync, copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { PostgresAddress } from '../../../../src/core/database/postgres-url.ts';
import { parsePostgresUrl } from '../../../../src/core/database/postgres-url.ts';
import type { ConnectionFault } from '../../../../src/store/postgres/hosts/faults.ts';
import { openSession } from '../../../../src/store/postgres/hosts/session.ts';
import { tlsAttempts } from '../../../../src/store/postgres/hosts/tls.ts';
import { newDataDir, removeDataDir } from '../../../data-directory.ts';
import { runUnless } from '../../../skipped.ts';
import { type Cluster, startCluster } from '../clusters/cluster.ts';
import { WITHOUT_POSTGRES } from '../clusters/programs.ts';
import { type Certificate, install, newAuthority, newCertificate } from './authority.ts';
import { faultOf, sessionOptions } from './fixture.ts';

interface Context {
  directory: string;
  cluster: Cluster;
  authority: Certificate;
  stranger: Certificate;
}

const test = suite<Context>('TLS to the database');

test.before(async (context) => {
  context.directory = newDataDir();
  context.authority = newAuthority(context.directory, 'authority');
  context.stranger = newAuthority(context.directory, 'stranger');
  context.cluster = await startCluster({
    access: [
      'hostssl all encrypted 127.0.0.1/32 trust',
      'hostssl all certified 127.0.0.1/32 cert',
      'hostnossl all plain 127.0.0.1/32 trust',
      'host all encrypted,certified,plain 127.0.0.1/32 reject',
    ],
  });
  for (const role of ['encrypted', 'certified', 'plain'])
    await context.cluster.query(`CREATE ROLE ${role} LOGIN`);
});
test.after(async ({ cluster, directory }) => {
  await cluster[Symbol.asyncDispose]();
  removeDataDir(directory);
});

/** Gives the server another certificate. */
async function serve({ cluster, authority }: Context, certificate: Certificate): Promise<void> {
  const { directory } = cluster.server;
  install(certificate, directory, (path) => cluster.server.own(path));
  const trusted = join(directory, 'clients.crt');
  copyFileSync(authority.cert, trusted);
  cluster.server.own(trusted);
  await cluster.set('ssl_ca_file', 'clients.crt');
  await cluster.set('ssl', 'on');
}

function urlOf(
  { cluster }: Context,
  options: string,
  { host = 'localhost', user = 'encrypted' } = {},
): PostgresAddress {
  return parsePostgresUrl(`postgres://${user}@${host}:${cluster.port}/postgres?${options}`);
}

const serverCertificate = ({ directory, authority }: Context, names: readonly string[], more = {}) =>
  newCertificate(directory, authority, 'server', { names, ...more });

/** Whether the session is encrypted. */
async function isEncrypted(address: PostgresAddress): Promise<boolean> {
  const [host] = address.hosts;
  if (!host) throw new Error('no host');
  const session = await openSession(host, sessionOptions({ ...address, connectTimeoutMs: 20_000 }));
  try {
    const { rows } = await session.client.query('SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()');
    return rows[0].ssl;
  } finally {
    session.destroy();
  }
}

async function refusal(address: PostgresAddress, words: RegExp): Promise<void> {
  const fault = (await faultOf(address)) as ConnectionFault | null;
  assert.match(fault?.message ?? 'it was let in', words);
  assert.ok(fault?.isLasting, fault?.message);
}

test('a server without TLS is refused by all modes that want it', async (context) => {
  for (const mode of ['disable', 'allow', 'prefer'])
    assert.is(
      await isEncrypted(urlOf(context, `sslmode=${mode}`, { user: 'postgres', host: '127.0.0.1' })),
      false,
      mode,
    );
  for (const mode of ['require', 'verify-ca', 'verify-full']) {
    const options = `sslmode=${mode}&sslrootcert=${context.authority.cert}`;
    const fault = await faultOf(urlOf(context, options, { user: 'postgres', host: '127.0.0.1' }));
    assert.match(fault?.message ?? 'it was let in', /does not support SSL/, mode);
  }
});

test('the right name of the right authority is let in by all modes, and encrypted', async (context) => {
  await serve(context, serverCertificate(context, ['DNS:localhost', 'IP:127.0.0.1']));
  const trusted = `sslrootcert=${context.authority.cert}`;
  for (const mode of ['prefer', 'require', 'verify-ca', 'verify-full']) {
    assert.is(await isEncrypted(urlOf(context, `sslmode=${mode}&${trusted}`)), true, mode);
    assert.is(
      await isEncrypted(urlOf(context, `sslmode=${mode}&${trusted}`, { host: '127.0.0.1' })),
      true,
      mode,
    );
  }
  // The second way helps if the server's rules refuse the first.
  assert.is(await isEncrypted(urlOf(context, 'sslmode=allow')), true);
  assert.is(await isEncrypted(urlOf(context, 'sslmode=prefer', { user: 'plain' })), false);
  await refusal(urlOf(context, 'sslmode=disable'), /pg_hba\.conf/);
  await refusal(urlOf(context, 'sslmode=require', { user: 'plain' }), /pg_hba\.conf/);
});

test('a wrong name is refused by verify-full alone', async (context) => {
  await serve(context, serverCertificate(context, ['DNS:db.example.com']));
  const trusted = `sslrootcert=${context.authority.cert}`;
  await refusal(urlOf(context, `sslmode=verify-full&${trusted}`), /localhost.*db\.example\.com/);
  await refusal(urlOf(context, `sslmode=verify-full&${trusted}`, { host: '127.0.0.1' }), /127\.0\.0\.1/);
  for (const mode of ['prefer', 'require', 'verify-ca'])
    assert.is(await isEncrypted(urlOf(context, `sslmode=${mode}&${trusted}`)), true, mode);
});

test('an authority that is not ours is refused wherever there is one to verify by', async (context) => {
  await serve(context, serverCertificate(context, ['DNS:localhost']));
  for (const mode of ['require', 'verify-ca', 'verify-full'])
    await refusal(urlOf(context, `sslmode=${mode}&sslrootcert=${context.stranger.cert}`), /certificate/);
  await refusal(urlOf(context, 'sslmode=verify-full&sslrootcert=system'), /certificate/);
  assert.is(await isEncrypted(urlOf(context, 'sslmode=require')), true);
  assert.is(await isEncrypted(urlOf(context, `sslmode=prefer&sslrootcert=${context.stranger.cert}`)), true);
});

test('an expired certificate is refused by who verifies', async (context) => {
  await serve(context, serverCertificate(context, ['DNS:localhost'], { expired: true }));
  const trusted = `sslrootcert=${context.authority.cert}`;
  for (const mode of ['require', 'verify-ca', 'verify-full'])
    await refusal(urlOf(context, `sslmode=${mode}&${trusted}`), /expired/);
  assert.is(await isEncrypted(urlOf(context, 'sslmode=require')), true);
});

test('a client shows its own certificate, and keeps its key to itself', async (context) => {
  await serve(context, serverCertificate(context, ['DNS:localhost']));
  const { directory, authority, stranger } = context;
  const mine = newCertificate(directory, authority, 'client', { subject: 'certified' });
  const options = ({ cert, key }: Certificate) => `sslmode=require&sslcert=${cert}&sslkey=${key}`;
  const user = { user: 'certified' };
  assert.is(await isEncrypted(urlOf(context, options(mine), user)), true);
  await refusal(urlOf(context, 'sslmode=require', user), /certificate/);
  const theirs = newCertificate(directory, stranger, 'theirs', { subject: 'certified' });
  assert.ok(await faultOf(urlOf(context, options(theirs), user)));
  chmodSync(mine.key, 0o644);
  await refusal(urlOf(context, options(mine), user), /others may read .*chmod 600/);
  await refusal(
    urlOf(context, options({ cert: '/nowhere.crt', key: mine.key }), user),
    /nowhere\.crt cannot be read/,
  );
});

test('trusted authorities are read from the usual place, or must be configured', async (context) => {
  const home = join(context.directory, 'home');
  mkdirSync(join(home, '.postgresql'), { recursive: true });
  const tls = (options: string) =>
    tlsAttempts(urlOf(context, options).tls, { host: 'localhost', port: 5432 }, home);
  assert.throws(() => tls('sslmode=verify-full'), /add sslrootcert=.*sslrootcert=system/);
  assert.equal(tls('sslmode=require'), [{ rejectUnauthorized: false }]);
  assert.throws(
    () => tls('sslmode=verify-ca&sslrootcert=/nowhere'),
    /sslrootcert: \/nowhere cannot be read \(ENOENT\)/,
  );
  copyFileSync(context.authority.cert, join(home, '.postgresql/root.crt'));
  for (const mode of ['require', 'verify-ca', 'verify-full']) {
    const verifies = tls(`sslmode=${mode}`).map((attempt) => attempt !== false && attempt.rejectUnauthorized);
    assert.equal(verifies, [true], mode);
  }
});

runUnless(WITHOUT_POSTGRES, test, 'TLS to the database');
