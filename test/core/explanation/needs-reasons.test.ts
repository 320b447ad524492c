/** The words for an alert that is held, and for what a snitch needs. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { holdReason, needsReasons } from '../../../src/core/explanation/needs-reasons.ts';
import type { Hold } from '../../../src/core/snitch.ts';

const test = suite('reasons about needs');

const local = (at: number) => `at ${at}`;
const HOLD: Hold = { by: { token: 'a', name: 'db1' }, since: 3, until: null };

test('if in doubt, it does not promise that the alert will be sent', () => {
  const words = holdReason({ ...HOLD, until: 8, isUnsure: true }, 8, local);
  assert.match(words, 'db1 has not been heard from either since this was expected');
  assert.match(
    words,
    'By at 8 it is known whether db1 is down: if so, the alert stays held; if not, it is sent.',
  );
});

test('it says whether what holds the alert is down or silenced', () => {
  assert.match(holdReason(HOLD, null, local), 'because db1 is down: it is sent when db1 has been well');
  assert.match(holdReason({ ...HOLD, isSilenced: true }, null, local), 'because db1 is silenced');
});

test('a time is named only if the alert will be sent then', () => {
  assert.match(
    holdReason({ ...HOLD, until: 8 }, 9, local),
    'it is sent at at 9 if the snitch is still silent then',
  );
  assert.not.match(holdReason({ ...HOLD, until: null }, null, local), /told at/);
  assert.not.match(holdReason({ ...HOLD, until: 8 }, null, local), /told at/);
});

test('what a snitch needs is named: a tag as it is, and a snitch by its name where that is known', () => {
  const names = new Map([['a', 'db1']]);
  const [words] = needsReasons(
    { needs: ['a', 'gone', 'tag:net'], hold: null, down: null, names },
    true,
    local,
  );
  assert.match(words ?? '', 'It needs db1, gone and whatever has the tag net:');
});

test('needs that are down or silenced now are named even before an alert is held', () => {
  const known = { needs: ['a'], hold: null, names: new Map([['a', 'db1']]) };
  const [, down] = needsReasons({ ...known, down: { name: 'db1', silencedUntil: null } }, true, local);
  assert.is(down, 'db1 is down now: when that ends, its deadline starts again.');
  const [, silenced] = needsReasons({ ...known, down: { name: 'db1', silencedUntil: 9 } }, true, local);
  assert.is(silenced, 'db1 is silenced until at 9: when that ends, its deadline starts again.');
  assert.is(needsReasons({ ...known, down: null }, true, local).length, 1);
  const [, pending] = needsReasons({ ...known, down: { name: 'db1', silencedUntil: null } }, false, local);
  assert.is(pending, 'db1 is down now.', 'one that is not awaited has no deadline');
});

test.run();
