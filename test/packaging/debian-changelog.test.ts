import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { debianChangelog } from '../../packaging/debian-changelog.ts';

const CHANGES = readFileSync(join(import.meta.dirname, '../../CHANGELOG.md'), 'utf8');
const RELEASE = { version: '0.1.0', maintainer: 'Somebody <somebody@example.com>', date: 0 };

const test = suite('the changelog');

test('has the parts that readers look for, in their order, each once', () => {
  const versions = CHANGES.split(/^## /m).slice(1);
  assert.ok(versions.length > 0);
  for (const version of versions) {
    const parts = [...version.matchAll(/^### (.+)$/gm)].map(([, part]) => part);
    assert.equal(
      parts,
      ['Added', 'Changed', 'Fixed', 'Security'].filter((part) => parts.includes(part)),
    );
    assert.not.match(version.split('\n### ')[0] ?? '', /^- /m, 'an item stands above all parts');
  }
});

test('the package has every item of it, without the headings in between', () => {
  const debian = debianChangelog(CHANGES, RELEASE);
  const [newest = ''] = CHANGES.split(/^## /m).slice(1);
  const items = newest.match(/^- /gm) ?? [];
  assert.ok(items.length > 50);
  assert.is((debian.match(/^ {2}\* /gm) ?? []).length, items.length);
  assert.not.match(debian, '###');
  for (const line of debian.split('\n')) assert.ok(line.length <= 80, line);
});

test('a version with its own section gets the lines of that section', () => {
  const changes =
    '# Changelog\n\n## Unreleased\n\n- not yet\n\n## 0.1.0\n\n### Added\n\n- one\n\n### Fixed\n\n- two\n';
  assert.match(debianChangelog(changes, RELEASE), '\n\n  * one\n  * two\n\n -- Somebody');
  assert.not.match(debianChangelog(changes, RELEASE), 'not yet');
});

test.run();
