import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parseDocument } from 'yaml';
import { type Config, describeConfig, loadConfig } from '../../src/config/config.ts';
import { environmentVariable, SETTING_NAMES } from '../../src/config/settings.ts';
import { parsePostgresUrl } from '../../src/core/database/postgres-url.ts';

const EXAMPLE = new URL('../../config.example.yaml', import.meta.url);
const HOME = { HOME: '/home/somebody' };

const config = suite('config');
let directory: string;
let file: string;

config.before.each(() => {
  directory = mkdtempSync(join(tmpdir(), 'snitch-config-'));
  file = join(directory, 'config.yaml');
});
config.after.each(() => rmSync(directory, { recursive: true }));

function load(yaml: string, env: NodeJS.ProcessEnv = HOME): Promise<Config> {
  writeFileSync(file, yaml);
  return loadConfig({ file, env });
}

const ADMIN_KEY = `snk_${'aB3'.repeat(13)}x`;

/** The files of secrets, as an editor leaves them: with a line break at the end. */
function secretFiles(): { password: string; adminKey: string } {
  const files = { password: join(directory, 'smtp-password'), adminKey: join(directory, 'admin-key') };
  writeFileSync(files.password, 'p@ss\n');
  writeFileSync(files.adminKey, `${ADMIN_KEY}\n`);
  return files;
}

const DEFAULTS: Config = {
  store: null,
  listen: { kind: 'tcp', host: '127.0.0.1', port: 7676 },
  baseUrl: null,
  checkInBase: null,
  dataDir: '/home/somebody/.local/state/snitch',
  warnings: [],
  adminKey: null,
  secretFiles: { adminKey: null, smtpPassword: null, watchdogUrl: null },
  log: { level: 'info', format: 'json' },
  smtp: null,
  webhooks: { allowPrivate: true },
  rateLimit: { perMinute: 600, burst: 100, blockS: 60 },
  retention: { checkIns: 100, days: 30 },
  trustedProxies: [],
  commands: {},
  metrics: { public: false },
  watchdog: { url: null, intervalS: 60 },
};

config('without any configuration has defaults that work', async () => {
  assert.equal(await loadConfig({ env: HOME }), DEFAULTS);
});

config('the example parses to exactly the defaults', async () => {
  assert.equal(await load(readFileSync(EXAMPLE, 'utf8')), DEFAULTS);
});

config('the example names every setting, and nothing else', () => {
  const document = parseDocument(readFileSync(EXAMPLE, 'utf8'));
  const named = Object.entries(document.toJS()).flatMap(([name, value]) =>
    value !== null && typeof value === 'object' && !Array.isArray(value)
      ? Object.keys(value).map((inner) => `${name}.${inner}`)
      : [name],
  );
  assert.equal(named.sort(), [...SETTING_NAMES].sort());
});

config('every setting can be set in the file', async () => {
  const secrets = secretFiles();
  const loaded = await load(`
listen: "[::1]:7000"
base_url: https://snitch.example.com/
check_in_base: https://nosn.example.com
data_dir: /srv/snitch
store: { url: "postgres://me@db/snitch", password_file: ${secrets.password} }
log: { level: debug, format: pretty }
smtp: { url: "smtp://me@mail.example.com:587", password_file: ${secrets.password}, from: "Snitch <snitch@example.com>" }
admin_key_from: ${secrets.adminKey}
webhooks: { allow_private: false }
rate_limit: { per_minute: 0, burst: 5, block_s: 10 }
retention: { check_ins: 50, days: 7 }
trusted_proxies: ["10.0.0.0/8", "::1"]
commands: { page: [/usr/local/bin/page, --now] }
metrics: { public: true }
watchdog: { url: "https://other.example.com/c/token?x=1", interval_s: 30 }
`);
  assert.equal(loaded, {
    listen: { kind: 'tcp', host: '::1', port: 7000 },
    baseUrl: 'https://snitch.example.com',
    checkInBase: 'https://nosn.example.com',
    dataDir: '/srv/snitch',
    store: {
      address: { ...parsePostgresUrl('postgres://me@db/snitch'), password: 'p@ss' },
      shown: 'postgres://me@db:5432/snitch?sslmode=prefer',
      passwordFile: secrets.password,
    },
    adminKey: ADMIN_KEY,
    warnings: [],
    secretFiles: { adminKey: secrets.adminKey, smtpPassword: secrets.password, watchdogUrl: null },
    log: { level: 'debug', format: 'pretty' },
    smtp: { url: 'smtp://me:p%40ss@mail.example.com:587', from: 'Snitch <snitch@example.com>' },
    webhooks: { allowPrivate: false },
    rateLimit: { perMinute: 0, burst: 5, blockS: 10 },
    retention: { checkIns: 50, days: 7 },
    trustedProxies: ['10.0.0.0/8', '::1'],
    commands: { page: ['/usr/local/bin/page', '--now'] },
    metrics: { public: true },
    watchdog: { url: 'https://other.example.com/c/token?x=1', intervalS: 30 },
  });
});

config('every setting can be set in the environment, which wins over the file', async () => {
  const secrets = secretFiles();
  const text: Record<string, string> = {
    admin_key_from: secrets.adminKey,
    listen: 'unix:/run/snitch.sock',
    base_url: 'http://a',
    check_in_base: 'http://b/x',
    data_dir: '/d',
    'store.url': 'postgres://me@db/snitch',
    'store.password_file': secrets.password,
    'log.level': 'warn',
    'log.format': 'pretty',
    'smtp.url': 'smtps://u@h',
    'smtp.password_file': secrets.password,
    'smtp.from': 'a@b',
    'webhooks.allow_private': 'no',
    'rate_limit.per_minute': '1',
    'rate_limit.burst': '2',
    'rate_limit.block_s': '3',
    'retention.check_ins': '4',
    'retention.days': '5',
    trusted_proxies: '10.0.0.1, ::1',
    commands: '{"page": ["/bin/page"]}',
    'metrics.public': 'true',
    'watchdog.url': 'http://other',
    'watchdog.url_file': '',
    'watchdog.interval_s': '10',
  };
  assert.equal(Object.keys(text).sort(), [...SETTING_NAMES].sort());
  const env = Object.fromEntries(SETTING_NAMES.map((name) => [environmentVariable(name), text[name]]));
  const loaded = await load('listen: 0.0.0.0:1\nlog:\n  level: error\nretention:\n', { ...HOME, ...env });
  assert.equal(loaded, {
    listen: { kind: 'unix', path: '/run/snitch.sock' },
    baseUrl: 'http://a',
    checkInBase: 'http://b/x',
    dataDir: '/d',
    store: {
      address: { ...parsePostgresUrl('postgres://me@db/snitch'), password: 'p@ss' },
      shown: 'postgres://me@db:5432/snitch?sslmode=prefer',
      passwordFile: secrets.password,
    },
    warnings: [],
    adminKey: ADMIN_KEY,
    secretFiles: { adminKey: secrets.adminKey, smtpPassword: secrets.password, watchdogUrl: null },
    log: { level: 'warn', format: 'pretty' },
    smtp: { url: 'smtps://u:p%40ss@h', from: 'a@b' },
    webhooks: { allowPrivate: false },
    rateLimit: { perMinute: 1, burst: 2, blockS: 3 },
    retention: { checkIns: 4, days: 5 },
    trustedProxies: ['10.0.0.1', '::1'],
    commands: { page: ['/bin/page'] },
    metrics: { public: true },
    watchdog: { url: 'http://other', intervalS: 10 },
  });
});

config('a command is a program by its absolute path, and its arguments', async () => {
  for (const commands of [
    '{page: page}',
    '{page: [page]}',
    '{page: []}',
    '{"a b": [/bin/page]}',
    '[/bin/page]',
    'x',
  ]) {
    const error = await load(`commands: ${commands}\n`).catch((reason: unknown) => reason);
    assert.match(String(error), 'commands');
  }
});

config('a variable that is written as in the file is refused with the form that a variable has', async () => {
  const refusal = async (env: NodeJS.ProcessEnv) =>
    String(await loadConfig({ env: { ...HOME, ...env } }).catch((error) => error));
  const lists = await refusal({ SNITCH_TRUSTED_PROXIES: '["10.0.0.0/8", "::1"]' });
  assert.match(lists, 'such as ["10.0.0.0/8", "::1"]; in a variable, its items are separated by commas');
  const maps = await refusal({ SNITCH_COMMANDS: '{page: [/usr/local/bin/page, --now]}' });
  const [, form = ''] = /in a variable, it is JSON: (.+)$/m.exec(maps) ?? [];
  const { commands } = await loadConfig({ env: { ...HOME, SNITCH_COMMANDS: form } });
  assert.equal(commands, { page: ['/usr/local/bin/page', '--now'] });
});

config('variables of the command line, and empty ones, are not settings', async () => {
  const env = { ...HOME, SNITCH_URL: 'http://x', SNITCH_API_KEY: 'k', SNITCH_LISTEN: '' };
  assert.equal(await loadConfig({ env }), DEFAULTS);
});

config('log lines are pretty on a terminal unless a format is set', async () => {
  assert.is((await loadConfig({ env: HOME, terminal: true })).log.format, 'pretty');
  const env = { ...HOME, SNITCH_LOG_FORMAT: 'json' };
  assert.is((await loadConfig({ env, terminal: true })).log.format, 'json');
});

config('the data directory follows systemd, then XDG, then the home directory', async () => {
  const dataDir = async (env: NodeJS.ProcessEnv) => (await loadConfig({ env })).dataDir;
  assert.is(
    await dataDir({ STATE_DIRECTORY: '/var/lib/snitch:/x', XDG_STATE_HOME: '/s' }),
    '/var/lib/snitch',
  );
  assert.is(await dataDir({ ...HOME, XDG_STATE_HOME: '/s' }), '/s/snitch');
  assert.is(await dataDir({ SNITCH_DATA_DIR: 'here' }), resolve('here'));
});

config('a data directory that depends on where the program is started is refused', async () => {
  const refusal = async (options: Parameters<typeof loadConfig>[0]) =>
    String(await loadConfig(options).catch((error) => error));
  assert.match(await refusal({ env: { HOME: '' } }), 'environment variable HOME: it is empty');
  assert.match(
    await refusal({ env: { HOME: 'home' } }),
    'environment variable HOME: "home" is not an absolute path',
  );
  assert.match(await refusal({ env: { ...HOME, XDG_STATE_HOME: 'state' } }), 'XDG_STATE_HOME: "state"');
  assert.match(await refusal({ env: { ...HOME, STATE_DIRECTORY: 'state' } }), 'STATE_DIRECTORY: "state"');
  writeFileSync(file, 'log:\ndata_dir: data');
  const relative = await loadConfig({ file, env: HOME });
  assert.is(relative.dataDir, resolve('data'), 'it worked always, and goes on');
  assert.equal(relative.warnings, [
    `${file}:2: data_dir: "data" is not an absolute path, so it would depend on where snitch is started: write ${resolve('data')}`,
  ]);
  const set = await loadConfig({ file, env: { HOME: '', XDG_STATE_HOME: 'x', SNITCH_DATA_DIR: '/d' } });
  assert.equal([set.dataDir, set.warnings], ['/d', []]);
  const { dataDir } = await loadConfig({ env: {} });
  assert.is(dataDir, join(userInfo().homedir, '.local/state/snitch'));
});

config('the file is the one named, else SNITCH_CONFIG, else that of the systemd unit', async () => {
  writeFileSync(file, 'listen: h:1');
  const other = join(directory, 'other.yaml');
  writeFileSync(other, 'listen: h:2');
  const port = async (options: Parameters<typeof loadConfig>[0]) => {
    const { listen } = await loadConfig(options);
    return listen.kind === 'tcp' && listen.port;
  };
  assert.is(await port({ env: { ...HOME, CONFIGURATION_DIRECTORY: directory } }), 1);
  assert.is(await port({ env: { ...HOME, CONFIGURATION_DIRECTORY: directory, SNITCH_CONFIG: other } }), 2);
  assert.is(await port({ file, env: { ...HOME, SNITCH_CONFIG: other } }), 1);
});

config('a named file that cannot be read is refused', async () => {
  for (const [path, reason] of [
    [join(directory, 'none.yaml'), 'it does not exist'],
    [directory, 'it is a directory'],
  ]) {
    const error = await loadConfig({ file: path!, env: HOME }).catch((thrown) => thrown);
    assert.equal(error.problems, [`${path}: cannot read the file: ${reason}`]);
  }
  writeFileSync(file, Buffer.from([0x61, 0xff]));
  const error = await loadConfig({ file, env: HOME }).catch((thrown) => thrown);
  assert.equal(error.problems, [`${file}: the file is not UTF-8 text`]);
});

config('the configuration cannot be changed', async () => {
  const loaded = await loadConfig({ env: HOME });
  assert.throws(() => Object.assign(loaded.rateLimit, { burst: 1 }), TypeError);
  assert.throws(() => (loaded.trustedProxies as string[]).push('x'), TypeError);
});

config('is described in the names of the file, without secrets', async () => {
  const described = describeConfig(
    await load('smtp: { url: "smtp://me:hunter2@h", from: a@b }\nlisten: "[::1]:1"\n'),
  );
  assert.equal(described.smtp, { url: 'smtp://me:***@h', password_file: null, from: 'a@b' });
  assert.is(described.listen, '[::1]:1');
  const names = Object.entries(described).flatMap(([name, value]) =>
    value && typeof value === 'object' && !Array.isArray(value)
      ? Object.keys(value).map((inner) => `${name}.${inner}`)
      : [name],
  );
  assert.equal(names.sort(), [...SETTING_NAMES].sort());
});

config('what the service manager passes as credentials is found without a setting', async () => {
  secretFiles();
  const env = { ...HOME, CREDENTIALS_DIRECTORY: directory };
  const loaded = await load('smtp: { url: "smtps://u@h", from: a@b }\n', env);
  assert.equal(loaded.smtp, { url: 'smtps://u:p%40ss@h', from: 'a@b' });
  assert.is(loaded.adminKey, ADMIN_KEY);
  const described = JSON.stringify(describeConfig(loaded));
  assert.not.match(described, ADMIN_KEY);
  assert.not.match(described, 'p%40ss');
  const without = await load('smtp: { url: "smtps://u@h", from: a@b }\n', {
    ...HOME,
    CREDENTIALS_DIRECTORY: '/nowhere',
  });
  assert.equal(without.smtp, { url: 'smtps://u@h', from: 'a@b' });
});

for (const [what, content, problem] of [
  ['is empty', '\n', /smtp-password is empty/],
  ['has two lines', 'one\ntwo\n', /must hold one line/],
  ['is no text', '\u0000\u0001', /must hold one line/],
  ['begins with an invisible mark', '\ufeffpassword', /must hold one line/],
  ['is far too long', 'x'.repeat(5_000), /too long for a secret/],
] as const) {
  config(`a file of a secret that ${what} is refused, without a word of what is in it`, async () => {
    const { password } = secretFiles();
    writeFileSync(password, content);
    const error = await load(`smtp: { url: "smtps://u@h", from: a@b, password_file: ${password} }\n`).catch(
      (e) => e,
    );
    assert.match(error.message, problem);
    assert.not.match(error.message, /one\\n|xxxxx/);
  });
}

config('a credential that leads nowhere is not taken for one that is absent', async () => {
  symlinkSync('/nowhere/admin-key', join(directory, 'admin-key'));
  const { message } = await load('', { ...HOME, CREDENTIALS_DIRECTORY: directory }).catch((error) => error);
  assert.match(message, 'admin-key cannot be read (ENOENT)');
});

config('a pipe in the place of a secret is not waited for', async () => {
  const pipe = join(directory, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const { message } = await load(`admin_key_from: ${pipe}\n`).catch((error) => error);
  assert.match(message, 'pipe is empty');
});

config('secrets that cannot be used are refused with what to do, and never shown', async () => {
  const { password, adminKey } = secretFiles();
  writeFileSync(adminKey, 'snk_tooshort');
  const refused = async (yaml: string) => (await load(yaml).catch((error) => error)).message as string;
  assert.match(await refused(`admin_key_from: ${adminKey}\n`), 'snk_ followed by 40 letters and digits');
  assert.not.match(await refused(`admin_key_from: ${adminKey}\n`), 'tooshort');
  assert.match(await refused('admin_key_from: /nowhere/key\n'), '/nowhere/key cannot be read (ENOENT)');
  assert.match(await refused('admin_key_from: key\n'), 'absolute path');
  const smtp = (url: string) => refused(`smtp: { url: "${url}", from: a@b, password_file: ${password} }\n`);
  assert.match(await smtp('smtps://u:other@h'), 'remove one of them');
  assert.not.match(await smtp('smtps://u:other@h'), 'other');
  assert.match(await smtp('smtps://h'), 'needs a user name');
});

config(
  'the address of the watchdog may be in a file of its own, and is shown from there no more than otherwise',
  async () => {
    const file = join(directory, 'watchdog');
    writeFileSync(file, 'https://h.example/c/tok3n\n', { mode: 0o600 });
    const loaded = await load(`watchdog: { url_file: ${file} }\n`);
    assert.is(loaded.watchdog.url, 'https://h.example/c/tok3n');
    assert.equal(describeConfig(loaded).watchdog, {
      url: 'https://h.example/***',
      url_file: file,
      interval_s: 60,
    });
    const fromEnvironment = await load('', { ...HOME, SNITCH_WATCHDOG_URL_FILE: file });
    assert.is(fromEnvironment.watchdog.url, 'https://h.example/c/tok3n');
    const refused = async (yaml: string) => (await load(yaml).catch((error) => error)).message as string;
    assert.match(
      await refused(`watchdog: { url: "http://x/c/y", url_file: ${file} }\n`),
      'remove one of them',
    );
    writeFileSync(file, 'tok3n');
    assert.match(await refused(`watchdog: { url_file: ${file} }\n`), `${file} must hold a check-in address`);
    assert.not.match(await refused(`watchdog: { url_file: ${file} }\n`), 'tok3n');
  },
);

config('the address of the watchdog is a secret', async () => {
  const loaded = await load('watchdog: { url: "https://h.example/c/tok3n" }\n');
  assert.equal(describeConfig(loaded).watchdog, {
    url: 'https://h.example/***',
    url_file: null,
    interval_s: 60,
  });
  const { message } = await load('watchdog: { url: "https://u:hunter2@h/c/tok3n" }\n').catch(
    (error) => error,
  );
  assert.match(message, 'watchdog.url');
  assert.not.match(message, /hunter2|tok3n/);
});

config(
  'a variable that is nearly a setting is told of, without its value, and others are left alone',
  async () => {
    const env = {
      ...HOME,
      SNITCH_BASEURL: 'https://secret.example',
      SNITCH_SMTP_PASSWORD: 'hunter2',
      SNITCH_LISTN: '',
      SNITCH_SPOOL_DIR: '/s',
      SNITCH_SERVER: 'home',
      // Kubernetes sets this for a service called snitch.
      SNITCH_SERVICE_HOST: '10.0.0.1',
      SNITCH_SERVICE_PORT: '7676',
      SNITCH_PORT: 'tcp://10.0.0.1:7676',
      SNITCH_PORT_7676_TCP_ADDR: '10.0.0.1',
    };
    assert.equal((await loadConfig({ env })).warnings, [
      'the environment variable SNITCH_BASEURL is not a setting and has no effect: did you mean SNITCH_BASE_URL?',
      'the environment variable SNITCH_SMTP_PASSWORD is not a setting and has no effect: did you mean SNITCH_SMTP_PASSWORD_FILE?',
    ]);
  },
);

config.run();
