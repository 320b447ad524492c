/** docs/architecture.md names every existing folder, and no other. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { pages, ROOT, readPage } from './pages.ts';

const test = suite('the rooms');

/** Folders whose subfolders are named too. For the others the table says what they mirror. */
const WITH_INNER = /^(?:src|packaging)\//;

/** Generated or installed folders, which are not part of the project. */
const NOT_OURS = new Set(['.git', 'dist', 'node_modules']);

/** Every folder of the project, with a slash at its end. */
function folders(): Set<string> {
  const below = (folder: string): string[] =>
    readdirSync(join(ROOT, folder), { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !NOT_OURS.has(entry.name))
      .map(({ name }) => `${folder}${name}/`)
      .flatMap((inner) => [inner, ...below(inner)]);
  return new Set(below(''));
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
