/** Where the data is: the address of the database, and where its password comes from. */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ConfigError } from '../../src/config/file.ts';
import { storePlace, withServicePassword } from '../../src/config/store-place.ts';
import { storeSection } from '../../src/config/store-section.ts';
import { parsePostgresUrl } from '../../src/core/database/postgres-url.ts';
import { ownDirectory } from '../data-directory.ts';

const test = suite('the place of the data');

const URL = 'postgres://snitch@db1,db2:5433/snitch?sslmode=verify-full&sslrootcert=system';

function problems(section: unknown): string[] {
  const checked = storeSection.safeParse(section);
  return checked.error?.issues.map(({ path, message }) => `${path.join('.')} ${message}`) ?? [];
}

function refusal(section: Parameters<typeof storePlace>[0], env = {}): string {
  try {
    storePlace(section, env);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error('it was not refused');
}

test('without an address the data is in the data directory', () => {
  assert.equal(storeSection.parse({}), {});
  assert.is(storePlace({}, {}), null);
});

test('an address is kept as it was given, and shown without its password', () => {
  assert.equal(storeSection.parse({ url: URL }), { url: URL });
  const place = storePlace({ url: URL.replace('snitch@', 'snitch:hunter2@') }, {});
  assert.is(place?.address.password, 'hunter2');
  assert.is(
    place?.shown,
    'postgres://snitch:***@db1:5432,db2:5433/snitch?sslmode=verify-full&sslrootcert=system',
  );
});

test('a wrong address is explained without showing any of it', () => {
  assert.equal(problems({ url: 'mysql://a/b' }), ['url must begin with postgres://']);
  assert.match(problems({ url: 'postgres://me:hunter/2@a/b' })[0] ?? '', /%2F/);
  assert.not.match(problems({ url: 'postgres://me:hunter/2@a/b' }).join(), /hunter/);
  assert.equal(problems({ password_file: '/run/secret' }), [
    'password_file is set, but there is no store.url whose password it could hold',
  ]);
  assert.is(problems({ url: URL, password_file: 'secret' }).length, 1);
  assert.is(problems({ url: URL, path: '/x' }).length, 1);
});

test('a password comes from a file, or from the credential of systemd', () => {
  using directory = ownDirectory();
  const file = join(directory.path, 'password');
  writeFileSync(file, 'p/:@%\n', { mode: 0o600 });
  const place = storePlace({ url: URL, password_file: file }, {});
  assert.equal([place?.address.password, place?.passwordFile], ['p/:@%', file]);
  assert.not.match(place?.shown ?? '', /p\/:/);

  const credentials = join(directory.path, 'credentials');
  mkdirSync(credentials);
  writeFileSync(join(credentials, 'store-password'), 'of systemd');
  const env = { CREDENTIALS_DIRECTORY: credentials };
  assert.is(storePlace({ url: URL }, env)?.address.password, 'of systemd');
  assert.is(storePlace({ url: URL, password_file: file }, env)?.address.password, 'p/:@%');
  assert.is(storePlace({}, env), null);
});

test('a command run as root uses the password of the service, unless another is set', () => {
  using directory = ownDirectory();
  const file = join(directory.path, 'snitch.store-password');
  const of = (url: string) => withServicePassword(parsePostgresUrl(url), file).password;
  assert.is(of(URL), null);
  writeFileSync(file, 'of the service\n');
  assert.is(of(URL), 'of the service');
  assert.is(of(URL.replace('snitch@', 'snitch:own@')), 'own');
});

test('two passwords, none in the file, or a file that is not there are refused', () => {
  using directory = ownDirectory();
  const file = join(directory.path, 'password');
  assert.match(
    refusal({ url: URL, password_file: file }),
    /store\.password_file: .* cannot be read \(ENOENT\)/,
  );
  writeFileSync(file, '');
  assert.match(refusal({ url: URL, password_file: file }), /is empty/);
  writeFileSync(file, 'hunter2\nhunter3\n');
  const told = refusal({ url: URL, password_file: file });
  assert.match(told, /one line of text/);
  assert.not.match(told, /hunter/);
  writeFileSync(file, 'hunter2\n');
  chmodSync(file, 0o600);
  const both = refusal({ url: 'postgres://me:hunter4@a/b', password_file: file });
  assert.match(both, /store\.url: it has a password, and so has store\.password_file/);
  assert.not.match(both, /hunter/);
});

test.run();
