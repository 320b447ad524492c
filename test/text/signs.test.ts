/** Which signs a terminal can show is told by the environment, in the order in which it counts. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ASCII_SIGNS, signsFor, UNICODE_SIGNS } from '../../src/text/signs.ts';

const test = suite('signs');

test('Unicode where the locale says so, and ASCII in the empty environment of cron', () => {
  const rows: [NodeJS.ProcessEnv, boolean][] = [
    [{}, false],
    [{ LANG: 'de_DE.UTF-8' }, true],
    [{ LANG: 'C.utf8' }, true],
    [{ LANG: 'C' }, false],
    [{ LC_ALL: 'C', LC_CTYPE: 'de_DE.UTF-8', LANG: 'de_DE.UTF-8' }, false],
    [{ LC_ALL: '', LC_CTYPE: 'C', LANG: 'de_DE.UTF-8' }, false],
    [{ LC_ALL: '', LC_CTYPE: '', LANG: 'de_DE.UTF-8' }, true],
    [{ LC_CTYPE: 'de_DE.UTF-8', LANG: 'C' }, true],
    [{ LC_ALL: 'de_DE.UTF-8', LANG: 'C' }, true],
  ];
  for (const [environment, isUnicode] of rows) {
    const signs = isUnicode ? UNICODE_SIGNS : ASCII_SIGNS;
    assert.is(signsFor(environment), signs, JSON.stringify(environment));
  }
});

test('the statuses are told apart without colour', () => {
  for (const { status } of [UNICODE_SIGNS, ASCII_SIGNS]) assert.is(new Set(Object.values(status)).size, 5);
});

test.run();
