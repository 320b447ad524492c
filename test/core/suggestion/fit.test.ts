/** How well a schedule fits a history of check-ins. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Schedules } from '../../../src/core/schedule/schedule.ts';
import { fit } from '../../../src/core/suggestion/fit.ts';
import { DAY, MINUTE } from '../../../src/text/durations.ts';

const NIGHTLY = { rule: { cron: '0 3 * * *' }, timezone: 'UTC', complexity: 0 };
const FIRST = Date.parse('2026-03-02T03:00:00Z');

test('a last check-in that is as early as one may be answers for the run after it', () => {
  const checkIns = Array.from({ length: 7 }, (_, day) => FIRST + day * DAY);
  checkIns[6] = FIRST + 6 * DAY - 5 * MINUTE;
  const found = fit(checkIns, NIGHTLY, new Schedules());
  assert.equal(
    found?.answers.map(({ late }) => late),
    [0, 0, 0, 0, 0, 0, -5 * MINUTE],
  );
  assert.equal(found?.missed, []);
});

test.run();
