/** How cron expressions are read, and what is said of those that cannot be. */
import { CronPattern } from 'croner';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parseCron } from '../../../src/core/schedule/cron.ts';
import { instantsAfter, readSchedule } from '../../../src/core/schedule/schedule.ts';
import { cases } from '../../cases.ts';
import { randomFrom } from '../../random.ts';
import { cronCase } from './generated-cron.ts';

const runs = (cron: string, count = 3, from = '2026-11-21T22:00:00Z', timezone = 'UTC') =>
  instantsAfter(readSchedule({ cron }, timezone), Date.parse(from), count).map((at) =>
    new Date(at).toISOString().slice(0, 16),
  );

const reading = suite('schedule: cron');

reading('what expressions mean', () => {
  // 2026-11-21 is a Saturday.
  const table: [string, string[]][] = [
    ['0 3 * * 1-5', ['2026-11-23T03:00', '2026-11-24T03:00', '2026-11-25T03:00']],
    ['*/20 * * * *', ['2026-11-21T22:20', '2026-11-21T22:40', '2026-11-21T23:00']],
    ['@daily', ['2026-11-22T00:00', '2026-11-23T00:00', '2026-11-24T00:00']],
    ['@Midnight', ['2026-11-22T00:00', '2026-11-23T00:00', '2026-11-24T00:00']],
    ['@hourly', ['2026-11-21T23:00', '2026-11-22T00:00', '2026-11-22T01:00']],
    ['@weekly', ['2026-11-22T00:00', '2026-11-29T00:00', '2026-12-06T00:00']],
    ['@monthly', ['2026-12-01T00:00', '2027-01-01T00:00', '2027-02-01T00:00']],
    ['@yearly', ['2027-01-01T00:00', '2028-01-01T00:00', '2029-01-01T00:00']],
    ['30 4 L * *', ['2026-11-30T04:30', '2026-12-31T04:30', '2027-01-31T04:30']],
    ['30 4 LW * *', ['2026-11-30T04:30', '2026-12-31T04:30', '2027-01-29T04:30']],
    ['0 0 1W * *', ['2026-12-01T00:00', '2027-01-01T00:00', '2027-02-01T00:00']],
    ['0 0 15W 8 *', ['2027-08-16T00:00', '2028-08-15T00:00', '2029-08-15T00:00']],
    ['0 0 * * 5L', ['2026-11-27T00:00', '2026-12-25T00:00', '2027-01-29T00:00']],
    ['0 0 * * FRI#3', ['2026-12-18T00:00', '2027-01-15T00:00', '2027-02-19T00:00']],
    ['0 0 29 2 *', ['2028-02-29T00:00', '2032-02-29T00:00', '2036-02-29T00:00']],
    ['0 0 29 2 +1', ['2044-02-29T00:00', '2072-02-29T00:00', '2112-02-29T00:00']],
    ['0 0 1 jan,jul *', ['2027-01-01T00:00', '2027-07-01T00:00', '2028-01-01T00:00']],
    ['5 ? ? ? 7', ['2026-11-22T00:05', '2026-11-22T01:05', '2026-11-22T02:05']],
    ['  0\t12   *  * sat-sun ', ['2026-11-22T12:00', '2026-11-28T12:00', '2026-11-29T12:00']],
  ];
  for (const [cron, expected] of table) assert.equal(runs(cron), expected, cron);
});

reading('day of the month and day of the week: either, and both where one begins with a star', () => {
  assert.equal(runs('0 0 13 * 5'), ['2026-11-27T00:00', '2026-12-04T00:00', '2026-12-11T00:00']);
  assert.equal(runs('0 0 13 * 5', 5).at(-1), '2026-12-18T00:00');
  assert.equal(runs('0 0 */2 * 1'), ['2026-11-23T00:00', '2026-12-07T00:00', '2026-12-21T00:00']);
  assert.equal(runs('0 0 13 * */5'), ['2026-12-13T00:00', '2027-06-13T00:00', '2027-08-13T00:00']);
  assert.equal(runs('0 0 13 * +5', 2), ['2027-08-13T00:00', '2028-10-13T00:00']);
});

reading('what cannot be read says which field, and why', () => {
  const table: [string, RegExp][] = [
    ['', /^can't be blank$/],
    [' \t', /^can't be blank$/],
    ['60 * * * *', /minute "60": "60" is not a number from 0 to 59$/],
    ['* 24 * * *', /hour "24": "24" is not a number from 0 to 23$/],
    ['* * 0 * *', /day of the month "0": "0" is not a number from 1 to 31$/],
    ['* * 32 * *', /day of the month "32": "32" is not a number from 1 to 31$/],
    ['* * * 13 *', /month "13": .* nor a name from jan to dec$/],
    ['* * * * 8', /day of the week "8": .* from 0 to 7, nor a name from sun to sat$/],
    ['* * * * monday', /day of the week "monday"/],
    ['5/15 * * * *', /minute "5\/15": a step needs a range: write 5-59\/15$/],
    ['/5 * * * *', /write \*\/5$/],
    ['*/0 * * * *', /a step is a number from 1 to 60$/],
    ['*/61 * * * *', /a step is a number from 1 to 60$/],
    ['0 */25 * * *', /a step is a number from 1 to 24$/],
    ['0 0 */32 * *', /a step is a number from 1 to 31$/],
    ['0 0 1 */13 *', /a step is a number from 1 to 12$/],
    ['0 0 * * */8', /a step is a number from 1 to 7$/],
    ['0 22-4 * * *', /hour "22-4": the range 22-4 runs backward: write 22-23,0-4$/],
    ['0 0 1 dec-jan *', /the range dec-jan runs backward: name the days or months one by one$/],
    ['0 0 * * fri-mon', /the range fri-mon runs backward: name the days or months one by one$/],
    ['1,,2 * * * *', /a value is missing$/],
    ['0 0 * * 5#6', /what follows # is 1 to 5, or L for the last$/],
    ['0 0 * * L', /5L for the last Friday$/],
    ['0 0 1,LW * *', /must stand alone$/],
    ['0 0 3', /cron has five fields .* and this has 3$/],
    ['0 0 3 * * 1-5', /this has 6 fields, and cron has five .*: leave out the seconds and the year$/],
    ['0 3 * * * root /usr/bin/backup --all', /leave out the user and the command$/],
    ['CRON_TZ=UTC 0 3 * * *', /in the field timezone$/],
    ['@reboot', /nobody knows when the host will start again$/],
    ['@every 5m', /use \{"every": <seconds>\}/],
    ['@fortnightly', /is none of @yearly, @annually/],
    [`${'0,'.repeat(300)}0 * * * *`, /is too long \(maximum is 500 characters\)$/],
    ['0 0 * * \u001b[31m', /^cannot be read: day of the week "\?\[31m"/],
    ['constructor * * * *', /minute "constructor"/],
  ];
  for (const [cron, reason] of table) {
    assert.throws(
      () => parseCron(cron),
      (error: Error) => error.name === 'ScheduleRefused' && reason.test(error.message),
      `${cron}: ${reason}`,
    );
  }
});

const agreement = suite('schedule: cron as croner reads it');

/** Whether croner reads it. */
function isRead(cron: string): boolean {
  try {
    new CronPattern(cron, undefined, { mode: '5-part' });
    return true;
  } catch {
    return false;
  }
}

function isReadHere(cron: string): boolean {
  try {
    parseCron(cron);
    return true;
  } catch {
    return false;
  }
}

agreement('what croner refuses is refused in our words, and nothing else', () => {
  const next = randomFrom(7);
  const pieces = '0 1 5 7 8 12 31 59 60 * ? - / , # L W LW mon sun fri jan dec + x'.split(' ');
  const one = () => pieces[Math.floor(next() * pieces.length)]!;
  let read = 0;
  for (let number = 0; number < cases(20_000); number += 1) {
    const fields = Array.from({ length: 5 }, () => '*');
    const noise = Array.from({ length: 1 + Math.floor(next() * 4) }, one).join('');
    fields[Math.floor(next() * 5)] = noise;
    const cron = fields.join(' ');
    const expected = isRead(cron);
    assert.is(isReadHere(cron), expected, cron);
    if (expected) read += 1;
    try {
      parseCron(cron);
    } catch (error) {
      assert.match((error as Error).message, /^cannot be read: (?:minute|hour|day|month) ?/, cron);
    }
  }
  assert.ok(read > cases(1_000), `${read} could be read`);
});

agreement('what is made to be right is read', () => {
  const next = randomFrom(8);
  for (let number = 0; number < cases(2_000); number += 1) {
    const { text } = cronCase(next);
    assert.ok(isReadHere(text), text);
  }
});

reading.run();
agreement.run();
