/** Badges in the store: of a snitch or of a tag, each of one case. */
import * as assert from 'uvu/assert';
import { Invalid, NotFound } from '../../src/core/errors.ts';
import { checkIn, contract, healthySnitch, NOW, newCase, newSnitch, rejection } from './fixture.ts';

const TAGGED = { subject: { kind: 'tag', tag: 'db' }, label: null } as const;

const of = (token: string) => ({ subject: { kind: 'snitch', token }, label: 'backup' }) as const;

contract('badges', (test) => {
  test('one is read as it was made, by its own case, the newest first', async ({ store }) => {
    const [owner, other] = [await newCase(store), await newCase(store)];
    const { token } = await newSnitch(store, owner);
    const first = await store.createBadge(owner.id, of(token), NOW);
    const second = await store.createBadge(owner.id, TAGGED, NOW + 1);
    assert.equal(await store.listBadges(owner.id), [second, first]);
    assert.equal(await store.getBadge(owner.id, first.id), first);
    assert.is(await store.getBadge(other.id, first.id), null);
    assert.equal(await store.listBadges(other.id), []);
  });

  test('one that is deleted is gone, the others stay, and another case deletes none', async ({ store }) => {
    const [owner, other] = [await newCase(store), await newCase(store)];
    const [gone, kept] = [
      await store.createBadge(owner.id, TAGGED, NOW),
      await store.createBadge(owner.id, TAGGED, NOW + 1),
    ];
    assert.is(await store.deleteBadge(other.id, gone.id), false);
    assert.is(await store.deleteBadge(owner.id, gone.id), true);
    assert.is(await store.deleteBadge(owner.id, gone.id), false);
    assert.equal(await store.listBadges(owner.id), [kept]);
    assert.is(await store.findBadge(gone.id), null);
  });

  test('a case has as many as it may, and none of a snitch of another', async ({ store }) => {
    const [owner, other] = [await newCase(store), await newCase(store)];
    const { token } = await newSnitch(store, other);
    assert.instance(await rejection(store.createBadge(owner.id, of(token), NOW)), Invalid);
    await store.createBadge(owner.id, TAGGED, NOW, 1);
    assert.match(String(await rejection(store.createBadge(owner.id, TAGGED, NOW, 1))), /1 is the most/);
    await store.createBadge(other.id, TAGGED, NOW, 1);
    assert.instance(await rejection(store.createBadge('case_gone', TAGGED, NOW)), NotFound);
  });

  test('anybody sees how its snitch is, and nothing while its case is on hold', async ({ store }) => {
    const owner = await newCase(store, { timezone: 'Europe/Berlin' });
    const { token } = await healthySnitch(store, owner, { tags: ['db'] });
    const { id } = await store.createBadge(owner.id, of(token), NOW);
    const shown = { label: 'backup', caseId: owner.id, timezone: 'Europe/Berlin' };
    const seen = { kind: 'snitch', token, tags: ['db'], status: 'healthy' };
    assert.equal(await store.findBadge(id), { ...shown, of: seen });
    await store.updateCase(owner.id, { onHold: true }, NOW);
    assert.is(await store.findBadge(id), null);
  });

  test('the badge of a tag covers the snitches of its own case that have it', async ({ store }) => {
    const [owner, other] = [await newCase(store), await newCase(store)];
    await healthySnitch(store, owner, { tags: ['db'] });
    await newSnitch(store, owner, { tags: ['web'] });
    const { token } = await healthySnitch(store, other, { tags: ['db'] });
    await checkIn(store, token, NOW + 1, { outcome: 'error' });
    assert.equal(await store.tagStatuses(owner.id, 'db', 0), { statuses: new Set(['healthy']), next: null });
    assert.equal(await store.tagStatuses(other.id, 'db', 0), { statuses: new Set(['errored']), next: null });
    assert.equal(await store.tagStatuses(owner.id, 'none', 0), { statuses: new Set(), next: null });
  });

  test('of a tag that very many have, it is answered in slices', async ({ store }) => {
    const owner = await newCase(store);
    const fields = { notes: '', alertEmail: [], interval: 'daily' as const, alertType: 'basic' as const };
    const imported = Array.from({ length: 501 }, (_, index) => ({
      ...fields,
      name: `job ${index}`,
      token: null,
      tags: ['db'],
    }));
    await store.importSnitches(owner.id, { imported, owner: null }, NOW);
    const { snitches } = await store.listSnitches(owner.id, { after: 0, limit: 501, tags: [] });
    await checkIn(store, snitches.at(-1)?.token ?? '', NOW);
    const first = await store.tagStatuses(owner.id, 'db', 0);
    assert.equal(first.statuses, new Set(['pending']));
    const second = await store.tagStatuses(owner.id, 'db', first.next ?? 0);
    assert.equal(second, { statuses: new Set(['healthy']), next: null });
  });
});
