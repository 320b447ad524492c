import * as assert from 'uvu/assert';
import type { CheckInRecord } from '../../src/core/check-in.ts';
import type { Page } from '../../src/store/page.ts';
import type { Store } from './acting.ts';
import {
  alertsOf,
  checkIn,
  contract,
  HOUR,
  healthySnitch,
  MINUTE,
  NOW,
  newCase,
  newSnitch,
  SECOND,
  snitchOf,
  utc,
} from './fixture.ts';

contract('check-ins', (test) => {
  test('the log has what a check-in said', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await newSnitch(store, owner);
    const said = { exitStatus: 3, message: 'disk 91 % — schade 🌙', source: '2001:db8::1', output: 'a\nb' };
    assert.is(await checkIn(store, token, NOW, { outcome: 'error', ...said }), true);
    const [record] = await logOf(store, owner.id, token);
    assert.type(record?.id, 'number');
    const nothing = { durationMs: null, values: null, dropped: [], reason: null };
    assert.equal(record, { id: record!.id, at: NOW, outcome: 'error', ...said, ...nothing });
  });

  test('the log is in the order of arrival, newest first, whatever the clock said', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await newSnitch(store, owner);
    const other = await newSnitch(store, owner);
    const times = [NOW, NOW + MINUTE, NOW + 30 * SECOND, NOW + 2 * MINUTE];
    for (const at of times) {
      await checkIn(store, token, at);
      await checkIn(store, other.token, at + 1);
    }
    const records = await logOf(store, owner.id, token);
    assert.equal(
      records.map(({ at }) => at),
      [...times].reverse(),
    );
  });

  test('a check-in is one change of its snitch, whether or not it moves the deadline', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await newSnitch(store, owner);
    const told: string[] = [];
    store.onChange((change) => told.push(change.kind));
    const kinds: string[][] = [];
    for (const [minutes, outcome] of [
      [0, 'healthy'],
      [1, 'healthy'],
      [2, 'start'],
      [70, 'healthy'],
      [71, 'error'],
    ] as const) {
      await checkIn(store, token, NOW + minutes * MINUTE, { outcome });
      kinds.push(told.splice(0));
    }
    // What is shown to others changes with the status alone.
    const turned = ['alert', 'snitch', 'shown'];
    assert.equal(kinds, [turned, ['snitch'], ['snitch'], ['snitch'], turned]);
  });

  test('a healthy check-in moves the deadline and the time of the last healthy one', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await healthySnitch(store, owner);
    await checkIn(store, token, NOW + HOUR);
    const { state } = await snitchOf(store, owner, token);
    assert.is(state.status, 'healthy');
    assert.is(state.checkedInAt, NOW + HOUR);
    assert.is(state.lastCheckInAt, NOW + HOUR);
    assert.is(state.dueAt, utc('2025-07-09T13:00:00'));
  });

  test('one more in the same period is noted, and the deadline stays', async ({ store }) => {
    const owner = await newCase(store);
    const { token, state: before } = await healthySnitch(store, owner);
    await checkIn(store, token, NOW + MINUTE);
    const { state } = await snitchOf(store, owner, token);
    assert.equal(state, { ...before, checkedInAt: NOW + MINUTE, lastCheckInAt: NOW + MINUTE });
    assert.is((await logOf(store, owner.id, token)).length, 2);
  });

  test('an error check-in moves the deadline and not the time of the last healthy one', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await healthySnitch(store, owner);
    for (const at of [NOW + HOUR, NOW + HOUR + MINUTE]) {
      await checkIn(store, token, at, { outcome: 'error', exitStatus: 1 });
      const { state } = await snitchOf(store, owner, token);
      assert.is(state.status, 'errored');
      assert.is(state.checkedInAt, NOW);
      assert.is(state.lastCheckInAt, at);
      assert.is(state.dueAt, utc('2025-07-09T13:00:00'));
    }
  });

  test('start and log are noted and change no state', async ({ store }) => {
    const owner = await newCase(store, { members: ['ann@example.com'] });
    const pending = await newSnitch(store, owner);
    const healthy = await healthySnitch(store, owner);
    for (const { token, state } of [pending, healthy]) {
      await checkIn(store, token, NOW + HOUR, { outcome: 'start' });
      await checkIn(store, token, NOW + 9 * HOUR, { outcome: 'log', message: 'half way' });
      assert.equal((await snitchOf(store, owner, token)).state, state);
      const outcomes = (await logOf(store, owner.id, token)).map(({ outcome }) => outcome);
      assert.equal(outcomes.slice(0, 2), ['log', 'start']);
    }
    assert.equal(await alertsOf(store, owner, pending.token), []);
  });

  test('without error notices an error is noted and counts as healthy', async ({ store }) => {
    const owner = await newCase(store, { errorNotices: false });
    const { token } = await newSnitch(store, owner);
    await checkIn(store, token, NOW, { outcome: 'error', exitStatus: 7 });
    const { state } = await snitchOf(store, owner, token);
    assert.is(state.status, 'healthy');
    assert.is(state.checkedInAt, NOW);
    assert.equal(await alertsOf(store, owner), ['snitch.reporting from pending']);
    const [record] = await logOf(store, owner.id, token);
    assert.equal([record?.outcome, record?.exitStatus], ['error', 7]);
  });

  test('check-ins of one moment are all applied', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await newSnitch(store, owner);
    await Promise.all(Array.from({ length: 30 }, (_, index) => checkIn(store, token, NOW + index)));
    const records = await logOf(store, owner.id, token);
    assert.equal(
      records.map(({ at }) => at - NOW),
      Array.from({ length: 30 }, (_, index) => 29 - index),
    );
    assert.equal(await alertsOf(store, owner), ['snitch.reporting from pending']);
  });

  test('pages before a time and before an id', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await newSnitch(store, owner);
    for (let minute = 0; minute < 7; minute += 1) await checkIn(store, token, NOW + minute * MINUTE);
    const page = async (limit: number, before: Page['before']) =>
      (await logOf(store, owner.id, token, { limit, before })).map(({ at }) => (at - NOW) / MINUTE);
    assert.equal(await page(3, null), [6, 5, 4]);
    assert.equal(await page(3, { at: NOW + 4 * MINUTE }), [3, 2, 1]);
    assert.equal(await page(3, { at: NOW + 1 }), [0]);
    assert.equal(await page(3, { at: NOW }), []);
    const [, , third] = await logOf(store, owner.id, token);
    assert.equal(await page(2, { id: String(third?.id) }), [3, 2]);
    assert.equal(await page(2, { id: 'no number' }), []);
  });

  test('pages by id together give every check-in once', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await newSnitch(store, owner);
    for (let index = 0; index < 7; index += 1) await checkIn(store, token, NOW);
    const all = await logOf(store, owner.id, token);
    for (const limit of [1, 3, 7]) {
      const paged: CheckInRecord[] = [];
      let page: CheckInRecord[];
      do {
        const last = paged.at(-1);
        const before = last ? { id: String(last.id) } : null;
        page = await logOf(store, owner.id, token, { limit, before });
        paged.push(...page);
      } while (page.length === limit);
      assert.equal(paged, all);
    }
  });
});

async function logOf(
  store: Store,
  caseId: string,
  token: string,
  page: Page = { limit: 100, before: null },
): Promise<CheckInRecord[]> {
  const records = await store.listCheckIns(caseId, token, page);
  assert.ok(records);
  return records;
}
