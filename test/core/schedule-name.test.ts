/** A schedule in words, in the zone that decides. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { scheduleInWords, scheduleWithZone } from '../../src/core/schedule-name.ts';

const test = suite('a schedule in words');

test('each kind of rule', () => {
  assert.is(scheduleInWords({ cron: '0 3 * * 1-5' }, 'Europe/Berlin'), 'cron 0 3 * * 1-5 (Europe/Berlin)');
  assert.is(scheduleInWords({ calendar: 'Mon 04:00' }, 'UTC'), 'OnCalendar Mon 04:00 (UTC)');
  assert.is(scheduleInWords({ every: 7_200 }, 'UTC'), 'every 2 h after its last check-in');
});

test('the zone is that of the expression, of the snitch, or of the case', () => {
  const cron = { cron: '0 3 * * *' };
  assert.is(scheduleWithZone(cron, 'Asia/Tokyo', 'UTC'), 'cron 0 3 * * * (Asia/Tokyo)');
  for (const own of [null, undefined]) {
    assert.is(scheduleWithZone(cron, own, 'Europe/Berlin'), 'cron 0 3 * * * (Europe/Berlin)');
  }
  const named = { calendar: 'Mon 04:00 America/New_York' };
  assert.is(scheduleWithZone(named, 'Asia/Tokyo', 'UTC'), 'OnCalendar Mon 04:00 America/New_York');
  assert.is(scheduleWithZone({ calendar: 'Mon 04:00' }, null, 'UTC'), 'OnCalendar Mon 04:00 (UTC)');
});

test.run();
