import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const TEST = fileURLToPath(new URL('.', import.meta.url));

const suites = suite('suites');

/** A suite that is not run passes in silence. */
function forgottenIn(file: string): string[] {
  const text = readFileSync(join(TEST, file), 'utf8');
  const made = [...text.matchAll(/\b(?:const|let)\s+(\w+)(?::[^=\n]+)?\s*=\s*(?:uvu\.)?suite\b\s*[(<]/g)];
  const imported = /\bimport\s*\{[^}]*\btest(?:\s+as\s+(\w+))?\b[^}]*\}\s*from\s*'uvu'/.exec(text);
  const names = made.map(([, name]) => name ?? '');
  if (imported) names.push(imported[1] ?? 'test');
  return names.filter((name) => !new RegExp(`\\b${name}\\.run\\(\\)|runUnless\\(.*\\b${name},`).test(text));
}

function unnamedIn(file: string): number {
  const text = readFileSync(join(TEST, file), 'utf8');
  const calls = [...text.matchAll(/(?<!function )(?<![.\w])suite\s*(?:<[^>]*>)?\(/g)].length;
  const named = [...text.matchAll(/=\s*suite\s*(?:<[^>]*>)?\(/g)].length;
  return calls - named;
}

const files = globSync('**/*.{ts,tsx}', { cwd: TEST })
  .filter((file) => !['suites.test.ts', 'skipped.ts'].includes(file) && !file.startsWith('runner/'))
  .sort();

suites('every suite that is made is run', () => {
  const forgotten = files.flatMap((file) =>
    forgottenIn(file).map((name) => `${file}: ${name}.run() is missing`),
  );
  assert.equal(forgotten, []);
});

suites('every suite has a name, so that its run can be looked for', () => {
  assert.equal(
    files.filter((file) => unnamedIn(file) > 0),
    [],
  );
});

suites('every test file runs a suite, or calls a file that does', () => {
  const idle = files.filter((file) => /\.test\.tsx?$/.test(file) && !runsOne(file));
  assert.equal(idle, []);
});

function runsOne(file: string): boolean {
  const text = readFileSync(join(TEST, file), 'utf8');
  const imported = [...text.matchAll(/\bfrom '(\.[^']+\.tsx?)'/g)].map(([, path = '']) =>
    join(dirname(file), path),
  );
  const own = imported.filter((path) => files.includes(path));
  return (
    /\.run\(\)|runUnless\(/.test(text) ||
    own.some((path) => /\.run\(\)/.test(readFileSync(join(TEST, path), 'utf8')))
  );
}

suites.run();
