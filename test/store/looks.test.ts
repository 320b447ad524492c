/** The sweep looks at a snitch when its deadline was due that a check-in has moved since. */
import * as assert from 'uvu/assert';
import type { LookCursor } from '../../src/store/sweep.ts';
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
  type Opened,
  snitchOf,
  sweep,
  utc,
} from './fixture.ts';

const DUE = utc('2025-07-09T12:00:00');
const MISSING = 'snitch.missing from healthy';

/** All slices; how many there were. */
async function moveAll(store: Store, until: number): Promise<number> {
  let after: LookCursor | null = null;
  let slices = 0;
  do {
    after = await store.moveLooks(until, after);
    slices += 1;
  } while (after !== null);
  return slices;
}

async function looksOf({ query }: Opened): Promise<{ look_at: number | null; due_at: number | null }[]> {
  return query('SELECT look_at, due_at FROM snitch_states ORDER BY id');
}

contract('looks of the sweep', (test) => {
  test('a check-in leaves the look, and the deadline is found once the look was moved', async (opened) => {
    const { store } = opened;
    const owner = await newCase(store);
    const { token } = await healthySnitch(store, owner);
    await checkIn(store, token, NOW + HOUR);
    assert.equal(await looksOf(opened), [{ look_at: DUE, due_at: DUE + HOUR }]);
    assert.is(await sweep(store, DUE), 0);
    await moveAll(store, DUE);
    assert.equal(await looksOf(opened), [{ look_at: DUE + HOUR, due_at: DUE + HOUR }]);
    assert.is(await sweep(store, DUE + HOUR - 1), 0);
    assert.is(await sweep(store, DUE + HOUR), 1);
    assert.equal((await alertsOf(store, owner, token)).slice(1), [MISSING]);
  });

  test('a deadline is found at its time, even where no look was ever moved', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await healthySnitch(store, owner);
    for (let hour = 1; hour < 30; hour += 1) await checkIn(store, token, NOW + hour * HOUR);
    assert.is(await sweep(store, DUE + 29 * HOUR - 1), 0);
    assert.is(await sweep(store, DUE + 29 * HOUR), 1);
  });

  test('looks beyond the given time stay', async (opened) => {
    const { store } = opened;
    const { token } = await healthySnitch(store, await newCase(store));
    await checkIn(store, token, NOW + HOUR);
    await moveAll(store, DUE - 1);
    assert.equal(await looksOf(opened), [{ look_at: DUE, due_at: DUE + HOUR }]);
  });

  test('an earlier deadline moves the look at once', async (opened) => {
    const { store } = opened;
    const owner = await newCase(store);
    const { token } = await healthySnitch(store, owner, { interval: 'monthly' });
    await store.updateSnitch(owner.id, token, { interval: 'hourly' }, NOW);
    assert.equal(await looksOf(opened), [{ look_at: DUE, due_at: DUE }]);
    assert.is(await sweep(store, DUE), 1);
  });

  test('a pause until it is ended takes the snitch out of the sight of the sweep', async (opened) => {
    const { store } = opened;
    const owner = await newCase(store);
    const { token } = await healthySnitch(store, owner);
    await store.pauseSnitch(owner.id, token, { kind: 'unpaused' }, NOW);
    assert.equal(await looksOf(opened), [{ look_at: null, due_at: null }]);
    await store.unpauseSnitch(owner.id, token, NOW + DAY);
    const { state } = await snitchOf(store, owner, token);
    assert.equal(await looksOf(opened), [{ look_at: state.dueAt, due_at: state.dueAt }]);
  });

  test('a call applies no more than its limit, and the next one continues from there', async ({
    store,
    query,
  }) => {
    const owner = await newCase(store);
    const made: string[] = [];
    for (let each = 0; each < 6; each += 1) made.push((await healthySnitch(store, owner)).token);
    await query(
      'UPDATE snitch_states SET due_at = ? WHERE id = (SELECT min(id) FROM snitch_states)',
      DUE + 1,
    );
    const changed: number[] = [];
    let after: LookCursor | null = null;
    do {
      const result = await store.applyDue(DUE, after, 2);
      after = result.next;
      changed.push(result.changed);
    } while (after !== null);
    assert.equal(changed, [2, 2, 1]);
    for (const [index, token] of made.entries()) {
      assert.equal((await alertsOf(store, owner, token)).slice(1), index === 0 ? [] : [MISSING]);
    }
  });

  test('due snitches are handled both before and after thousands that turn out not to be due', async (opened) => {
    const { store, query } = opened;
    const owner = await newCase(store);
    const first = await healthySnitch(store, owner);
    const fields = { name: 'quick', notes: '', tags: [], alertEmail: [] };
    const imported = Array.from({ length: 4_500 }, () => ({
      ...{ ...fields, token: null, interval: 'hourly', alertType: 'basic' },
    })) as Parameters<Store['importSnitches']>[1]['imported'];
    const made = await store.importSnitches(owner.id, { imported, owner: null }, NOW);
    await Promise.all(made.map(({ token }) => checkIn(store, token, NOW)));
    const last = await healthySnitch(store, owner);
    await query('UPDATE snitch_states SET due_at = ? WHERE id > 1 AND id < ?', DUE + HOUR, made.length + 2);
    let after: LookCursor | null = null;
    let changed = 0;
    let calls = 0;
    do {
      const result = await store.applyDue(DUE, after, 20);
      [after, changed, calls] = [result.next, changed + result.changed, calls + 1];
    } while (after !== null);
    assert.is(changed, 2);
    assert.ok(calls >= 3, 'no call looks through them all');
    for (const { token } of [first, last]) {
      assert.equal((await alertsOf(store, owner, token)).slice(1), [MISSING]);
    }
    assert.ok((await moveAll(store, DUE)) > 10, 'they are moved in slices');
    assert.equal(await query('SELECT id FROM snitch_states WHERE look_at <> due_at'), []);
  });

  test('the earliest deadline is told however old the looks are', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await healthySnitch(store, owner);
    await healthySnitch(store, owner, { interval: 'daily' });
    await checkIn(store, token, NOW + HOUR + 5 * MINUTE);
    assert.is((await store.census()).firstDueAt, DUE + HOUR);
  });
});
