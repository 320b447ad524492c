/**
 * Cron expressions against an enumeration that shares nothing with the program: neither croner nor its own search nor
 * its notion of a clock. Time limit: 300 s.
 *
 * `SCHEDULE_CASES=20000 npm run test:file schedule/enumeration` compares more.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { readSchedule } from '../../../src/core/schedule/schedule.ts';
import { randomFrom } from '../../random.ts';
import { type CronCase, cronCase } from './generated-cron.ts';
import { clockChanges, dueMinutes, FIRST_WALL, LAST_WALL } from './local-minutes.ts';

const CASES = Number(process.env.SCHEDULE_CASES ?? 2_000);
const ZONES = [
  'Europe/Berlin',
  'America/New_York',
  'Australia/Lord_Howe',
  'Africa/Casablanca',
  'Asia/Kathmandu',
];
const MINUTE = 60_000;
const DAY = 24 * 60;

/** Instants of each expression and zone: so many at random, and so many at clock changes. */
const AT_RANDOM = 6;
const AT_CHANGES = 6;
/** So many instants after each are compared. */
const NEXT = 4;

const test = suite('schedule: enumeration');

/** Every day of ten years. */
const DAYS = Array.from({ length: (LAST_WALL - FIRST_WALL) / DAY }, (_, index) => {
  const midnight = FIRST_WALL + index * DAY;
  const date = new Date(midnight * MINUTE);
  const month = date.getUTCMonth() + 1;
  const daysInMonth = new Date(Date.UTC(date.getUTCFullYear(), month, 0)).getUTCDate();
  return { midnight, month, day: date.getUTCDate(), weekday: date.getUTCDay(), daysInMonth };
});

/** The local minutes of ten years at which an expression runs, each counted from 1970 on the local clock. */
interface Walls {
  length: number;
  at(index: number): number;
}

function wallMinutes({ minutes, hours, runsOn }: CronCase): Walls {
  const times: number[] = [];
  for (let minute = 0; minute < DAY; minute += 1) {
    if (hours.has(Math.floor(minute / 60)) && minutes.has(minute % 60)) times.push(minute);
  }
  const midnights = DAYS.filter(runsOn).map(({ midnight }) => midnight);
  return {
    length: midnights.length * times.length,
    at: (index) => midnights[Math.floor(index / times.length)]! + times[index % times.length]!,
  };
}

/** The index of the first of `walls` that is due after `at`. */
function firstAfter(walls: Walls, due: Float64Array, at: number): number {
  let [low, high] = [0, walls.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (due[walls.at(middle) - FIRST_WALL]! * MINUTE > at) high = middle;
    else low = middle + 1;
  }
  return low;
}

test(`${CASES} expressions in ${ZONES.length} zones have no other instants than those enumerated`, () => {
  const next = randomFrom(20_261_122);
  const zones = ZONES.map((timezone) => {
    const due = dueMinutes(timezone);
    return { timezone, due, changes: clockChanges(due) };
  });
  let compared = 0;
  for (let number = 0; number < CASES; number += 1) {
    const one = cronCase(next);
    const walls = wallMinutes(one);
    for (const { timezone, due, changes } of zones) {
      const schedule = readSchedule({ cron: one.text }, timezone);
      const instantAt = (index: number) => due[walls.at(index) - FIRST_WALL]! * MINUTE;
      const expectedAfter = (at: number) => {
        const instants: number[] = [];
        for (
          let index = firstAfter(walls, due, at);
          index < walls.length && instants.length < NEXT;
          index += 1
        ) {
          if (instantAt(index) !== instants.at(-1)) instants.push(instantAt(index));
        }
        return instants;
      };
      const compare = (at: number) => {
        const what = `${one.text} in ${timezone} at ${new Date(at).toISOString()}`;
        const before = firstAfter(walls, due, at) - 1;
        if (before >= 0) assert.is(schedule.lastUntil(at), instantAt(before), `${what}: the last`);
        let last = at;
        for (const expected of expectedAfter(at)) {
          assert.is(schedule.nextAfter(last), expected, `${what}: after ${new Date(last).toISOString()}`);
          last = expected;
          compared += 1;
        }
      };
      for (let count = 0; count < AT_RANDOM; count += 1) {
        compare(Math.floor((FIRST_WALL + DAY + next() * (LAST_WALL - FIRST_WALL - 2 * DAY)) * MINUTE));
      }
      for (let count = 0; count < AT_CHANGES && changes.length > 0; count += 1) {
        const change = changes[Math.floor(next() * changes.length)]! * MINUTE;
        compare(change + Math.floor((next() * 8 - 5) * 60 * MINUTE));
        compare(change - 1);
        compare(change);
      }
    }
  }
  assert.ok(compared > CASES * ZONES.length, `${compared} instants were compared`);
});

test.run();
