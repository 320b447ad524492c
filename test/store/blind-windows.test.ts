import * as assert from 'uvu/assert';
import { type BlindWindow, postponeByAll } from '../../src/core/blind-window.ts';
import type { Case } from '../../src/core/case.ts';
import { Calendar } from '../../src/core/interval.ts';
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
  SECOND,
  snitchOf,
  sweep,
  utc,
} from './fixture.ts';

/** Snitches are hourly and checked in at 10:20, so that the next check-in is expected at 11:20. */
const DUE = utc('2025-07-09T12:00:00');
const POSTPONED = utc('2025-07-09T13:00:00');
const WINDOW: BlindWindow = { start: utc('2025-07-09T11:10:00'), end: utc('2025-07-09T11:25:00') };
const SHORT: BlindWindow = { start: utc('2025-07-09T11:20:00'), end: utc('2025-07-09T11:20:59') };

/** Opens the window and looks at everything; answers the number of slices. */
async function live(store: Store, window: BlindWindow): Promise<number> {
  await store.openBlindWindow(window);
  return finish(store, window.end);
}

async function finish(store: Store, now: number): Promise<number> {
  let slices = 0;
  while (await store.postponeSlice(now)) slices += 1;
  return slices;
}

async function noticesOf(store: Store, { id }: Case) {
  const listed = await store.listAlerts(id, null, { limit: 1_000, before: null });
  return listed.filter(({ alert }) => alert.type === 'service.blind');
}

contract('blind windows', (test) => {
  test('without one there is nothing to do', async ({ store }) => {
    await healthySnitch(store, await newCase(store));
    assert.is(await store.postponeSlice(NOW), false);
  });

  test('a deadline whose check-in was expected in the window is postponed by one period', async ({
    store,
  }) => {
    const owner = await newCase(store);
    const { token, state } = await healthySnitch(store, owner);
    await live(store, WINDOW);
    assert.equal((await snitchOf(store, owner, token)).state, {
      ...state,
      dueAt: POSTPONED,
      postponed: 1,
    });
    assert.is(await sweep(store, POSTPONED - 1), 0);
    assert.is(await sweep(store, POSTPONED), 1);
  });

  test('deadlines that the window has nothing to do with stay', async ({ store }) => {
    const owner = await newCase(store);
    const outside = await healthySnitch(store, owner, { interval: 'daily' });
    const pending = await newSnitch(store, owner);
    const paused = await healthySnitch(store, owner);
    await store.pauseSnitch(owner.id, paused.token, { kind: 'time', at: DUE }, NOW);
    const failed = await healthySnitch(store, owner, {}, NOW - 5 * HOUR);
    await sweep(store, NOW);
    const before = [];
    for (const { token } of [outside, pending, paused, failed]) {
      before.push(await snitchOf(store, owner, token));
    }
    await live(store, WINDOW);
    for (const snitch of before) assert.equal(await snitchOf(store, owner, snitch.token), snitch);
    assert.equal(await noticesOf(store, owner), []);
  });

  test('every window postpones, however many came before', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await healthySnitch(store, owner);
    for (let hour = 0; hour < 4; hour += 1) {
      await live(store, { start: SHORT.start + hour * HOUR, end: SHORT.end + hour * HOUR });
      const { state } = await snitchOf(store, owner, token);
      assert.equal([state.dueAt, state.postponed], [POSTPONED + hour * HOUR, hour + 1]);
    }
    const listed = await store.listPostponements(owner.id, token, 3);
    assert.equal(
      listed.map(({ start, dueAt }) => [start - SHORT.start, (dueAt ?? 0) - POSTPONED]),
      [1, 2, 3].map((hour) => [hour * HOUR, hour * HOUR]),
    );
    assert.is(await sweep(store, POSTPONED + 3 * HOUR - 1), 0);
    assert.is(await sweep(store, POSTPONED + 3 * HOUR), 1);
  });

  test('the places of known check-ins count, of basic snitches too', async ({ store }) => {
    const owner = await newCase(store);
    const first = utc('2025-07-01T03:00:00');
    const { token } = await healthySnitch(store, owner, { interval: 'daily' }, first);
    for (let day = 1; day < 6; day += 1)
      await checkIn(store, token, first + day * 24 * HOUR + day * 4 * MINUTE);
    const due = utc('2025-07-08T00:00:00');
    const expected = first + 6 * 24 * HOUR;
    await live(store, { start: expected + 22 * MINUTE, end: expected + 23 * MINUTE });
    assert.is((await snitchOf(store, owner, token)).state.dueAt, due);
    await live(store, { start: expected + 2 * MINUTE, end: expected + 2 * MINUTE + 1 });
    assert.is((await snitchOf(store, owner, token)).state.dueAt, due + 24 * HOUR);
  });

  test('a deadline that was moved by the length of a window keeps what it awaits', async ({
    store,
    reopen,
  }) => {
    const owner = await newCase(store);
    const { token } = await healthySnitch(store, owner);
    await live(store, { start: DUE - 10 * MINUTE, end: DUE + 20 * MINUTE });
    const { state } = await snitchOf(await reopen(), owner, token);
    assert.equal([state.dueAt, state.movedFrom, state.postponed], [DUE + 30 * MINUTE, DUE, 1]);
  });

  test('after a check-in the next deadline can be postponed again', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await healthySnitch(store, owner);
    await live(store, SHORT);
    await checkIn(store, token, NOW + HOUR + 10 * MINUTE);
    const { state } = await snitchOf(store, owner, token);
    assert.is(state.postponed, 0);
    assert.is(state.dueAt, POSTPONED);
    await live(store, { start: SHORT.start + 70 * MINUTE, end: SHORT.end + 70 * MINUTE });
    assert.is((await snitchOf(store, owner, token)).state.dueAt, POSTPONED + HOUR);
  });

  test('the team of each affected case gets one notice, its members alone', async ({ store }) => {
    const affected = await newCase(store, { members: ['ann@example.com', 'bob@example.com'] });
    const unaffected = await newCase(store, { members: ['eve@example.com'] });
    await store.createWebhook(affected.id, 'http://localhost/hook', NOW);
    await healthySnitch(store, affected, { name: 'second', alertEmail: ['ops@example.com'] });
    await healthySnitch(store, affected, { name: 'first' });
    await healthySnitch(store, affected, { name: 'weekly', interval: 'weekly' });
    await healthySnitch(store, unaffected, { interval: 'daily' });
    await live(store, WINDOW);
    assert.equal(await noticesOf(store, unaffected), []);
    const [notice, ...more] = await noticesOf(store, affected);
    assert.equal(more, []);
    const { snitches, ...summary } = notice?.alert.notice ?? { snitches: [] };
    assert.equal(summary, { ...WINDOW, postponed: ['first', 'second'], postponedCount: 2 });
    assert.equal(
      snitches?.map(({ name, deadlineAt }) => [name, deadlineAt]),
      [
        ['first', POSTPONED],
        ['second', POSTPONED],
      ],
    );
    assert.equal([notice?.alert.token, notice?.alert.snitch, notice?.alert.details], [null, null, null]);
    assert.is(notice?.alert.at, WINDOW.end);
    assert.equal(
      notice?.deliveries.map(({ channel, target }) => [channel, target]),
      [
        ['email', 'ann@example.com'],
        ['email', 'bob@example.com'],
      ],
    );
  });

  test('a window of up to 60 s that postpones is listed and sent to nobody', async ({ store }) => {
    const owner = await newCase(store, { members: ['ann@example.com'] });
    const { token } = await healthySnitch(store, owner);
    await live(store, { start: SHORT.start, end: SHORT.start + 60 * SECOND });
    assert.is((await snitchOf(store, owner, token)).state.dueAt, POSTPONED);
    const [listed] = await noticesOf(store, owner);
    assert.equal([listed?.alert.notice?.postponed, listed?.deliveries], [['nightly-backup'], []]);
    const other = await healthySnitch(store, owner);
    await live(store, { start: SHORT.start, end: SHORT.start + 60 * SECOND + 1 });
    assert.is((await snitchOf(store, owner, other.token)).state.dueAt, POSTPONED);
    assert.equal(
      (await noticesOf(store, owner)).map(({ deliveries }) => deliveries.length),
      [1, 0],
    );
  });

  test('webhooks that want notices get those of long windows, and the others none', async ({ store }) => {
    const owner = await newCase(store);
    await healthySnitch(store, owner);
    await store.createWebhook(owner.id, 'http://localhost/alerts', NOW);
    const { id } = await store.createWebhook(owner.id, 'http://localhost/all', NOW, { notices: true });
    await live(store, WINDOW);
    const [notice] = await noticesOf(store, owner);
    assert.equal(
      notice?.deliveries.map(({ channel, target }) => [channel, target]),
      [['webhook', id]],
    );
  });

  test('what comes while the window is worked through is right in any order', async ({ store }) => {
    const owner = await newCase(store);
    const window = { start: utc('2025-07-09T11:10:00'), end: utc('2025-07-09T13:40:00') };
    const now = window.end + MINUTE;
    const late = (at: string) => (token: string) =>
      checkIn(store, token, utc(`2025-07-09T${at}`), { now }).then(() => {});
    const meanwhile: Record<string, (token: string) => Promise<unknown>> = {
      nothing: async () => {},
      'a check-in at the very end': (token) => checkIn(store, token, window.end),
      'a check-in': (token) => checkIn(store, token, now),
      'an error': (token) => checkIn(store, token, now, { outcome: 'error' }),
      'one that was kept back': late('11:20:00'),
      'another one': late('12:20:00'),
      'the last one': late('13:20:00'),
      'all of them': async (token) => {
        for (const at of ['11:20:00', '12:20:00', '13:20:00']) await late(at)(token);
      },
      'a pause and its end': async (token) => {
        await store.pauseSnitch(owner.id, token, { kind: 'unpaused' }, now);
        await store.unpauseSnitch(owner.id, token, now);
      },
      'another interval': (token) => store.updateSnitch(owner.id, token, { interval: '2_hour' }, now),
    };
    for (const alertType of ['basic', 'smart'] as const) {
      for (const [what, act] of Object.entries(meanwhile)) {
        const [first, second] = [
          await healthySnitch(store, owner, { alertType }),
          await healthySnitch(store, owner, { alertType }),
        ];
        await store.openBlindWindow(window);
        await act(first.token);
        await finish(store, now);
        await act(second.token);
        const [before, after] = [
          (await snitchOf(store, owner, first.token)).state,
          (await snitchOf(store, owner, second.token)).state,
        ];
        assert.equal(before, after, `${alertType}: ${what}`);
        assert.ok((before.dueAt ?? 0) >= utc('2025-07-09T15:00:00'), `${alertType}: ${what}`);
        await store.deleteSnitch(owner.id, first.token);
        await store.deleteSnitch(owner.id, second.token);
      }
    }
  });

  test('the daemon is known to have lived at the end of the window', async ({ store }) => {
    await store.recordLiveness(WINDOW.start);
    await store.openBlindWindow(WINDOW);
    assert.is(await store.getSetting('liveness'), String(WINDOW.end));
  });

  test('many snitches go in slices, and a restart in the middle loses none', async ({ store, reopen }) => {
    const owner = await newCase(store, { members: ['ann@example.com'] });
    const snitches = await Promise.all(Array.from({ length: 1_200 }, () => newSnitch(store, owner)));
    await Promise.all(snitches.map(({ token }) => checkIn(store, token, NOW)));
    await store.openBlindWindow(WINDOW);
    assert.is(await store.postponeSlice(WINDOW.end), true);
    assert.equal(await noticesOf(store, owner), []);
    const reopened = await reopen();
    assert.ok((await finish(reopened, WINDOW.end)) >= 1);
    for (const { token } of snitches) {
      assert.is((await snitchOf(reopened, owner, token)).state.dueAt, POSTPONED);
    }
    const [notice, ...more] = await noticesOf(reopened, owner);
    assert.equal(more, []);
    assert.is(notice?.alert.notice?.postponedCount, 1_200);
    assert.is(notice?.alert.notice?.postponed.length, 100);
    assert.is(await sweep(reopened, POSTPONED - 1), 0);
  });

  test('each of many is postponed as it would be alone, and swept at its new deadline', async ({ store }) => {
    const owner = await newCase(store, { reminders: 'off' });
    const kinds = [
      {},
      { alertType: 'smart' },
      { interval: '30_minute' },
      { interval: '1_minute' },
      { interval: 'daily' },
      { grace: 900 },
      { schedule: { cron: '15 * * * *' } },
      { schedule: { cron: '15 * * * *' }, timezone: 'Asia/Kolkata', grace: 1_200 },
      { schedule: { every: 3_600 } },
    ] as const;
    const snitches = [];
    for (let index = 0; index < 270; index += 1) {
      const kind = kinds[index % kinds.length] ?? {};
      snitches.push(await healthySnitch(store, owner, kind, NOW - (index % 4) * MINUTE));
    }
    await live(store, SHORT);
    await live(store, WINDOW);
    const { timezone, reminders, errorNotices } = owner;
    let kept = 0;
    for (const { token, state } of snitches) {
      const context = { calendar: new Calendar(), rules: { timezone, reminders, errorNotices } };
      const learned = await store.findLearned(token);
      const expected = postponeByAll(state, [SHORT, WINDOW], { ...context, ...learned });
      assert.equal((await snitchOf(store, owner, token)).state, expected.snitch);
      const shown = await store.listPostponements(owner.id, token, 10);
      assert.equal(
        shown.map(({ start, end }) => ({ start, end })),
        expected.by,
      );
      assert.is(shown.at(-1)?.dueAt, expected.by.length > 0 ? expected.snitch.dueAt : undefined);
      kept += expected.by.length > 0 ? 0 : 1;
      const dueAt = expected.snitch.dueAt ?? 0;
      assert.ok(dueAt > SHORT.end || expected.by.length === 0);
    }
    assert.ok(kept > 20 && kept < 250, `${kept} of ${snitches.length} were not postponed`);
    const deadlines = new Set<number>();
    for (const { token } of snitches) deadlines.add((await snitchOf(store, owner, token)).state.dueAt ?? 0);
    for (const dueAt of [...deadlines].sort((one, other) => one - other)) {
      assert.is(await sweep(store, dueAt - 1), 0);
      const failing = await sweep(store, dueAt);
      assert.ok(failing > 0, 'what is due is found, however far its deadline was moved');
      if (dueAt > POSTPONED) break;
    }
  });

  test('two windows that wait are each worked through whole', async ({ store }) => {
    const owner = await newCase(store);
    const snitches = await Promise.all(Array.from({ length: 120 }, () => newSnitch(store, owner)));
    await Promise.all(snitches.map(({ token }) => checkIn(store, token, NOW)));
    const later = { start: WINDOW.start + HOUR, end: WINDOW.end + HOUR };
    for (const window of [WINDOW, later]) await store.openBlindWindow(window);
    await finish(store, later.end);
    for (const { token } of snitches) {
      const { state } = await snitchOf(store, owner, token);
      assert.equal([state.dueAt, state.postponed], [POSTPONED + HOUR, 2]);
    }
    const counts = (await noticesOf(store, owner)).map(({ alert }) => alert.notice?.postponedCount);
    assert.equal(counts, [120, 120]);
  });

  test('a poison row holds up no other snitch, and no sweep', async ({ store, query }) => {
    const owner = await newCase(store, { members: ['ann@example.com'] });
    const snitches = [];
    for (let index = 0; index < 3; index += 1) snitches.push(await healthySnitch(store, owner));
    const [first, poison, last] = snitches.map(({ token }) => token).sort();
    await query(
      `UPDATE snitch_states SET interval = 'fortnightly' WHERE id = (SELECT id FROM snitches WHERE token = ?)`,
      poison!,
    );
    await live(store, WINDOW);
    for (const token of [first!, last!]) {
      assert.is((await snitchOf(store, owner, token)).state.dueAt, POSTPONED);
    }
    const [notice] = await noticesOf(store, owner);
    assert.is(notice?.alert.notice?.postponedCount, 2);
  });

  test('a case that is deleted in the middle is told nothing', async ({ store }) => {
    const owner = await newCase(store, { members: ['ann@example.com'] });
    await healthySnitch(store, owner);
    const deleted = await newCase(store, { members: ['eve@example.com'] });
    const snitches = await Promise.all(Array.from({ length: 600 }, () => newSnitch(store, deleted)));
    await Promise.all(snitches.map(({ token }) => checkIn(store, token, NOW)));
    await store.openBlindWindow(WINDOW);
    await store.postponeSlice(WINDOW.end);
    await store.deleteCase(deleted.id);
    await finish(store, WINDOW.end);
    assert.equal(await noticesOf(store, deleted), []);
    assert.is((await noticesOf(store, owner)).length, 1);
  });

  test('a notice whose window an upgrade interrupted names deadlines that are there', async ({
    store,
    query,
  }) => {
    const owner = await newCase(store, { members: ['ann@example.com'] });
    const { token } = await healthySnitch(store, owner);
    await store.openBlindWindow(WINDOW);
    const [kept] = await query<{ id: number }>('SELECT id FROM blind_windows');
    // As the second schema left it: postponed, and without the deadlines.
    const [snitch] = await query<{ id: number }>('SELECT id FROM snitches WHERE token = ?', token);
    await query('UPDATE snitch_states SET due_at = ?, look_at = ?, postponed = 1', POSTPONED, POSTPONED);
    await query(
      'INSERT INTO postponements (window_id, case_id, snitch_id) VALUES (?, ?, ?)',
      kept!.id,
      owner.id,
      snitch!.id,
    );
    await query('UPDATE blind_windows SET cursor = ?', snitch!.id);
    await finish(store, WINDOW.end);
    const [notice] = await noticesOf(store, owner);
    assert.equal(notice?.alert.notice?.snitches, [{ token, name: 'nightly-backup', deadlineAt: POSTPONED }]);
  });
});
