import * as assert from 'uvu/assert';
import { Invalid } from '../../src/core/errors.ts';
import { contract, NOW, newCase, newSnitch, rejection, snitchOf } from './fixture.ts';

contract('tags', (test) => {
  test('new tags follow the old ones, and none is there twice', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await newSnitch(store, owner, { tags: ['b', 'a'] });
    assert.equal(await store.addTags(owner.id, token, ['c', 'a', 'A', 'c']), ['b', 'a', 'c', 'A']);
    assert.equal((await snitchOf(store, owner, token)).tags, ['b', 'a', 'c', 'A']);
  });

  test('a snitch has at most 50 tags, and too many change nothing', async ({ store }) => {
    const owner = await newCase(store);
    const tags = Array.from({ length: 49 }, (_, index) => `tag ${index}`);
    const { token } = await newSnitch(store, owner, { tags });
    assert.instance(await rejection(store.addTags(owner.id, token, ['x', 'y'])), Invalid);
    assert.equal((await snitchOf(store, owner, token)).tags, tags);
    assert.equal(await store.addTags(owner.id, token, ['x', 'tag 0']), [...tags, 'x']);
  });

  test('adding at the same time loses nothing', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await newSnitch(store, owner);
    await Promise.all(['a', 'b', 'c', 'd'].map((tag) => store.addTags(owner.id, token, [tag])));
    assert.equal((await snitchOf(store, owner, token)).tags, ['a', 'b', 'c', 'd']);
  });

  test('a list by tag follows every change of the tags', async ({ store }) => {
    const owner = await newCase(store);
    const [one, other] = [await newSnitch(store, owner, { tags: ['a'] }), await newSnitch(store, owner)];
    const tagged = async (tag: string) => {
      const { snitches } = await store.listSnitches(owner.id, { after: 0, limit: 10, tags: [tag] });
      return snitches.map(({ token }) => token);
    };
    await store.addTags(owner.id, other.token, ['a', 'b']);
    assert.equal([await tagged('a'), await tagged('b')], [[one.token, other.token], [other.token]]);
    await store.updateSnitch(owner.id, other.token, { tags: ['b', 'c'] }, NOW);
    await store.removeTag(owner.id, one.token, ['a']);
    assert.equal(
      [await tagged('a'), await tagged('b'), await tagged('c')],
      [[], [other.token], [other.token]],
    );
    await store.updateSnitch(owner.id, other.token, { name: 'renamed' }, NOW);
    assert.equal(await tagged('b'), [other.token]);
    await store.deleteSnitch(owner.id, other.token);
    assert.equal(await tagged('b'), []);
  });

  test('a removed tag is gone, the others keep their order', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await newSnitch(store, owner, { tags: ['a', 'b', 'c'] });
    assert.equal(await store.removeTag(owner.id, token, ['b']), ['a', 'c']);
    assert.equal((await snitchOf(store, owner, token)).tags, ['a', 'c']);
  });

  test('removing a tag that is not there leaves the tags as they are', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await newSnitch(store, owner, { tags: ['a'] });
    assert.equal(await store.removeTag(owner.id, token, ['A', 'b']), ['a']);
    assert.equal(await store.removeTag(owner.id, token, []), ['a']);
  });

  test('of several spellings the first that the snitch has is removed, and only that', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await newSnitch(store, owner, { tags: ['a b', 'a+b', 'c d'] });
    assert.equal(await store.removeTag(owner.id, token, ['a+b', 'a b']), ['a b', 'c d']);
    assert.equal(await store.removeTag(owner.id, token, ['a+b', 'a b']), ['c d']);
    assert.equal(await store.removeTag(owner.id, token, ['c+d', 'c d']), []);
  });
});
