/** Which bugs are planted: they change what the code does, and no text for readers. */
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { runs } from './coverage.ts';
import { EQUIVALENTS, equivalentOf } from './equivalents.ts';
import { mutationsOf } from './mutations.ts';
import { Progress } from './progress.ts';
import { shuffled } from './shuffled.ts';

const test = suite('bugs to plant');

/** The source with each of the bugs planted. */
function mutants(text: string): string[] {
  return mutationsOf('sample.ts', text).map(
    ({ start, end, replacement }) => text.slice(0, start) + replacement + text.slice(end),
  );
}

test('boundaries, conditions, numbers, calls and return values', () => {
  assert.equal(mutants('if (a < b) go();'), ['if (!(a < b)) go();', 'if (a <= b) go();', 'if (a < b) ;']);
  assert.equal(mutants('const x = a && b;'), ['const x = a || b;']);
  assert.equal(mutants('const x = [4, 5_000];'), ['const x = [5, 5_000];', 'const x = [4, 20000];']);
  assert.equal(mutants('const x = await y;'), ['const x = y;']);
  assert.equal(mutants('function f() { return x; }'), ['function f() { return undefined; }']);
});

test('conditions of SQL no longer count, and take as many parameters as before', () => {
  const begin = "const sql = 'SELECT a FROM t WHERE ";
  assert.equal(mutants(`${begin}b = ? AND c BETWEEN ? AND ? ORDER BY d';`), [
    `${begin}(TRUE OR (b = ?)) AND c BETWEEN ? AND ? ORDER BY d';`,
    `${begin}b = ? AND (TRUE OR (c BETWEEN ? AND ?)) ORDER BY d';`,
  ]);
  assert.equal(mutants('const sql = `DELETE FROM t WHERE a < 1`;'), [
    'const sql = `DELETE FROM t WHERE (TRUE OR (a < 1))`;',
    'const sql = `DELETE FROM t WHERE a <= 1`;',
  ]);
});

test('nothing is planted in types, imports, comments, texts and what is logged', () => {
  for (const text of [
    "import { a } from './b.ts';",
    'type A = 1 | 2;',
    'interface B { c: 3 }',
    '// if (a < b) go();',
    "const text = 'a < b';",
    "logger.warn({ a: 1 }, 'it is so');",
    "const text = a + ' b';",
    'const f = () => undefined;',
    'const text = b.toString(c);',
    "const row = await tx.get<{ a: string }>('', b);",
  ]) {
    assert.equal(mutants(text), [], text);
  }
});

test('a constant is tried with the tests that run its uses', () => {
  const text = 'const LIMIT = 3;\nfunction f() { return LIMIT; }\n';
  assert.equal(mutationsOf('sample.ts', text)[0]?.runsAt, [text.lastIndexOf('LIMIT')]);
});

test('the smallest range around a place says whether it ran', () => {
  const ranges = [
    { startOffset: 0, endOffset: 100, count: 1 },
    { startOffset: 10, endOffset: 20, count: 0 },
  ];
  const coverage = new Map([['core/a.ts', [ranges]]]);
  assert.ok(runs(coverage, 'core/a.ts', 5));
  assert.not(runs(coverage, 'core/a.ts', 15));
  assert.not(runs(coverage, 'core/b.ts', 5));
});

test('the same seed draws the same sample', () => {
  const all = Array.from({ length: 100 }, (_, index) => index);
  assert.equal(shuffled(all, 7), shuffled(all, 7));
  assert.not.equal(shuffled(all, 7), shuffled(all, 8));
  assert.equal(
    shuffled(all, 7).sort((one, other) => one - other),
    all,
  );
});

test('findings are kept for the same code, and a truncated line is ignored', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'snitch-mutants-'));
  const file = join(dir, 'kept');
  const find = (finding: string | null) => async () => finding;
  try {
    const first = new Progress<string>(file, 'this code');
    assert.is(await first.of('one', find('noticed')), 'noticed');
    assert.is(await first.of('two', find(null)), null, 'it was interrupted');
    appendFileSync(file, '["three","noti');
    const next = new Progress<string>(file, 'this code');
    assert.is(await next.of('one', find('again')), 'noticed');
    assert.is(await next.of('two', find('SURVIVED')), 'SURVIVED');
    assert.is(await next.of('three', find('noticed')), 'noticed');
    assert.is(await new Progress<string>(file, 'this code').of('three', find('again')), 'noticed');
    assert.is(await new Progress<string>(file, 'other code').of('one', find('SURVIVED')), 'SURVIVED');
  } finally {
    rmSync(dir, { recursive: true });
  }
});

test('an equivalent change is recognised by its line and what that becomes', () => {
  const text = 'const a = 1;\n  const b = Math.max(a, 1);\n';
  const known = [
    {
      file: 'sample.ts',
      line: 'const b = Math.max(a, 1);',
      becomes: 'const b = Math.min(a, 1);',
      because: '',
    },
  ];
  const same = mutationsOf('sample.ts', text).filter((one) => equivalentOf('sample.ts', text, one, known));
  assert.equal(
    same.map(({ replacement }) => replacement),
    ['min'],
  );
  assert.is(equivalentOf('other.ts', text, same[0]!, known), undefined);
});

test('each known equivalent still applies to the current code', () => {
  const found = [...new Set(EQUIVALENTS.map(({ file }) => file))].flatMap((file) => {
    const text = readFileSync(join(import.meta.dirname, '../../src', file), 'utf8');
    return mutationsOf(file, text).map((mutation) => equivalentOf(file, text, mutation));
  });
  const gone = EQUIVALENTS.filter((known) => !found.includes(known));
  const shown = gone.map(({ file, becomes }) => `${file}: ${becomes}`);
  assert.equal(shown, [], 'look at them anew, or take them out of equivalents.json');
});

test('each known equivalent has a reason', () => {
  for (const { file, line, becomes, because } of EQUIVALENTS) {
    assert.is.not(line, becomes, file);
    assert.ok(because.length > 20, `${file}: ${line}`);
  }
});

test.run();
