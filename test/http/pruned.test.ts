/**
 * What the retention deletes changes nothing that follows: in the random lives of a case, the same alerts go to the same
 * people as if everything were kept. Only a delivery that is retried by hand can be gone. Not with --fast: living through
 * them takes longer than any other test there.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { liveThrough } from './chronicle/live-through.ts';
import { HOUR, withFixture } from './fixture.ts';

const BEGIN = Date.UTC(2026, 9, 24, 14, 7, 30);
const ACTS = 60;
const KEPT_FOR = 24 * HOUR;

/** In each of them outages last for days, and somebody hears of one only by a later alert of it. */
const SEEDS = [14, 16];

const test = suite('what is deleted with age');

/** What happened, and what became of the alerts, up to the first retry by hand. */
async function lived(seed: number, isPruned: boolean): Promise<string[]> {
  let lines: string[] = [];
  await withFixture({}, async (context) => {
    const { store, clock } = context;
    const prune = async () => {
      const limits = { checkIns: 100, olderThan: clock.now - KEPT_FOR, now: clock.now };
      while (isPruned && (await store.prune(limits)));
    };
    const begin = BEGIN + (seed % 7) * 5 * HOUR;
    ({ lines } = await liveThrough(context, { begin, seed, acts: ACTS, after: prune }));
  });
  const retry = lines.findIndex((line) => /\/v1\/deliveries\/|delivery to retry/.test(line));
  return lines.slice(0, retry < 0 ? lines.length : retry).filter((line) => /^\d|^ {2}alert /.test(line));
}

test('changes nothing of what is told later', async () => {
  for (const seed of SEEDS) {
    const [whole, pruned] = [await lived(seed, false), await lived(seed, true)];
    const first = whole.findIndex((line, index) => line !== pruned[index]);
    assert.equal(pruned.slice(first - 3, first + 1), whole.slice(first - 3, first + 1), `seed ${seed}`);
    assert.is(pruned.length, whole.length);
    assert.ok(whole.length > 50, `seed ${seed} has ${whole.length} lines`);
  }
});

test.run();
