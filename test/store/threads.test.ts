import * as assert from 'uvu/assert';
import type { Case } from '../../src/core/case.ts';
import type { Store } from './acting.ts';
import { checkIn, contract, HOUR, healthySnitch, MINUTE, NOW, newCase, newSnitch, sweep } from './fixture.ts';

/** A case with one snitch that is healthy since NOW. */
async function setUp(store: Store) {
  const owner = await newCase(store);
  const { token } = await healthySnitch(store, owner);
  return { owner, token };
}

/**
 * The alerts after the first, oldest first, as `type: place of the alert that opened the incident`; places count
 * from 0, and the opening alert itself has none.
 */
async function threadsOf(store: Store, { id }: Case, token: string): Promise<string[]> {
  const listed = (await store.listAlerts(id, token, { limit: 100, before: null })).reverse().slice(1);
  const ids = listed.map(({ alert }) => alert.id);
  return listed.map(({ alert }) => {
    const opened = alert.details?.threadId;
    return opened ? `${alert.type}: ${ids.indexOf(opened)}` : alert.type;
  });
}

contract('threads of alerts', (test) => {
  test('the first report of a new snitch opens nothing', async ({ store }) => {
    const { owner, token } = await setUp(store);
    const [first] = await store.listAlerts(owner.id, token, { limit: 1, before: null });
    assert.is(first?.alert.details?.threadId, null);
    await sweep(store, NOW + 3 * HOUR);
    assert.equal(await threadsOf(store, owner, token), ['snitch.missing']);
  });

  test('reminders, errors and the report belong to the alert that opened the incident', async ({ store }) => {
    const { owner, token } = await setUp(store);
    await sweep(store, NOW + 3 * HOUR);
    await sweep(store, NOW + 5 * HOUR);
    await checkIn(store, token, NOW + 6 * HOUR, { outcome: 'error' });
    await checkIn(store, token, NOW + 7 * HOUR);
    assert.equal(await threadsOf(store, owner, token), [
      'snitch.missing',
      'snitch.missing: 0',
      'snitch.errored: 0',
      'snitch.reporting: 0',
    ]);
  });

  test('the next incident has a thread of its own', async ({ store }) => {
    const { owner, token } = await setUp(store);
    await checkIn(store, token, NOW + MINUTE, { outcome: 'error' });
    await checkIn(store, token, NOW + 2 * MINUTE);
    await checkIn(store, token, NOW + 3 * MINUTE, { outcome: 'error' });
    await checkIn(store, token, NOW + 4 * MINUTE);
    assert.equal(await threadsOf(store, owner, token), [
      'snitch.errored',
      'snitch.reporting: 0',
      'snitch.errored',
      'snitch.reporting: 2',
    ]);
  });

  test('snitches do not share threads', async ({ store }) => {
    const { owner, token } = await setUp(store);
    const other = await newSnitch(store, owner);
    await checkIn(store, other.token, NOW);
    await sweep(store, NOW + 3 * HOUR);
    for (const one of [token, other.token]) {
      assert.equal(await threadsOf(store, owner, one), ['snitch.missing']);
    }
  });

  test('a pause within an incident belongs to it', async ({ store }) => {
    const { owner, token } = await setUp(store);
    await sweep(store, NOW + 3 * HOUR);
    await store.pauseSnitch(owner.id, token, { kind: 'healthy' }, NOW + 4 * HOUR);
    await checkIn(store, token, NOW + 5 * HOUR);
    assert.equal(await threadsOf(store, owner, token), [
      'snitch.missing',
      'snitch.paused: 0',
      'snitch.reporting: 0',
    ]);
  });

  test('an incident goes on after a pause that ends with it', async ({ store }) => {
    const { owner, token } = await setUp(store);
    await sweep(store, NOW + 3 * HOUR);
    await store.pauseSnitch(owner.id, token, { kind: 'unpaused' }, NOW + 4 * HOUR);
    await store.unpauseSnitch(owner.id, token, NOW + 5 * HOUR);
    await sweep(store, NOW + 9 * HOUR);
    assert.equal(await threadsOf(store, owner, token), [
      'snitch.missing',
      'snitch.paused: 0',
      'snitch.missing: 0',
    ]);
  });

  test('a pause that ends in silence, all being well, ends its thread', async ({ store }) => {
    const { owner, token } = await setUp(store);
    await store.pauseSnitch(owner.id, token, { kind: 'unpaused' }, NOW + MINUTE);
    await store.unpauseSnitch(owner.id, token, NOW + 2 * MINUTE);
    await sweep(store, NOW + 3 * HOUR);
    assert.equal(await threadsOf(store, owner, token), ['snitch.paused', 'snitch.missing']);
  });

  test('so does one that ends by its time, seen by the sweep, a check-in or an update', async ({ store }) => {
    const until = { kind: 'time', at: NOW + HOUR } as const;
    const after = NOW + HOUR + MINUTE;
    const ends: ((owner: Case, token: string) => Promise<unknown>)[] = [
      () => sweep(store, after),
      (_, token) => checkIn(store, token, after),
      ({ id }, token) => store.updateSnitch(id, token, { interval: '2_hour' }, after),
    ];
    for (const end of ends) {
      const { owner, token } = await setUp(store);
      await store.pauseSnitch(owner.id, token, until, NOW + MINUTE);
      await end(owner, token);
      await sweep(store, NOW + 9 * HOUR);
      assert.equal(await threadsOf(store, owner, token), ['snitch.paused', 'snitch.missing']);
    }
  });

  test('an incident that healed while it was muted is over after the pause', async ({ store }) => {
    const { owner, token } = await setUp(store);
    await sweep(store, NOW + 3 * HOUR);
    await store.pauseSnitch(owner.id, token, { kind: 'unpaused' }, NOW + 4 * HOUR);
    await checkIn(store, token, NOW + 5 * HOUR);
    await store.unpauseSnitch(owner.id, token, NOW + 5 * HOUR);
    await sweep(store, NOW + 9 * HOUR);
    assert.equal(await threadsOf(store, owner, token), [
      'snitch.missing',
      'snitch.paused: 0',
      'snitch.missing',
    ]);
  });
});
