import * as assert from 'uvu/assert';
import type { CheckIn } from '../../src/core/check-in.ts';
import type { Store } from './acting.ts';
import { checkIn, contract, NOW, newCase, newSnitch, SECOND, snitchOf } from './fixture.ts';

type Step = [at: number, outcome: CheckIn['outcome'], runId?: string | null, arrives?: number];

/** Applies the steps, `at` in seconds, and answers the durations of all in order, in seconds. */
async function durationsOf(store: Store, steps: readonly Step[]): Promise<(number | null)[]> {
  const owner = await newCase(store);
  const { token } = await newSnitch(store, owner);
  for (const [at, outcome, runId = null, arrives = at] of steps) {
    await checkIn(store, token, NOW + at * SECOND, { outcome, runId, now: NOW + arrives * SECOND });
  }
  const records = await store.listCheckIns(owner.id, token, { limit: 200, before: null });
  return (records ?? [])
    .reverse()
    .map(({ durationMs }) => (durationMs === null ? null : durationMs / SECOND));
}

contract('durations of runs', (test) => {
  test('an end without a start has no duration', async ({ store }) => {
    assert.equal(await durationsOf(store, [[0, 'healthy']]), [null]);
    assert.equal(await durationsOf(store, [[0, 'error', 'a']]), [null]);
  });

  test('an end takes the start before it, a failed one too', async ({ store }) => {
    const steps: Step[] = [
      [0, 'start'],
      [7, 'healthy'],
      [10, 'start'],
      [13, 'error'],
    ];
    assert.equal(await durationsOf(store, steps), [null, 7, null, 3]);
  });

  test('a start is used up by its end', async ({ store }) => {
    assert.equal(
      await durationsOf(store, [
        [0, 'start'],
        [7, 'healthy'],
        [9, 'healthy'],
      ]),
      [null, 7, null],
    );
  });

  test('of two starts the later counts: the first run was never finished', async ({ store }) => {
    assert.equal(
      await durationsOf(store, [
        [0, 'start'],
        [100, 'start'],
        [104, 'healthy'],
      ]),
      [null, null, 4],
    );
  });

  test('a log in between keeps the start', async ({ store }) => {
    assert.equal(
      await durationsOf(store, [
        [0, 'start'],
        [3, 'log'],
        [7, 'healthy'],
      ]),
      [null, null, 7],
    );
  });

  test('runs that overlap are paired by their ids', async ({ store }) => {
    const steps: Step[] = [
      [0, 'start', 'a'],
      [5, 'start', 'b'],
      [6, 'log', 'a'],
      [20, 'healthy', 'a'],
      [21, 'healthy', 'b'],
      [22, 'healthy', 'a'],
      [23, 'healthy', 'c'],
    ];
    assert.equal(await durationsOf(store, steps), [null, null, null, 20, 16, null, null]);
  });

  test('runs with and without an id do not take the starts of each other', async ({ store }) => {
    const steps: Step[] = [
      [0, 'start'],
      [5, 'start', 'a'],
      [20, 'healthy', 'a'],
      [30, 'start', 'b'],
      [31, 'healthy'],
      [35, 'healthy', 'b'],
    ];
    const [, , ofA, , , ofB] = await durationsOf(store, steps);
    assert.equal([ofA, ofB], [15, 5]);
  });

  test('an end without an id takes the open start without one, whatever ran in between', async ({
    store,
  }) => {
    const steps: Step[] = [
      [0, 'start'],
      [5, 'start', 'a'],
      [20, 'healthy', 'a'],
      [30, 'healthy'],
    ];
    assert.equal(await durationsOf(store, steps), [null, null, 15, 30]);
  });

  test('a clock that was set back makes no negative duration', async ({ store }) => {
    assert.equal(
      await durationsOf(store, [
        [60, 'start'],
        [0, 'healthy'],
      ]),
      [null, 0],
    );
  });

  test('a clock that was set back begins no run in the future, and ends the one it was in', async ({
    store,
  }) => {
    const begun: Step[] = [
      [60, 'start'],
      [0, 'start'],
      [5, 'healthy'],
    ];
    assert.equal(await durationsOf(store, begun), [null, null, 5]);
    const ended: Step[] = [
      [60, 'start'],
      [0, 'healthy'],
      [70, 'healthy'],
    ];
    assert.equal(await durationsOf(store, ended), [null, 0, null]);
  });

  test('a half that was kept back counts where nothing came after it', async ({ store }) => {
    const begun: Step[] = [
      [5, 'start', null, 10],
      [12, 'healthy'],
    ];
    assert.equal(await durationsOf(store, begun), [null, 7]);
    const ended: Step[] = [
      [0, 'start'],
      [5, 'healthy', null, 10],
      [20, 'healthy'],
    ];
    assert.equal(await durationsOf(store, ended), [null, 5, null]);
    const again: Step[] = [
      [0, 'healthy'],
      [5, 'start', null, 10],
      [20, 'healthy'],
    ];
    assert.equal(await durationsOf(store, again), [null, null, 15]);
  });

  test('a start and an end that were kept back leave the run alone that began meanwhile', async ({
    store,
  }) => {
    const steps: Step[] = [
      [100, 'start'],
      [10, 'start', null, 110],
      [17, 'healthy', null, 110],
      [130, 'healthy'],
    ];
    assert.equal(await durationsOf(store, steps), [null, null, 7, 30]);
  });

  test('also when they arrive after the end of that run, and several of them', async ({ store }) => {
    const steps: Step[] = [
      [100, 'start'],
      [10, 'start', null, 110],
      [17, 'error', null, 110],
      [20, 'start', null, 110],
      [130, 'healthy'],
      [29, 'healthy', null, 140],
      [150, 'healthy'],
    ];
    assert.equal(await durationsOf(store, steps), [null, null, 7, null, 30, 9, null]);
  });

  test('an end that was kept back takes no start that has its end, nor one after it', async ({ store }) => {
    const steps: Step[] = [
      [0, 'start'],
      [5, 'healthy'],
      [20, 'start'],
      [9, 'healthy', null, 21],
      [26, 'healthy'],
    ];
    assert.equal(await durationsOf(store, steps), [null, 5, null, null, 6]);
  });

  test('a start that arrives after its end gives that end its duration', async ({ store }) => {
    const steps: Step[] = [
      [9, 'healthy', 'a'],
      [2, 'start', 'a', 60],
      [100, 'healthy', 'b'],
      [101, 'start', 'b'],
    ];
    assert.equal(await durationsOf(store, steps), [7, null, 0, null]);
  });

  test('a start gives a duration only to the end of its own run', async ({ store }) => {
    const steps: Step[] = [
      [0, 'log', 'a'],
      [1, 'healthy', 'b'],
      [2, 'error'],
      [3, 'start', 'a'],
      [5, 'healthy', 'a'],
    ];
    assert.equal(await durationsOf(store, steps), [null, null, null, null, 2]);
  });

  test('a start that is watched is found behind any number of log lines', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await newSnitch(store, owner, { maxRuntime: 3_600, minRuntime: 600 });
    const durations: number[] = [];
    const statuses: string[] = [];
    for (const [begins, ends] of [
      [0, 500],
      [1_000, 2_000],
    ] as const) {
      const step = (at: number, outcome: CheckIn['outcome']) =>
        checkIn(store, token, NOW + at * SECOND, { outcome, runId: 'a' });
      await step(begins, 'start');
      for (let line = 1; line <= 120; line += 1) await step(begins + line, 'log');
      await step(ends, 'healthy');
      const [last] = (await store.listCheckIns(owner.id, token, { limit: 1, before: null })) ?? [];
      durations.push((last?.durationMs ?? 0) / SECOND);
      statuses.push((await snitchOf(store, owner, token)).state.status);
    }
    assert.equal(durations, [500, 1_000]);
    assert.equal(statuses, ['errored', 'healthy'], 'the first one was too short');
  });

  test('a start is found behind many log lines of its run, and the search for it has an end', async ({
    store,
  }) => {
    const durationBehind = async (count: number) => {
      const lines = Array.from({ length: count }, (_, index): Step => [index, 'log', 'a']);
      return (await durationsOf(store, [[0, 'start', 'a'], ...lines, [60, 'healthy', 'a']])).at(-1);
    };
    assert.is(await durationBehind(40), 60);
    assert.is(await durationBehind(49), 60);
    assert.is(await durationBehind(50), null);
  });
});
