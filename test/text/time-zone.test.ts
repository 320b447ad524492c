/** Which names are time zones, and how they are spelled. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { isTimeZone, spelledTimeZone } from '../../src/text/time-zone.ts';

const test = suite('names of time zones');

test('a time zone is what the runtime can compute in', () => {
  for (const name of ['UTC', 'Europe/Berlin', 'america/argentina/buenos_aires', 'Etc/GMT+12']) {
    assert.ok(isTimeZone(name), name);
  }
  for (const name of ['', 'Mars/Olympus_Mons', 'Europe/', '+02:00', '2026', 'Europe/Berlin ', 'local']) {
    assert.not.ok(isTimeZone(name), name);
  }
});

test('it is spelled as the database of time zones does', () => {
  assert.is(spelledTimeZone('europe/berlin'), 'Europe/Berlin');
});

test.run();
