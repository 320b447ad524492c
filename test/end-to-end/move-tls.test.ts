/** `snitch move` as a cluster of two servers is reached: over verified TLS, with a password, the standby named first. Time limit: 180 s. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { runSnitch } from '../cli/snitch-process.ts';
import { ownDirectory } from '../data-directory.ts';
import { runUnless } from '../skipped.ts';
import { contentOfDatabase, contentOfFile, differences, makeRich } from '../store/move/rich.ts';
import { type Cluster, startCluster } from '../store/postgres/clusters/cluster.ts';
import { WITHOUT_POSTGRES } from '../store/postgres/clusters/programs.ts';
import {
  type Certificate,
  install,
  newAuthority,
  newCertificate,
} from '../store/postgres/hosts/authority.ts';
import { until } from '../until.ts';

interface Context {
  place: ReturnType<typeof ownDirectory>;
  primary: Cluster;
  standby: Cluster;
  authority: Certificate;
  stranger: Certificate;
  passwordFile: string;
}

const PASSWORD = 'of the store: ü/@';

const test = suite<Context>('snitch move over TLS');

test.before(async (context) => {
  context.place = ownDirectory();
  const { path } = context.place;
  context.authority = newAuthority(path, 'authority');
  context.stranger = newAuthority(path, 'stranger');
  const access = ['hostssl all snitch 127.0.0.1/32 scram-sha-256', 'host all snitch 127.0.0.1/32 reject'];
  context.primary = await startCluster({ access });
  const { primary } = context;
  await primary.query(`CREATE ROLE snitch LOGIN PASSWORD '${PASSWORD}'`);
  const certificate = newCertificate(path, context.authority, 'server', { names: ['DNS:localhost'] });
  install(certificate, primary.server.directory, (file) => primary.server.own(file));
  await primary.set('ssl', 'on');
  context.standby = await primary.standby({ synchronous: true });
  context.passwordFile = join(path, 'password');
  writeFileSync(context.passwordFile, `${PASSWORD}\n`, { mode: 0o600 });
});
test.after(async ({ primary, place }) => {
  await primary[Symbol.asyncDispose]();
  place[Symbol.dispose]();
});

/** @param hosts by name, which is what the certificate is for */
function urlOf(
  { authority }: Pick<Context, 'authority'>,
  clusters: readonly { port: number }[],
  database: string,
  { host = 'localhost' } = {},
): string {
  const hosts = clusters.map(({ port }) => `${host}:${port}`).join(',');
  return `postgres://snitch@${hosts}/${database}?sslmode=verify-full&sslrootcert=${authority.cert}`;
}

async function ownDatabase({ primary }: Context): Promise<string> {
  const database = await primary.newDatabase();
  await primary.query(`ALTER DATABASE ${database} OWNER TO snitch`);
  return database;
}

/** A data directory with something of everything in it. */
function sourceIn({ place }: Context, name: string): string {
  const dataDir = join(place.path, name);
  mkdirSync(dataDir);
  makeRich(join(dataDir, 'snitch.db'));
  return dataDir;
}

test('everything moves there and back, whichever host is named first', async (context) => {
  const { primary, standby, place, passwordFile } = context;
  const dataDir = sourceIn(context, 'source');
  const source = contentOfFile(join(dataDir, 'snitch.db'));
  const database = await ownDatabase(context);
  const url = urlOf(context, [standby, primary], database);
  const there = await runSnitch(['move', '--to', url, '--password-file', passwordFile], {
    SNITCH_DATA_DIR: dataDir,
  });
  assert.is(there.code, 0, there.stderr);
  assert.not(there.stderr.includes(PASSWORD));
  assert.equal(differences(source, await contentOfDatabase(primary, database)), []);
  const file = join(place.path, 'back.db');
  const back = await runSnitch(['move', '--to', `sqlite:${file}`], {
    SNITCH_DATA_DIR: join(place.path, 'node'),
    SNITCH_STORE_URL: url,
    SNITCH_STORE_PASSWORD_FILE: passwordFile,
  });
  assert.is(back.code, 0, back.stderr);
  assert.equal(differences(source, contentOfFile(file)), []);
});

test('says what keeps it from beginning, and what to do about it', async (context) => {
  const { primary, standby, stranger, passwordFile } = context;
  const dataDir = sourceIn(context, 'kept');
  const database = await ownDatabase(context);
  const ended = async (url: string) => {
    const { code, stderr } = await runSnitch(['move', '--to', url, '--password-file', passwordFile], {
      SNITCH_DATA_DIR: dataDir,
    });
    return `${code} ${stderr}`;
  };
  const asItWas = /nothing was moved, and \S+snitch\.db is as it was/i;
  const refused = async (url: string, code: number, ...said: RegExp[]) => {
    const words = await ended(url);
    for (const one of [new RegExp(`^${code} `), ...said]) assert.match(words, one);
    assert.not.match(words, /store\.url|Node\.js|: :/, 'it speaks of what was typed');
    assert.not(words.includes(PASSWORD));
  };
  await refused(urlOf(context, [standby], database), 5, /is a standby.*host of the primary to --to/, asItWas);
  const mistrusted = urlOf({ authority: stranger }, [primary, standby], database);
  await refused(mistrusted, 5, /authority that signed it with sslrootcert= in --to/, asItWas);
  const byNumber = urlOf(context, [standby, primary], database, { host: '127.0.0.1' });
  await refused(byNumber, 5, /not in the cert's list: make a certificate for this name/, asItWas);
  const plain = urlOf(context, [primary], database).replace(/sslmode.*/, 'sslmode=disable');
  await refused(plain, 4, /no encryption: if its pg_hba.conf .* sslmode=verify-full to --to/, asItWas);
  await refused(urlOf(context, [{ port: 1 }, standby], database), 5, /ECONNREFUSED.*is a standby/, asItWas);
  await refused(urlOf(context, [{ port: 1 }], database), 5, /nothing listens there/, asItWas);
  await refused(urlOf(context, [primary], 'nowhere'), 5, /does not exist: .*createdb/, asItWas);
  await refused(urlOf(context, [primary], 'postgres'), 1, /make the user the owner of the database/, asItWas);
  await standby.server.stop('SIGQUIT');
  await until(
    async () => (await primary.query('SELECT FROM pg_stat_replication')).length === 0,
    'the primary has noticed',
  );
  const alone = urlOf(context, [primary], database);
  await refused(
    alone,
    1,
    /waits for a standby .*none of those follows.*ALTER SYSTEM RESET/,
    /nothing was moved/i,
  );
  await standby.server.start();
  await until(
    async () =>
      (await primary.query("SELECT FROM pg_stat_replication WHERE sync_state = 'sync'")).length === 1,
    'the standby follows',
  );
  assert.match(await ended(alone), /^0 /);
  await refused(alone, 1, /is not empty: .*something was moved there before.*createdb/);
});

runUnless(WITHOUT_POSTGRES, test, 'snitch move over TLS');
