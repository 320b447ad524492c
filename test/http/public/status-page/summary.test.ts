/** The sentence with which a status page begins, about all of its snitches together. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { summaryOf } from '../../../../src/http/public/status-page/page.ts';

const test = suite('the summary of a status page');

type Counts = Parameters<typeof summaryOf>[0]['counts'];

const SAID: readonly [counts: Partial<Counts>, sign: string, text: string][] = [
  [{}, 'open', 'There is nothing to show yet'],
  [{ well: 1 }, 'well', 'All is well'],
  [{ well: 3 }, 'well', 'All 3 are well'],
  [{ well: 2, missing: 1 }, 'bad', '1 of 3 is not well'],
  [{ missing: 1, error: 2, pending: 1 }, 'bad', '3 of 4 are not well'],
  [{ pending: 2 }, 'calm', 'Nothing has reported yet'],
  [{ paused: 1, planned: 1, pending: 1 }, 'calm', 'Nothing is watched at present'],
  [{ well: 1, paused: 1 }, 'well', '1 of 2 is well, 1 rests'],
  [{ well: 2, pending: 1 }, 'well', '2 of 3 are well, 1 has yet to report'],
  [{ well: 2, planned: 1, paused: 1, pending: 2 }, 'well', '2 of 6 are well, 2 rest, 2 have yet to report'],
];

for (const [given, sign, text] of SAID) {
  test(text, () => {
    const counts = { well: 0, missing: 0, error: 0, planned: 0, paused: 0, pending: 0, ...given };
    const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
    assert.equal(summaryOf({ counts, total }), { sign, text });
  });
}

test.run();
