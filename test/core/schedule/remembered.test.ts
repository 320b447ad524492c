/** A schedule remembers instants that it found; what it answers depends on nothing that was asked before. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { scheduleOf } from '../../../src/core/job-schedule.ts';
import { readSchedule, type ScheduleRule } from '../../../src/core/schedule/schedule.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const RULES: readonly ScheduleRule[] = [
  { cron: '*/5 * * * *' },
  { cron: '30 2 * * *' },
  { cron: '0 9 * * 1-5' },
  { calendar: '*-*-01 00:00:00' },
];

const test = suite('what a schedule remembers');

/** Instants to and fro around the autumn change of the clock, at runs, right beside them and between them. */
function instants(): number[] {
  const around = Date.UTC(2026, 9, 25, 1);
  let state = 7;
  return Array.from({ length: 400 }, (_, index) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    const span = index % 3 === 0 ? 40 * 24 * HOUR : 12 * HOUR;
    return (
      around +
      Math.round(((state / 2 ** 31) * 2 - 1) * (span / (5 * MINUTE))) * 5 * MINUTE +
      ((index % 5) - 2)
    );
  });
}

test('whatever was asked before, it answers as one that was never asked', () => {
  for (const rule of RULES) {
    const asked = readSchedule(rule, 'Europe/Berlin');
    for (const at of instants()) {
      const fresh = () => readSchedule(rule, 'Europe/Berlin');
      assert.is(asked.lastUntil(at), fresh().lastUntil(at), `last until ${at} of ${JSON.stringify(rule)}`);
      const next = asked.nextAfter(at);
      assert.is(next, fresh().nextAfter(at), `next after ${at} of ${JSON.stringify(rule)}`);
      assert.is(asked.lastUntil(at), fresh().lastUntil(at), `last until ${at}, once the next one is known`);
      assert.is(asked.lastUntil((next ?? at) - 1), fresh().lastUntil((next ?? at) - 1));
    }
  }
});

test('a run that comes once is found again at its very instant', () => {
  const once = readSchedule({ calendar: '2026-11-02 09:00:00' }, 'UTC');
  const at = Date.UTC(2026, 10, 2, 9);
  assert.is(once.nextAfter(at - 5 * HOUR), at);
  assert.equal([once.lastUntil(at - 1), once.lastUntil(at), once.lastUntil(at + 1)], [null, at, at]);
});

test('one rule in many zones is that of each zone, in whatever order they ask', () => {
  const schedule = Object.freeze({ cron: '0 9 * * *' });
  const zones = Intl.supportedValuesOf('timeZone').slice(0, 120);
  const at = Date.UTC(2026, 5, 1);
  for (const zone of [...zones, ...zones.toReversed(), 'UTC', 'Asia/Tokyo', 'UTC']) {
    const expected = readSchedule(schedule, zone).nextAfter(at);
    assert.is(scheduleOf({ schedule }, zone)?.nextAfter(at), expected, zone);
    assert.is(scheduleOf({ schedule, timezone: zone }, 'UTC')?.nextAfter(at), expected, zone);
  }
});

test.run();
