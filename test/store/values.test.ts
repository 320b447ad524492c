/** Values that jobs report, what is expected of a run, and errors that are forgiven: as the store keeps and applies them. */
import * as assert from 'uvu/assert';
import type { Expectation } from '../../src/core/judgement/rules.ts';
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
  SECOND,
  snitchOf,
  sweep,
} from './fixture.ts';

const BYTES: Expectation = { value: 'bytes', min: 100, max: null, of_usual: null, required: true };
const USUAL: Expectation = { ...BYTES, min: null, of_usual: [0.5, 3] };

const reports = (values: Record<string, number>, dropped: string[] = []) => ({
  reported: { values, dropped },
});

contract('runs that are judged', (test) => {
  test('values are kept with the check-in, and what of them was not read', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await newSnitch(store, owner);
    await checkIn(store, token, NOW, reports({ bytes: 812, rows: -1.5 }));
    await checkIn(store, token, NOW + 1, reports({}, ['v.bytes=12k is no number']));
    await checkIn(store, token, NOW + 2, { outcome: 'log', ...reports({ bytes: 7 }) });
    await checkIn(store, token, NOW + 3);
    const listed = await store.listCheckIns(owner.id, token, { limit: 10, before: null });
    assert.equal(
      listed?.map(({ values, dropped, outcome }) => [values, dropped, outcome]),
      [
        [null, [], 'healthy'],
        [{ bytes: 7 }, [], 'log'],
        [null, ['v.bytes=12k is no number'], 'healthy'],
        [{ bytes: 812, rows: -1.5 }, [], 'healthy'],
      ],
    );
    const { bytes, rows } = await store.findValues(owner.id, token);
    assert.equal([bytes?.last, bytes?.at, bytes?.runs], [7, NOW + 2, [812]]);
    assert.equal(rows?.runs, [-1.5]);
  });

  test('a success that does not meet an expectation is an error that says why', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await healthySnitch(store, owner, { expect: [BYTES] });
    assert.is((await snitchOf(store, owner, token)).state.status, 'errored', 'bytes is missing');
    await checkIn(store, token, NOW + 1, reports({ bytes: 100 }));
    assert.is((await snitchOf(store, owner, token)).state.status, 'healthy');
    await checkIn(store, token, NOW + 2, { exitStatus: 0, ...reports({ bytes: 99 }) });
    const { state, lastReport } = await snitchOf(store, owner, token);
    assert.equal([state.status, state.checkedInAt], ['errored', NOW + 1]);
    const reason = 'bytes 99 is below 100';
    assert.equal(state.reason, { kind: 'judged', what: reason });
    const [alerted] = await store.listAlerts(owner.id, token, { limit: 1, before: null });
    assert.equal(alerted?.alert.details?.reason, state.reason);
    assert.equal(lastReport, { at: NOW + 2, outcome: 'error', exitStatus: 0, message: null, reason });
    const [last] = (await store.listSnitches(owner.id, { after: 0, limit: 1, tags: [] })).snitches;
    assert.is(last?.lastReport?.reason, reason);
    const [newest, , first] = (await store.listCheckIns(owner.id, token, { limit: 3, before: null })) ?? [];
    assert.equal([newest?.outcome, newest?.reason], ['error', reason]);
    assert.equal([first?.outcome, first?.reason], ['error', 'bytes is missing']);
  });

  test('an error of the job itself is not judged', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await newSnitch(store, owner, { expect: [BYTES], minRuntime: 60 });
    await checkIn(store, token, NOW, { outcome: 'error', exitStatus: 3, ...reports({ bytes: 1 }) });
    const [record] = (await store.listCheckIns(owner.id, token, { limit: 1, before: null })) ?? [];
    assert.equal([record?.outcome, record?.exitStatus, record?.reason], ['error', 3, null]);
  });

  test('a run is too short where its start is known, by its id too', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await newSnitch(store, owner, { minRuntime: 300 });
    const statusAfter = async (at: number, runId: string | null, took: number) => {
      await checkIn(store, token, at, { outcome: 'start', runId });
      await checkIn(store, token, at + took, { runId });
      return (await snitchOf(store, owner, token)).state.status;
    };
    assert.is(await statusAfter(NOW, null, 2 * SECOND), 'errored');
    const [record] = (await store.listCheckIns(owner.id, token, { limit: 1, before: null })) ?? [];
    assert.is(record?.reason, 'too short: 2 s of at least 5 min');
    assert.is(await statusAfter(NOW + HOUR, null, 5 * MINUTE), 'healthy');
    const runId = '0b5c9c0e-2b3f-4c5a-8b6e-1f2a3b4c5d6e';
    assert.is(await statusAfter(NOW + 2 * HOUR, runId, SECOND), 'errored');
    await checkIn(store, token, NOW + 3 * HOUR);
    assert.is((await snitchOf(store, owner, token)).state.status, 'healthy', 'its length is not known');
  });

  test('what is usual is learned from successes, and goes on after a restart', async (context) => {
    const owner = await newCase(context.store);
    const { token } = await newSnitch(context.store, owner, { expect: [USUAL] });
    for (let run = 0; run < 4; run += 1) {
      await checkIn(context.store, token, NOW + run * HOUR, reports({ bytes: 812e6 }));
    }
    await checkIn(context.store, token, NOW + 4 * HOUR, reports({ bytes: 1e6 }));
    assert.is((await snitchOf(context.store, owner, token)).state.status, 'healthy', 'four are too few');
    const store = await context.reopen();
    await checkIn(store, token, NOW + 5 * HOUR, reports({ bytes: 4.1e6 }));
    const { state, lastReport } = await snitchOf(store, owner, token);
    assert.is(state.status, 'errored');
    assert.is(lastReport?.reason, 'bytes 4.1 M is less than half of the usual 812 M');
    const { bytes } = await store.findValues(owner.id, token);
    assert.equal([bytes?.runs.length, bytes?.last], [5, 4.1e6], 'the failure adds nothing');
  });

  test('rules are changed one by one, kept over a restart, and move no deadline', async (context) => {
    const owner = await newCase(context.store);
    const made = await healthySnitch(context.store, owner, { minRuntime: 60, failuresBeforeAlert: 3 });
    const { token } = made;
    const due = made.state.dueAt;
    await context.store.updateSnitch(owner.id, token, { expect: [BYTES] }, NOW + MINUTE);
    const store = await context.reopen();
    const { state } = await snitchOf(store, owner, token);
    assert.equal(
      [state.minRuntime, state.failuresBeforeAlert, state.expect, state.dueAt],
      [60, 3, [BYTES], due],
    );
    const none = { minRuntime: null, failuresBeforeAlert: 1, expect: null };
    const cleared = await store.updateSnitch(owner.id, token, none, NOW + 2 * MINUTE);
    assert.equal({ ...cleared?.state }, { ...made.state, ...none });
    await checkIn(store, token, NOW + 3 * MINUTE);
    assert.is((await snitchOf(store, owner, token)).state.status, 'healthy');
  });

  test('on a case without error notices it is recorded, and counts as healthy', async ({ store }) => {
    const owner = await newCase(store, { errorNotices: false });
    const { token } = await newSnitch(store, owner, { expect: [BYTES], failuresBeforeAlert: 3 });
    await checkIn(store, token, NOW);
    const { state, lastReport } = await snitchOf(store, owner, token);
    assert.equal([state.status, state.checkedInAt, state.errorsInRow], ['healthy', NOW, 0]);
    assert.is(lastReport?.reason, 'bytes is missing');
  });

  test('values of one case are not shown to another, and go with their snitch', async ({ store, query }) => {
    const [owner, other] = [await newCase(store), await newCase(store)];
    const one = await newSnitch(store, owner);
    const two = await newSnitch(store, owner);
    for (const { token } of [one, two]) await checkIn(store, token, NOW, reports({ bytes: 1 }));
    assert.equal(await store.findValues(other.id, one.token), {});
    await store.deleteSnitch(owner.id, one.token);
    assert.equal(await store.findValues(owner.id, one.token), {});
    await store.deleteCase(owner.id);
    assert.equal(await query('SELECT * FROM snitch_values'), []);
  });

  test('a million names fill nothing', async ({ store, query }) => {
    const owner = await newCase(store);
    const { token } = await newSnitch(store, owner);
    for (let index = 0; index < 300; index += 1) {
      await checkIn(store, token, NOW + index, reports({ [`n${index}`]: index }));
    }
    assert.is(Object.keys(await store.findValues(owner.id, token)).length, 40);
    const [size] = await query<{ bytes: number }>('SELECT length(histories) AS bytes FROM snitch_values');
    assert.ok((size?.bytes ?? 0) < 4_000);
  });
});

contract('errors that are forgiven', (test) => {
  const error = { outcome: 'error', exitStatus: 1 } as const;

  test('only the last of enough in a row alerts, also across a restart', async (context) => {
    const owner = await newCase(context.store);
    const { token } = await healthySnitch(context.store, owner, { failuresBeforeAlert: 3 });
    await checkIn(context.store, token, NOW + HOUR, error);
    await checkIn(context.store, token, NOW + 2 * HOUR, error);
    const store = await context.reopen();
    assert.is((await snitchOf(store, owner, token)).state.status, 'healthy');
    assert.equal(await alertsOf(store, owner), ['snitch.reporting from pending']);
    await checkIn(store, token, NOW + 3 * HOUR, error);
    assert.is((await snitchOf(store, owner, token)).state.status, 'errored');
    await checkIn(store, token, NOW + 4 * HOUR, error);
    await checkIn(store, token, NOW + 5 * HOUR);
    assert.equal((await alertsOf(store, owner)).slice(1), [
      'snitch.errored from healthy',
      'snitch.reporting from errored',
    ]);
    await checkIn(store, token, NOW + 6 * HOUR, error);
    const { state } = await snitchOf(store, owner, token);
    assert.equal([state.status, state.reason], ['healthy', null], 'a healthy one begins anew');
  });

  test('a year of a job that fails every other night alerts nobody; one that goes silent does', async ({
    store,
  }) => {
    const owner = await newCase(store);
    const { token } = await newSnitch(store, owner, { interval: 'daily', failuresBeforeAlert: 2 });
    let at = NOW;
    for (let night = 0; night < 365; night += 1) {
      at = NOW + night * DAY;
      await sweep(store, at - 1);
      await checkIn(store, token, at, night % 2 === 0 ? {} : error);
    }
    assert.equal(await alertsOf(store, owner), ['snitch.reporting from pending']);
    await checkIn(store, token, at + DAY, error);
    const { dueAt } = (await snitchOf(store, owner, token)).state;
    assert.ok(dueAt !== null && dueAt > at + 2 * DAY, 'it answered for its day');
    await sweep(store, dueAt ?? 0);
    assert.equal((await alertsOf(store, owner)).slice(1), ['snitch.missing from healthy']);
  });

  test('a judged failure counts as one of them', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await newSnitch(store, owner, { failuresBeforeAlert: 2, expect: [BYTES] });
    await checkIn(store, token, NOW, reports({ bytes: 100 }));
    await checkIn(store, token, NOW + 1, reports({ bytes: 1 }));
    assert.is((await snitchOf(store, owner, token)).state.errorsInRow, 1);
    await checkIn(store, token, NOW + 2, error);
    assert.is((await snitchOf(store, owner, token)).state.status, 'errored');
  });
});
