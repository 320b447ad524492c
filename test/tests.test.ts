/**
 * What holds for every test, so that none passes in silence and none that fails keeps others from running.
 * Not with --fast: it reads all of them.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ts } from '@ts-morph/common';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { earlyReturnsIn, idleTestsIn, type Sources, timedAssertionsIn } from './assertions.ts';
import { leftOpenIn } from './openings.ts';

const TEST = import.meta.dirname;

const tests = suite('the tests themselves');

function parsed(file: string, text: string): ts.SourceFile {
  const kind = file.endsWith('x') ? ts.ScriptKind.TSX : ts.ScriptKind.TS;
  return ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true, kind);
}

const all: Sources = new Map(
  globSync('**/*.{ts,tsx}', { cwd: TEST })
    .sort()
    .map((file) => [file, parsed(file, readFileSync(join(TEST, file), 'utf8'))]),
);

/** A file with this test in it, and what it may call. */
function sample(body: string): Sources {
  const text = [
    "import { openIn } from './fixture.ts';",
    "import { fails } from './checks.ts';",
    'const opened = [];',
    'function kept(dir) { const store = openIn(dir); opened.push(store); return store; }',
    `test('it works', async (context) => { ${body} });`,
  ];
  const checks = 'export function fails(call) { assert.throws(call); }';
  return new Map([
    ['sample.test.ts', parsed('sample.test.ts', text.join('\n'))],
    ['checks.ts', parsed('checks.ts', checks)],
  ]);
}

tests('what a test opens it closes in a finally, or declares with using', () => {
  assert.equal(leftOpenIn(all), []);
});

tests('each asserts something', () => {
  assert.equal(idleTestsIn(all), []);
});

tests('none returns before its end: what this host cannot run is skipped with `unless`', () => {
  assert.equal(earlyReturnsIn(all), []);
});

tests('none asserts that something is quick: machines are busy', () => {
  assert.equal(timedAssertionsIn(all), []);
});

tests('what stays open when a test fails is found', () => {
  for (const body of [
    'const store = openIn(dir); assert.ok(store); await store.close();',
    'const { store } = await openIn(dir); assert.ok(store); await store.close();',
    'const db = new Database(file); assert.ok(db); db.close();',
    'const server = createServer().listen(0); assert.ok(server); server.close();',
    'const dir = mkdtempSync(base); assert.ok(dir); rmSync(dir);',
    'const fd = openSync(file); assert.ok(fd); closeSync(fd);',
    'const server = createServer(); assert.ok(server); await new Promise((done) => server.close(done));',
    'if (x) { const daemon = await startProcess(); assert.ok(daemon); await daemon.end(); }',
  ]) {
    assert.is(leftOpenIn(sample(body)).length, 1, body);
  }
});

tests('what is closed whatever happens is left alone', () => {
  for (const body of [
    'await using store = openIn(dir); assert.ok(store); await store.close();',
    'const store = openIn(dir); try { assert.ok(store); } finally { await store.close(); }',
    'const store = kept(dir); assert.ok(store); await store.close();',
    'const sender = context.outbox.deliverer(); assert.ok(sender); await sender.stop();',
    'const { store } = context; assert.ok(store); await store.close();',
    'const socket = connect(port); assert.ok(socket); socket.end();',
    'const mount = mountTmpfs(); mount?.remove(); assert.ok(mount);',
    'const file = join(dir, name); assert.ok(file); rmSync(file);',
  ]) {
    assert.equal(leftOpenIn(sample(body)), [], body);
  }
});

tests('a test that cannot fail is found', () => {
  for (const body of ['', 'work();', 'await openIn(dir).close();', 'const text = "assert.ok(true)";']) {
    assert.is(idleTestsIn(sample(body)).length, 1, body);
  }
  for (const body of ['assert.ok(x);', 'fails(work);', 'list.forEach((one) => assert.ok(one));']) {
    assert.equal(idleTestsIn(sample(body)), [], body);
  }
  assert.is(earlyReturnsIn(sample('if (missing) return console.warn(missing); assert.ok(x);')).length, 1);
  assert.is(earlyReturnsIn(sample('if (missing) { return; } assert.ok(x);')).length, 1);
  assert.equal(earlyReturnsIn(sample('assert.ok(list.map((one) => { if (one) return 1; return 2; }));')), []);
  assert.is(timedAssertionsIn(sample('assert.ok(performance.now() - begun < 4_000);')).length, 1);
  assert.is(timedAssertionsIn(sample('const took = Date.now() - begun; assert.ok(took < 9);')).length, 1);
  assert.equal(timedAssertionsIn(sample('assert.ok(Date.now() >= begun);')), []);
});

tests.run();
