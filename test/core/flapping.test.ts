/** When people are reminded of flapping, and when it is over. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { isOver, settleAt } from '../../src/core/flapping.ts';

const test = suite('flapping');

const MINUTE = 60_000;
const SINCE = Date.UTC(2026, 2, 10);

test('it is checked after ten quiet minutes, and at the latest an hour after people were told', () => {
  const looked = (minutes: number) =>
    (settleAt({ since: SINCE, changedAt: SINCE + minutes * MINUTE }) - SINCE) / MINUTE;
  assert.equal([0, 20, 50, 51, 70].map(looked), [10, 30, 60, 60, 60]);
});

test('it is over after ten quiet minutes', () => {
  const flap = { since: SINCE, changedAt: SINCE + 20 * MINUTE };
  assert.is(isOver(flap, flap.changedAt + 10 * MINUTE - 1), false);
  assert.is(isOver(flap, flap.changedAt + 10 * MINUTE), true);
});

test('flapping that begins in the future was written by a wrong clock, and silences nothing', () => {
  assert.is(isOver({ since: SINCE + 1, changedAt: SINCE }, SINCE), true);
  assert.is(isOver({ since: SINCE, changedAt: SINCE + 1 }, SINCE), true);
  assert.is(isOver({ since: SINCE, changedAt: SINCE }, SINCE), false);
});

test.run();
