/** Which server can be written to, and what is remembered about it. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { newlySeen, refusalOf, type ServerFacts } from '../../../../src/store/postgres/hosts/facts.ts';
import { SEEN_FILE, seenMemory } from '../../../../src/store/postgres/hosts/seen-file.ts';
import { ownDirectory } from '../../../data-directory.ts';

const test = suite('the choice of a host');

const FACTS: ServerFacts = {
  versionNumber: 150_018,
  version: '15.18',
  encoding: 'UTF8',
  isStandby: false,
  isReadOnly: false,
  timeline: 3,
  cluster: '7',
  backend: 1,
};

const words = (changed: Partial<ServerFacts>, seen: Parameters<typeof refusalOf>[1] = null) => {
  const refusal = refusalOf({ ...FACTS, ...changed }, seen, '/data/seen.json');
  return refusal && `${refusal.isLasting ? 'for ever' : 'for now'}: ${refusal.words}`;
};

test('a server that is too old, of another encoding, read-only or a standby is refused, and says why', () => {
  assert.is(words({}), null);
  assert.is(words({ versionNumber: 150_000 }), null);
  assert.match(
    words({ versionNumber: 149_999, version: '14.11' }) ?? '',
    /for ever: runs PostgreSQL 14\.11.* 15 or later/,
  );
  assert.match(words({ encoding: 'SQL_ASCII' }) ?? '', /for ever: .*SQL_ASCII.*createdb --encoding=UTF8/);
  assert.match(words({ isStandby: true, isReadOnly: true }) ?? '', /for now: is a standby/);
  assert.match(words({ isReadOnly: true }) ?? '', /for now: takes no writes/);
});

test('an old primary is refused, and a newer one is not', () => {
  assert.match(
    words({ timeline: 2 }, { cluster: '7', timeline: 3 }) ?? '',
    /for now: is an old primary \(timeline 2;.*3\)/,
  );
  assert.is(words({ timeline: 3 }, { cluster: '7', timeline: 3 }), null);
  assert.is(words({ timeline: 4 }, { cluster: '7', timeline: 3 }), null);
  // A service that does not tell fences its old primaries itself.
  assert.is(words({ timeline: null, cluster: null }, { cluster: '7', timeline: 3 }), null);
});

test('another cluster is refused until a person says that it is meant', () => {
  const told = words({ cluster: '8', timeline: 9 }, { cluster: '7', timeline: 3 }) ?? '';
  assert.match(told, /for ever: belongs to another cluster \(8\).*\(7\).*remove \/data\/seen\.json/);
  assert.is(words({ cluster: '8' }, { cluster: null, timeline: 3 }), null);
});

test('what is remembered only grows', () => {
  assert.equal(newlySeen(FACTS, null), { cluster: '7', timeline: 3 });
  assert.is(newlySeen(FACTS, { cluster: '7', timeline: 3 }), null);
  assert.equal(newlySeen({ ...FACTS, timeline: 4 }, { cluster: '7', timeline: 3 }), {
    cluster: '7',
    timeline: 4,
  });
  assert.is(newlySeen({ ...FACTS, timeline: null, cluster: null }, { cluster: '7', timeline: 3 }), null);
});

test('it outlives the process, and a damaged file is not taken for none', async () => {
  using directory = ownDirectory();
  const warnings: string[] = [];
  const open = () => seenMemory(directory.path, (warning) => warnings.push(warning));
  const file = join(directory.path, SEEN_FILE);
  assert.is(open().get(), null);
  const memory = open();
  await Promise.all([memory.keep({ cluster: '7', timeline: 3 }), memory.keep({ cluster: '7', timeline: 4 })]);
  assert.equal(open().get(), { cluster: '7', timeline: 4 });
  for (const half of [
    '',
    readFileSync(file, 'utf8').slice(0, 9),
    '{}',
    '[]',
    'null',
    '{"cluster":7,"timeline":1}',
  ]) {
    writeFileSync(file, half);
    assert.throws(open, /damaged.*remove the file/, half);
  }
  assert.equal(warnings, []);
});

test('if the disk cannot be written there is a warning, and it is still remembered in memory', async () => {
  using directory = ownDirectory();
  const warnings: string[] = [];
  const memory = seenMemory(directory.path, (warning) => warnings.push(warning));
  rmSync(directory.path, { recursive: true });
  writeFileSync(directory.path, '');
  try {
    await memory.keep({ cluster: '7', timeline: 3 });
    assert.equal(memory.get(), { cluster: '7', timeline: 3 });
    assert.is(warnings.length, 1);
    assert.match(warnings[0] ?? '', /cannot be written/);
  } finally {
    rmSync(directory.path);
    mkdirSync(directory.path);
  }
});

test.run();
