/** The blocks of the documents, so that no kind of block slips past the tests. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parse } from 'yaml';
import { parseCliYaml } from '../../src/cli/command/plain-yaml.ts';
import { dropInText } from '../../src/cli/discover/systemd/drop-in.ts';
import { EXIT } from '../../src/cli/failure/exit-codes.ts';
import { parseSnitchFile } from '../../src/cli/file/snitch-file.ts';
import { settingsSchema } from '../../src/config/settings.ts';
import { type Block, pages, readPage } from './pages.ts';
import { callsIn } from './shell-words.ts';

const test = suite('blocks of the documents');

/** Each language with the test that checks its blocks. */
const LANGUAGES: Readonly<Record<string, string>> = {
  sh: 'run by commands.test.ts',
  '': 'the programs below',
  crontab: 'cli/discover/crontab-examples.test.ts',
  yaml: 'below, provisioning.test.ts and monitoring/alerts.test.ts',
  json: 'below, and webhook-samples.test.ts',
  ini: 'below, and cli/discover/check-example.test.ts',
  podman: 'packaging/container.test.ts',
  nginx: 'end-to-end/nginx.test.ts',
  postgresql: 'end-to-end/cluster-page.test.ts',
  hba: 'end-to-end/cluster-page.test.ts',
  haproxy: 'end-to-end/cluster-page.test.ts',
  python: 'webhook-samples.test.ts',
  js: 'webhook-samples.test.ts',
  caddy: 'nothing: there is no Caddy in Debian that could be trusted to be there',
  text: 'pictures and subjects of mails',
};

/** What blocks call that need root, a package or a service manager. */
const NOT_RUN = [
  'apt',
  'bin/snitch',
  'chown',
  'cp',
  'createdb',
  'createuser',
  'docker',
  'echo',
  'haproxy',
  'install',
  'journalctl',
  'mv',
  'nginx',
  'node',
  'npm',
  'npx',
  'openssl',
  'pg_basebackup',
  'pg_dump',
  'pg_restore',
  'podman',
  'psql',
  'snitch',
  'sudo',
  'systemctl',
  'tee',
  'touch',
];

function blocksOf(language: string): (Block & { path: string })[] {
  return pages().flatMap(({ path, blocks }) =>
    blocks.filter((block) => block.language === language).map((block) => ({ ...block, path })),
  );
}

test('every block has a language that a test checks', () => {
  const unknown = pages().flatMap(({ path, blocks }) =>
    blocks
      .filter(({ language }) => !(language in LANGUAGES))
      .map(({ language, line }) => `${path}:${line}: ${language}`),
  );
  assert.equal(unknown, []);
});

test('blocks that are not run call these programs and no others', () => {
  const called = blocksOf('').flatMap(({ text }) => text.split('\n').flatMap((line) => callsIn(line)));
  const programs = new Set(called.map(([program = '']) => program));
  assert.equal([...programs].sort(), NOT_RUN);
});

test('blocks that can be run are run: the others call the program only with root or on a separate host', () => {
  for (const { path, line, text } of blocksOf('')) {
    const alone = text.split('\n').filter((one) => /^snitch (?!discover|import)/.test(one));
    assert.equal(alone, [], `${path}:${line}`);
  }
});

test('every YAML block is a valid configuration, snitch file or configuration of the command line', () => {
  const blocks = blocksOf('yaml');
  assert.ok(blocks.length >= 6);
  for (const { path, line, text } of blocks) {
    const names = Object.keys(parse(text) as object);
    // Playbooks and containers are run by provisioning.test.ts, and that of Prometheus by monitoring/alerts.test.ts.
    if (Array.isArray(parse(text)) || names.includes('services') || names.includes('scrape_configs'))
      continue;
    // packaging/container-files.test.ts looks at it.
    if (names.includes('apiVersion')) continue;
    if (names.includes('snitches')) assert.ok(parseSnitchFile(path, text).entries.length > 0);
    else if (names.includes('servers')) assert.ok(parseCliYaml(text).servers.size > 1);
    else if (names.includes('url')) assert.equal(names, ['url', 'api_key_file']);
    else {
      const checked = settingsSchema.safeParse(parse(text));
      assert.ok(checked.success, `${path}:${line}: ${checked.error?.message}`);
    }
  }
});

test('every JSON can be parsed', () => {
  const blocks = blocksOf('json');
  assert.ok(blocks.length > 0);
  for (const { path, line, text } of blocks) assert.type(JSON.parse(text), 'object', `${path}:${line}`);
});

test('the drop-in is the one that the program writes', () => {
  const elsewhere = ['docs/cluster.md', 'docs/discover.md'];
  const [block, ...others] = blocksOf('ini').filter(({ path }) => !elsewhere.includes(path));
  assert.equal(others, []);
  const [, ...written] = dropInText('/usr/bin/snitch check-in TOKEN').split('\n');
  assert.is(block?.text, written.join('\n'));
});

test('the exit codes are those of the program', () => {
  const [, table = ''] = readPage('docs/command-line.md').prose.split('## Exit codes');
  const codes = [...(table.split('\n## ')[0] ?? '').matchAll(/^\| (\d+) \|/gm)].map(([, code]) =>
    Number(code),
  );
  assert.equal(codes, Object.values(EXIT));
});

test.run();
