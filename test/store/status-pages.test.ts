/** Status pages in the store: one of a case, and what is kept for it. */
import * as assert from 'uvu/assert';
import { Invalid, NotFound } from '../../src/core/errors.ts';
import { checkIn, contract, healthySnitch, MINUTE, NOW, newCase, newSnitch, rejection } from './fixture.ts';

const GIVEN = { slug: 'acme', tags: ['*'] };

contract('status pages', (test) => {
  test('a new page needs a slug and tags, and a change of it neither', async ({ store }) => {
    const owner = await newCase(store);
    const missingIn = async (changes: object) => {
      const error = await rejection(store.putStatusPage(owner.id, changes, NOW));
      assert.instance(error, Invalid);
      return (error as Invalid).validations.map(({ attribute }) => attribute);
    };
    assert.equal(await missingIn({}), ['slug', 'tags']);
    assert.equal(await missingIn({ slug: 'acme' }), ['tags']);
    assert.equal(await missingIn({ tags: ['web'] }), ['slug']);
    const made = await store.putStatusPage(owner.id, { slug: 'acme', tags: ['web'] }, NOW);
    assert.equal([made.slug, made.tags], ['acme', ['web']]);
    const changed = await store.putStatusPage(owner.id, { title: 'Acme' }, NOW);
    assert.equal([changed.slug, changed.tags, changed.title], ['acme', ['web'], 'Acme']);
  });

  test('changes of statuses are kept from the moment at which the page is switched on', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await healthySnitch(store, owner);
    await checkIn(store, token, NOW + MINUTE, { outcome: 'error' });
    const { token: other } = await healthySnitch(store, owner);
    await checkIn(store, other, NOW + MINUTE, { outcome: 'error' });
    const page = await store.putStatusPage(owner.id, GIVEN, NOW + 2 * MINUTE);
    await checkIn(store, token, NOW + 3 * MINUTE);
    await checkIn(store, token, NOW + 4 * MINUTE);
    await store.pauseSnitch(owner.id, token, { kind: 'unpaused' }, NOW + 5 * MINUTE);
    const changes = await store.listStatusChanges(page.id, 10);
    assert.equal(
      changes.map(({ at, was, status, snitch }) => [(at - NOW) / MINUTE, was, status, snitch.token]),
      [
        [5, 'healthy', 'paused', token],
        [3, 'errored', 'healthy', token],
      ],
    );
    const [{ id } = { id: 0 }] = (await store.listShown(owner.id, { tag: null, after: 0, limit: 10 }))
      .snitches;
    const past = (await store.listPasts(page, [{ id, token }])).get(id);
    assert.equal(past?.changes.length, 2);
    assert.equal(
      past?.alerts.map(({ status, previousStatus }) => [previousStatus, status]),
      [
        ['pending', 'healthy'],
        ['healthy', 'errored'],
      ],
    );
    await store.deleteSnitch(owner.id, token);
    assert.equal(await store.listStatusChanges(page.id, 10), []);
  });

  test('no more than is needed is kept of one snitch, and nothing of a page that is gone', async ({
    store,
  }) => {
    const [owner, other] = [await newCase(store), await newCase(store)];
    const { token } = await newSnitch(store, owner);
    const page = await store.putStatusPage(owner.id, GIVEN, NOW);
    const left = await store.putStatusPage(other.id, { ...GIVEN, slug: 'left' }, NOW);
    await checkIn(store, (await newSnitch(store, other)).token, NOW);
    for (let count = 1; count <= 310; count += 1) {
      await checkIn(store, token, NOW + count, { outcome: count % 2 === 0 ? 'error' : 'healthy' });
    }
    const kept = await store.listStatusChanges(page.id, 1_000);
    assert.is(kept.length, 300);
    assert.is(kept[0]?.at, NOW + 310);
    assert.is(await store.deleteStatusPage(owner.id), true);
    while (await store.prune({ checkIns: 100, olderThan: NOW - 1, now: NOW })) assert.ok(true);
    assert.equal(await store.listStatusChanges(page.id, 1_000), []);
    assert.is.not((await store.listStatusChanges(left.id, 1_000)).length, 0);
    const next = await store.putStatusPage(owner.id, GIVEN, NOW);
    assert.is.not(next.id, page.id);
  });

  test('a page that is switched on again shows nothing from the previous one', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await newSnitch(store, owner);
    await store.putStatusPage(owner.id, GIVEN, NOW);
    await checkIn(store, token, NOW + 1);
    await store.deleteStatusPage(owner.id);
    const page = await store.putStatusPage(owner.id, GIVEN, NOW + 2);
    await checkIn(store, token, NOW + 3, { outcome: 'error' });
    const [{ id } = { id: 0 }] = (await store.listShown(owner.id, { tag: null, after: 0, limit: 10 }))
      .snitches;
    const past = (await store.listPasts(page, [{ id, token }])).get(id);
    assert.equal(past?.changes, [{ at: NOW + 3, was: 'healthy', status: 'errored' }]);
  });

  test('a change keeps the page, and what it leaves out', async ({ store }) => {
    const owner = await newCase(store);
    const given = { ...GIVEN, title: 'Ours', announcement: 'Works on the disk' };
    const first = await store.putStatusPage(owner.id, given, NOW);
    const announcement = { text: 'Works on the disk', at: NOW };
    assert.equal(first.announcement, announcement);
    const renamed = await store.putStatusPage(owner.id, { title: 'Theirs' }, NOW + MINUTE);
    assert.equal(renamed, { ...first, title: 'Theirs' });
    const same = await store.putStatusPage(owner.id, { announcement: announcement.text }, NOW + MINUTE);
    assert.equal(same, renamed, 'the same text was not announced anew');
    assert.equal(await store.getStatusPage(owner.id), renamed);
    const anew = await store.putStatusPage(owner.id, { announcement: 'Done' }, NOW + MINUTE);
    assert.equal(anew, { ...renamed, announcement: { text: 'Done', at: NOW + MINUTE } });
    assert.is((await store.putStatusPage(owner.id, { announcement: null }, NOW)).announcement, null);
  });

  test('silences of its own case are known, and when the service was away', async ({ store }) => {
    const [owner, other] = [await newCase(store), await newCase(store)];
    const time = { kind: 'once', from: NOW, to: NOW + MINUTE } as const;
    const silence = { scope: { kind: 'all' }, time, note: '', by: 'ops' } as const;
    assert.equal(await store.quietTimes(owner.id, NOW, NOW), { silences: [], away: [] });
    const { id } = await store.createSilence(owner.id, silence, NOW);
    await store.createSilence(other.id, silence, NOW);
    const window = { start: NOW + MINUTE, end: NOW + 9 * MINUTE };
    await store.openBlindWindow(window);
    const ids = async (since: number) => {
      const { silences, away } = await store.quietTimes(owner.id, since, NOW + 10 * MINUTE);
      return [silences.map((one) => one.id), away];
    };
    assert.equal(await ids(NOW), [[id], [window]]);
    assert.equal((await ids(window.end))[1], [], 'what was over by then is not of that time');
  });

  test('a slug is taken once, and a page goes with its case', async ({ store }) => {
    const [one, other] = [await newCase(store), await newCase(store)];
    await store.putStatusPage(one.id, GIVEN, NOW);
    assert.match(String(await rejection(store.putStatusPage(other.id, GIVEN, NOW))), 'taken');
    assert.is(await store.getStatusPage(other.id), null);
    assert.is((await store.findStatusPage('acme'))?.page.caseId, one.id);
    await store.deleteCase(one.id);
    assert.is(await store.findStatusPage('acme'), null);
    assert.is((await store.putStatusPage(other.id, GIVEN, NOW)).slug, 'acme');
    const late = store.putStatusPage(one.id, { ...GIVEN, slug: 'x-y' }, NOW);
    assert.instance(await rejection(late), NotFound);
  });
});
