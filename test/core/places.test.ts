/** The local clock used for histories gives the same answers as the calendar, whatever was asked before. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { LocalClock } from '../../src/core/places.ts';

const test = suite('the local clock');

const ZONES = [
  'Europe/Berlin',
  'America/New_York',
  'Australia/Lord_Howe',
  'Africa/Casablanca',
  'Asia/Kathmandu',
];

const HOUR = 3_600_000;

function aheadOfUtc(timezone: string, at: number): number {
  return Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timezone).offsetNanoseconds / 1e6;
}

/** The instants at which the clock is changed in some years. */
function changesOf(timezone: string): number[] {
  const found: number[] = [];
  let at = Temporal.Instant.from('2024-01-01T00:00Z').toZonedDateTimeISO(timezone);
  for (let count = 0; count < 6; count += 1) {
    const next = at.getTimeZoneTransition('next');
    if (!next) break;
    found.push(next.epochMilliseconds);
    at = next;
  }
  return found;
}

for (const timezone of ZONES) {
  test(`${timezone} on both sides of every change, in any order`, () => {
    const around = changesOf(timezone).flatMap((at) => [at - HOUR, at - 1, at, at + 1, at + HOUR]);
    const instants = [Date.parse('2026-01-01T00:00Z'), ...around];
    for (const order of [instants, instants.toReversed(), [...instants].sort((a, b) => (a % 7) - (b % 7))]) {
      const clock = LocalClock.of(timezone);
      for (const at of order) assert.is(clock.aheadOfUtc(at), aheadOfUtc(timezone, at), String(at));
    }
  });
}

test('the clock of a zone is made only once, whichever other zones are used in between', () => {
  const made = ZONES.map((zone) => LocalClock.of(zone));
  for (const [index, zone] of ZONES.entries()) assert.is(LocalClock.of(zone), made[index], zone);
});

test.run();
