/** Webhooks of a case: each its own, with a secret that can be changed without losing an alert. */
import * as assert from 'uvu/assert';
import { Invalid } from '../../src/core/errors.ts';
import { checkIn, contract, DAY, healthySnitch, MINUTE, NOW, newCase, rejection } from './fixture.ts';

const URL = 'https://user:pass@example.com/hook';

contract('webhooks', (test) => {
  test('a webhook is read as it was made', async ({ store }) => {
    const owner = await newCase(store);
    const plain = await store.createWebhook(owner.id, URL, NOW);
    const { id, secret, ...rest } = plain;
    assert.match(id, /^hook_/);
    assert.match(secret, /^whsec_[A-Za-z0-9+/]+=*$/);
    assert.equal(rest, {
      caseId: owner.id,
      url: URL,
      previousSecret: null,
      previousSecretUntil: null,
      notices: false,
      createdAt: NOW,
    });
    const noticed = await store.createWebhook(owner.id, URL, NOW + MINUTE, { notices: true });
    assert.is(noticed.notices, true);
    assert.equal(await store.getWebhook(owner.id, plain.id), plain);
    assert.equal(await store.listWebhooks(owner.id), [noticed, plain], 'newest first');
  });

  test('a case has as many as it may, and no other case counts', async ({ store }) => {
    const owner = await newCase(store);
    const other = await newCase(store);
    for (let count = 0; count < 2; count += 1) await store.createWebhook(owner.id, URL, NOW, { most: 2 });
    const refused = await rejection(store.createWebhook(owner.id, URL, NOW, { most: 2 }));
    assert.instance(refused, Invalid);
    assert.match((refused as Error).message, 'webhooks are too many: 2 is the most');
    assert.is((await store.listWebhooks(owner.id)).length, 2);
    await store.createWebhook(other.id, URL, NOW, { most: 1 });
    await store.createWebhook(owner.id, URL, NOW);
  });

  test('a rotated secret leaves the one before valid for a while, and other webhooks alone', async ({
    store,
  }) => {
    const owner = await newCase(store);
    const webhook = await store.createWebhook(owner.id, URL, NOW);
    const bystander = await store.createWebhook(owner.id, URL, NOW);
    const rotated = await store.rotateWebhookSecret(owner.id, webhook.id, NOW + DAY);
    assert.is.not(rotated?.secret, webhook.secret);
    assert.equal(rotated, {
      ...webhook,
      secret: rotated?.secret,
      previousSecret: webhook.secret,
      previousSecretUntil: NOW + DAY,
    });
    assert.equal(await store.getWebhook(owner.id, webhook.id), rotated);
    assert.equal(await store.getWebhook(owner.id, bystander.id), bystander);
  });

  test('between two alerts of one commit, one that is made gets the second, and one that is deleted the first', async ({
    store,
  }) => {
    const owner = await newCase(store);
    const jobs: string[] = [];
    for (let count = 0; count < 4; count += 1) jobs.push((await healthySnitch(store, owner)).token);
    const [one = '', two = '', three = '', four = ''] = jobs;
    const fail = (token: string) => checkIn(store, token, NOW + MINUTE, { outcome: 'error' });
    const made = () => store.createWebhook(owner.id, URL, NOW + MINUTE);
    const [, { id }] = await Promise.all([fail(one), made(), fail(two)]);
    await Promise.all([fail(three), store.deleteWebhook(owner.id, id), fail(four)]);
    const sent = await store.listDeliveries(owner.id, { limit: 10, before: null, state: null });
    assert.equal(
      sent.map(({ target, about }) => [target, about.snitch?.token]),
      [
        [id, three],
        [id, two],
      ],
    );
  });

  test('no case reads, changes or deletes what another has', async ({ store }) => {
    const owner = await newCase(store);
    const other = await newCase(store);
    const webhook = await store.createWebhook(owner.id, URL, NOW);
    const kept = await store.createWebhook(owner.id, URL, NOW + MINUTE);
    assert.is(await store.getWebhook(other.id, webhook.id), null);
    assert.equal(await store.listWebhooks(other.id), []);
    assert.is(await store.rotateWebhookSecret(other.id, webhook.id, NOW), null);
    assert.is(await store.deleteWebhook(other.id, webhook.id), false);
    assert.equal(await store.getWebhook(owner.id, webhook.id), webhook);
    assert.is(await store.deleteWebhook(owner.id, webhook.id), true);
    assert.is(await store.deleteWebhook(owner.id, webhook.id), false);
    assert.equal(await store.listWebhooks(owner.id), [kept]);
  });
});
