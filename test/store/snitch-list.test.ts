import * as assert from 'uvu/assert';
import type { Case } from '../../src/core/case.ts';
import type { Snitch } from '../../src/core/snitch.ts';
import type { Store } from './acting.ts';
import {
  checkIn,
  contract,
  DAY,
  healthySnitch,
  NOW,
  newCase,
  newSnitch,
  snitchOf,
  sweep,
} from './fixture.ts';

/** What a list shows of a snitch. */
function listed({ caseId: _, state, ...said }: Snitch) {
  const { lastCheckInAt, pause, postponed, movedFrom, errorsInRow, runs, held, ...shown } = state;
  return { ...said, state: shown };
}

contract('list of snitches', (test) => {
  test('all in order of creation, as get shows each', async ({ store }) => {
    const owner = await newCase(store);
    const first = await newSnitch(store, owner, { name: 'z' });
    const second = await newSnitch(store, owner, { name: 'a' });
    const { snitches, next } = await store.listSnitches(owner.id, { after: 0, limit: 10, tags: [] });
    assert.equal(snitches, [listed(first), listed(second)]);
    assert.is(next, null);
  });

  test('as get shows each where the log is cut, or why it failed is not known', async ({ store, query }) => {
    const owner = await newCase(store);
    const cut = await healthySnitch(store, owner, { name: 'cut' });
    await healthySnitch(store, owner, { name: 'failed' });
    await checkIn(store, cut.token, NOW + 2 * DAY, { outcome: 'error' });
    await sweep(store, NOW + 2 * DAY);
    await query('DELETE FROM check_ins WHERE snitch_id = (SELECT MIN(id) FROM snitches)');
    await query('UPDATE snitch_states SET reason = NULL');
    const { snitches } = await store.listSnitches(owner.id, { after: 0, limit: 10, tags: [] });
    const alone = await Promise.all(snitches.map(({ token }) => snitchOf(store, owner, token)));
    assert.equal(snitches, alone.map(listed));
    assert.ok(snitches[1]?.missingSince);
    assert.is(snitches[0]?.lastReport?.outcome, 'error');
  });

  test('a case without snitches has an empty list', async ({ store }) => {
    const { id } = await newCase(store);
    assert.equal(await store.listSnitches(id, { after: 0, limit: 10, tags: [] }), {
      snitches: [],
      next: null,
    });
  });

  test('slices of any size together give every snitch once', async ({ store }) => {
    const owner = await newCase(store);
    const other = await newCase(store);
    const names: string[] = [];
    for (let index = 0; index < 7; index += 1) {
      names.push((await newSnitch(store, owner, { name: `job ${index}` })).name);
      await newSnitch(store, other);
    }
    for (const limit of [1, 2, 3, 6, 7, 8])
      assert.equal(await listAll(store, owner, limit), names, `${limit}`);
  });

  test('what is created and deleted between two slices harms no other', async ({ store }) => {
    const owner = await newCase(store);
    const snitches = [];
    for (const name of ['a', 'b', 'c', 'd']) snitches.push(await newSnitch(store, owner, { name }));
    const first = await store.listSnitches(owner.id, { after: 0, limit: 2, tags: [] });
    await store.deleteSnitch(owner.id, snitches[1]!.token);
    await newSnitch(store, owner, { name: 'e' });
    const rest = await store.listSnitches(owner.id, { after: first.next ?? 0, limit: 10, tags: [] });
    assert.equal(
      rest.snitches.map(({ name }) => name),
      ['c', 'd', 'e'],
    );
  });

  test('tags: only snitches that have all of them, spelled alike', async ({ store }) => {
    const owner = await newCase(store);
    await newSnitch(store, owner, { name: 'both', tags: ['prod', 'db', 'x'] });
    await newSnitch(store, owner, { name: 'one', tags: ['prod'] });
    await newSnitch(store, owner, { name: 'none', tags: [] });
    await newSnitch(store, owner, { name: 'spelled', tags: ['PROD', 'db'] });
    await newSnitch(store, owner, { name: 'inside', tags: ['prod db', '["prod","db"]'] });
    assert.equal(await listAll(store, owner, 10, ['prod']), ['both', 'one']);
    assert.equal(await listAll(store, owner, 10, ['db', 'prod']), ['both']);
    assert.equal(await listAll(store, owner, 10, ['prod', 'nothing']), []);
    assert.equal(await listAll(store, owner, 1, ['db', 'prod']), ['both']);
    assert.equal(await listAll(store, owner, 2, ['db']), ['both', 'spelled']);
  });
});

/** Names of all snitches of a case, read in slices of `limit`. */
async function listAll(
  store: Store,
  { id }: Case,
  limit: number,
  tags: readonly string[] = [],
): Promise<string[]> {
  const names: string[] = [];
  let after: number | null = 0;
  while (after !== null) {
    const slice: Awaited<ReturnType<Store['listSnitches']>> = await store.listSnitches(id, {
      after,
      limit,
      tags,
    });
    assert.ok(slice.snitches.length <= limit);
    names.push(...slice.snitches.map(({ name }) => name));
    after = slice.next;
  }
  return names;
}
