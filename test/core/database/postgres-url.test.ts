/** Addresses of databases are read as libpq reads them, and no error shows a secret. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  describeHost,
  maskPostgresUrl,
  parsePostgresUrl,
  SOCKET_DIRECTORY,
} from '../../../src/core/database/postgres-url.ts';

const test = suite('addresses of PostgreSQL');

const hostsOf = (url: string) => parsePostgresUrl(url).hosts.map(describeHost);

function refusal(url: string): string {
  try {
    parsePostgresUrl(url);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error(`${url} was not refused`);
}

test('hosts are names, addresses and socket directories, each with its port', () => {
  assert.equal(hostsOf('postgres://a:5433,b/snitch'), ['a:5433', 'b:5432']);
  assert.equal(hostsOf('postgresql://[::1]:5433,[2001:db8::2],10.0.0.3/x'), [
    '[::1]:5433',
    '[2001:db8::2]:5432',
    '10.0.0.3:5432',
  ]);
  assert.equal(hostsOf('postgres://%2Fvar%2Frun%2Fpg:5439/x'), ['/var/run/pg:5439']);
  assert.equal(hostsOf('postgres:///x?host=/run/pg,b&port=5433'), ['/run/pg:5433', 'b:5433']);
  assert.equal(hostsOf('postgres:///x?host=a,b&port=5433,5434'), ['a:5433', 'b:5434']);
  assert.equal(hostsOf('postgres:///x'), [`${SOCKET_DIRECTORY}:5432`]);
  assert.equal(hostsOf('postgres://me@/x'), [`${SOCKET_DIRECTORY}:5432`]);
  assert.equal(hostsOf('postgres://'), [`${SOCKET_DIRECTORY}:5432`]);
});

test('user, database and parameters are decoded; what is missing is null or the default of libpq', () => {
  assert.equal(
    parsePostgresUrl('postgres://s%40n:p%2F%3A%40%25@a/the%20db?sslmode=verify-full&sslrootcert=/c.pem'),
    {
      hosts: [{ host: 'a', port: 5432 }],
      user: 's@n',
      password: 'p/:@%',
      database: 'the db',
      tls: { mode: 'verify-full', rootCert: '/c.pem', cert: null, key: null },
      applicationName: 'snitch',
      connectTimeoutMs: 3_000,
    },
  );
  const { user, password, database, tls } = parsePostgresUrl('postgres://a');
  assert.equal([user, password, database, tls.mode], [null, null, null, 'prefer']);
  // The first colon ends the name, the last @ the password.
  assert.equal(parsePostgresUrl('postgres://me:a:b@c@h/x').password, 'a:b@c');
  const named = parsePostgresUrl(
    'postgres:///?user=u&password=p%26&dbname=d&application_name=one&connect_timeout=9&target_session_attrs=read-write',
  );
  assert.equal(
    [named.user, named.password, named.database, named.applicationName, named.connectTimeoutMs],
    ['u', 'p&', 'd', 'one', 9_000],
  );
});

test('a wrong address is refused with what to do about it', () => {
  for (const [url, words] of [
    ['mysql://a/b', /must begin with postgres:\/\//],
    ['postgres://a:0/b', /port/],
    ['postgres://a:65536/b', /port/],
    ['postgres://a:x/b', /HOST:PORT/],
    ['postgres://::1/b', /\[IPv6\]:PORT/],
    ['postgres://a,a:5432/b', /twice/],
    ['postgres://a/b c', /spaces/],
    ['postgres://a/b\n', /control characters/],
    ['postgres://a/%', /%25/],
    ['postgres://a/%00', /NUL/],
    ['postgres://a/b/c', /name of the database/],
    ['postgres://a/b?ssl=true', /unknown option ssl=; it may have .*sslmode/],
    ['postgres://a/b?sslmode=no-verify', /verify-full/],
    ['postgres://a/b?sslmode=require&sslmode=disable', /twice/],
    ['postgres://a/b?sslrootcert=ca.pem', /absolute path/],
    ['postgres://a/b?sslmode=require&sslrootcert=system', /verify-full/],
    ['postgres://a/b?sslcert=/c', /together/],
    ['postgres://a/b?connect_timeout=0', /seconds/],
    ['postgres://a/b?connect_timeout=61', /seconds/],
    ['postgres://a/b?target_session_attrs=standby', /read-write/],
    ['postgres://a/b?host=c', /keep one/],
    ['postgres:///b?host=a,c&port=1,2,3', /3 ports in port= for 2 hosts/],
    [`postgres://${Array.from({ length: 17 }, (_, i) => `h${i}`).join()}/b`, /more than 16/],
    [`postgres://${'a'.repeat(5_000)}/b`, /longer/],
    ['postgres://a b@h/x', /spaces/],
  ] as const) {
    assert.match(refusal(url), words, url);
  }
});

test('no error shows any part of a password, however badly it was encoded', () => {
  for (const password of [
    'hunter/two',
    'hunter?two',
    'hunter#two',
    'hunter two',
    'hunter%two',
    'a/hunter:two',
  ]) {
    const told = refusal(`postgres://me:${password}@db.example/x?sslmode=require`);
    assert.not.match(told, /hunter|two/, password);
  }
  assert.not.match(refusal('postgres://me@h/x?password=%zzhunter'), /hunter/);
  assert.not.match(refusal('postgres://me@h/x?Hunter2=1'), /Hunter/);
});

test('people are shown all but the password', () => {
  const shown = (url: string) => maskPostgresUrl(parsePostgresUrl(url));
  assert.is(
    shown('postgres://me:hunter2@a,[::1]:7,%2Frun%2Fpg/x?sslmode=require&sslrootcert=/c'),
    'postgres://me:***@a:5432,[::1]:7,%2Frun%2Fpg:5432/x?sslmode=require&sslrootcert=/c',
  );
  assert.is(shown('postgres://a?password=hunter2&user=u'), 'postgres://u:***@a:5432?sslmode=prefer');
  assert.is(shown('postgres://a'), 'postgres://a:5432?sslmode=prefer');
  const again = 'postgres://me@a:5432,[::1]:7/x?sslmode=disable';
  assert.is(shown(again), again);
});

test.run();
