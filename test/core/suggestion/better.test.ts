import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { whyNotBetter } from '../../../src/core/suggestion/better.ts';
import type { Outlook } from '../../../src/core/suggestion/outlook.ts';

const MINUTE = 60_000;
const of = (falseAlarms: number, unnoticed: number, minutes: number | null): Outlook => ({
  falseAlarms,
  unnoticed,
  found: 3,
  foundAfter: minutes === null ? null : minutes * MINUTE,
});

const better = suite('whether a suggestion is better');

better('fewer false alarms, fewer misses that were not told, or a miss found sooner', () => {
  for (const [present, proposed] of [
    [of(9, 0, 60), of(0, 0, 60)],
    [of(9, 0, 10), of(8, 0, 60)],
    [of(0, 2, 60), of(0, 1, 60)],
    [of(0, 2, 60), of(0, 1, null)],
    [of(0, 0, 60), of(0, 0, 53)],
    [of(0, 0, null), of(0, 0, 900)],
  ] as const) {
    assert.is(whyNotBetter(present, proposed), null, JSON.stringify([present, proposed]));
  }
});

better(
  'whatever would have accused once more, or told less, is not, and neither is what changes nothing',
  () => {
    for (const [present, proposed, words] of [
      [of(0, 0, 1_200), of(1, 0, 10), 'it would have raised 1 false alarm, and the present settings none'],
      [
        of(1, 9, 60),
        of(2, 0, 10),
        'it would have raised 2 false alarms, and the present settings 1 false alarm',
      ],
      [
        of(0, 0, 60),
        of(0, 1, 10),
        'missed runs unreported: it would have left 1, and the present settings 0',
      ],
      [
        of(5, 0, 60),
        of(0, 1, 10),
        'missed runs unreported: it would have left 1, and the present settings 0',
      ],
      [of(0, 0, 60), of(0, 0, 54), 'the present settings would have reported a missed run as soon: 1 h'],
      [of(0, 0, 60), of(0, 0, 70), 'the present settings would have reported a missed run as soon: 1 h'],
      [of(0, 0, 60), of(0, 0, null), 'the present settings would have reported a missed run as soon: 1 h'],
      [of(0, 0, null), of(0, 0, null), 'the present settings would have reported a missed run as soon'],
    ] as const) {
      assert.is(whyNotBetter(present, proposed), words, JSON.stringify([present, proposed]));
    }
  },
);

better.run();
