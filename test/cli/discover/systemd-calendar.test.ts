/** How often systemd timers elapse. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { scheduleOfTimer } from '../../../src/cli/discover/systemd/schedule.ts';
import { parseUnit } from '../../../src/cli/discover/systemd/units.ts';
import { parseSpan } from '../../../src/cli/schedule/calendar.ts';
import { intervalForGap } from '../../../src/cli/schedule/schedule.ts';

const test = suite('timers of systemd');

function intervalOf(...lines: string[]): string | null {
  return intervalForGap(scheduleOfTimer(parseUnit(`[Timer]\n${lines.join('\n')}\n`)).gap);
}

test('calendars come down to intervals', () => {
  const table: [string, string | null][] = [
    ['minutely', '1_minute'],
    ['*:0/15', '15_minute'],
    ['*:00/7:30', '10_minute'],
    ['hourly', 'hourly'],
    ['*-*-* 00/2:00:00 UTC', '2_hour'],
    ['*-*-* 6,18:00', '12_hour'],
    ['daily', 'daily'],
    ['03:00', 'daily'],
    ['10:00:00 Europe/Berlin', 'daily'],
    ['*-*-* 8..18:00', 'daily'],
    ['Mon..Fri 10:00', 'weekly'],
    ['Fri..Mon 8:00', 'weekly'],
    ['Sat,Mon..Wed *-*-* 0/4:30', 'weekly'],
    ['Sunday', 'weekly'],
    ['*-*-1/7', 'weekly'],
    ['weekly', 'weekly'],
    ['monthly', 'monthly'],
    ['*-*~01', 'monthly'],
    ['Mon *-*-1..7 03:00', null],
    ['quarterly', null],
    ['*-2~3 0:00', null],
  ];
  for (const [calendar, interval] of table) {
    assert.is(intervalOf(`OnCalendar=${calendar}`), interval, calendar);
  }
});

test('several settings, delays, and counting from the last time', () => {
  assert.is(intervalOf('OnCalendar=06:00', 'OnCalendar=18:00'), '12_hour');
  assert.is(intervalOf('OnCalendar=weekly', 'OnCalendar=', 'OnCalendar=daily'), 'daily');
  assert.is(intervalOf('OnBootSec=15min', 'OnUnitActiveSec=1d'), 'daily');
  assert.is(intervalOf('OnUnitInactiveSec=1h 30min'), '2_hour');
  assert.is(intervalOf('OnUnitActiveSec=90'), '2_minute');
  assert.is(intervalOf('OnUnitActiveSec=50min', 'RandomizedDelaySec=20m'), '2_hour');
  assert.is(intervalOf('OnCalendar=daily', 'RandomizedDelaySec=12h'), 'daily', 'one run on every day');
  assert.is(intervalOf('OnCalendar=weekly', 'RandomizedDelaySec=1h'), 'weekly');
  assert.is(intervalOf('OnCalendar=Sun 23:30', 'RandomizedDelaySec=1h'), 'monthly', 'a week may have none');
  assert.is(intervalOf('OnCalendar=monthly', 'RandomizedDelaySec=1d'), 'monthly');
  assert.is(intervalOf('OnCalendar=*:55', 'RandomizedDelaySec=10m'), '2_hour', 'an hour may have none');
  assert.is(intervalOf('OnCalendar=20:00', 'RandomizedDelaySec=12h'), 'weekly', 'a day may have none');
});

test('what is not understood says why', () => {
  const table: [string, RegExp][] = [
    ['OnBootSec=5min', /only after boot/],
    ['OnCalendar=2031-01-01', /certain years/],
    ['OnCalendar=*-*-* 25:00', /"25"/],
    ['OnCalendar=noon', /"noon"/],
    ['OnCalendar=constructor', /"constructor"/],
    ['OnCalendar=*-13-01', /"13"/],
    ['OnCalendar=*:0/0', /"0\/0"/],
    ['OnUnitActiveSec=soon', /"soon"/],
  ];
  for (const [line, reason] of table) {
    assert.throws(
      () => intervalOf(line),
      (error: Error) => reason.test(error.message),
      line,
    );
  }
});

test('lengths of time', () => {
  const table: [string, number][] = [
    ['90', 1.5],
    ['1h 30min', 90],
    ['2hours', 120],
    ['1d12h', 2_160],
    ['0.5h', 30],
    ['2weeks', 20_160],
    ['500ms', 1 / 120],
  ];
  for (const [text, minutes] of table) assert.is(parseSpan(text), minutes, text);
  for (const text of ['', 'x', '1x', '1h x', '-5']) assert.throws(() => parseSpan(text), undefined, text);
});

test('unit files: comments, continued lines, sections', () => {
  const text = '# c\n[Unit]\nDescription=a \\\n# between\n  b\n\n[Timer]\n; c\nOnCalendar = daily \nEmpty=\n';
  assert.equal(parseUnit(text), [
    { section: 'Unit', name: 'Description', value: 'a    b' },
    { section: 'Timer', name: 'OnCalendar', value: 'daily' },
    { section: 'Timer', name: 'Empty', value: '' },
  ]);
});

test('a comment ends with its line, also if that ends with a backslash', () => {
  const text =
    '[Service]\n#ExecStart=/old \\\n#  --all\nUser=ann\n  ; more \\\nExecStart=/new \\\n  # why\n  --all\n';
  assert.equal(
    parseUnit(text).map(({ name, value }) => [name, value.replace(/\s+/g, ' ')]),
    [
      ['User', 'ann'],
      ['ExecStart', '/new --all'],
    ],
  );
});

test.run();
