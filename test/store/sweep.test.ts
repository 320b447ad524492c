import * as assert from 'uvu/assert';
import type { Reminders } from '../../src/core/snitch.ts';
import type { DueResult, LookCursor } from '../../src/store/sweep.ts';
import type { Store } from './acting.ts';
import {
  alertsOf,
  checkIn,
  contract,
  DAY,
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

const DUE = utc('2025-07-09T12:00:00');
const MISSING = 'snitch.missing from healthy';

/** All pages of one sweep. */
async function pagesOf(store: Store, now: number, limit: number): Promise<DueResult[]> {
  const pages: DueResult[] = [];
  let after: LookCursor | null = null;
  do {
    const page: DueResult = await store.applyDue(now, after, limit);
    pages.push(page);
    after = page.next;
  } while (after);
  return pages;
}

contract('sweep', (test) => {
  test('nothing happens before the deadline, and everything at it', async ({ store }) => {
    const owner = await newCase(store);
    const { token, state } = await healthySnitch(store, owner);
    await newSnitch(store, owner);
    const nothing = { changed: 0, inVain: false, next: null, failures: [] };
    assert.equal(await store.applyDue(DUE - 1, null, 10), nothing);
    assert.equal((await snitchOf(store, owner, token)).state, state);
    assert.equal(await store.applyDue(DUE, null, 10), { ...nothing, changed: 1 });
    assert.is((await snitchOf(store, owner, token)).state.status, 'failed');
    assert.equal(await store.applyDue(DUE, null, 10), nothing);
    assert.equal((await alertsOf(store, owner, token)).slice(1), [MISSING]);
  });

  test('a check-in in time keeps the sweep away', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await healthySnitch(store, owner);
    await checkIn(store, token, DUE - 1);
    assert.is(await sweep(store, DUE), 0);
  });

  test('pages are in order of the due times, and together have everything', async ({ store }) => {
    const owner = await newCase(store);
    const tokens: string[] = [];
    for (const hour of [3, 1, 2, 1, 1]) {
      const { token } = await newSnitch(store, owner);
      await checkIn(store, token, NOW - hour * HOUR);
      tokens.push(token);
    }
    const pages = await pagesOf(store, NOW + HOUR, 2);
    assert.equal(
      pages.map(({ changed, next }) => [changed, next !== null]),
      [
        [2, true],
        [2, true],
        [1, false],
      ],
    );
    assert.is(pages[0]?.next?.lookAt, NOW - HOUR - 20 * MINUTE + HOUR);
    for (const token of tokens) assert.is((await snitchOf(store, owner, token)).state.status, 'failed');
  });

  test('two sweeps at once give one alert per transition', async ({ store }) => {
    const owner = await newCase(store, { members: ['ann@example.com'] });
    const tokens: string[] = [];
    for (let index = 0; index < 7; index += 1) tokens.push((await healthySnitch(store, owner)).token);
    const sweeps = await Promise.all([2, 3, 100].map((limit) => pagesOf(store, DUE, limit)));
    const changed = sweeps.flat().reduce((sum, page) => sum + page.changed, 0);
    assert.is(changed, 7);
    for (const token of tokens) assert.equal((await alertsOf(store, owner, token)).slice(1), [MISSING]);
  });

  test('a check-in that comes with the sweep goes before it, whichever was asked first', async ({
    store,
  }) => {
    const owner = await newCase(store);
    const first = await healthySnitch(store, owner);
    await Promise.all([sweep(store, DUE), checkIn(store, first.token, DUE + 1)]);
    assert.equal((await alertsOf(store, owner, first.token)).slice(1), []);
    const second = await healthySnitch(store, owner);
    await Promise.all([checkIn(store, second.token, DUE + 1), sweep(store, DUE + 1)]);
    assert.equal((await alertsOf(store, owner, second.token)).slice(1), []);
  });

  test('a check-in after the sweep ends the alarm', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await healthySnitch(store, owner);
    await sweep(store, DUE);
    await checkIn(store, token, DUE + 1);
    const story = [MISSING, 'snitch.reporting from missing'];
    assert.equal((await alertsOf(store, owner, token)).slice(1), story);
  });

  test('a poison row is passed over and reported, and the others go on', async ({ store, query }) => {
    const owner = await newCase(store);
    const tokens: string[] = [];
    for (let index = 0; index < 5; index += 1) tokens.push((await healthySnitch(store, owner)).token);
    const poison = tokens[1]!;
    await query(
      `UPDATE snitch_states SET interval = 'fortnightly' WHERE id = (SELECT id FROM snitches WHERE token = ?)`,
      poison,
    );
    const pages = await pagesOf(store, DUE, 2);
    assert.equal(
      pages.map(({ changed }) => changed),
      [1, 2, 1],
    );
    const failures = pages.flatMap((page) => page.failures);
    assert.equal(
      failures.map(({ token }) => token),
      [poison],
    );
    assert.instance(failures[0]?.error, Error);
    assert.equal((await alertsOf(store, owner, poison)).slice(1), []);
    for (const token of tokens.filter((one) => one !== poison)) {
      assert.equal((await alertsOf(store, owner, token)).slice(1), [MISSING]);
    }
  });

  test('what a poison row had written before it failed is undone', async ({ store, query }) => {
    const owner = await newCase(store, { members: ['ann@example.com'] });
    const { token, state } = await healthySnitch(store, owner);
    await query(`UPDATE snitches SET alert_email = 'no list' WHERE token = ?`, token);
    const { changed, failures } = await store.applyDue(DUE, null, 10);
    assert.is(changed, 0);
    assert.is(failures.length, 1);
    assert.is((await alertsOf(store, owner)).length, 1);
    await query(`UPDATE snitches SET alert_email = '[]' WHERE token = ?`, token);
    assert.equal((await snitchOf(store, owner, token)).state, state);
    assert.is(await sweep(store, DUE), 1);
  });

  test('a check-in of a poison row fails alone', async ({ store, query }) => {
    const owner = await newCase(store);
    const [poison, other] = [await healthySnitch(store, owner), await healthySnitch(store, owner)];
    await query(
      `UPDATE snitch_states SET interval = 'fortnightly' WHERE id = (SELECT id FROM snitches WHERE token = ?)`,
      poison.token,
    );
    const results = await Promise.allSettled([
      checkIn(store, other.token, NOW + 1),
      checkIn(store, poison.token, NOW + 1),
      checkIn(store, other.token, NOW + 2),
    ]);
    assert.equal(
      results.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    );
    assert.equal(await query('SELECT COUNT(*) AS count FROM check_ins'), [{ count: 4 }]);
  });
});

/** Hours after the deadline at which a snitch that stays silent for `hours` is told of, swept every ten minutes. */
async function remindedAfter(
  store: Store,
  reminders: Reminders,
  interval: 'hourly' | 'daily',
  hours: number,
) {
  const owner = await newCase(store, { reminders });
  const { token, state } = await healthySnitch(store, owner, { interval });
  const due = state.dueAt ?? 0;
  for (let now = due; now <= due + hours * HOUR; now += 10 * MINUTE) await sweep(store, now);
  const listed = await store.listAlerts(owner.id, token, { limit: 100, before: null });
  const missing = listed.reverse().slice(1);
  assert.equal(
    missing.map(({ alert }) => alert.snitch?.previous_status),
    missing.map((_, index) => (index === 0 ? 'healthy' : 'missing')),
  );
  return missing.map(({ alert }) => (alert.at - due) / HOUR);
}

contract('reminders', (test) => {
  test('one per further missed period', async ({ store }) => {
    assert.equal(await remindedAfter(store, 'period', 'hourly', 3), [0, 1, 2, 3]);
    assert.equal(await remindedAfter(store, 'period', 'daily', 49), [0, 24, 48]);
  });

  test('hourly, daily, or none', async ({ store }) => {
    assert.equal(await remindedAfter(store, 'hourly', 'daily', 3), [0, 1, 2, 3]);
    assert.equal(await remindedAfter(store, 'daily', 'hourly', 49), [0, 24, 48]);
    assert.equal(await remindedAfter(store, 'off', 'hourly', 30), [0]);
  });

  test('an alert whose reminders are off is due no more', async ({ store }) => {
    const owner = await newCase(store, { reminders: 'off' });
    const { token } = await healthySnitch(store, owner);
    await sweep(store, DUE);
    assert.is((await snitchOf(store, owner, token)).state.dueAt, null);
    assert.is(await sweep(store, DUE + 99 * DAY), 0);
  });

  test('after a long stop there is one alert, and no backlog of reminders', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await healthySnitch(store, owner);
    await sweep(store, NOW + 10 * DAY);
    await sweep(store, NOW + 10 * DAY + 1);
    assert.equal((await alertsOf(store, owner, token)).slice(1), [MISSING]);
  });
});
