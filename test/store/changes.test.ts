/** A listener hears of each change of its snitch once it is committed, and of no other. */
import * as assert from 'uvu/assert';
import type { Change } from '../../src/store/change.ts';
import { checkIn, contract, DAY, HOUR, healthySnitch, NOW, newCase, newSnitch, sweep } from './fixture.ts';

contract('changes of snitches', (test) => {
  test('every change is announced, whatever caused it', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await healthySnitch(store, owner);
    await newSnitch(store, owner);
    let changes: Change[] = [];
    store.onChange((change) => changes.push(change));
    const causes: Record<string, () => Promise<unknown>> = {
      'an everyday check-in': () => checkIn(store, token, NOW + 1),
      'a line of its log': () => checkIn(store, token, NOW + 2, { outcome: 'log' }),
      'an error': () => checkIn(store, token, NOW + 3, { outcome: 'error' }),
      'another name': () => store.updateSnitch(owner.id, token, { name: 'other' }, NOW),
      'another interval': () => store.updateSnitch(owner.id, token, { interval: 'daily' }, NOW),
      'more tags': () => store.addTags(owner.id, token, ['a', 'b']),
      'fewer tags': () => store.removeTag(owner.id, token, ['a']),
      'a pause': () => store.pauseSnitch(owner.id, token, { kind: 'unpaused' }, NOW),
      'its end': () => store.unpauseSnitch(owner.id, token, NOW),
      'a missed deadline': () => sweep(store, NOW + 9 * DAY),
      'its end for good': () => store.deleteSnitch(owner.id, token),
    };
    for (const [cause, act] of Object.entries(causes)) {
      changes = [];
      await act();
      const told = changes.filter(({ kind }) => kind === 'snitch');
      assert.ok(told.length > 0, cause);
      for (const one of told) assert.equal(one, { kind: 'snitch', caseId: owner.id, token }, cause);
    }
  });

  test('a postponed deadline counts as a change, and reading does not', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await healthySnitch(store, owner);
    const changes: Change[] = [];
    store.onChange((change) => changes.push(change));
    await store.getSnitch(owner.id, token);
    await store.listAlerts(owner.id, token, { limit: 9, before: null });
    await checkIn(store, 'no-such-token', NOW);
    await store.removeTag(owner.id, token, ['none']);
    await store.pauseSnitch(owner.id, 'no-such-token', { kind: 'unpaused' }, NOW);
    assert.equal(changes, []);
    await store.openBlindWindow({ start: NOW + HOUR - 1, end: NOW + HOUR + 1 });
    while (await store.postponeSlice(NOW + HOUR + 1));
    assert.equal(changes, [{ kind: 'snitch', caseId: owner.id, token }]);
  });

  test('a new snitch is announced too', async ({ store }) => {
    const owner = await newCase(store);
    const changes: Change[] = [];
    store.onChange((change) => changes.push(change));
    const { token } = await newSnitch(store, owner);
    const caseId = owner.id;
    assert.equal(changes, [
      { kind: 'snitch', caseId, token },
      { kind: 'shown', caseId },
    ]);
  });

  test('what is to be sent is announced with its kinds of targets, and nothing where nobody is told', async ({
    store,
  }) => {
    const told: Change[] = [];
    store.onChange((change) => change.kind === 'deliveries' && told.push(change));
    await healthySnitch(store, await newCase(store));
    assert.equal(told, []);
    const owner = await newCase(store, { members: ['ann@example.com', 'bob@example.com'] });
    await store.createWebhook(owner.id, 'https://example.com/', NOW, { most: 9 });
    await healthySnitch(store, owner);
    assert.equal(told, [{ kind: 'deliveries', channels: ['webhook', 'email'] }]);
  });
});
