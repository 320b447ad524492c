import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { invalid, invalidOn, malformed, ok, refused } from './expect.ts';
import { type Fixture, hooks, newSnitch, snitchNow } from './fixture.ts';

const test = suite<Fixture>('tags');
test.before.each(hooks.start);
test.after.each(hooks.close);

const NOT_STRINGS = { attribute: 'tags', message: 'must be an array of strings' };

test('adding answers 200 with all tags in their order', async ({ acme }) => {
  const { token, href } = await newSnitch(acme, { tags: ['b'] });
  assert.equal(ok(await acme.write.post(`${href}/tags`, ['c', 'a'])), ['b', 'c', 'a']);
  assert.equal(ok(await acme.write.post(`${href}/tags`, ['a', 'b', 'd', 'd', '', ' '])), [
    'b',
    'c',
    'a',
    'd',
  ]);
  assert.equal((await snitchNow(acme, token)).tags, ['b', 'c', 'a', 'd']);
  assert.is(ok<string[]>(await acme.write.post(`${href}/tags/`, [' d ', 'größe 🚀'])).length, 6);
});

test('only an array of strings can be added', async ({ acme }) => {
  const { token, href } = await newSnitch(acme, { tags: ['a'] });
  for (const json of ['b', { tags: ['b'] }, 5, null, true]) {
    invalid(await acme.write.post(`${href}/tags`, json), NOT_STRINGS);
  }
  invalid(await acme.write.post(`${href}/tags`), NOT_STRINGS);
  for (const json of [[], ['b', 5], [['b']], [null], [{}], ['b\u0000'], ['b\n']]) {
    invalidOn(await acme.write.post(`${href}/tags`, json), 'tags');
  }
  malformed(await acme.write.ask('POST', `${href}/tags`, { body: '["b"' }));
  assert.equal((await snitchNow(acme, token)).tags, ['a']);
});

test('a snitch has at most 50 tags', async ({ acme }) => {
  const fifty = Array.from({ length: 50 }, (_, index) => `tag ${index}`);
  const { token, href } = await newSnitch(acme, { tags: fifty.slice(0, 48) });
  assert.equal(ok(await acme.write.post(`${href}/tags`, fifty)), fifty);
  invalidOn(await acme.write.post(`${href}/tags`, ['one more']), 'tags');
  assert.equal((await snitchNow(acme, token)).tags, fifty);
});

test('removing answers 200 with the remaining tags', async ({ acme }) => {
  const { token, href } = await newSnitch(acme, { tags: ['a', 'b', 'c'] });
  assert.equal(ok(await acme.write.delete(`${href}/tags/b`)), ['a', 'c']);
  assert.equal(ok(await acme.write.delete(`${href}/tags/b`)), ['a', 'c'], 'it is not there');
  assert.equal(ok(await acme.write.delete(`${href}/tags/A`)), ['a', 'c'], 'case matters');
  assert.equal(ok(await acme.write.delete(`${href}/tags/a/`)), ['c']);
  assert.equal(ok(await acme.write.delete(`${href}/tags/c?x=1`)), []);
  assert.equal((await snitchNow(acme, token)).tags, []);
});

/** Tags of a snitch, how the path names one of them, and what remains. */
const SPELLINGS: [string[], string, string[]][] = [
  [['two words'], 'two+words', []],
  [['two words'], 'two%20words', []],
  [['two+words'], 'two+words', []],
  [['two+words'], 'two%2Bwords', []],
  [['two words', 'two+words'], 'two+words', ['two words']],
  [['two words', 'two+words'], 'two%2Bwords', ['two words']],
  [['two words', 'two+words'], 'two%20words', ['two+words']],
  [['two words'], 'two%2Bwords', ['two words']],
  [['c++ 20'], 'c%2B%2B+20', []],
  [['a/b'], 'a%2Fb', []],
  [['a/b'], 'a%2fb', []],
  [['/'], '%2F', []],
  [['a/'], 'a%2F', []],
  [['100%'], '100%25', []],
  [['%41'], '%2541', []],
  [['A'], '%41', []],
  [['prod'], '%70%72%6F%64', []],
  [['größe'], 'gr%C3%B6%C3%9Fe', []],
  [['🚀'], '%F0%9F%9A%80', []],
  [['a?b#c'], 'a%3Fb%23c', []],
  [['a;b'], 'a;b', []],
  [['..'], '%2E%2E', []],
  [['a,b'], 'a,b', []],
  [['__proto__'], '__proto__', []],
  [['<b>"&\\'], '%3Cb%3E%22%26%5C', []],
];

test('a tag in a path: literally first, then with a plus for a space; any byte may be encoded', async ({
  acme,
}) => {
  for (const [tags, segment, left] of SPELLINGS) {
    const { href } = await newSnitch(acme, { tags });
    assert.equal(ok(await acme.write.delete(`${href}/tags/${segment}`)), left, `${tags} by ${segment}`);
  }
});

test('the longest tag can be named', async ({ acme }) => {
  const longest = '🧨'.repeat(100);
  const { href } = await newSnitch(acme, { tags: [longest] });
  assert.equal(ok(await acme.write.delete(`${href}/tags/${encodeURIComponent(longest)}`)), []);
});

test('a path that names no tag is no endpoint', async ({ acme }) => {
  const { href, tags } = await newSnitch(acme, { tags: ['a'] });
  for (const path of [`${href}/tags/a/b`, `${href}/tag/a`, `${href}/tags/%zz`, `${href}/tags/%FF`]) {
    refused(await acme.write.delete(path), 404, 'resource_not_found', path);
  }
  refused(await acme.write.delete(`${href}/tags`), 405, 'method_not_allowed');
  assert.equal(tags, ['a']);
});

test.run();
