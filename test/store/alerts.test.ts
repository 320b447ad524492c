import * as assert from 'uvu/assert';
import type { Page } from '../../src/store/page.ts';
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
  sweep,
  utc,
} from './fixture.ts';

const ALL: Page = { limit: 100, before: null };

contract('alerts', (test) => {
  test('an alert shows the snitch as it was when it was decided', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await newSnitch(store, owner, { name: 'before', notes: 'n', tags: ['a', 'b'] });
    await checkIn(store, token, NOW);
    await store.updateSnitch(owner.id, token, { name: 'after', notes: '', tags: [] }, NOW);
    const [listed] = await store.listAlerts(owner.id, token, ALL);
    assert.match(listed!.alert.id, /^alert_/);
    assert.is(listed?.alert.at, NOW);
    assert.is(listed?.alert.caseId, owner.id);
    assert.equal(listed?.alert.snitch, {
      token,
      name: 'before',
      notes: 'n',
      tags: ['a', 'b'],
      status: 'healthy',
      previous_status: 'pending',
    });
  });

  test('alerts of one millisecond are listed in the order in which they were decided, the newest first', async ({
    store,
  }) => {
    const owner = await newCase(store);
    const { token } = await healthySnitch(store, owner, {}, NOW - MINUTE);
    const outcomes = ['error', 'healthy', 'error', 'healthy', 'error', 'healthy', 'error'] as const;
    for (const outcome of outcomes) await checkIn(store, token, NOW, { outcome });
    const others = [await newSnitch(store, owner), await newSnitch(store, owner)];
    for (const other of others) await checkIn(store, other.token, NOW);
    const listed = await store.listAlerts(owner.id, null, { limit: 9, before: null });
    const expected = [
      ...outcomes.map((outcome) => [token, outcome === 'error' ? 'errored' : 'healthy']),
      ...others.map((other) => [other.token, 'healthy']),
    ];
    assert.equal(
      listed.map(({ alert }) => [alert.snitch?.token, alert.snitch?.status]),
      expected.reverse(),
    );
  });

  test('an alert carries what the check-in that caused it said', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await healthySnitch(store, owner);
    const said = { outcome: 'error', message: 'no space', exitStatus: 3 } as const;
    await checkIn(store, token, NOW + MINUTE, said);
    const [listed] = await store.listAlerts(owner.id, token, ALL);
    assert.equal(listed?.alert.details, {
      interval: 'hourly',
      checkedInAt: NOW,
      lastCheckInAt: NOW + MINUTE,
      deadlineAt: null,
      nextDueAt: utc('2025-07-09T12:00:00'),
      message: 'no space',
      exitStatus: 3,
      threadId: null,
      reason: { kind: 'exitStatus', status: 3 },
    });
  });

  test('a missing alert gives the deadline that passed and the next reminder', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await healthySnitch(store, owner);
    await sweep(store, utc('2025-07-09T12:00:01'));
    const [listed] = await store.listAlerts(owner.id, token, ALL);
    const details = listed?.alert.details;
    assert.is(listed?.alert.at, utc('2025-07-09T12:00:01'));
    assert.is(details?.deadlineAt, utc('2025-07-09T12:00:00'));
    assert.is(details?.nextDueAt, utc('2025-07-09T13:00:00'));
    assert.is(details?.checkedInAt, NOW);
  });

  test('a reporting alert says since when there was silence', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await healthySnitch(store, owner);
    await sweep(store, NOW + 3 * HOUR);
    await checkIn(store, token, NOW + 4 * HOUR, { message: 'back' });
    const [listed] = await store.listAlerts(owner.id, token, ALL);
    assert.is(listed?.alert.type, 'snitch.reporting');
    assert.is(listed?.alert.details?.checkedInAt, NOW);
    assert.is(listed?.alert.details?.message, 'back');
  });

  test('pages are newest first, before a time or an id, of a snitch or the whole case', async ({ store }) => {
    const owner = await newCase(store);
    const tokens: string[] = [];
    for (let index = 0; index < 6; index += 1) {
      // Three alerts each of two instants: an id must be a place within one instant.
      tokens.push((await healthySnitch(store, owner, {}, NOW + (index % 2) * MINUTE)).token);
    }
    const idsOf = async (page: Page, token: string | null = null) =>
      (await store.listAlerts(owner.id, token, page)).map(({ alert }) => alert.id);
    const timesOf = async (page: Page) =>
      (await store.listAlerts(owner.id, null, page)).map(({ alert }) => (alert.at - NOW) / MINUTE);
    assert.equal(await timesOf(ALL), [1, 1, 1, 0, 0, 0]);
    assert.equal(await timesOf({ limit: 2, before: { at: NOW + MINUTE } }), [0, 0]);
    assert.equal(await timesOf({ limit: 2, before: { at: NOW } }), []);
    const all = await idsOf(ALL);
    for (const limit of [1, 2, 4]) assert.equal(await pagedIds(store, owner.id, limit), all);
    assert.equal((await idsOf(ALL, tokens[0]!)).length, 1);
    assert.equal(await idsOf({ limit: 5, before: { id: 'alert_none' } }), []);
  });

  test('the alert of another case is no place in the list', async ({ store }) => {
    const [owner, stranger] = [await newCase(store), await newCase(store)];
    await healthySnitch(store, owner);
    await healthySnitch(store, stranger, {}, NOW + MINUTE);
    const [later] = await store.listAlerts(stranger.id, null, ALL);
    assert.is(later?.alert.at, NOW + MINUTE);
    assert.is((await store.listAlerts(owner.id, null, ALL)).length, 1);
    assert.equal(
      await store.listAlerts(owner.id, null, { limit: 5, before: { id: later?.alert.id ?? '' } }),
      [],
    );
  });
});

async function pagedIds(store: Store, caseId: string, limit: number): Promise<string[]> {
  const ids: string[] = [];
  for (;;) {
    const last = ids.at(-1);
    const page = await store.listAlerts(caseId, null, { limit, before: last ? { id: last } : null });
    ids.push(...page.map(({ alert }) => alert.id));
    if (page.length < limit) return ids;
  }
}
