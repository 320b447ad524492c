/**
 * No key, password, token or signing secret gets into a log, into what a command prints, or where others can read.
 * Time limit: 120 s.
 */
import { globSync, readFileSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import Database from 'better-sqlite3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireApiKey, WireSnitch, WireWebhook } from '../../src/api/wire.ts';
import { closing } from '../closing.ts';
import { removeDataDir } from '../data-directory.ts';
import { BusyLife, badConfigurations } from './busy-life.ts';
import { type HostileTargets, startHostileTargets } from './hostile-targets.ts';
import { newName, newPassword } from './known-secrets.ts';

const RELOADED = 'the configuration was read again';
const REFUSED = 'the configuration was not read again';

/** What each kind of failure leaves in the log. */
const FAILURES = [
  'answered 500',
  'redirected to http://other.test/',
  'is not HTTP',
  'the certificate of',
  'connection refused by',
  'watchdog.url answered with 500',
];

/** Makes a snitch whose alerts go to everybody; it also has its own recipient, whose mail does not wait for others. */
async function raiseAlert(life: BusyLife, name: string): Promise<WireSnitch> {
  const wish = { name, interval: 'hourly', alert_email: [`${name}@example.com`] };
  const snitch = await life.make<WireSnitch>('POST', '/v1/snitches', wish);
  life.tokens.add(`the token of ${name}`, snitch.token);
  await life.hear(`/c/${snitch.token}?s=1&m=failed`);
  return snitch;
}

async function addWebhooks(life: BusyLife): Promise<WireWebhook[]> {
  const made: WireWebhook[] = [];
  for (const [name, address] of Object.entries(life.targets.urls)) {
    const url = life.credentials(`the webhook ${name}`, address, newName(), newPassword());
    made.push(await life.make<WireWebhook>('POST', '/v1/webhooks', { url }));
    life.secrets.add(`the signing secret of ${name}`, made.at(-1)?.secret ?? '');
  }
  const url = life.credentials('the webhook of a user alone', life.targets.urls.quoting, newName(), '');
  const printed = await life.command(['webhook', 'add', '-', '--json'], { input: url });
  made.push(JSON.parse(printed) as WireWebhook);
  life.secrets.add('the signing secret that a command printed', made.at(-1)?.secret ?? '');
  return made;
}

async function rotateSecrets(life: BusyLife, webhooks: readonly WireWebhook[]): Promise<void> {
  const [first, last] = [webhooks.at(0)?.id, webhooks.at(-1)?.id];
  const rotated = await life.make<WireWebhook>('POST', `/v1/webhooks/${first}/rotate_secret`);
  life.secrets.add('the second signing secret', rotated.secret ?? '');
  const printed = await life.command(['webhook', 'rotate', String(last), '-q']);
  life.secrets.add('the second signing secret that a command printed', printed.trim());
}

async function makeKeys(life: BusyLife): Promise<void> {
  const made = await life.make<WireApiKey>('POST', '/v1/api_keys', { name: 'reader', scope: 'read' });
  life.secrets.add('the read key', made.key ?? '');
  for (const words of [
    'key create writer -q',
    'key create looker --scope read -q',
    'key create more --admin -q',
  ])
    life.secrets.add(`the key of "${words}"`, (await life.command(words.split(' '))).trim());
}

async function failToDeliver(life: BusyLife): Promise<void> {
  const { smtpUrl } = life.targets;
  await raiseAlert(life, 'first');
  for (const failure of FAILURES) await life.logged(failure);
  await life.logged('delivered', 2);
  life.configure(life.credentials('a login that is refused', smtpUrl, newName(), newPassword()));
  await life.reload(RELOADED);
  await raiseAlert(life, 'second');
  await life.logged('refused the login: 535');
  await life.tellOf(['doctor', '--send', 'me@example.com']);
  life.configure(life.credentials('a login by a name alone', smtpUrl, newName(), ''));
  await life.reload(RELOADED);
  await raiseAlert(life, 'third');
  await life.logged('Missing credentials');
}

/** Requests with secrets where the daemon could stumble over them. */
async function askWrongly(life: BusyLife, { token }: WireSnitch): Promise<void> {
  const wrong = life.secrets.add('a wrong key', `snk_${newName()}`);
  const encoded = Buffer.from(`${wrong}:`).toString('base64');
  life.secrets.add('a wrong key, as a header', encoded);
  for (const authorization of [`Basic ${encoded}`, `Basic !${wrong}`, `Bearer ${wrong}`, wrong])
    await life.hear('/v1/snitches', { headers: { authorization } });
  const header = `Host: x\r\nAuthorization: Basic ${encoded}\r\n`;
  for (const request of [
    `GET /v1/snitches HTTP/1.1\r\n${header}${header}\r\n`,
    `GET /v1/snitches HTTP/1.1\r\n${header}not a header\r\n\r\n`,
    `GET /v1/snitches HTTP/1.1\r\n${header}X: ${'x'.repeat(20_000)}\r\n\r\n`,
    `GET /v1/${wrong} /v1 HTTP/9.9\r\n${header}\r\n`,
    `POST /c/${token} HTTP/1.1\r\n${header}Transfer-Encoding: chunked\r\n\r\nnot a chunk ${wrong}`,
  ])
    life.told.push(await exchange(life.url, request));
  const url = life.credentials('a webhook that is refused', 'ftp://mail.test', newName(), newPassword());
  await life.call('POST', '/v1/webhooks', { url });
  await life.call('POST', '/v1/webhooks', `{"url": "${url}`);
  for (const path of [`/v1/${wrong}`, `/v1/%zz${wrong}`, `/v1/webhooks?api_key=${wrong}`, `/${wrong}`])
    await life.call('GET', path);
  const lost = life.tokens.add('a token that nobody has', newName());
  for (const path of [lost, `${lost}/start`, `${token}/bogus`, `${token}%zz`, `${token}/start?rid=${wrong}`])
    await life.hear(`/c/${path}`);
  await life.hear(`/c/${token}`, { method: 'DELETE' });
}

/** Sends what no client would, and answers with what comes until the connection ends. */
async function exchange(url: string, request: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined).end(request);
  return text(socket).catch(() => '');
}

async function lookAround(life: BusyLife, webhooks: readonly WireWebhook[]): Promise<void> {
  for (const path of ['webhooks', 'deliveries', 'alerts', 'api_keys', 'case', 'stats'])
    await life.call('GET', `/v1/${path}`);
  for (const path of ['metrics', 'healthz', 'readyz']) await life.hear(`/${path}`);
  for (const { id } of webhooks) await life.tellOf(['webhook', 'test', id]);
  for (const words of ['webhook list', 'key list', 'key list --admin', 'deliveries -o wide', 'alerts --json'])
    await life.tellOf(words.split(' '));
  for (const words of [
    'doctor --json',
    'config show',
    'config check',
    `backup ${join(life.root, 'copy.db')}`,
  ])
    await life.tellOf(words.split(' '));
  const SNITCH_API_KEY = life.secrets.add('the wrong key of a command', `snk_${newName()}`);
  await life.tellOf(['list'], { SNITCH_API_KEY });
  const SNITCH_URL = life.credentials('an address of a command', life.url, newName(), newPassword());
  await life.tellOf(['list'], { SNITCH_URL });
}

async function configureBadly(life: BusyLife, thoroughly: boolean): Promise<void> {
  for (const yaml of badConfigurations(life)) {
    life.writeConfig(yaml);
    await life.reload(REFUSED);
    if (!thoroughly) continue;
    const elsewhere = { SNITCH_DATA_DIR: join(life.root, 'other') };
    await Promise.all([life.tellOf(['serve'], elsewhere), life.tellOf(['config', 'check'], elsewhere)]);
  }
}

/** A defect of the store, which the sweep reports by the snitch that has it. */
async function breakRow(life: BusyLife, { token }: WireSnitch): Promise<void> {
  using database = closing(new Database(join(life.dataDir, 'snitch.db')));
  database
    .prepare(
      `UPDATE snitch_states SET interval = 'never', due_at = 1, look_at = 1 WHERE id = (SELECT id FROM snitches WHERE token = ?)`,
    )
    .run(token);
  database.close();
  await life.logged('a snitch could not be swept');
}

/** @param thoroughly with all commands, which have no log of their own */
async function liveThrough(life: BusyLife, thoroughly: boolean): Promise<void> {
  await life.listening();
  const webhooks = await addWebhooks(life);
  await makeKeys(life);
  await failToDeliver(life);
  await rotateSecrets(life, webhooks);
  const snitch = await raiseAlert(life, 'fourth');
  await askWrongly(life, snitch);
  if (thoroughly) await lookAround(life, webhooks);
  await configureBadly(life, thoroughly);
  await breakRow(life, snitch);
  await life.end();
}

const JSON_LOG = { format: 'json', secretFiles: true, thoroughly: true } as const;
const PRETTY_LOG = { format: 'pretty', secretFiles: false, thoroughly: false } as const;

for (const { format, secretFiles, thoroughly } of [JSON_LOG, PRETTY_LOG]) {
  const test = suite(`secrets, with a log in ${format}`);
  const umask = process.umask();
  let targets: HostileTargets;
  let life: BusyLife;

  test.before(async () => {
    // Files are open to all unless the program itself closes them.
    process.umask(0);
    const smtpPassword = newPassword();
    targets = await startHostileTargets((password) => password === smtpPassword);
    life = new BusyLife({ targets, format, smtpPassword, secretFiles });
    await liveThrough(life, thoroughly);
  });

  test.after(async () => {
    process.umask(umask);
    life.daemon.kill('SIGKILL');
    await life.daemon.ended();
    await targets.stop();
    removeDataDir(life.root);
  });

  test('the secrets were used, and each failure was logged', () => {
    assert.is(targets.users.size, 1, 'one user logged in to the mail server');
    assert.ok(targets.authorizations.size > 4, 'the webhooks got their credentials');
    for (const message of [...FAILURES, 'refused the login: 535', REFUSED, 'could not be swept', 'stopped'])
      assert.match(life.log, message);
    const said = life.told.join('\n');
    for (const answer of ['api_key_invalid', '431 Request Header', 'must be an http:// or https:// URL'])
      assert.match(said, answer);
  });

  test('none is in the log, and no token in full', () => {
    assert.equal([...life.secrets.foundIn(life.log), ...life.tokens.foundIn(life.log)], []);
  });

  test('none is in the list of processes', () => {
    assert.match(life.commandLine, 'serve');
    assert.equal(life.secrets.foundIn(life.commandLine), []);
  });

  test('none is in an answer or in what a command prints, except the one that was asked for', () => {
    assert.equal(life.secrets.foundIn(life.told.join('\n')), []);
  });

  test('none is in a file that others can read', () => {
    const files = globSync('**/*', { cwd: life.root, withFileTypes: true }).filter((entry) => entry.isFile());
    const paths = files.map(({ parentPath, name }) => join(parentPath, name));
    const found = (path: string) => life.secrets.foundIn(readFileSync(path, 'latin1'));
    assert.ok(found(join(life.dataDir, 'credentials.yaml')).length > 0, 'they can be found where they are');
    assert.ok(found(join(life.dataDir, 'snitch.db')).length > 0);
    assert.equal(paths.filter((path) => (statSync(path).mode & 0o077) !== 0).flatMap(found), []);
  });

  test.run();
}
