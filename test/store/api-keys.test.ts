import { createHash } from 'node:crypto';
import * as assert from 'uvu/assert';
import { contract, MINUTE, NOW, newCase } from './fixture.ts';

contract('api keys', (test) => {
  test('a key finds itself and its case', async ({ store }) => {
    const owner = await newCase(store);
    const { apiKey, key } = await store.createApiKey({ caseId: owner.id, name: 'ci', scope: 'write' }, NOW);
    assert.match(key, /^snk_[0-9A-Za-z]{40}$/);
    assert.match(apiKey.id, /^key_/);
    assert.equal(apiKey, {
      id: apiKey.id,
      caseId: owner.id,
      name: 'ci',
      scope: 'write',
      createdAt: NOW,
      lastUsedAt: null,
    });
    assert.equal(await store.findApiKey(key), { apiKey, case: owner });
  });

  test('an admin key belongs to no case', async ({ store }) => {
    const { apiKey, key } = await store.createApiKey({ caseId: null, name: 'root', scope: 'admin' }, NOW);
    assert.equal(await store.findApiKey(key), { apiKey, case: null });
  });

  test('nothing but the exact key finds it', async ({ store }) => {
    const owner = await newCase(store);
    const { key } = await store.createApiKey({ caseId: owner.id, name: 'ci', scope: 'write' }, NOW);
    const swapped = key.replace(/[a-zA-Z](?=[^a-zA-Z]*$)/, (letter) =>
      letter === letter.toUpperCase() ? letter.toLowerCase() : letter.toUpperCase(),
    );
    for (const guess of ['', key.slice(0, -1), `${key}0`, ` ${key}`, swapped, hashOf(key)]) {
      assert.is(await store.findApiKey(guess), null, guess);
    }
  });

  test('the store keeps a hash of the key, and the key nowhere', async ({ store, query }) => {
    const owner = await newCase(store);
    const { key } = await store.createApiKey({ caseId: owner.id, name: 'ci', scope: 'write' }, NOW);
    const rows = await query<{ hash: string }>('SELECT * FROM api_keys');
    assert.equal(
      rows.map(({ hash }) => hash),
      [hashOf(key)],
    );
    assert.not.match(JSON.stringify(rows), key.slice(4));
  });

  test('keys are listed newest first, without their secrets, each case its own', async ({ store }) => {
    const owner = await newCase(store);
    const other = await newCase(store);
    const write = { caseId: owner.id, name: 'one', scope: 'write' } as const;
    const first = await store.createApiKey(write, NOW);
    const second = await store.createApiKey({ ...write, name: 'two', scope: 'read' }, NOW + MINUTE);
    const admin = await store.createApiKey({ caseId: null, name: 'root', scope: 'admin' }, NOW);
    assert.equal(await store.listApiKeys(owner.id), [second.apiKey, first.apiKey]);
    assert.equal(await store.listApiKeys(other.id), []);
    assert.equal(await store.listApiKeys(null), [admin.apiKey]);
  });

  test('a deleted key finds nothing any more', async ({ store }) => {
    const owner = await newCase(store);
    const { apiKey, key } = await store.createApiKey({ caseId: owner.id, name: 'ci', scope: 'write' }, NOW);
    const other = await store.createApiKey({ caseId: owner.id, name: 'b', scope: 'write' }, NOW);
    assert.is(await store.deleteApiKey(owner.id, apiKey.id), true);
    assert.is(await store.findApiKey(key), null);
    assert.is(await store.deleteApiKey(owner.id, apiKey.id), false);
    assert.equal(await store.listApiKeys(owner.id), [other.apiKey]);
  });

  test('a key is deleted by its own case alone', async ({ store }) => {
    const owner = await newCase(store);
    const other = await newCase(store);
    const { apiKey } = await store.createApiKey({ caseId: owner.id, name: 'ci', scope: 'write' }, NOW);
    const admin = await store.createApiKey({ caseId: null, name: 'root', scope: 'admin' }, NOW);
    assert.is(await store.deleteApiKey(other.id, apiKey.id), false);
    assert.is(await store.deleteApiKey(null, apiKey.id), false);
    assert.is(await store.deleteApiKey(owner.id, admin.apiKey.id), false);
    assert.is(await store.deleteApiKey(null, admin.apiKey.id), true);
    assert.equal(await store.listApiKeys(owner.id), [apiKey]);
  });

  test('the last use of a key is remembered', async ({ store }) => {
    const owner = await newCase(store);
    const { apiKey, key } = await store.createApiKey({ caseId: owner.id, name: 'ci', scope: 'write' }, NOW);
    await store.recordKeyUse(apiKey.id, NOW + MINUTE);
    assert.is((await store.findApiKey(key))?.apiKey.lastUsedAt, NOW + MINUTE);
    assert.is((await store.listApiKeys(owner.id))[0]?.lastUsedAt, NOW + MINUTE);
    await store.recordKeyUse('key_none', NOW);
  });
});

function hashOf(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}
