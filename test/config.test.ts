import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parseDocument } from 'yaml';
import { type Config, describeConfig, loadConfig } from '../src/config.ts';
import { environmentVariable, SETTING_NAMES } from '../src/settings.ts';

const EXAMPLE = new URL('../config.example.yaml', import.meta.url);
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

const DEFAULTS: Config = {
  listen: { kind: 'tcp', host: '127.0.0.1', port: 7676 },
  baseUrl: null,
  checkInBase: null,
  dataDir: '/home/somebody/.local/state/snitch',
  log: { level: 'info', format: 'json' },
  smtp: null,
  webhooks: { allowPrivate: true },
  rateLimit: { perMinute: 600, burst: 100, blockS: 60 },
  retention: { checkIns: 100, days: 30 },
  trustedProxies: [],
  metrics: { public: false },
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
  const loaded = await load(`
listen: "[::1]:7000"
base_url: https://snitch.example.com/
check_in_base: https://nosn.example.com
data_dir: /srv/snitch
log: { level: debug, format: pretty }
smtp: { url: "smtp://me:p%40ss@mail.example.com:587", from: "Snitch <snitch@example.com>" }
webhooks: { allow_private: false }
rate_limit: { per_minute: 0, burst: 5, block_s: 10 }
retention: { check_ins: 50, days: 7 }
trusted_proxies: ["10.0.0.0/8", "::1"]
metrics: { public: true }
`);
  assert.equal(loaded, {
    listen: { kind: 'tcp', host: '::1', port: 7000 },
    baseUrl: 'https://snitch.example.com',
    checkInBase: 'https://nosn.example.com',
    dataDir: '/srv/snitch',
    log: { level: 'debug', format: 'pretty' },
    smtp: { url: 'smtp://me:p%40ss@mail.example.com:587', from: 'Snitch <snitch@example.com>' },
    webhooks: { allowPrivate: false },
    rateLimit: { perMinute: 0, burst: 5, blockS: 10 },
    retention: { checkIns: 50, days: 7 },
    trustedProxies: ['10.0.0.0/8', '::1'],
    metrics: { public: true },
  });
});

config('every setting can be set in the environment, which wins over the file', async () => {
  const text: Record<string, string> = {
    listen: 'unix:/run/snitch.sock',
    base_url: 'http://a',
    check_in_base: 'http://b/x',
    data_dir: '/d',
    'log.level': 'warn',
    'log.format': 'pretty',
    'smtp.url': 'smtps://h',
    'smtp.from': 'a@b',
    'webhooks.allow_private': 'no',
    'rate_limit.per_minute': '1',
    'rate_limit.burst': '2',
    'rate_limit.block_s': '3',
    'retention.check_ins': '4',
    'retention.days': '5',
    trusted_proxies: '10.0.0.1, ::1',
    'metrics.public': 'true',
  };
  assert.equal(Object.keys(text).sort(), [...SETTING_NAMES].sort());
  const env = Object.fromEntries(SETTING_NAMES.map((name) => [environmentVariable(name), text[name]]));
  const loaded = await load('listen: 0.0.0.0:1\nlog:\n  level: error\nretention:\n', { ...HOME, ...env });
  assert.equal(loaded, {
    listen: { kind: 'unix', path: '/run/snitch.sock' },
    baseUrl: 'http://a',
    checkInBase: 'http://b/x',
    dataDir: '/d',
    log: { level: 'warn', format: 'pretty' },
    smtp: { url: 'smtps://h', from: 'a@b' },
    webhooks: { allowPrivate: false },
    rateLimit: { perMinute: 1, burst: 2, blockS: 3 },
    retention: { checkIns: 4, days: 5 },
    trustedProxies: ['10.0.0.1', '::1'],
    metrics: { public: true },
  });
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
  assert.equal(described.smtp, { url: 'smtp://me:***@h', from: 'a@b' });
  assert.is(described.listen, '[::1]:1');
  const names = Object.entries(described).flatMap(([name, value]) =>
    value && typeof value === 'object' && !Array.isArray(value)
      ? Object.keys(value).map((inner) => `${name}.${inner}`)
      : [name],
  );
  assert.equal(names.sort(), [...SETTING_NAMES].sort());
});

config.run();
