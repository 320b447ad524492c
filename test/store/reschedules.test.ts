import * as assert from 'uvu/assert';
import type { Case } from '../../src/core/case.ts';
import type { Snitch } from '../../src/core/snitch.ts';
import type { Store } from './acting.ts';
import {
  checkIn,
  contract,
  HOUR,
  healthySnitch,
  MINUTE,
  NOW,
  newCase,
  newSnitch,
  snitchOf,
  sweep,
  utc,
} from './fixture.ts';

/** More than two slices of a reschedule. */
const MANY = 450;

/** Daily snitches that checked in at NOW, due at the end of the next day of the case's time zone. */
async function manyHealthy(store: Store, owner: Case): Promise<Snitch[]> {
  const snitches = await Promise.all(
    Array.from({ length: MANY }, () => newSnitch(store, owner, { interval: 'daily' })),
  );
  await Promise.all(snitches.map(({ token }) => checkIn(store, token, NOW)));
  return snitches;
}

async function dueTimes(store: Store, { id }: Case): Promise<Map<number | null, number>> {
  const { snitches } = await store.listSnitches(id, { after: 0, limit: 1_000, tags: [] });
  const counts = new Map<number | null, number>();
  for (const { token } of snitches) {
    const dueAt = (await store.getSnitch(id, token))?.state.dueAt ?? null;
    counts.set(dueAt, (counts.get(dueAt) ?? 0) + 1);
  }
  return counts;
}

async function rescheduleAll(store: Store, now: number): Promise<number> {
  let slices = 0;
  while (await store.rescheduleSlice(now)) slices += 1;
  return slices;
}

const UTC_DAY = utc('2025-07-11T00:00:00');
const TOKYO_DAY = utc('2025-07-10T15:00:00');

contract('changed rules of a case', (test) => {
  test('nothing is left to do where nothing changed', async ({ store }) => {
    const owner = await newCase(store);
    assert.is(await store.rescheduleSlice(NOW), false);
    await store.updateCase(owner.id, { name: 'x', timezone: 'UTC', members: [], reminders: 'period' }, NOW);
    assert.is(await store.rescheduleSlice(NOW), false);
  });

  test('a new time zone restarts all deadlines, in slices', async ({ store }) => {
    const owner = await newCase(store);
    const other = await newCase(store);
    const unconcerned = await healthySnitch(store, other, { interval: 'daily' });
    await manyHealthy(store, owner);
    assert.equal([...(await dueTimes(store, owner))], [[UTC_DAY, MANY]]);
    await store.updateCase(owner.id, { timezone: 'Asia/Tokyo' }, NOW);
    assert.is(await store.rescheduleSlice(NOW), true);
    const between = await dueTimes(store, owner);
    assert.ok((between.get(UTC_DAY) ?? 0) > 0 && (between.get(TOKYO_DAY) ?? 0) > 0);
    assert.ok((await rescheduleAll(store, NOW)) >= 1);
    assert.equal([...(await dueTimes(store, owner))], [[TOKYO_DAY, MANY]]);
    assert.equal(await snitchOf(store, other, unconcerned.token), unconcerned);
  });

  test('one that is due before its turn comes is given its new deadline, and raises no alarm', async ({
    store,
  }) => {
    const owner = await newCase(store);
    const other = await newCase(store);
    const [mine] = (await manyHealthy(store, owner)).toReversed();
    const unconcerned = await healthySnitch(store, other, { interval: 'daily' });
    await store.updateCase(owner.id, { timezone: 'Asia/Tokyo' }, UTC_DAY);
    assert.is(await store.rescheduleSlice(UTC_DAY), true);
    assert.ok(((await dueTimes(store, owner)).get(UTC_DAY) ?? 0) > 0);
    await sweep(store, UTC_DAY);
    assert.equal([...(await dueTimes(store, owner))], [[TOKYO_DAY + 48 * HOUR, MANY]]);
    assert.is((await snitchOf(store, owner, mine?.token ?? '')).state.status, 'healthy');
    assert.is((await snitchOf(store, other, unconcerned.token)).state.status, 'failed');
    assert.ok((await rescheduleAll(store, UTC_DAY)) >= 1);
    assert.equal([...(await dueTimes(store, owner))], [[TOKYO_DAY + 48 * HOUR, MANY]]);
  });

  test('a restart in the middle goes on where it stopped', async ({ store, reopen, query }) => {
    const owner = await newCase(store);
    await manyHealthy(store, owner);
    await store.updateCase(owner.id, { timezone: 'Asia/Tokyo' }, NOW);
    await store.rescheduleSlice(NOW);
    const [before] = await query<{ cursor: number }>('SELECT cursor FROM reschedules');
    assert.ok(before && before.cursor > 0);
    const reopened = await reopen();
    await rescheduleAll(reopened, NOW);
    assert.equal([...(await dueTimes(reopened, owner))], [[TOKYO_DAY, MANY]]);
  });

  test('several cases change one after another', async ({ store }) => {
    const [one, other] = [await newCase(store), await newCase(store)];
    // Whichever comes first, the other has snitches that are older.
    for (const owner of [one, other, one, other]) await manyHealthy(store, owner);
    for (const { id } of [one, other]) await store.updateCase(id, { timezone: 'Asia/Tokyo' }, NOW);
    await rescheduleAll(store, NOW);
    assert.equal([...(await dueTimes(store, one))], [[TOKYO_DAY, 2 * MANY]]);
    assert.equal([...(await dueTimes(store, other))], [[TOKYO_DAY, 2 * MANY]]);
  });

  test('rules that change again in the middle hold for all', async ({ store }) => {
    const owner = await newCase(store);
    await manyHealthy(store, owner);
    await store.updateCase(owner.id, { timezone: 'Asia/Tokyo' }, NOW);
    await store.rescheduleSlice(NOW);
    await store.updateCase(owner.id, { timezone: 'UTC' }, NOW);
    await store.updateCase(owner.id, { reminders: 'daily' }, NOW);
    await rescheduleAll(store, NOW);
    assert.equal([...(await dueTimes(store, owner))], [[UTC_DAY, MANY]]);
  });

  test('the deadline counts from now, and awaits nothing of pending and paused snitches', async ({
    store,
  }) => {
    const owner = await newCase(store);
    const pending = await newSnitch(store, owner);
    const healthy = await healthySnitch(store, owner, { interval: 'daily' });
    const paused = await healthySnitch(store, owner);
    await store.pauseSnitch(owner.id, paused.token, { kind: 'unpaused' }, NOW);
    await store.updateCase(owner.id, { timezone: 'Asia/Tokyo' }, NOW);
    await rescheduleAll(store, NOW + 24 * HOUR);
    assert.is((await snitchOf(store, owner, healthy.token)).state.dueAt, TOKYO_DAY + 24 * HOUR);
    assert.is((await snitchOf(store, owner, pending.token)).state.dueAt, null);
    assert.is((await snitchOf(store, owner, paused.token)).state.dueAt, null);
  });

  test('other reminders are those of failed snitches; healthy ones keep their deadlines', async ({
    store,
  }) => {
    const owner = await newCase(store, { reminders: 'off' });
    const failed = await healthySnitch(store, owner, { interval: 'hourly' });
    await sweep(store, NOW + 3 * HOUR);
    const healthy = await healthySnitch(store, owner, { interval: 'daily' });
    await store.updateCase(owner.id, { reminders: 'hourly' }, NOW + 3 * HOUR);
    await rescheduleAll(store, NOW + 4 * HOUR);
    assert.is((await snitchOf(store, owner, failed.token)).state.dueAt, NOW + 5 * HOUR);
    assert.equal((await snitchOf(store, owner, healthy.token)).state, healthy.state);
    await store.updateCase(owner.id, { reminders: 'off' }, NOW + 4 * HOUR);
    await rescheduleAll(store, NOW + 4 * HOUR);
    assert.is((await snitchOf(store, owner, failed.token)).state.dueAt, null);
  });

  test('a poison row holds up no other snitch and no later slice', async ({ store, query }) => {
    const owner = await newCase(store);
    const first = await healthySnitch(store, owner, { interval: 'daily' });
    const poison = await healthySnitch(store, owner, { interval: 'daily' });
    const last = await healthySnitch(store, owner, { interval: 'daily' });
    await query(
      `UPDATE snitch_states SET interval = 'fortnightly' WHERE id = (SELECT id FROM snitches WHERE token = ?)`,
      poison.token,
    );
    await store.updateCase(owner.id, { timezone: 'Asia/Tokyo' }, NOW);
    await rescheduleAll(store, NOW);
    for (const { token } of [first, last]) {
      assert.is((await snitchOf(store, owner, token)).state.dueAt, TOKYO_DAY);
    }
  });

  test('a case that is deleted in the middle leaves nothing to do', async ({ store }) => {
    const owner = await newCase(store);
    await manyHealthy(store, owner);
    await store.updateCase(owner.id, { timezone: 'Asia/Tokyo' }, NOW);
    await store.rescheduleSlice(NOW + MINUTE);
    await store.deleteCase(owner.id);
    assert.is(await store.rescheduleSlice(NOW + MINUTE), false);
  });
});
