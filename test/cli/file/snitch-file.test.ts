/**
 * Large snitch files are read in parts, as if they were read as a whole.
 * Time limit: 120 s.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parseSnitchFile, readSnitchFile, type SnitchFileError } from '../../../src/cli/file/snitch-file.ts';
import { partsOf } from '../../../src/cli/file/snitch-file-parts.ts';

const test = suite('large snitch files');

const COUNT = 1_600;
const LONG = 'see the runbook '.repeat(10);

interface Form {
  head?: string;
  item?: (index: number) => string;
  tail?: string;
  count?: number;
}

const plain = (index: number) =>
  `  # about it\n  - name: job ${index}\n    interval: daily\n\n    notes: |\n      ${LONG}\n      - no entry\n    tags: [a, b]\n`;

function fileOf({ head = '', item = plain, tail = '', count = COUNT }: Form): string {
  return `${head}snitches:\n${Array.from({ length: count }, (_, index) => item(index)).join('')}${tail}`;
}

function problemsOf(text: string): readonly string[] {
  try {
    parseSnitchFile('f.yaml', text);
  } catch (error) {
    return (error as SnitchFileError).problems ?? [(error as Error).message];
  }
  return [];
}

test('every entry is there once, in order, with its own line', () => {
  const head = 'owner: many\n# about it\ncase:\n  name: Big\n';
  const text = fileOf({ head, tail: 'x-more: 1\n' });
  assert.ok((partsOf(text)?.chunks.length ?? 0) > 3);
  const { entries, owner, settings } = parseSnitchFile('f.yaml', text);
  assert.is(entries.length, COUNT);
  assert.equal([owner, settings?.input], ['many', { name: 'Big' }]);
  const lines = text.split('\n');
  for (const [index, { input, owner: own, line, lines: at }] of entries.entries()) {
    assert.is(input.name, `job ${index}`);
    assert.is(input.notes, `${LONG}\n- no entry\n`);
    assert.is(own, 'many');
    assert.is(lines[line - 1], `  - name: job ${index}`);
    assert.is(lines[(at.tags ?? 0) - 1], '    tags: [a, b]');
  }
});

test('the list may be anywhere, indented or not, and what it shares comes before it', () => {
  for (const form of [
    {
      head: 'owner: o\n',
      item: (index: number) => `- name: n${index}\n  interval: daily\n  notes: ${LONG}\n`,
    },
    { tail: 'owner: o\n', item: (index: number) => `- {name: n${index}, interval: daily, notes: ${LONG}}\n` },
    {
      head: 'owner: o\nx-d: &d {interval: daily, notes: "x"}\n',
      item: (index: number) => `    -   {<<: *d, name: n${index}}\n# ${LONG}\n`,
    },
    {
      head: 'owner: o\r\n',
      item: (index: number) => `  - name: n${index}\r\n    interval: daily\r\n    notes: ${LONG}\r\n`,
    },
  ]) {
    const text = fileOf(form);
    assert.ok(partsOf(text), text.slice(0, 100));
    const { entries, owner } = parseSnitchFile('f.yaml', text);
    assert.equal([entries.length, owner, entries.at(-1)?.input.name], [COUNT, 'o', `n${COUNT - 1}`]);
    assert.is(entries.at(-1)?.input.interval, 'daily');
  }
});

test('what cannot be cut by lines is read as a whole', () => {
  const shared = (index: number) =>
    index === 0
      ? `  - &first\n    name: n0\n    interval: daily\n    notes: ${LONG}\n`
      : `  - {<<: *first, name: n${index}}\n    # ${LONG}\n`;
  const flow = `snitches: [${Array.from({ length: COUNT }, (_, index) => `{name: n${index}, interval: daily, notes: "${LONG}"}`).join(',\n  ')}]`;
  for (const text of [fileOf({ item: shared, count: COUNT }), flow]) {
    assert.is(partsOf(text), null);
    assert.equal(problemsOf(text), []);
  }
});

test('reading takes no longer for each entry where many share what one of them holds', () => {
  const shared = (index: number) =>
    index === 0 ? '  - &first {name: n0, interval: daily}\n' : `  - {<<: *first, name: n${index}}\n`;
  const costs = [400, 1_600].map((count) => {
    const text = fileOf({ item: shared, count });
    return Math.min(...[1, 2, 3].map(() => processorTimeOf(() => assert.equal(problemsOf(text), []))));
  });
  const [few = 0, many = 0] = costs;
  assert.ok(many < 9 * few, `four times as many took ${many / few} times as long`);
});

/** In microseconds, of this thread. */
function processorTimeOf(work: () => void): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return user + system;
}

test('problems are told with their lines, across all parts', () => {
  const item = (index: number) => {
    if (index === 1_000) return `  - {name: n5, interval: daily}\n`;
    if (index === 1_500) return `  - {name: x, intervall: daily}\n`;
    return `  - {name: n${index}, interval: daily, notes: "${LONG}"}\n`;
  };
  assert.equal(problemsOf(fileOf({ item })), [
    'f.yaml:1502: snitches[1500]: intervall: there is no such field. Did you mean interval?',
    'f.yaml:1002: name: is the same as in line 7: give each its token, or another name',
  ]);
  const broken = (index: number) => (index === 1_400 ? '  - {name: [}\n' : plain(index));
  const lines = fileOf({ item: broken }).split('\n');
  const [first = ''] = problemsOf(fileOf({ item: broken }));
  const line = Number(/^f\.yaml:(\d+): not valid YAML/.exec(first)?.[1]);
  assert.is(lines[line - 1], '  - {name: [}');
  assert.match(
    problemsOf(fileOf({ head: 'ownr: x\n' })).join('\n'),
    /^f\.yaml:1: the file: ownr: there is no such/,
  );
});

test('a second document is refused, whatever the size of the file, and an empty one at its end is none', () => {
  const again = 'owner: other\nsnitches:\n  - {name: late, interval: daily}\n';
  const fault = 'another document begins here, and only the first would be read: write one file, without ---';
  assert.equal(problemsOf(`---\n${fileOf({ count: 1 })}---\n${again}`), [`f.yaml:12: ${fault}`]);
  const large = `${fileOf({})}---\n`;
  for (const more of [again, 'owner: other\n']) {
    assert.is(partsOf(`${large}${more}`) === null, more === again);
    assert.equal(problemsOf(`${large}${more}`), [`f.yaml:${large.split('\n').length}: ${fault}`]);
  }
  assert.is(parseSnitchFile('f.yaml', large).entries.length, COUNT);
});

test('a file that is too large is refused with what to do', () => {
  const directory = mkdtempSync(join(tmpdir(), 'snitch-file-'));
  try {
    const path = join(directory, 'big.yaml');
    writeFileSync(path, Buffer.alloc(65 * 1024 * 1024, '#'));
    assert.throws(() => readSnitchFile(path), /is larger than 64 MiB: split it into several files/);
    const flow = `snitches: [${'{name: a},'.repeat(900_000)}]`;
    assert.match(problemsOf(flow)[0] ?? '', 'has more than 8 MiB, and its snitches are no list');
    assert.throws(() => readSnitchFile('/dev/zero'), /is larger than 64 MiB/);
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test.run();
