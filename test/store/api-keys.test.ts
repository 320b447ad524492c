import { createHash } from 'node:crypto';
import * as assert from 'uvu/assert';
import { Invalid } from '../../src/core/errors.ts';
import type { Change } from '../../src/store/change.ts';
import { contract, MINUTE, NOW, newCase, rejection } from './fixture.ts';

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
    const other = await store.createApiKey({ caseId: owner.id, name: 'b', scope: 'read' }, NOW);
    await store.recordKeyUse('key_none', NOW);
    await store.recordKeyUse(apiKey.id, NOW + 2 * MINUTE);
    assert.equal(await store.getApiKey(other.apiKey.id), { apiKey: other.apiKey, case: owner });
    assert.is((await store.getApiKey(apiKey.id))?.apiKey.lastUsedAt, NOW + 2 * MINUTE);
    assert.is(await store.getApiKey('key_none'), null);
  });

  test('a case and the server have as many keys as they may, each counted by itself', async ({ store }) => {
    const owner = await newCase(store);
    const other = await newCase(store);
    const make = (caseId: string | null) =>
      store.createApiKey({ caseId, name: 'ci', scope: caseId === null ? 'admin' : 'write' }, NOW, 2);
    for (const caseId of [owner.id, null]) {
      await make(caseId);
      await make(caseId);
      const refused = await rejection(make(caseId));
      assert.instance(refused, Invalid);
      assert.match((refused as Error).message, 'api_keys are too many: 2 is the most');
    }
    await make(other.id);
    await store.createApiKey({ caseId: owner.id, name: 'ci', scope: 'read' }, NOW);
  });

  test('whoever is connected with a key of a case is told when it is deleted', async ({ store }) => {
    const owner = await newCase(store);
    const changes: Change[] = [];
    store.onChange((change) => changes.push(change));
    const { apiKey } = await store.createApiKey({ caseId: owner.id, name: 'ci', scope: 'write' }, NOW);
    const admin = await store.createApiKey({ caseId: null, name: 'root', scope: 'admin' }, NOW);
    await store.deleteApiKey(owner.id, 'key_none');
    await store.deleteApiKey(null, admin.apiKey.id);
    assert.equal(changes, []);
    await store.deleteApiKey(owner.id, apiKey.id);
    assert.equal(changes, [{ kind: 'access', caseId: owner.id, keyId: apiKey.id }]);
  });

  test('a key that is provided from outside takes the place of the one before it', async ({ store }) => {
    const made = await store.createApiKey({ caseId: null, name: 'made by hand', scope: 'admin' }, NOW);
    const idOf = async (key: string) => (await store.findApiKey(key))?.apiKey.id ?? null;
    await store.provideAdminKey('provided', 'first-key', NOW);
    const first = await store.findApiKey('first-key');
    assert.equal([first?.apiKey.name, first?.apiKey.scope, first?.case], ['provided', 'admin', null]);
    await store.provideAdminKey('provided', 'first-key', NOW + MINUTE);
    assert.is(await idOf('first-key'), first?.apiKey.id, 'the same key stays as it is');
    await store.provideAdminKey('other', 'other-key', NOW);
    await store.provideAdminKey('provided', 'second-key', NOW);
    assert.is(await idOf('first-key'), null);
    assert.ok(await idOf('second-key'));
    await store.provideAdminKey('provided', null, NOW);
    assert.is(await idOf('second-key'), null);
    assert.ok(await idOf('other-key'), 'that of another name stays');
    assert.equal(await store.getApiKey(made.apiKey.id), { apiKey: made.apiKey, case: null });
    await store.provideAdminKey('provided', made.key, NOW);
    assert.is((await store.listApiKeys(null)).length, 2, 'an admin key by another name is one already');
  });

  test('a key of a case is no key for the whole server', async ({ store }) => {
    const owner = await newCase(store, { name: 'Ops' });
    const { apiKey, key } = await store.createApiKey({ caseId: owner.id, name: 'ci', scope: 'write' }, NOW);
    const refused = await rejection(store.provideAdminKey('provided', key, NOW));
    assert.match((refused as Error).message, 'provided: this key is one of the case Ops already');
    assert.equal(await store.findApiKey(key), { apiKey, case: owner });
    await store.provideAdminKey('ci', 'another-key', NOW);
    assert.equal(await store.findApiKey(key), { apiKey, case: owner }, 'also under the name of one');
  });
});

function hashOf(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}
