/** How fast chats were written to, as it is kept for the next start. */
import * as assert from 'uvu/assert';
import type { KeptPace } from '../../src/store/paces.ts';
import { contract, MINUTE, NOW, newCase } from './fixture.ts';

const PACE: KeptPace = { sent: [{ at: NOW, digest: false }], heldUntil: null };

contract('the pace of chats', (test) => {
  test('is read as it was kept last, with the other chats of its kind alone', async ({ store, reopen }) => {
    const held = { sent: [{ at: NOW + MINUTE, digest: true }], heldUntil: NOW + 2 * MINUTE };
    await store.keepPace('slack', 'chan_1', PACE);
    await store.keepPace('slack', 'chan_2', PACE);
    await store.keepPace('telegram', 'chan_3', PACE);
    await store.keepPace('slack', 'chan_1', held);
    const again = await reopen();
    const kept = await again.listPaces('slack');
    assert.equal(
      new Map(kept.map(({ target, pace }) => [target, pace])),
      new Map([
        ['chan_1', held],
        ['chan_2', PACE],
      ]),
    );
    assert.equal(await again.listPaces('telegram'), [{ target: 'chan_3', pace: PACE }]);
    assert.equal(await again.listPaces('ntfy'), []);
  });

  test('goes with its channel, and with that alone', async ({ store }) => {
    const { id } = await newCase(store);
    const fields = { settings: { url: 'https://hooks.example.com/x' }, events: [], tags: [] };
    const made = () => store.createChannel(id, { kind: 'slack', name: null, fields }, NOW);
    const [gone, other] = [await made(), await made()];
    for (const one of [gone, other]) await store.keepPace('slack', one.id, PACE);
    await store.deleteChannel(id, gone.id);
    assert.equal(await store.listPaces('slack'), [{ target: other.id, pace: PACE }]);
  });

  test('goes with the case of its channel', async ({ store }) => {
    const [one, other] = [await newCase(store), await newCase(store)];
    const fields = { settings: { url: 'https://hooks.example.com/x' }, events: [], tags: [] };
    const made = (id: string) => store.createChannel(id, { kind: 'slack', name: null, fields }, NOW);
    const [gone, kept] = [await made(one.id), await made(other.id)];
    for (const { id } of [gone, kept]) await store.keepPace('slack', id, PACE);
    await store.deleteCase(one.id);
    assert.equal(await store.listPaces('slack'), [{ target: kept.id, pace: PACE }]);
  });
});
