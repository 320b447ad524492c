/** Counts that are kept up to date with each change equal a fresh count of the rows. */
import * as assert from 'uvu/assert';
import type { Case } from '../../src/core/case.ts';
import type { Store } from './acting.ts';
import { checkIn, contract, DAY, HOUR, NOW, newCase, newSnitch, type Opened, sweep } from './fixture.ts';

async function countedAnew({ query }: Opened) {
  return query(
    'SELECT case_id, status, COUNT(*) AS count FROM snitch_states GROUP BY case_id, status ORDER BY 1, 2',
  );
}

async function kept({ query }: Opened) {
  return query('SELECT case_id, status, count FROM status_counts WHERE count <> 0 ORDER BY 1, 2');
}

const STEPS: Record<string, (store: Store, owner: Case, token: string, now: number) => Promise<unknown>> = {
  'check-in': (store, _, token, now) => checkIn(store, token, now),
  error: (store, _, token, now) => checkIn(store, token, now, { outcome: 'error' }),
  start: (store, _, token, now) => checkIn(store, token, now, { outcome: 'start' }),
  pause: (store, owner, token, now) =>
    store.pauseSnitch(owner.id, token, { kind: 'unpaused' }, now).catch(() => {}),
  'pause for an hour': (store, owner, token, now) =>
    store.pauseSnitch(owner.id, token, { kind: 'time', at: now + HOUR }, now).catch(() => {}),
  unpause: (store, owner, token, now) => store.unpauseSnitch(owner.id, token, now),
  sweep: (store, _owner, _token, now) => sweep(store, now),
  'new interval': (store, owner, token, now) =>
    store.updateSnitch(owner.id, token, { interval: 'daily' }, now),
  delete: (store, owner, token) => store.deleteSnitch(owner.id, token),
  create: (store, owner, _, now) => newSnitch(store, owner, {}, now),
};

contract('counts of the statuses', (test) => {
  test('they follow every change, of two cases', async (opened) => {
    const { store } = opened;
    const owners = [await newCase(store), await newCase(store)];
    const tokens: string[] = [];
    for (let index = 0; index < 8; index += 1) {
      tokens.push((await newSnitch(store, owners[index % 2] as Case)).token);
    }
    let now = NOW;
    const names = Object.keys(STEPS);
    // Each step meets snitches in every state that the steps before have left.
    for (let round = 0; round < 120; round += 1) {
      const at = (round * 7) % tokens.length;
      const name = names[(round * 3 + Math.floor(round / 10)) % names.length] as string;
      await STEPS[name]?.(store, owners[at % 2] as Case, tokens[at] as string, now);
      assert.equal(await kept(opened), await countedAnew(opened), `after ${name}, round ${round}`);
      now += 40 * 60_000;
    }
    assert.ok((await countedAnew(opened)).length >= 4, 'several statuses were met');
    await store.deleteCase(owners[0]?.id ?? '');
    assert.equal(await kept(opened), await countedAnew(opened));
  });

  test('a limit of a case counts what is there', async ({ store }) => {
    const owner = await newCase(store, { maxSnitches: 2 });
    const { token } = await newSnitch(store, owner);
    await newSnitch(store, owner);
    assert.is(await store.hasRoomForSnitch(owner.id), false);
    assert.is(await store.roomForSnitches(owner.id), 0);
    await store.deleteSnitch(owner.id, token);
    assert.is(await store.hasRoomForSnitch(owner.id), true);
    assert.is(await store.roomForSnitches(owner.id), 1);
    await checkIn(store, token, NOW + DAY);
    assert.is(await store.roomForSnitches(owner.id), 1);
  });
});
