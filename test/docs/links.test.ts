/** Every link of the pages leads somewhere, and every page can be found. */
import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { pages, ROOT } from './pages.ts';

const test = suite('links of the documents');

const all = pages();
const byPath = new Map(all.map((page) => [page.path, page]));

test('every relative link leads to a file that is there, and every anchor to a heading', () => {
  const lost = all.flatMap(({ path, links }) =>
    links.filter((link) => !/^https?:/.test(link) && !leads(path, link)).map((link) => `${path}: ${link}`),
  );
  assert.equal(lost, []);
  assert.ok(all.flatMap(({ links }) => links).length > 150);
});

function leads(from: string, link: string): boolean {
  const [file = '', anchor] = link.split('#');
  const path = file === '' ? from : normalize(join(dirname(from), file));
  if (!existsSync(join(ROOT, path))) return false;
  return anchor === undefined || byPath.get(path)?.headings.some((one) => one.anchor === anchor) === true;
}

test('the README and the index lead to every page', () => {
  assert.ok(all.length > 10);
  for (const index of ['README.md', 'docs/README.md']) {
    const found = (byPath.get(index)?.links ?? []).map((link) => normalize(join(dirname(index), link)));
    const missing = all.filter(({ path }) => /^docs\/(?!README)/.test(path) && !found.includes(path));
    assert.equal(
      missing.map(({ path }) => path),
      [],
      index,
    );
  }
});

test('the table of contents of each page has all its sections, in their order', () => {
  const divided = all.filter(({ headings }) => headings.some(({ level }) => level === 2));
  assert.ok(divided.length > 10);
  for (const { path, headings, prose } of divided) {
    const sections = headings.filter(({ level }) => level === 2);
    const listed = [...prose.matchAll(/^- \[([^\]]+)\]\(#([^)]+)\)$/gm)].map(([, text, anchor]) => [
      text,
      anchor,
    ]);
    const wanted = sections
      .filter(({ text }) => text !== 'License')
      .map(({ text, anchor }) => [text, anchor]);
    assert.equal(listed, wanted, path);
  }
});

test('each page has one title, and no two sections of the same name', () => {
  assert.ok(all.length > 10);
  for (const { path, headings } of all) {
    assert.is(headings.filter(({ level }) => level === 1).length, 1, path);
    assert.is(new Set(headings.map(({ text }) => text)).size, headings.length, path);
  }
});

test.run();
