/** docs/architecture.md names every folder that there is, and none that there is not. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { pages, ROOT, readPage } from './pages.ts';

const test = suite('the rooms');

/** Folders whose own folders are named too; of the others the table says what they mirror. */
const WITH_INNER = /^(?:src|packaging)\//;

/** Every folder with a file that is kept, with a slash at its end. */
function folders(): Set<string> {
  const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], {
    cwd: ROOT,
    encoding: 'utf8',
  }).split('\0');
  return new Set(
    files.flatMap((file) => {
      const parts = file.split('/').slice(0, -1);
      return parts.map((_, index) => `${parts.slice(0, index + 1).join('/')}/`);
    }),
  );
}

/** The folders that the page names between backticks. */
function named(text: string): Set<string> {
  return new Set([...text.matchAll(/`([\w./-]+\/)`/g)].map(([, folder = '']) => folder));
}

test('every folder is named', () => {
  const known = named(readPage('docs/architecture.md').text);
  const missing = [...folders()].filter(
    (folder) => (folder.split('/').length === 2 || WITH_INNER.test(folder)) && !known.has(folder),
  );
  assert.equal(missing, []);
});

test('every folder that has a row is there', () => {
  const there = folders();
  const rows = [...readPage('docs/architecture.md').text.matchAll(/^\| (`[^|]+`) \|/gm)];
  const lost = rows.flatMap(([, cell = '']) => [...named(cell)].filter((folder) => !there.has(folder)));
  assert.equal(lost, []);
});

test('every file that the documents name is there', () => {
  const lost = pages().flatMap(({ path, inline }) =>
    inline
      .filter((code) => /^(?:src|test|bench|build|docs|packaging)\/[\w./-]+\.\w+$/.test(code))
      .filter((file) => !existsSync(join(ROOT, file)))
      .map((file) => `${path}: ${file}`),
  );
  assert.equal(lost, []);
});

test('the README leads there', () => {
  assert.ok(readPage('README.md').links.includes('docs/architecture.md'));
});

test.run();
