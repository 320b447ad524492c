/** A snitch that alerted too often, and then misses its deadline while what it needs is down or silenced. */
import * as assert from 'uvu/assert';
import type { Store } from '../acting.ts';
import {
  alertsOf,
  checkIn,
  contract,
  HOUR,
  healthySnitch,
  MINUTE,
  NOW,
  newCase,
  SECOND,
  snitchOf,
  sweep,
} from '../fixture.ts';

async function pass(store: Store, now: number): Promise<void> {
  while ((await store.endSilencesSlice(now)).more);
  while (await store.relieveSlice(now));
  await sweep(store, now);
}

contract('a flapping snitch that is held', (test) => {
  test('is not told to be missing until nothing holds it any more', async ({ store }) => {
    const owner = await newCase(store);
    const host = await healthySnitch(store, owner, { name: 'db1', tags: ['host'], interval: 'daily' });
    const schedule = { every: 300 };
    const { token } = await healthySnitch(store, owner, { schedule, grace: 0, needs: [host.token] });
    for (let turn = 0; turn < 15; turn += 1) {
      const outcome = turn % 2 === 0 ? 'error' : 'healthy';
      await checkIn(store, token, NOW + turn * SECOND, { outcome });
    }
    const end = NOW + 5 * HOUR;
    const time = { kind: 'once', from: NOW + MINUTE, to: end } as const;
    const scope = { kind: 'tags', tags: ['host'] } as const;
    await store.createSilence(owner.id, { scope, time, note: '', by: 'ops' }, NOW + MINUTE);
    const missing = async () =>
      (await alertsOf(store, owner, token)).filter((one) => one.startsWith('snitch.missing')).length;
    for (let now = NOW + 2 * MINUTE; now < end; now += MINUTE) await pass(store, now);
    assert.is((await snitchOf(store, owner, token)).state.status, 'failed');
    assert.is(await missing(), 0, 'while it is held');
    for (let now = end; now <= end + 50 * MINUTE; now += MINUTE) await pass(store, now);
    assert.is(
      await missing(),
      2,
      'as any change of one that flaps: that it goes on, and what it is in the end',
    );
  });
});
