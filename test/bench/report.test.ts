/** How the benches summarise figures, and the document they write. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Case, Line } from '../../bench/cases/case.ts';
import { cases } from '../../bench/cases/index.ts';
import { latenciesBetween } from '../../bench/load/latencies.ts';
import { FULL, readOptions } from '../../bench/options.ts';
import { besideSqlite, together } from '../../bench/postgres/comparison.ts';
import { documentOf, partOnPostgres, withPartOnPostgres } from '../../bench/report/document.ts';
import { fileSystemOf } from '../../bench/report/machine.ts';
import { type Outcome, plainTable, rowsOf } from '../../bench/report/table.ts';

const test = suite('the report of the benches');

const RATE: Line = {
  what: 'Check-ins',
  figure: 'rate',
  unit: 'a second',
  beside: { figure: 'bare', name: 'bare' },
  aim: { of: 'ratio', least: 0.5 },
};

function outcomeOf(line: Line, here: Outcome['here'], beside: Outcome['beside'] = []): Outcome {
  const one: Case = {
    name: 'one',
    rounds: 1,
    lines: () => [line],
    open: () => Promise.reject(new Error('not opened')),
  };
  return { case: one, here, beside, problem: null };
}

test('a line has the median of the rounds, and the ratio of medians', () => {
  const here = [
    { rate: 10_000, bare: 20_000 },
    { rate: 30_000, bare: 50_000 },
    { rate: 20_000, bare: 90_000 },
  ];
  assert.equal(rowsOf(outcomeOf(RATE, here), FULL, false), [
    ['`one`', 'Check-ins', '20,000/s', '10,000/s, 30,000/s', 'bare: 50,000/s', '0.40', 'ratio ≥ 0.5', 'no'],
  ]);
});

test('with two rounds the median lies between them', () => {
  const [row = []] = rowsOf(
    outcomeOf(RATE, [
      { rate: 10, bare: 10 },
      { rate: 30, bare: 30 },
    ]),
    FULL,
    false,
  );
  assert.equal([row[2], row[4]], ['20/s', 'bare: 20/s']);
});

test('a commit beside it has its own medians', () => {
  const outcome = outcomeOf(RATE, [{ rate: 30, bare: 60 }], [{ rate: 20, bare: 60 }]);
  assert.equal(rowsOf(outcome, FULL, true)[0]?.slice(5), ['0.50', 'ratio ≥ 0.5', 'yes', '20/s', '1.50']);
});

test('aims for a figure, or for its difference to another, are shown', () => {
  const met = (line: Line, here: Outcome['here'][number]) =>
    rowsOf(outcomeOf(line, [here]), FULL, false)[0]?.slice(6);
  const size: Line = { what: 'Size', figure: 'size', unit: 'bytes', aim: { of: 'figure', most: 1e9 } };
  assert.equal(met(size, { size: 1e9 }), ['≤ 1,000 MB', 'yes']);
  assert.equal(met(size, { size: 1.1e9 }), ['≤ 1,000 MB', 'no']);
  assert.equal(met({ ...size, unit: 'ms', aim: { of: 'figure', most: 2.5 } }, { size: 3 }), [
    '≤ 2.5 ms',
    'no',
  ]);
  const beside = { figure: 'few', name: 'few' };
  const late: Line = { what: 'Late', figure: 'many', unit: 's', beside, aim: { of: 'difference', most: 2 } };
  assert.equal(met(late, { many: 7, few: 5 }), ['≤ 2 s more', 'yes']);
  assert.equal(met(late, { many: 7.1, few: 5 }), ['≤ 2 s more', 'no']);
});

test('a figure that was not measured neither meets nor misses its aim', () => {
  const [row = []] = rowsOf(outcomeOf(RATE, []), FULL, false);
  assert.equal([row[2], row[5], row[7]], ['–', '', '']);
  const [failed = []] = rowsOf({ ...outcomeOf(RATE, []), problem: 'no room' }, FULL, false);
  assert.equal([failed[2], failed[7]], ['failed', '']);
});

test('a terminal gets columns of one width', () => {
  assert.is(
    plainTable(
      ['A', 'B'],
      [
        ['`long`', 'x'],
        ['c', 'y'],
      ],
    ),
    'A     B\nlong  x\nc     y',
  );
});

test('the worst second is the one with the highest p99 among those with enough requests', () => {
  const second = (start: number, count: number, took: number) =>
    Array.from({ length: count }, (_, index) => ({ at: start + index, took }));
  const answered = [
    ...second(0, 100, 1),
    ...second(1_000, 100, 9),
    ...second(2_000, 5, 50),
    ...second(9_000, 99, 99),
  ];
  const { p99, worstSecond } = latenciesBetween(answered, 0, 3_000);
  assert.equal([p99, worstSecond], [50, 9]);
  assert.equal(latenciesBetween(answered, 1_990, 2_000), { p99: 50, worstSecond: 50 });
  assert.ok(Number.isNaN(latenciesBetween([], 0, 3_000).worstSecond));
});

test('the file system of a directory is that of its nearest mount', () => {
  const mounts =
    'proc /proc proc rw 0 0\n/dev/a / ext4 rw 0 0\nt /tmp tmpfs rw 0 0\n/dev/b /tmp/x xfs rw 0 0\n';
  assert.equal(
    ['/home/me', '/tmp', '/tmp/x/y', '/tmp/xy'].map((directory) => fileSystemOf(directory, mounts)),
    ['ext4', 'tmpfs', 'xfs', 'tmpfs'],
  );
});

test('only a whole run writes the document, unless a file is named', () => {
  const written = (...args: string[]) => readOptions(args, 'docs/measurements.md').write;
  assert.is(written(), 'docs/measurements.md');
  assert.is(written('--beside', 'HEAD'), 'docs/measurements.md');
  assert.equal([written('--case', 'hot'), written('--fast')], [null, null]);
  assert.is(written('--case', 'hot', '--write', 'a.md'), 'a.md');
  assert.is(written('--store', 'postgres'), 'docs/measurements.md');
  assert.equal(readOptions(['--store', 'postgres'], '').delays, [0, 2]);
  assert.is(readOptions(['--store', 'sqlite'], '').delays, null);
});

/** The document without the part on PostgreSQL, which another run writes. */
const lastRunIn = (text: string) => text.slice(0, text.indexOf('## On PostgreSQL'));

test('each part of the document stays as it is while the other one is measured', () => {
  const machine = {
    cores: 2,
    processor: 'P',
    memory: 8e9,
    kernel: 'K',
    fileSystem: 'F',
    sync: 1,
    node: 'N',
    wrk: 'W',
  };
  const run = { date: '2026-11-22', here: null, beside: null, machine };
  const onPostgres = besideSqlite({ ...outcomeOf(RATE, []).case, name: 'hot' }, [0, 2]);
  const figures = [together([0, 2], [{ rate: 30 }, { rate: 10 }], { rate: 40 })];
  const outcomes = [{ case: onPostgres, here: figures, beside: [], problem: null }];
  const first = withPartOnPostgres(documentOf(null, [], FULL), { ...run, outcomes }, FULL);
  const lines = first.split('\n').filter((line) => line.startsWith('| `hot` | Check-ins'));
  assert.equal(lines, [
    '| `hot` | Check-ins, 0 ms away | 30/s | | SQLite: 40/s | 0.75 | ratio ≥ 0.5 | yes |',
    '| `hot` | Check-ins, 2 ms away | 10/s | | SQLite: 40/s | 0.25 | ratio ≥ 0.5 | no |',
  ]);
  const next = documentOf({ ...run, outcomes: [] }, [], FULL, partOnPostgres(first));
  assert.ok(lines.every((line) => next.includes(line)));
  assert.is(withPartOnPostgres(next, { ...run, outcomes }, FULL), next);
});

test('the document has a line for each figure, with its aim', () => {
  const inTable = cases.filter(({ onlyNamed }) => !onlyNamed);
  const linesOf = (text: string) =>
    text
      .split('\n')
      .filter((line) => line.startsWith('| `'))
      .map((line) => line.split(' |').map((cell) => cell.trim()))
      .map(([name, what, , , , , aim]) => [name, what, aim]);
  const written = linesOf(
    lastRunIn(readFileSync(join(import.meta.dirname, '../../docs/measurements.md'), 'utf8')),
  );
  assert.equal(written, linesOf(documentOf(null, inTable, FULL)));
  assert.ok(written.length > 15);
});

test('case names are unique, and the document explains the benches and not one run', () => {
  assert.is(new Set(cases.map(({ name }) => name)).size, cases.length);
  const explained = (text: string) => text.slice(text.indexOf('A cell with'));
  const written = readFileSync(join(import.meta.dirname, '../../docs/measurements.md'), 'utf8');
  assert.is(explained(written), explained(documentOf(null, cases, FULL)));
});

test.run();
