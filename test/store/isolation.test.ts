import * as assert from 'uvu/assert';
import type { Case } from '../../src/core/case.ts';
import type { Store } from './acting.ts';
import { contract, HOUR, healthySnitch, MINUTE, NOW, newCase, snitchOf } from './fixture.ts';

const PAGE = { limit: 100, before: null };

/** Two cases that both have one of everything. */
async function twoCases(store: Store) {
  const furnish = async (owner: Case) => {
    const webhook = await store.createWebhook(owner.id, 'http://localhost/hook', NOW);
    const snitch = await healthySnitch(store, owner, { tags: ['mine'] });
    const [delivery] = await store.listDeliveries(owner.id, { state: null, ...PAGE });
    const [listed] = await store.listAlerts(owner.id, null, PAGE);
    return { ...owner, webhook, snitch, delivery: delivery!, alert: listed!.alert };
  };
  return { mine: await furnish(await newCase(store)), theirs: await furnish(await newCase(store)) };
}

contract('isolation of cases', (test) => {
  test('no snitch of another case can be read, changed, paused or deleted', async ({ store }) => {
    const { mine, theirs } = await twoCases(store);
    const { token } = theirs.snitch;
    assert.is(await store.getSnitch(mine.id, token), null);
    assert.is(await store.updateSnitch(mine.id, token, { name: 'taken', interval: 'daily' }, NOW), null);
    assert.is(await store.addTags(mine.id, token, ['taken']), null);
    assert.is(await store.removeTag(mine.id, token, ['mine']), null);
    assert.is(await store.pauseSnitch(mine.id, token, { kind: 'unpaused' }, NOW), false);
    assert.is(await store.unpauseSnitch(mine.id, token, NOW + HOUR), false);
    assert.is(await store.deleteSnitch(mine.id, token), false);
    assert.is(await store.listCheckIns(mine.id, token, PAGE), null);
    assert.equal(await snitchOf(store, theirs, token), theirs.snitch);
    assert.is((await store.listCheckIns(theirs.id, token, PAGE))?.length, 1);
  });

  test('a list of snitches has those of its case alone', async ({ store }) => {
    const { mine } = await twoCases(store);
    for (const tags of [[], ['mine']]) {
      const { snitches } = await store.listSnitches(mine.id, { after: 0, limit: 100, tags });
      assert.equal(
        snitches.map(({ token }) => token),
        [mine.snitch.token],
      );
    }
  });

  test('alerts and deliveries are listed to their own case alone', async ({ store }) => {
    const { mine, theirs } = await twoCases(store);
    const alerts = await store.listAlerts(mine.id, null, PAGE);
    assert.equal(
      alerts.map(({ alert }) => alert.id),
      [mine.alert.id],
    );
    assert.equal(await store.listAlerts(mine.id, theirs.snitch.token, PAGE), []);
    for (const state of [null, 'pending'] as const) {
      assert.equal(await store.listDeliveries(mine.id, { state, ...PAGE }), [mine.delivery]);
    }
  });

  test('the id of another case is no place in a list', async ({ store }) => {
    const { mine, theirs } = await twoCases(store);
    const before = { id: theirs.alert.id };
    assert.equal(await store.listAlerts(mine.id, null, { limit: 100, before }), []);
  });

  test('no delivery of another case can be retried', async ({ store }) => {
    const { mine, theirs } = await twoCases(store);
    assert.is(await store.retryDelivery(mine.id, theirs.delivery.id, NOW + MINUTE), null);
    assert.equal(await store.listDeliveries(theirs.id, { state: null, ...PAGE }), [theirs.delivery]);
  });

  test('no webhook of another case can be read, tested, rotated or deleted', async ({ store }) => {
    const { mine, theirs } = await twoCases(store);
    const { id } = theirs.webhook;
    assert.is(await store.getWebhook(mine.id, id), null);
    assert.equal(await store.listWebhooks(mine.id), [mine.webhook]);
    assert.is(await store.rotateWebhookSecret(mine.id, id, NOW), null);
    assert.is(await store.createTestDelivery(mine.id, { channel: 'webhook', target: id }, NOW), null);
    assert.is(await store.deleteWebhook(mine.id, id), false);
    assert.equal(await store.getWebhook(theirs.id, id), theirs.webhook);
    assert.is((await store.listDeliveries(theirs.id, { state: null, ...PAGE })).length, 1);
  });

  test('an alert reaches the webhooks of its own case alone', async ({ store }) => {
    const { mine, theirs } = await twoCases(store);
    assert.is(mine.delivery.target, mine.webhook.id);
    assert.is(theirs.delivery.target, theirs.webhook.id);
  });
});
