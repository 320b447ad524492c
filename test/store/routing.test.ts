import * as assert from 'uvu/assert';
import type { Case } from '../../src/core/case.ts';
import type { Store } from './acting.ts';
import { contract, HOUR, healthySnitch, MINUTE, NOW, newCase, sweep } from './fixture.ts';

contract('routes of alerts', (test) => {
  test('every webhook of the case and every member, each with a delivery of its own', async ({ store }) => {
    const owner = await newCase(store, { members: ['ann@example.com', 'bob@example.com'] });
    const first = await store.createWebhook(owner.id, 'http://localhost/1', NOW);
    const second = await store.createWebhook(owner.id, 'http://localhost/2', NOW + 1);
    const { token } = await healthySnitch(store, owner);
    const [listed] = await store.listAlerts(owner.id, null, { limit: 1, before: null });
    const same = {
      caseId: owner.id,
      alertId: listed!.alert.id,
      about: { type: 'snitch.reporting', snitch: { token, name: 'nightly-backup' } },
      state: 'pending',
      sending: false,
      attempts: 0,
      lastError: null,
      nextAttemptAt: NOW,
      deliveredAt: null,
    };
    assert.equal(
      listed?.deliveries.map(({ id: _, ...delivery }) => delivery),
      [
        { ...same, channel: 'webhook', target: first.id },
        { ...same, channel: 'webhook', target: second.id },
        { ...same, channel: 'email', target: 'ann@example.com' },
        { ...same, channel: 'email', target: 'bob@example.com' },
      ],
    );
  });

  test('the list of the snitch replaces the members, and leaves the webhooks', async ({ store }) => {
    const owner = await newCase(store, { members: ['ann@example.com'] });
    const { id } = await store.createWebhook(owner.id, 'http://localhost/1', NOW);
    await healthySnitch(store, owner, { alertEmail: ['ops@example.com', 'OPS@example.com'] });
    assert.equal(await latestTargets(store, owner), [id, 'OPS@example.com']);
  });

  test('an empty list gives the alerts back to the members', async ({ store }) => {
    const owner = await newCase(store, { members: ['ann@example.com'] });
    const { token } = await healthySnitch(store, owner, { alertEmail: ['ops@example.com'] });
    await store.updateSnitch(owner.id, token, { alertEmail: [] }, NOW);
    await sweep(store, NOW + 3 * HOUR);
    assert.equal(await latestTargets(store, owner), ['ann@example.com']);
  });

  test('without any target an alert is listed and sent to nobody', async ({ store }) => {
    const owner = await newCase(store);
    await healthySnitch(store, owner);
    assert.equal(await latestTargets(store, owner), []);
    assert.is(await store.nextDeliveryAt(), null);
  });

  test('targets are those at the moment of the decision', async ({ store }) => {
    const owner = await newCase(store, { members: ['ann@example.com'] });
    await healthySnitch(store, owner);
    await store.updateCase(owner.id, { members: ['bob@example.com'] }, NOW);
    assert.equal(await latestTargets(store, owner), ['ann@example.com']);
    await sweep(store, NOW + 3 * HOUR);
    assert.equal(await latestTargets(store, owner), ['bob@example.com']);
  });

  test('a test goes to one webhook only, and changes no snitch', async ({ store }) => {
    const owner = await newCase(store, { members: ['ann@example.com'] });
    await store.createWebhook(owner.id, 'http://localhost/1', NOW);
    const { id } = await store.createWebhook(owner.id, 'http://localhost/2', NOW);
    const delivery = await store.createTestDelivery(owner.id, { channel: 'webhook', target: id }, NOW);
    assert.is(delivery?.target, id);
    assert.is(delivery?.state, 'pending');
    assert.equal(await latestTargets(store, owner), [id]);
    const { snitches } = await store.listSnitches(owner.id, { after: 0, limit: 5, tags: [] });
    assert.equal(snitches, []);
    assert.is(
      await store.createTestDelivery(owner.id, { channel: 'webhook', target: 'hook_none' }, NOW),
      null,
    );
  });
});

contract('webhooks', (test) => {
  test('a webhook is read as it was made, and has a secret of its own', async ({ store }) => {
    const owner = await newCase(store);
    const url = 'https://user:pass@example.com/hook?a=b#c';
    const created = await store.createWebhook(owner.id, url, NOW);
    const other = await store.createWebhook(owner.id, url, NOW + MINUTE);
    assert.match(created.secret, /^whsec_[A-Za-z0-9+/]{32}$/);
    assert.is.not(created.secret, other.secret);
    assert.is(created.url, url);
    assert.equal(await store.getWebhook(owner.id, created.id), created);
    assert.equal(await store.listWebhooks(owner.id), [other, created]);
  });

  test('a rotated secret signs as well until its time', async ({ store }) => {
    const owner = await newCase(store);
    const before = await store.createWebhook(owner.id, 'http://localhost/1', NOW);
    const rotated = await store.rotateWebhookSecret(owner.id, before.id, NOW + HOUR);
    assert.is(rotated?.previousSecret, before.secret);
    assert.is(rotated?.previousSecretUntil, NOW + HOUR);
    assert.is.not(rotated?.secret, before.secret);
    assert.equal(await store.getWebhook(owner.id, before.id), rotated);
  });

  test('a deleted webhook is gone, and its deliveries tell so', async ({ store }) => {
    const owner = await newCase(store);
    const { id } = await store.createWebhook(owner.id, 'http://localhost/1', NOW);
    await healthySnitch(store, owner);
    assert.is(await store.deleteWebhook(owner.id, id), true);
    assert.is(await store.deleteWebhook(owner.id, id), false);
    assert.is(await store.rotateWebhookSecret(owner.id, id, NOW), null);
    const claim = { now: NOW, leaseUntil: NOW + MINUTE, perTarget: 5, limit: 5, busy: [], after: '' };
    const [claimed] = await store.claimDeliveries({ ...claim, channel: 'webhook' });
    assert.is(claimed?.target, id);
    assert.is(claimed?.webhook, null);
  });
});

async function latestTargets(store: Store, { id }: Case): Promise<string[]> {
  const [listed] = await store.listAlerts(id, null, { limit: 1, before: null });
  return (listed?.deliveries ?? []).map(({ target }) => target);
}
