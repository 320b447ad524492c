/** What monitoring reads about snitches; for what the values mean see http/snitch-metrics.test.ts. */
import * as assert from 'uvu/assert';
import type { MeasuredSnitch } from '../../src/store/snitches.ts';
import type { Store } from './acting.ts';
import { checkIn, contract, HOUR, NOW, newCase, newSnitch } from './fixture.ts';

async function measured(store: Store, caseId: string, limit = 10, tags: string[] = []) {
  const found: MeasuredSnitch[] = [];
  for (let after: number | null = 0; after !== null; ) {
    const slice = await store.listMeasured(caseId, { after, limit, tags });
    found.push(...slice.snitches);
    after = slice.next;
  }
  return found;
}

contract('what is measured of snitches', (test) => {
  test('it is what the list of snitches shows', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await newSnitch(store, owner, { tags: ['db'] });
    await newSnitch(store, owner, { name: 'pending' });
    await checkIn(store, token, NOW);
    const [heard, pending] = await measured(store, owner.id);
    const { snitches } = await store.listSnitches(owner.id, { after: 0, limit: 10, tags: [] });
    assert.is(heard?.state.dueAt, snitches[0]?.state.dueAt);
    assert.type(heard?.state.dueAt, 'number');
    assert.equal(
      [heard?.token, heard?.tags, heard?.checkedInAt, heard?.lastCheckInAt],
      [token, ['db'], NOW, NOW],
    );
    assert.equal(pending?.state, { status: 'pending', dueAt: null });
    assert.equal([pending?.checkedInAt, pending?.durationMs, pending?.missingSince], [null, null, null]);
    await store.applyDue(NOW + 99 * HOUR, null, 10);
    const [failed] = await measured(store, owner.id);
    assert.is(failed?.missingSince, (await store.getSnitch(owner.id, token))?.missingSince);
    assert.is(failed?.missingSince, heard?.state.dueAt);
  });

  test('slices of any size together give every snitch once, with all of the tags', async ({ store }) => {
    const owner = await newCase(store);
    const other = await newCase(store);
    for (let index = 0; index < 7; index += 1) {
      await newSnitch(store, owner, { name: `job ${index}`, tags: index % 2 ? ['a', 'odd'] : ['a'] });
      await newSnitch(store, other, { tags: ['a'] });
    }
    const names = async (limit: number, tags: string[]) =>
      (await measured(store, owner.id, limit, tags)).map(({ name }) => name.slice(4)).join('');
    for (const limit of [1, 2, 3, 6, 7, 8]) {
      assert.is(await names(limit, []), '0123456');
      assert.is(await names(limit, ['a']), '0123456');
      assert.is(await names(limit, ['a', 'odd']), '135');
      assert.is(await names(limit, ['odd', 'other']), '');
    }
  });

  test('numbers tell snitches apart, in all cases together', async ({ store }) => {
    const ids: number[] = [];
    for (const owner of [await newCase(store), await newCase(store)]) {
      await newSnitch(store, owner);
      await newSnitch(store, owner);
      ids.push(...(await measured(store, owner.id)).map(({ id }) => id));
    }
    assert.is(new Set(ids).size, 4);
  });

  test('reported values are those of the last report, and of nobody who reported none', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await newSnitch(store, owner);
    await newSnitch(store, owner, { name: 'quiet' });
    for (const bytes of [3, 4])
      await checkIn(store, token, NOW, { reported: { values: { bytes }, dropped: [] } });
    const { snitches, next } = await store.listReported(owner.id, { after: 0, limit: 10, tags: [] });
    assert.is(next, null);
    assert.equal(
      snitches.map(({ name, values }) => [name, values]),
      [['nightly-backup', [['bytes', 4]]]],
    );
  });
});
