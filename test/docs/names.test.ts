/** Every variable and every setting in the documents exists in the program. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { environmentVariable, PLACES, SETTING_NAMES } from '../../src/config/settings.ts';
import { pages, ROOT } from './pages.ts';

const test = suite('names in the documents');

/** Variables that the sources or the tests of the store read besides the settings. */
function variablesOfSources(): Set<string> {
  const files = globSync(['src/**/*.{ts,tsx}', 'test/store/*.ts'], { cwd: ROOT });
  const texts = files.map((file) => readFileSync(join(ROOT, file), 'utf8'));
  return new Set(texts.flatMap((text) => text.match(/\bSNITCH_[A-Z_]+\b/g) ?? []));
}

test('every variable is read by the program', () => {
  const known = new Set([...variablesOfSources(), ...SETTING_NAMES.map(environmentVariable)]);
  const named = pages().flatMap(({ path, text }) =>
    (text.match(/\bSNITCH_[A-Z_]+\b/g) ?? []).map((name) => ({ path, name })),
  );
  assert.ok(named.length > 20);
  assert.equal(
    named.filter(({ name }) => !known.has(name)),
    [],
  );
});

test('every setting with a section in front of it exists', () => {
  const sections = [...PLACES]
    .filter(([name, place]) => name !== '' && 'section' in place)
    .map(([name]) => name);
  const named = pages().flatMap(({ path, inline }) =>
    inline
      .filter(
        (code) => sections.some((section) => code.startsWith(`${section}.`)) && !/\.(?:ts|md)$/.test(code),
      )
      .map((name) => ({ path, name })),
  );
  assert.ok(named.length > 20);
  assert.equal(
    named.filter(({ name }) => !SETTING_NAMES.includes(name)),
    [],
  );
});

test('every setting that the documents mention without its section exists', () => {
  const alone = SETTING_NAMES.filter((name) => !name.includes('.'));
  const { text = '' } = pages().find(({ path }) => path === 'docs/configuration.md') ?? {};
  for (const name of alone) assert.match(text, `### ${name}\n`);
  const spoken = [
    'base_url',
    'check_in_base',
    'data_dir',
    'admin_key_from',
    'listen',
    'trusted_proxies',
    'commands',
  ];
  assert.equal(alone.toSorted(), spoken.toSorted());
});

test.run();
