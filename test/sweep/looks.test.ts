import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { LookCursor } from '../../src/store/sweep.ts';
import { Looks } from '../../src/sweep/looks.ts';

const NOW = 1_000_000;
const AHEAD = NOW + 10 * 60_000;

/** Looks over a store that has `slices` slices left of each walk, and takes 100 ms for each. */
function looksOver(slices: number) {
  const moved: { until: number; after: LookCursor | null }[] = [];
  let monotonic = 0;
  let left = slices;
  const moveLooks = async (until: number, after: LookCursor | null): Promise<LookCursor | null> => {
    moved.push({ until, after });
    monotonic += 100;
    left -= 1;
    return left > 0 ? { lookAt: until, id: moved.length } : null;
  };
  const looks = new Looks({ store: { moveLooks }, monotonic: () => monotonic });
  const pass = (inVain: boolean) =>
    looks.move(NOW, inVain, async (slice) => {
      while (await slice());
    });
  return { moved, pass, later: (by: number) => (monotonic += by), refill: (count: number) => (left = count) };
}

const test = suite('looks of the sweep');

test('snitches that were examined without need go first, and do not delay the next pass', async () => {
  const { moved, pass } = looksOver(1_000);
  await pass(true);
  const first = moved.filter(({ until }) => until === NOW);
  assert.is(first.length, 5);
  assert.equal(first[0]?.after, null);
  assert.ok(moved.slice(0, 5).every(({ until }) => until === NOW));
});

test('no walk runs at every pass', async () => {
  const { moved, pass, later, refill } = looksOver(1);
  await pass(false);
  assert.equal(moved, [{ until: AHEAD, after: null }]);
  for (let second = 0; second < 9; second += 1) {
    later(1_000);
    await pass(false);
  }
  assert.is(moved.length, 1);
  later(1_000);
  refill(1);
  await pass(false);
  assert.is(moved.length, 2);
});

test('a long walk continues where it stopped, and starts over after its end', async () => {
  const { moved, pass, later, refill } = looksOver(150);
  await pass(false);
  assert.is(moved.length, 100);
  later(10_000);
  await pass(false);
  assert.is(moved.length, 150);
  assert.equal(moved[100]?.after, { lookAt: AHEAD, id: 100 });
  later(10_000);
  refill(1);
  await pass(false);
  assert.equal(moved[150]?.after, null);
});

test.run();
