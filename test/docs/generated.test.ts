/** The generated tables are up to date. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { docsPages } from '../../packaging/docs-pages.ts';
import { ENTRIES } from '../../src/cli/catalogue.ts';
import { SETTING_NAMES } from '../../src/config/settings.ts';
import { KEYS } from '../../src/tui/model/keys.ts';
import { ROOT, readPage } from './pages.ts';

const test = suite('tables of the documents');

for (const [page, text] of Object.entries(docsPages())) {
  test(`docs/${page} is what \`npm run build:docs\` writes`, () => {
    assert.is(readFileSync(join(ROOT, 'docs', page), 'utf8'), text);
  });
}

test('every setting has its own section', () => {
  const sections = readPage('docs/configuration.md').headings.filter(({ level }) => level === 3);
  assert.equal(sections.map(({ text }) => text).sort(), [...SETTING_NAMES].sort());
});

test('every command has a row', () => {
  const { text } = readPage('docs/command-line.md');
  for (const { name, summary } of ENTRIES) assert.match(text, `| \`snitch ${name}\` | ${summary} |`);
});

test('every key of every screen has a row', () => {
  const { text } = readPage('docs/dashboard.md');
  const tables = text.split('| Key | ').slice(1);
  assert.is(tables.length, Object.keys(KEYS).length);
  for (const [index, bindings] of Object.values(KEYS).entries()) {
    for (const { help } of bindings) assert.match(tables[index] ?? '', ` | ${help} |`);
  }
});

test.run();
