/** What is quoted for a shell comes out of it as it went in. */
import { execFileSync } from 'node:child_process';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { shellWord } from '../../src/text/shell-word.ts';

const test = suite('words of a shell');

test('what needs no quotes has none', () => {
  for (const text of ['nightly-backup', '/usr/bin/snitch', 'http://127.0.0.1:7531/c/abc', 'a,b+c@d%e']) {
    assert.is(shellWord(text), text);
  }
});

test('a shell makes one word of it, with nothing expanded, assigned or matched', () => {
  const texts = [
    '',
    ' ',
    "it's",
    '$HOME `id` "x"',
    'a=b',
    '[a-z]*',
    '~',
    '#x',
    'two\nlines',
    '!1',
    'a;b|c&d',
  ];
  for (const text of texts) {
    const script = `printf '%s|' ${shellWord(text)}`;
    assert.is(execFileSync('/bin/sh', ['-c', script], { cwd: '/', encoding: 'utf8' }), `${text}|`, text);
  }
  assert.is(shellWord("it's"), "'it'\\''s'");
});

test.run();
