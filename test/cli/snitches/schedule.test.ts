/** `snitch schedule check`: the next runs of a schedule that nothing relies on yet. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireScheduleCheck } from '../../../src/api/wire-explanation.ts';
import { type Commands, withCase } from '../with-daemon.ts';

const test = suite('schedule check');
let on: Commands;

test.before(async () => {
  on = await withCase();
});
test.after(() => on.end());

const check = (...args: string[]) => on.run('schedule', 'check', ...args);

test('shows the next runs with their deadlines on the clock of the zone', async () => {
  const from = ['--from', '2027-10-29T00:00:00Z'];
  const { code, stdout, stderr } = await check(
    '--cron',
    '0 3 * * 1-5',
    '--timezone',
    'Europe/Berlin',
    ...from,
  );
  assert.is(code, 0, stderr);
  const [heading, first, second, ...more] = stdout.trimEnd().split('\n');
  assert.match(heading ?? '', /^DUE +DEADLINE +WHEN$/);
  assert.match(first ?? '', /^Fri 2027-10-29 03:00 \+02:00 +Fri 2027-10-29 03:15 \+02:00 +in /);
  assert.match(second ?? '', /^Mon 2027-11-01 03:00 \+01:00 +Mon 2027-11-01 03:15 \+01:00 +in /);
  assert.is(more.length, 3);
  assert.is(stderr, 'in Europe/Berlin, with 15 min of grace; weekly for clients that only know intervals\n');
});

test('OnCalendar, every and grace; for programs as the API has it', async () => {
  const { grace, runs } = await on.json<WireScheduleCheck>(
    ...['schedule', 'check', '--calendar', '*-*~1 23:00:30', '--grace', '2h', '--from', '2027-02-01'],
  );
  assert.is(grace, 7_200);
  assert.equal(runs[0], { at: '2027-02-28T23:00:30.000Z', deadline: '2027-03-01T01:00:30.000Z' });
  const every = await check('--every', '90m', '--from', '2027-02-01', '-q');
  assert.equal([every.stdout.split('\n')[0], every.stderr], ['2027-02-01T01:30:00.000Z', '']);
});

test('what is wrong is said in words', async () => {
  const wrong = await check('--cron', '0 25 * * *');
  assert.is(wrong.code, 1);
  assert.match(wrong.stderr, /schedule: cannot be read: hour "25": "25" is not a number from 0 to 23/);
  const zone = await check('--every', '90m', '--timezone', 'Mars/Base');
  assert.match(zone.stderr, /timezone: is not a time zone/);
  for (const args of [
    [],
    ['--cron', '@daily', '--every', '1d'],
    ['--every', 'often'],
    ['--every', '1d', '--grace', '7'],
  ]) {
    const { code, stderr } = await check(...args);
    assert.is(code, 2, stderr);
  }
});

test.run();
