/** The schedules that snitches get for jobs of crontabs, anacron and timers. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { dueOfAnacronJob } from '../../../src/cli/discover/anacron/due.ts';
import { parseAnacrontab } from '../../../src/cli/discover/anacron/lines.ts';
import { dueOfCronJob } from '../../../src/cli/discover/crontab/due.ts';
import { parseCrontab } from '../../../src/cli/discover/crontab/lines.ts';
import { wrappedLine } from '../../../src/cli/discover/crontab/wrap.ts';
import type { Due, Terms } from '../../../src/cli/discover/due/due.ts';
import { type HostClock, readClock } from '../../../src/cli/discover/host/clock.ts';
import { checksIn, referencesIn } from '../../../src/cli/discover/references.ts';
import { dueOfTimer } from '../../../src/cli/discover/systemd/due.ts';
import { parseUnit } from '../../../src/cli/discover/systemd/units.ts';
import { joinCalendars, joinSchedules } from '../../../src/cli/schedule/several.ts';
import { instantsAfter, readSchedule } from '../../../src/core/schedule/schedule.ts';
import { temporaryDirectory } from '../snitch-process.ts';

const test = suite('when jobs of a host are due');

const NOW = Date.UTC(2026, 10, 22, 12);
const TERMS: Terms = { now: NOW, grace: null };
const BERLIN: HostClock = { timezone: 'Europe/Berlin', doubt: null, heedsCronTz: true };

const [MINUTE, HOUR, DAY] = [60, 3_600, 86_400];

function cronDue(text: string, clock = BERLIN, terms = TERMS): Due {
  const job = parseCrontab(text, false).find(({ kind }) => kind === 'job');
  assert.is(job?.kind, 'job', text);
  if (job?.kind !== 'job') throw new Error(text);
  return dueOfCronJob(job, clock, terms);
}

function timerDue(...lines: string[]): Due {
  return dueOfTimer(parseUnit(`[Timer]\n${lines.join('\n')}\n`), BERLIN, TERMS);
}

function short({ schedule, timezone, grace }: Due): unknown[] {
  return [schedule, timezone, grace];
}

test('a line of a crontab keeps its expression, in the zone of the host', () => {
  const table: [string, string, number][] = [
    ['0 3 * * 1-5 x', '0 3 * * 1-5', HOUR],
    ['17 *\t* * * x', '17 * * * *', 6 * MINUTE],
    ['-*/5 * * * * x', '*/5 * * * *', MINUTE],
    ['* * * * * x', '* * * * *', MINUTE],
    ['@daily x', '@daily', HOUR],
    ['0 9 * Jan-Dec Mon-Fri x', '0 9 * Jan-Dec Mon-Fri', HOUR],
    ['0 0 29 2 * x', '0 0 29 2 *', HOUR],
    ['@every_minute x', '* * * * *', MINUTE],
    ['10,20 3 * * * x', '10,20 3 * * *', MINUTE],
  ];
  for (const [line, cron, grace] of table) {
    assert.equal(short(cronDue(`${line}\n`)), [{ cron }, 'Europe/Berlin', grace], line);
    assert.equal(cronDue(`${line}\n`).remarks, [], line);
  }
  assert.is(cronDue('0 3 * * * x\n', BERLIN, { now: NOW, grace: 7 }).grace, 7);
});

test('CRON_TZ decides from its line on, where the cron of the host heeds it; TZ does not', () => {
  const zoneOf = (text: string, clock = BERLIN) => cronDue(text, clock).timezone;
  assert.is(zoneOf('CRON_TZ=America/New_York\n0 3 * * * x\n'), 'America/New_York');
  assert.is(zoneOf('CRON_TZ="asia/tokyo"\n0 3 * * * x\n'), 'Asia/Tokyo');
  assert.is(zoneOf('CRON_TZ=Asia/Tokyo\nCRON_TZ=\n0 3 * * * x\n'), 'Europe/Berlin');
  assert.is(zoneOf('0 3 * * * x\nCRON_TZ=Asia/Tokyo\n'), 'Europe/Berlin');
  const debian = { ...BERLIN, heedsCronTz: false };
  const ignored = cronDue('CRON_TZ=Asia/Tokyo\n0 3 * * * x\n', debian);
  assert.is(ignored.timezone, 'Europe/Berlin');
  assert.match(ignored.remarks[0] ?? '', 'ignores CRON_TZ');
  const own = cronDue('TZ=Asia/Tokyo\n0 3 * * * x\n');
  assert.is(own.timezone, 'Europe/Berlin');
  assert.match(own.remarks[0] ?? '', 'TZ=Asia/Tokyo is only for the job');
  assert.throws(() => cronDue('CRON_TZ=Mars/Base\n0 3 * * * x\n'), /Mars\/Base is not a time zone/);
});

test('a time that cron chooses itself is awaited from the first on, until the last', () => {
  assert.equal(short(cronDue('0~30 4 * * * x\n')), [
    { cron: '0 4 * * *' },
    'Europe/Berlin',
    HOUR + 30 * MINUTE,
  ]);
  assert.is(cronDue('10~ 1~3 * * * x\n').lateness, 49 * MINUTE + 2 * HOUR);
  assert.throws(() => cronDue('30~10 4 * * * x\n'), /runs backward/);
});

test('what nobody can wait for is told, and what the server would not take becomes an interval', () => {
  assert.throws(() => cronDue('@reboot x\n'), /only at boot/);
  assert.throws(() => cronDue('0 0 30 2 * x\n'), /no such day/);
  // No cron daemon accepts these, even if the server would.
  for (const line of ['0 0 L * * x', '0 3 * * 5#2 x', '5/15 * * * * x', '0 24 * * * x']) {
    assert.throws(() => cronDue(`${line}\n`), /not understood|crons differ/, line);
  }
  const { schedule, interval, remarks } = cronDue('*/90 * * * * x\n');
  assert.equal([schedule, interval], [null, 'hourly']);
  assert.match(remarks[0] ?? '', 'by the interval hourly, because no schedule can express it');
});

test('lines that cron does not run as they are meant say so', () => {
  assert.match(cronDue('0 3 * * * x').remarks[0] ?? '', 'the file does not end with a newline');
  assert.match(cronDue('0 3 * * * x\r\n').remarks[0] ?? '', 'carriage return');
  const [option] = parseCrontab('0 3 * * * -q /opt/x\n', false);
  assert.is(option?.kind, 'unknown');
});

test('a comment keeps a job from being watched: above its line, or at its end', () => {
  const text = [
    '# snitch: ignore\n1 1 * * * a\n2 2 * * * b\n',
    '3 3 * * * c # snitch: ignore\n4 4 * * * d "# snitch: ignored"\n',
    '# why\n#snitch:ignore\n# more\n5 5 * * * e\n# snitch: ignore\n\n6 6 * * * f\n',
  ].join('');
  assert.equal(
    parseCrontab(text, false).map((one) => one.kind === 'job' && [one.command[0], one.ignored]),
    [
      ['a', true],
      ['b', false],
      ['c', true],
      ['d', false],
      ['e', false],
      ['f', false],
    ],
  );
});

test('the snitch that a command names: by address, token or name, and not what belongs to an option', () => {
  const TOKEN = 'abcdefghijklmnopqrstuvwxyz';
  const table: [string, string[]][] = [
    [`/usr/bin/snitch exec ${TOKEN} -- /opt/x check-in y`, [TOKEN]],
    ['snitch exec --output always --timeout=2h nightly -- x', ['nightly']],
    ['snitch exec "mail queue" -- x', ['mail queue']],
    ['/bin/sh -c \'exec snitch check-in http://h/c/abc123def -s "$s"\'', ['abc123def']],
    ['x && curl -fsS https://h/c/abc123def?s=$?', ['abc123def']],
    ['x; snitch check-in nightly -m "all done"', ['nightly']],
    ['snitch check-in -q -m done nightly', ['nightly']],
    ["snitch exec --value bytes='du -sb /b | cut -f1' --value-timeout 2m nightly -- x", ['nightly']],
    ['snitch exec --create --cron "0 3 * * *" --tag=db --notes "a b" nightly-dump -- x', ['nightly-dump']],
    [`/bin/bash -c 'snitch exec ${TOKEN} -- cd /x'`, [TOKEN]],
    ["sh -c 'snitch check-in -v rows=3 nightly'", ['nightly']],
    ['snitch --server home exec nightly -- /opt/x', []],
    ['snitch --server=home check-in nightly', []],
    ['snitch exec --server home nightly -- /opt/x', []],
    ['SNITCH_TOKEN=x snitch exec -- /opt/x', []],
    ['snitch exec --token-file /etc/t -- /opt/x', []],
    ['snitch exec --unheard-of yes -- /opt/x', []],
    ['snitch exec $TOKEN -- /opt/x', []],
  ];
  for (const [command, references] of table) {
    assert.ok(checksIn(command), command);
    assert.equal(referencesIn(command), references, command);
  }
  const hostile = `1 1 * * * ${'https://'.repeat(4_000)}\n`;
  const [found] = parseCrontab(hostile, false);
  assert.is(found?.kind === 'unknown' && found.reason, 'it is too long for cron');
});

test('a timer keeps its expression, and its delays become grace', () => {
  const table: [string[], unknown, string | null, number][] = [
    [['OnCalendar=daily'], { calendar: 'daily' }, 'Europe/Berlin', HOUR + MINUTE],
    [['OnCalendar=Mon..Fri 03:00'], { calendar: 'Mon..Fri 03:00' }, 'Europe/Berlin', HOUR + MINUTE],
    [['OnCalendar=03:00 Asia/Tokyo'], { calendar: '03:00 Asia/Tokyo' }, null, HOUR + MINUTE],
    [
      ['OnCalendar=daily', 'RandomizedDelaySec=1h', 'AccuracySec=30min', 'FixedRandomDelay=yes'],
      { calendar: 'daily' },
      'Europe/Berlin',
      2.5 * HOUR,
    ],
    [['OnCalendar=hourly', 'AccuracySec=1us'], { calendar: 'hourly' }, 'Europe/Berlin', 6 * MINUTE + 1],
    [
      ['OnCalendar=06:00', 'OnCalendar=18:00'],
      { calendar: '*-*-* 06,18:00:00' },
      'Europe/Berlin',
      HOUR + MINUTE,
    ],
    [['OnCalendar=2020-01-01', 'OnCalendar=daily'], { calendar: 'daily' }, 'Europe/Berlin', HOUR + MINUTE],
    [
      ['OnCalendar=weekly', 'OnCalendar=', 'OnCalendar=daily'],
      { calendar: 'daily' },
      'Europe/Berlin',
      HOUR + MINUTE,
    ],
    [['OnBootSec=15min', 'OnUnitActiveSec=1d'], { every: DAY }, null, HOUR + MINUTE],
    [['OnUnitInactiveSec=1h 30min'], { every: 5_400 }, null, 9 * MINUTE + MINUTE],
    [['OnCalendar=weekly', 'OnUnitActiveSec=6h'], { every: 6 * HOUR }, null, 36 * MINUTE + MINUTE],
    [['OnCalendar=hourly', 'OnUnitActiveSec=1d'], { calendar: 'hourly' }, 'Europe/Berlin', 7 * MINUTE],
    [['OnUnitActiveSec=10s'], { every: MINUTE }, null, 2 * MINUTE],
    [['OnCalendar=*:*:0/10'], { calendar: '*:*:00' }, 'Europe/Berlin', 2 * MINUTE],
  ];
  for (const [lines, schedule, timezone, grace] of table) {
    assert.equal(short(timerDue(...lines)), [schedule, timezone, grace], lines.join());
  }
});

test('timers that nobody can wait for say why', () => {
  const table: [string[], RegExp][] = [
    [['OnBootSec=5min'], /only after boot/],
    [['OnCalendar=2020-01-01'], /never be due again/],
    [['OnCalendar=noon'], /"noon"/],
    [['OnUnitActiveSec=infinity'], /"infinity"/],
    [['OnUnitActiveSec=3y'], /366 days/],
    [['OnCalendar=daily', 'RandomizedDelaySec=soon'], /"soon"/],
  ];
  for (const [lines, reason] of table) {
    assert.throws(
      () => timerDue(...lines),
      (error: Error) => reason.test(error.message),
      lines.join(),
    );
  }
});

test('several expressions become one that means all of them, else the longest time between two runs', () => {
  const joined = (...all: string[]) => joinCalendars(all, 'UTC', NOW).rule;
  assert.equal(joined('06:00', '18:00', '12:00'), { calendar: '*-*-* 06,18,12:00:00' });
  assert.equal(joined('Mon 03:00', 'Thu 03:00'), { calendar: 'Mon,Thu *-*-* 03:00:00' });
  assert.equal(joined('*:00', '*:30'), { calendar: '*-*-* *:00,30:00' });
  assert.equal(joined('03:00', '03:00'), { calendar: '03:00' });
  const merged = joined('06:00', '18:00', '12:00') as { calendar: string };
  const runs = instantsAfter(readSchedule(merged, 'UTC'), NOW, 3).map((at) => new Date(at).getUTCHours());
  assert.equal(runs, [18, 6, 12]);
  assert.equal(joined('Mon..Fri 22:30', 'Sat,Sun 20:00'), { every: 26.5 * HOUR });
  assert.equal(joined('06:00', '18:30'), { every: 12.5 * HOUR });
  assert.equal(joined('*:*', 'Sun 20:00'), { every: MINUTE });
  assert.equal(joined('06:00', '06:00 Asia/Tokyo'), { every: 15 * HOUR });
  // In Berlin the night in which clocks go back is an hour longer.
  assert.equal(joinCalendars(['01:00', '23:10'], 'Europe/Berlin', NOW).rule, {
    every: 23 * HOUR + 10 * MINUTE,
  });
  const cron = [{ cron: '0 22 * * 1-5' }, { cron: '0 20 * * 0,6' }];
  assert.equal(joinSchedules(cron, 'UTC', NOW).rule, { every: 26 * HOUR });
  assert.throws(
    () => joinSchedules([{ cron: '0 25 * * *' }, { cron: '* * * * *' }], 'UTC', NOW),
    /hour "25"/,
  );
});

const ANACRONTAB = `SHELL=/bin/bash
PATH=/sbin:/bin
RANDOM_DELAY=45
START_HOURS_RANGE=3-22
1\t5\tcron.daily\tnice run-parts /etc/cron.daily
7 25 cron.weekly echo 50% done
@monthly 45 cron.monthly run-parts /etc/cron.monthly
# snitch: ignore
@daily 5 mine x
1 5 long a \\
1 5 part b
0 5 zero x
rubbish
`;

test('anacron: its period, delays and hours', () => {
  const found = parseAnacrontab(ANACRONTAB);
  const jobs = found.filter((one) => one.kind === 'job');
  assert.equal(
    jobs.map(({ line, id, period, delay, hours, ignored }) => [
      line,
      id,
      period,
      delay,
      hours.from,
      hours.to,
      ignored,
    ]),
    [
      [5, 'cron.daily', 1, 50, 3, 22, false],
      [6, 'cron.weekly', 7, 70, 3, 22, false],
      [7, 'cron.monthly', 31, 90, 3, 22, false],
      [9, 'mine', 1, 50, 3, 22, true],
    ],
  );
  assert.equal(
    found.flatMap((one) => (one.kind === 'unknown' ? [[one.line, one.reason]] : [])),
    [
      [10, 'it continues on the next line, which is not read'],
      [12, '0 is not a period that can be read here'],
      [13, 'it is neither a job nor a variable'],
    ],
  );
  const dues = jobs.map((job) => dueOfAnacronJob(job, BERLIN, TERMS));
  // The hours until 22:00, the delays, the hour in which cron looks, and an hour for the run.
  assert.equal(short(dues[0]!), [{ cron: '0 3 * * *' }, 'Europe/Berlin', 19 * HOUR + 50 * MINUTE + 2 * HOUR]);
  assert.equal(short(dues[1]!), [{ every: 7 * DAY }, null, 19 * HOUR + 70 * MINUTE + 2 * HOUR]);
  assert.is(dues[0]!.lateness, HOUR + 50 * MINUTE);
  // A percent sign has no special meaning for anacron.
  const { after } = wrappedLine(ANACRONTAB, jobs[1]!, "'/opt/a%b/snitch' exec T --");
  assert.is(after, "7 25 cron.weekly '/opt/a%b/snitch' exec T -- echo 50% done");
});

test('the clock of a host: /etc/localtime, then /etc/timezone, and what its cron makes of CRON_TZ', () => {
  using directory = temporaryDirectory();
  const root = directory.path;
  mkdirSync(join(root, 'etc'));
  mkdirSync(join(root, 'usr/sbin'), { recursive: true });
  assert.equal(readClock(root, null), { timezone: 'UTC', doubt: null, heedsCronTz: true });
  writeFileSync(join(root, 'etc/localtime'), 'TZif2');
  assert.match(readClock(root, null).doubt ?? '', '--timezone');
  writeFileSync(join(root, 'etc/timezone'), 'Asia/Tokyo\n');
  assert.equal(readClock(root, null), { timezone: 'Asia/Tokyo', doubt: null, heedsCronTz: true });
  const other = join(root, 'other');
  mkdirSync(join(other, 'etc'), { recursive: true });
  symlinkSync('../usr/share/zoneinfo/America/Argentina/Buenos_Aires', join(other, 'etc/localtime'));
  assert.is(readClock(other, null).timezone, 'America/Argentina/Buenos_Aires');
  assert.is(readClock(other, 'europe/berlin').timezone, 'Europe/Berlin');
  for (const file of ['etc/debian_version', 'usr/sbin/cron']) writeFileSync(join(root, file), '');
  assert.is(readClock(root, null).heedsCronTz, false);
  writeFileSync(join(root, 'usr/sbin/crond'), '');
  assert.is(readClock(root, null).heedsCronTz, true);
});

test.run();
