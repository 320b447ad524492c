import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { NO_LATE_RUNS, NOTHING_LEARNED } from '../../src/core/late-runs.ts';
import { packInstants, unpackInstants } from '../../src/store/operations/packed/instants.ts';
import { packLearned, unpackLearned } from '../../src/store/operations/packed/learned.ts';

const packing = suite('what smart deadlines learn from, in one column');

const instant = fc.integer({ min: 0, max: 2 ** 48 - 1 });

packing('unpacking restores what was packed', () => {
  const runs = fc.array(fc.record({ at: instant, by: instant }, { noNullPrototype: true }), {
    maxLength: 10,
  });
  fc.assert(
    fc.property(fc.array(instant, { maxLength: 50 }), instant, runs, (firstCheckIns, since, late) => {
      const learned = { firstCheckIns, late: { since, runs: late } };
      assert.equal(unpackLearned(packLearned(learned)), learned);
      const alone = { firstCheckIns, late: NO_LATE_RUNS };
      assert.equal(unpackLearned(packLearned(alone)), alone);
    }),
  );
});

packing('nothing is null, and a column from before late runs were remembered is read', () => {
  assert.is(packLearned(NOTHING_LEARNED), null);
  assert.equal(unpackLearned(null), NOTHING_LEARNED);
  assert.equal(unpackLearned(packInstants([5, 7])), { firstCheckIns: [5, 7], late: NO_LATE_RUNS });
});

packing('instants that do not fit become the nearest that does', () => {
  const latest = 2 ** 48 - 1;
  assert.equal(unpackInstants(packInstants([-1, latest, latest + 1, 2 ** 60])), [0, latest, latest, latest]);
  assert.is(packInstants([]), null);
});

packing('a column that was cut is no history, and no error', () => {
  const packed = packLearned({ firstCheckIns: [], late: { since: 1, runs: [{ at: 2, by: 3 }] } })!;
  assert.equal(unpackLearned(packed.subarray(12)), NOTHING_LEARNED);
  for (let cut = 1; cut < packed.length; cut += 1) unpackLearned(packed.subarray(cut));
});

packing.run();
