/** "Did you mean …?": typos are matched, and nothing is made up. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { didYouMean, editDistance, similar } from '../../src/text/similar.ts';

const test = suite('words that are alike');

test('the distance counts what is put in, taken out, replaced, or swapped with its neighbour', () => {
  const distances: [string, string, number][] = [
    ['', '', 0],
    ['', 'abc', 3],
    ['abc', '', 3],
    ['pause', 'pause', 0],
    ['pause', 'pauses', 1],
    ['pauses', 'pause', 1],
    ['pause', 'pAuse', 1],
    ['puase', 'pause', 1],
    ['list', 'lsit', 1],
    ['ab', 'ba', 1],
    ['abcd', 'badc', 2],
    ['ca', 'abc', 3],
    ['kitten', 'sitting', 3],
    ['aab', 'aba', 1],
    ['abc', 'cab', 2],
    ['xaby', 'xbay', 1],
    ['abab', 'baba', 2],
  ];
  for (const [from, to, distance] of distances) {
    assert.is(editDistance(from, to), distance, `${from} → ${to}`);
    assert.is(editDistance(to, from), distance, `${to} → ${from}`);
  }
});

test('a third of the letters may differ, and one in any case', () => {
  assert.equal(similar('backup', ['bakcup']), ['bakcup']);
  assert.equal(similar('backup', ['becxup']), ['becxup'], 'two of six');
  assert.equal(similar('backup', ['bexxup']), [], 'three of six');
  assert.equal(similar('ls', ['l']), ['l']);
  assert.equal(similar('ls', ['xy']), []);
  assert.equal(similar('ab', ['abcd']), []);
  assert.equal(similar('PAUSE', ['pause']), ['pause']);
  assert.equal(similar('pause', ['Pause']), ['Pause']);
});

test('what is longer by more than a third may still contain it, from three letters on', () => {
  assert.equal(similar('nightly', ['nightly-backup-of-mail']), ['nightly-backup-of-mail']);
  assert.equal(similar('lst', ['long-list', 'first-lst-of-all']), ['first-lst-of-all']);
  assert.equal(similar('of', ['backup-of-all']), []);
  assert.equal(similar('mail', ['database-backup']), []);
  assert.equal(similar('nightly-backup-of-mail', ['nightly']), [], 'a part of what was typed is no guess');
});

test('the most alike come first, three at most, each once', () => {
  const known = ['nightly-mail', 'nightly-male', 'nightly-mai', 'nightly-mall', 'nightly-mail'];
  assert.equal(similar('nightly-mail', known), ['nightly-mail', 'nightly-mai', 'nightly-mall']);
  assert.equal(similar('abcdef', ['abcdef-xyz', 'abxxef']), ['abxxef', 'abcdef-xyz']);
  assert.equal(similar('web', ['web-frontend', 'wed']), ['wed', 'web-frontend']);
});

test('it is asked in a sentence', () => {
  assert.is(didYouMean('lits', ['lit', 'delete', 'list']), ' Did you mean list or lit?');
  assert.is(didYouMean('lits', ['delete']), '');
});

test.run();
