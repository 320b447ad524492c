/** The parsers behind `snitch discover`: crontabs, their schedules, and the commands in them. */
import { execFileSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type CronJob, parseCrontab } from '../../../src/cli/discover/crontab/lines.ts';
import { wrapCommand, wrappedLine } from '../../../src/cli/discover/crontab/wrap.ts';
import { nameOfCommand } from '../../../src/cli/discover/names.ts';
import { parseCronSchedule } from '../../../src/cli/schedule/cron.ts';
import { intervalForGap, longestGap } from '../../../src/cli/schedule/schedule.ts';
import { temporaryDirectory } from '../snitch-process.ts';

const test = suite('crontabs');

function intervalOf(schedule: string): string | null {
  const gap = longestGap([parseCronSchedule(schedule)]);
  return gap === null ? null : intervalForGap(gap);
}

test('a space that is none for cron, and a byte order mark, are told and not taken for a job', () => {
  const reasons = (text: string, system: boolean) =>
    parseCrontab(text, system).map((line) => (line.kind === 'unknown' ? line.reason : line.command));
  const runs = 'so cron does not run this line, or any line of the file';
  assert.equal(reasons('0 3\u00a0* * * root /opt/a\n0 4 * * * root /opt/b\u00a0c\n', true), [
    `it has a space that cron does not recognise (U+00A0), ${runs}`,
    '/opt/b\u00a0c',
  ]);
  assert.equal(reasons('0 3 * * *\u3000/opt/a\n@daily\t/opt/b\n\f\n', false), [
    `it has a space that cron does not recognise (U+3000), ${runs}`,
    '/opt/b',
    'it is neither a job nor a variable',
  ]);
  for (const first of ['# mine', '0 3 * * * root /opt/a']) {
    assert.equal(reasons(`\ufeff${first}\n5 3 * * * root /opt/b\n`, true), [
      `the file begins with a byte order mark, ${runs}`,
      '/opt/b',
    ]);
  }
});

test('the interval is the shortest that is not shorter than the longest gap', () => {
  const table: [string, string | null][] = [
    ['* * * * *', '1_minute'],
    ['*/2 * * * *', '2_minute'],
    ['*/4 * * * *', '5_minute'],
    ['*/5 * * * *', '5_minute'],
    ['*/7 * * * *', '10_minute'],
    ['0,15,30,45 * * * *', '15_minute'],
    ['0-59/20 * * * *', '30_minute'],
    ['*/45 * * * *', 'hourly'],
    ['17 * * * *', 'hourly'],
    ['@hourly', 'hourly'],
    ['0 */2 * * *', '2_hour'],
    ['0 */5 * * *', '6_hour'],
    ['30 1,9,17 * * *', '8_hour'],
    ['0 6,18 * * *', '12_hour'],
    ['0 8-18 * * *', 'daily'],
    ['25 6 * * *', 'daily'],
    ['@daily', 'daily'],
    ['@midnight', 'daily'],
    ['0 9 * * 1-5', 'weekly'],
    ['0 9 * * Mon-Fri', 'weekly'],
    ['0 0 */2 * *', 'weekly'],
    ['47 6 * * 7', 'weekly'],
    ['47 6 * * sun', 'weekly'],
    ['@weekly', 'weekly'],
    ['0 0 1,15 * *', 'monthly'],
    ['52 6 1 * *', 'monthly'],
    ['0 0 1 JAN-DEC *', 'monthly'],
    ['@monthly', 'monthly'],
    ['0 0 13 * 5', 'weekly'],
    ['0 0 1 */2 *', null],
    ['0 0 31 * *', null],
    ['0 0 29 2 *', null],
    ['@yearly', null],
    ['0 0 30 2 *', null],
  ];
  for (const [schedule, interval] of table) assert.is(intervalOf(schedule), interval, schedule);
});

test('a schedule that is not understood says why', () => {
  const table: [string, RegExp][] = [
    ['@reboot', /only at boot/],
    ['@every_minute', /no word/],
    ['60 * * * *', /"60" is not understood as a minute/],
    ['* 24 * * *', /as a hour/],
    ['* * 0 * *', /day of the month/],
    ['* * * 13 *', /month/],
    ['* * * * 8', /day of the week/],
    ['5-1 * * * *', /minute/],
    ['*/0 * * * *', /minute/],
    ['5/15 * * * *', /crons differ/],
    ['1-2-3 * * * *', /minute/],
    ['0~59 * * * *', /minute/],
    ['? * * * *', /minute/],
    [', * * * *', /minute/],
    ['* * * * monday', /day of the week/],
  ];
  for (const [schedule, reason] of table) {
    assert.throws(
      () => parseCronSchedule(schedule),
      (error: Error) => reason.test(error.message),
      schedule,
    );
  }
});

const SYSTEM = `# a comment
SHELL=/bin/bash
PATH = /usr/bin:/bin
"MAILTO"="root"

17 *\t* * *\troot    cd / && run-parts --report /etc/cron.hourly
  @daily  www-data  /usr/bin/report "50\\%" a%line one%line two
-*/5 * * * * root quiet
0 3 * * *
0 3 * * * root
rubbish here
SHELL="/bin/sh"
0 3 * * * root after\r
`;

test('lines of a system crontab: users, words, variables, input, and what they are not', () => {
  const found = parseCrontab(SYSTEM, true);
  const jobs = found.filter((one): one is CronJob => one.kind === 'job');
  assert.equal(
    jobs.map(({ line, schedule, user, command, input, shell }) => [
      line,
      schedule,
      user,
      command,
      input,
      shell,
    ]),
    [
      [6, '17 *\t* * *', 'root', 'cd / && run-parts --report /etc/cron.hourly', '', '/bin/bash'],
      [7, '@daily', 'www-data', '/usr/bin/report "50\\%" a', '%line one%line two', '/bin/bash'],
      [8, '*/5 * * * *', 'root', 'quiet', '', '/bin/bash'],
      [13, '0 3 * * *', 'root', 'after', '', '/bin/sh'],
    ],
  );
  assert.equal(
    found.flatMap((one) => (one.kind === 'unknown' ? [one.line] : [])),
    [9, 10, 11],
  );
});

test('a user’s crontab names no user', () => {
  const [job] = parseCrontab('0 3 * * * root backup\n', false);
  assert.is(job?.kind === 'job' && job.command, 'root backup');
});

test('the wrapper leaves the rest of the line as it was', () => {
  const [, job] = parseCrontab(SYSTEM, true).filter((one): one is CronJob => one.kind === 'job');
  const { before, after } = wrappedLine(SYSTEM, job!, "snitch exec 'http://h/a%20b' --");
  assert.is(before, SYSTEM.split('\n')[6]);
  assert.is(
    after,
    `  @daily  www-data  snitch exec 'http://h/a\\%20b' -- /usr/bin/report "50\\%" a%line one%line two`,
  );
});

/** What cron passes to the shell. */
function asCronReads(command: string): string {
  return command.replaceAll('\\%', '%');
}

test('a wrapped command does what the command did', () => {
  using directory = temporaryDirectory();
  const program = join(directory.path, 'snitch');
  writeFileSync(program, '#!/bin/sh\n[ "$1 $2 $3" = "exec TOKEN --" ] || exit 99\nshift 3\nexec "$@"\n');
  chmodSync(program, 0o755);
  const env = { PATH: `${directory.path}:/usr/bin:/bin`, HOME: '/root', V: 'a  b' };
  const run = (command: string) =>
    execFileSync('/bin/sh', ['-c', `${asCronReads(command)}\necho "exit $?"`], { env, encoding: 'utf8' });
  const commands = [
    'echo plain words',
    `echo 'single $V' "double $V" un\\ quoted \\$V`,
    `echo "it's" 'say "x"'`,
    'echo one; echo two',
    'false || echo "failed: $?"',
    'cd / && pwd',
    'V=changed sh -c \'echo "$V"\'',
    'echo out 2>&1 > /dev/null',
    'sh -c "echo err >&2" 2>&1',
    'echo a | tr a b',
    'echo "$(echo nested; echo `echo deep`)"',
    'for i in 1 2; do echo $i; done',
    '[ -d / ] && echo yes',
    '> /dev/null echo silent',
    'test -x /nonexistent || { cd / && echo "it\'s"; }',
    'echo 100\\%',
    "printf '\\%s;\\n' \"a'b\"",
    'echo # comment && echo no',
    'exit 3',
    'sh -c "exit 4"',
    'true & wait; echo done',
    'umask 077; umask',
    '(echo sub)',
    '! true',
    'echo * | head -c 0',
  ];
  for (const command of commands) {
    const wrapped = wrapCommand({ command, shell: '/bin/sh' }, 'snitch exec TOKEN --');
    assert.match(wrapped, /^snitch exec TOKEN -- /);
    // A subshell, so that the status of a command that exits the shell is seen as well.
    assert.is(run(`(${wrapped}\n)`), run(`(${command}\n)`), command);
  }
  directory.remove();
});

test('simple commands stay as they are, the others go to the crontab’s shell', () => {
  const wrap = (command: string) => wrapCommand({ command, shell: '/bin/bash' }, 'W --');
  assert.is(wrap('/opt/backup.sh --all > /dev/null 2>&1'), 'W -- /opt/backup.sh --all > /dev/null 2>&1');
  assert.is(wrap('x "a; b" \'c | d\' e\\;f'), 'W -- x "a; b" \'c | d\' e\\;f');
  assert.is(wrap("a && echo 'b'"), `W -- /bin/bash -c 'a && echo '\\''b'\\'''`);
});

test('a snitch is called after the program that its job comes down to', () => {
  const table: [string, string][] = [
    ['/usr/local/bin/backup.sh --all', 'backup'],
    ['cd / && run-parts --report /etc/cron.hourly', 'cron.hourly'],
    ['test -x /usr/sbin/anacron || { cd / && run-parts --report /etc/cron.daily; }', 'cron.daily'],
    ['[ -x /usr/bin/certbot ] && certbot -q renew', 'certbot'],
    ['command -v debian-sa1 > /dev/null && debian-sa1 1 1', 'debian-sa1'],
    ['nice -n 19 ionice -c3 /opt/index.py /srv', 'index'],
    ['flock -n /var/lock/sync.lock rsync -a a b', 'rsync'],
    ['sudo -u www php /var/www/cron.php', 'cron'],
    ['MAILTO=x python3 -m tool', 'tool'],
    ['/usr/bin/env bash -c "/opt/run all"', 'run'],
    ['> /tmp/log 2>&1 mysqldump --all', 'mysqldump'],
    ['timeout 30 curl -fsS https://example.com', 'curl'],
    ['if [ -x /usr/sbin/rotate ]; then /usr/sbin/rotate --all; fi', 'rotate'],
    ['if ! pgrep -x sync; then nice sync.sh; else true; fi', 'sync'],
    ['for host in a b; do rsync -a /srv $host:; done', 'rsync'],
    ['while read -r f; do /opt/convert "$f"; done < list', 'convert'],
    ['until /opt/fetch.py; do sleep 5; done', 'fetch'],
    ['! /opt/check', 'check'],
    ['case $1 in a) /opt/a;; esac', 'job'],
    ['test -d /x && { cd /x; ./run; }', 'run'],
    ['if true; then :; fi', 'job'],
    ['cd /srv', 'job'],
    ['bash', 'bash'],
  ];
  for (const [command, name] of table) assert.is(nameOfCommand(command), name, command);
});

test.run();
