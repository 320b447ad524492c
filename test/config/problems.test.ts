import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Config, ConfigError, loadConfig } from '../../src/config/config.ts';

const HOME = { HOME: '/home/somebody' };

const config = suite('config problems');
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

/** The problems, without the path of the file. */
async function problems(yaml: string, env: NodeJS.ProcessEnv = HOME): Promise<string[]> {
  try {
    await load(yaml, env);
  } catch (error) {
    assert.instance(error, ConfigError);
    return (error as ConfigError).problems.map((problem) => problem.replace(`${file}:`, ''));
  }
  throw new Error('was accepted');
}

config('an unknown key is refused with the one that was meant', async () => {
  assert.equal(await problems('rate_limit:\n  per_minut: 3'), [
    '2: rate_limit.per_minut: unknown setting; did you mean rate_limit.per_minute?',
  ]);
  assert.equal(await problems('rateLimit:\n  burst: 3'), [
    '1: rateLimit: unknown setting; did you mean rate_limit?',
  ]);
  assert.equal(await problems('per_minute: 3'), [
    '1: per_minute: unknown setting; did you mean rate_limit.per_minute?',
  ]);
  assert.equal(await problems('log:\n  colour: 3'), [
    '2: log.colour: unknown setting; known here: level, format',
  ]);
});

config('a bad value is refused with what is allowed', async () => {
  assert.equal(await problems('rate_limit:\n  per_minute: fast'), [
    '2: rate_limit.per_minute: "fast" is not allowed; it must be a whole number from 0 to 1000000 (0 turns the limit off)',
  ]);
  assert.equal(await problems('log: loud'), ['1: log: must be a section with the settings level, format']);
  assert.equal(await problems('metrics:\n  public: yes'), [
    '2: metrics.public: "yes" is not allowed; it must be true or false',
  ]);
  assert.equal(await problems('trusted_proxies: [10.0.0.1, 10.0.0.0/99]'), [
    '1: trusted_proxies[1]: "10.0.0.0/99" is not allowed; it must be a list of addresses and networks, such as ["10.0.0.0/8", "::1"]',
  ]);
  assert.equal(await problems('', { ...HOME, SNITCH_RETENTION_DAYS: '0.5' }), [
    'environment variable SNITCH_RETENTION_DAYS: retention.days: "0.5" is not allowed; it must be a whole number from 1 to 36500',
  ]);
  assert.equal(await problems('', { ...HOME, SNITCH_METRICS_PUBLIC: 'constructor' }), [
    'environment variable SNITCH_METRICS_PUBLIC: metrics.public: "constructor" is not allowed; it must be true or false',
  ]);
  assert.equal(await problems('- a'), [' the file must hold "name: value" lines']);
});

config('all problems are told at once, in the order of the file', async () => {
  const told = await problems(
    'lsten: x\nlog:\n  level: loud\nretention:\n  days: 0\n  weeks: 1\nlisten: here\n',
  );
  assert.equal(
    told.map((problem) => problem.split(': ', 2).join(': ')),
    ['1: lsten', '3: log.level', '5: retention.days', '6: retention.weeks', '7: listen'],
  );
});

config('addresses to listen on', async () => {
  for (const good of [
    'localhost:0',
    '0.0.0.0:80',
    '"[::]:7676"',
    'unix:/run/s.sock',
    `unix:/${'p'.repeat(106)}`,
  ])
    await load(`listen: ${good}`);
  for (const bad of [
    '7676',
    '":7676"',
    'h:65536',
    '"::1:7676"',
    '"[::g]:1"',
    'unix:s.sock',
    `unix:/${'p'.repeat(107)}`,
    `unix:/${'ö'.repeat(54)}`,
    '"h:"',
    '"a b:1"',
  ]) {
    assert.match((await problems(`listen: ${bad}`))[0]!, /^1: listen: .* it must be HOST:PORT/, bad);
  }
});

config('addresses of the service', async () => {
  for (const good of ['http://h', 'https://h:8443/snitch/']) await load(`base_url: ${good}`);
  for (const bad of ['h', 'ftp://h', 'http://h/?a=b', 'http://h/#x', '//h', '"http://h/\\u202e"']) {
    assert.is((await problems(`base_url: ${bad}`)).length, 1, bad);
  }
});

config('mail needs both an address and a sender', async () => {
  assert.equal(await problems('smtp:\n  url: smtp://h'), [
    '2: smtp.from: is missing: smtp.url is set, and email needs both',
  ]);
  assert.equal(await problems('smtp:\n  from: a@b'), [
    '2: smtp.url: is missing: smtp.from is set, and email needs both',
  ]);
  for (const bad of ['"a@b, c@d"', '"X <a@b>, c@d"', 'a', '"a@b\\r\\nBcc: c@d"', '"c@d, X <a@b>"']) {
    assert.is((await problems(`smtp: { url: "smtp://h", from: ${bad} }`)).length, 1, bad);
  }
  const [shown] = await problems('smtp: { from: a@b, url: http://h }');
  assert.match(String(shown), 'it must be smtp://HOST[:PORT]', 'the advice is not taken for a password');
  for (const bad of [
    'http://h',
    'smtp://',
    'smtp://u:p/q@h',
    'smtp://h/path',
    '"smtp://u:%zz@h"',
    'smtp://u:#p@h',
  ]) {
    assert.is((await problems(`smtp: { from: a@b, url: ${bad} }`)).length, 1, bad);
  }
  const [cut] = await problems('smtp: { from: a@b, url: "smtp://u:#p@h" }');
  assert.match(String(cut), /# and % in a password are written .*%23 and %25$/, 'where u is not the host');
  const [unknown] = await problems('smtp: { from: a@b, url: "smtp://h?password=hunter2" }');
  assert.match(String(unknown), /^1: smtp\.url: has an unknown option; it may have requireTLS, /);
  assert.not.match(String(unknown), 'hunter2');
  assert.equal(await problems('smtp: { from: a@b, url: "smtp://h?requireTLS=yes" }'), [
    '1: smtp.url: requireTLS must be true or false',
  ]);
});

config('a password is in no message', async () => {
  const secret = 'hunter2';
  for (const yaml of [
    `smtp:\n  url: smpt://me:${secret}@h`,
    `smtp:\n  url: smtp://me:${secret}@h`,
    `smtp: smtp://me:${secret}@h`,
    `smtp:\n  ulr: smtp://me:${secret}@h`,
    `smtp:\n  url: [${secret}]`,
    `smtp:\n  url: { ${secret}: 1 }`,
    `base_url: smtp://me:${secret}@h`,
    `smtp:\n  url: "${secret}`,
    `smtp:\n  url: *${secret}`,
    `smtp:\n  url: !${secret} x`,
    `smtp:\n  url: |${secret}`,
    `smtp:\n  url: "\\x${secret}"`,
    `smtp:\n  url: @${secret}`,
    `smtp:\n  url: {smtp://me:${secret}@h`,
    `smtp:\n\turl: ${secret}`,
    `smtp://me:${secret}@h: x`,
  ]) {
    const told = await problems(yaml);
    assert.not.match(told.join('\n'), secret, yaml);
    assert.ok(told.length > 0);
  }
});

config('a fault of the YAML is told with line and column', async () => {
  assert.equal(await problems('listen: [::1]:7676'), ['1:14: not valid YAML: Unexpected scalar at node end']);
  assert.equal(await problems('log:\n  level: info\n  level: warn'), [
    '3:3: not valid YAML: Map keys must be unique',
  ]);
});

config(
  'a second document is warned of, and keeps no daemon from starting that has started so far',
  async () => {
    const { log, smtp, warnings } = await load('---\nlog:\n  level: warn\n---\n# more\nsmtp:\n  url: x');
    assert.equal([log.level, smtp], ['warn', null]);
    assert.is(warnings.length, 1);
    assert.match(
      warnings[0] ?? '',
      /:6:1: another document begins here, and only the first is read: write one document, without ---$/,
    );
    assert.is((await load('---\nlog:\n  level: warn\n---\n')).log.level, 'warn');
    assert.is((await load('---\n')).log.level, 'info');
  },
);

config('what cannot be printed is escaped', async () => {
  const [told] = await problems('log:\n  level: "\\e[31m\\u202e\\n"');
  assert.match(told!, '"\\u001b[31m\\u202e\\n"');
});

config.run();
