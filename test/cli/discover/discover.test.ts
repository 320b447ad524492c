/** `snitch discover`: what it proposes, and what it writes. Time limit: 120 s. */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireCheckIn } from '../../../src/api/wire.ts';
import { SNITCH } from '../exec/exec-process.ts';
import { onTerminal, plain } from '../on-terminal.ts';
import { type Commands, withCase } from '../with-daemon.ts';

interface Context extends Commands {
  root: string;
  put(path: string, text: string, mode?: number): void;
  read(path: string): string;
  discover(...flags: string[]): ReturnType<Commands['run']>;
}

interface Found {
  proposals: {
    name: string;
    interval: string;
    where: string;
    user: string | null;
    token: string | null;
    line?: string;
    drop_in?: { path: string; text: string };
  }[];
  watched: { where: string }[];
  passed_over: { where: string; what: string; reason: string }[];
}

const test = suite<Context>('snitch discover');

test.before.each(async (context) => {
  const commands = await withCase();
  const root = join(commands.daemon.dataDir, 'root');
  mkdirSync(root);
  Object.assign(context, commands, {
    root,
    put: (path: string, text: string, mode = 0o644) => {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
      chmodSync(join(root, path), mode);
    },
    read: (path: string) => readFileSync(join(root, path), 'utf8'),
    discover: (...flags: string[]) => commands.run('discover', '--root', root, '--host', 'web1', ...flags),
  });
});
test.after.each((context) => context.end());

const CRONTAB = `SHELL=/bin/sh
# m h dom mon dow user command
17 * * * * root cd / && run-parts --report /etc/cron.hourly
25 6 * * * root /opt/backup.sh --all > /dev/null
@reboot root /opt/once
0 0 1 1 * root /opt/yearly
5 * * * * root /usr/bin/snitch exec abc -- /opt/known
6 * * * * root snitch exec abc -- /opt/never-runs
not a line
`;

function furnish({ put, root }: Context): void {
  put('/etc/crontab', CRONTAB);
  put('/etc/cron.d/php', '*/30 * * * * www-data /usr/lib/php/sessionclean\n');
  put('/etc/cron.d/old.dpkg-old', '* * * * * root /opt/old\n');
  put('/var/spool/cron/crontabs/ann', '0 3 * * 1-5 $HOME/bin/report | mail ann%hello\n', 0o600);
  put('/lib/systemd/system/rotate.timer', '[Timer]\nOnCalendar=daily\nRandomizedDelaySec=1h\n');
  put('/lib/systemd/system/rotate.service', '[Service]\nType=oneshot\nExecStart=/usr/sbin/rotate\n');
  put('/lib/systemd/system/idle.timer', '[Timer]\nOnCalendar=daily\n');
  put('/lib/systemd/system/boot.timer', '[Timer]\nOnBootSec=5min\nUnit=rotate.service\n');
  put('/lib/systemd/system/gone.timer', '[Timer]\nOnCalendar=daily\n');
  put('/etc/systemd/system/rotate.timer.d/more.conf', '[Timer]\nOnCalendar=\nOnCalendar=*:0/10\n');
  mkdirSync(join(root, 'etc/systemd/system/timers.target.wants'), { recursive: true });
  for (const name of ['rotate', 'boot', 'gone']) {
    const link = join(root, `etc/systemd/system/timers.target.wants/${name}.timer`);
    symlinkSync(`/lib/systemd/system/${name}.timer`, link);
  }
  symlinkSync('/dev/null', join(root, 'etc/systemd/system/masked.timer'));
}

async function found({ discover }: Context, ...flags: string[]): Promise<Found> {
  const { code, stdout, stderr } = await discover('--json', ...flags);
  assert.is(code, 0, stderr);
  return JSON.parse(stdout) as Found;
}

test('a root that is not there is no host without jobs', async ({ run, root }) => {
  const { code, stderr } = await run('discover', '--root', join(root, 'nowhere'));
  assert.is(code, 2);
  assert.match(stderr, /--root: \S+\/nowhere is no directory/);
});

test('jobs of crontabs and timers are proposed, and all else is accounted for', async (context) => {
  furnish(context);
  const { proposals, watched, passed_over } = await found(context);
  assert.equal(
    proposals.map(({ name, interval, where, user }) => [name, interval, where, user]),
    [
      ['cron.hourly@web1', 'hourly', '/etc/crontab:3', 'root'],
      ['backup@web1', 'daily', '/etc/crontab:4', 'root'],
      ['yearly@web1', 'monthly', '/etc/crontab:6', 'root'],
      ['sessionclean@web1', '30_minute', '/etc/cron.d/php:1', 'www-data'],
      ['report@web1', 'weekly', '/var/spool/cron/crontabs/ann:1', 'ann'],
      ['rotate@web1', '2_hour', 'rotate.timer', null],
    ],
  );
  assert.is(
    proposals[0]?.line,
    `17 * * * * root ${SNITCH} exec TOKEN -- /bin/sh -c 'cd / && run-parts --report /etc/cron.hourly'`,
  );
  assert.is(proposals[1]?.line, `25 6 * * * root ${SNITCH} exec TOKEN -- /opt/backup.sh --all > /dev/null`);
  assert.is(
    proposals[4]?.line,
    `0 3 * * 1-5 ${SNITCH} exec TOKEN -- /bin/sh -c '$HOME/bin/report | mail ann'%hello`,
  );
  assert.is(proposals[5]?.drop_in?.path, '/etc/systemd/system/rotate.service.d/snitch.conf');
  assert.equal(
    watched.map(({ where }) => where),
    ['/etc/crontab:7'],
  );
  assert.equal(
    passed_over.map(({ where, reason }) => `${where}: ${reason}`),
    [
      `/etc/crontab:8: \`snitch\` is not in its PATH (/usr/bin:/bin), so it would not run: --apply --write-crontabs mends it`,
      '/etc/cron.d/old.dpkg-old: cron ignores such a name',
      '/lib/systemd/system/idle.timer: it is not enabled',
      '/etc/crontab:5: it runs only at boot, at no known time',
      '/etc/crontab:9: it is neither a job nor a variable',
      '/lib/systemd/system/boot.timer: it runs only after boot, at no known time',
      '/lib/systemd/system/gone.timer: gone.service is missing',
    ],
  );
});

test('on a terminal it asks for what it will do, and for nothing where all is there', async ({
  put,
  root,
  env,
  listed,
}) => {
  put('/etc/crontab', '1 3 * * * root /opt/a\n');
  const args = ['discover', '--root', root, '--host', 'web1', '--apply'];
  for (const columns of [80, 40]) {
    const refused = await onTerminal(args, { columns, env, input: 'n\n' });
    assert.match(plain(refused.screen), /Make 1 snitch\? \[y\/N\]/);
    assert.match(refused.screen, 'nothing was changed');
    assert.equal(await listed(), []);
  }
  const made = await onTerminal(args, { env, input: 'y\n' });
  assert.is(made.code, 0, made.screen);
  assert.match(made.screen, '1 made, 0 there already');
  const again = await onTerminal(args, { env });
  assert.not.match(again.screen, /\[y\/N\]/);
  assert.match(again.screen, '0 made, 1 there already');
});

test('without --apply it changes nothing, and needs no server', async (context) => {
  furnish(context);
  await context.daemon.end();
  const { code, stdout, stderr } = await context.discover();
  assert.is(code, 0, stderr);
  assert.match(
    stdout,
    'backup@web1\n  cron 25 6 * * * (UTC), 1 h of grace\n  /etc/crontab:4, 25 6 * * *, runs as root\n',
  );
  assert.match(stdout, `+ 25 6 * * * root ${SNITCH} exec TOKEN -- /opt/backup.sh`);
  assert.match(stdout, 'Not proposed:\n');
  assert.match(stderr, '6 proposed, 1 watched already, 7 not proposed');
  assert.is(context.read('/etc/crontab'), CRONTAB);
  assert.not.ok(existsSync(join(context.root, 'etc/systemd/system/rotate.service.d')));
});

test('tabs stay tabs in the line that is to be copied, and are spaces where the job is told of', async (context) => {
  const { put, discover, listed } = context;
  const [before, command] = ['17 *\t* * *\troot\t', '/opt/sync\t--all'];
  put(
    '/etc/crontab',
    `${before}${command}\n*/5\t* * * *\troot\t/opt/sync\t--new\n@reboot\troot\t/opt/\u001b[2Jonce\n`,
  );
  const { stdout } = await discover();
  assert.match(stdout, '/etc/crontab:1, 17 * * * *, runs as root\n');
  assert.match(stdout, `- ${before}${command}\n  + ${before}${SNITCH} exec TOKEN -- ${command}\n`);
  assert.not.match(stdout, '\u001b');
  assert.is((await discover('--apply', '--yes')).code, 0);
  assert.equal(
    (await listed()).map(({ name, notes }) => `${name}: ${notes}`),
    [
      // What is behind the minus is made of the line as it is, so that a later version knows the job by this name.
      'sync-594d0f@web1: Found by discover: /etc/crontab:1 (17 * * * *, root)',
      'sync-a229bb@web1: Found by discover: /etc/crontab:2 (*/5 * * * *, root)',
    ],
  );
});

test('--apply makes the snitches and the drop-ins, once, and leaves crontabs alone', async (context) => {
  furnish(context);
  const { discover, listed, read } = context;
  assert.is((await discover('--apply')).code, 2, 'there is nobody to ask');
  assert.is((await discover('--write-crontabs', '--yes')).code, 2);
  assert.equal(await listed(), []);
  const applied = await discover('--apply', '--yes', '--tag', 'cron');
  assert.is(applied.code, 0, applied.stderr);
  assert.match(applied.stderr, '6 made, 0 there already');
  assert.match(applied.stderr, 'systemctl daemon-reload');
  assert.match(applied.stderr, 'no crontab was changed');
  const snitches = await listed();
  const rotate = snitches.find(({ name }) => name === 'rotate@web1');
  assert.equal(
    [rotate?.schedule, rotate?.timezone, rotate?.grace, rotate?.tags],
    [{ calendar: '*:0/10' }, 'UTC', 3_600 + 60 + 60, ['cron']],
  );
  assert.is(read('/etc/crontab'), CRONTAB);
  assert.match(read('/etc/systemd/system/rotate.service.d/snitch.conf'), rotate?.token ?? 'none');
  assert.equal(readdirSync(join(context.root, 'etc/systemd/system/rotate.service.d')), ['snitch.conf']);

  const again = await found(context, '--apply', '--yes');
  assert.is((await listed()).length, 6);
  assert.is(again.proposals.length, 5, 'the timer is watched now');
  assert.ok(again.proposals.every(({ token }) => snitches.some((snitch) => snitch.token === token)));
});

test('--write-crontabs shows the change, keeps a copy, mode and owner; the jobs then check in', async (context) => {
  const { put, read, discover, daemon, root, listed } = context;
  const text =
    "# keep me\r\n\n30 4 * * * touch $HOME/it's && echo 100\\% && cat%from stdin\n0 5 * * * exit 3\n";
  put('/var/spool/cron/crontabs/ann', text.replaceAll("'s", ''), 0o600);
  const path = join(root, 'var/spool/cron/crontabs/ann');
  // Only root can give a file away, and only root has crontabs of others to write.
  if (process.getuid?.() === 0) chownSync(path, 1234, 4321);
  const { uid, gid } = statSync(path);
  const before = read('/var/spool/cron/crontabs/ann');
  const { code, stderr } = await discover('--apply', '--yes', '--write-crontabs');
  assert.is(code, 0, stderr);
  assert.match(stderr, '--- /var/spool/cron/crontabs/ann\n');
  assert.match(stderr, '\n- 0 5 * * * exit 3\n');
  assert.match(stderr, `\n+ 0 5 * * * ${SNITCH} exec ${daemon.url}/c/`);
  const after = read('/var/spool/cron/crontabs/ann').split('\n');
  assert.equal([after[0], after[1], after.length], ['# keep me\r', '', before.split('\n').length]);
  const stats = statSync(path);
  assert.equal([stats.mode & 0o777, stats.uid, stats.gid], [0o600, uid, gid]);
  assert.equal(readdirSync(join(root, 'var/spool/cron/crontabs')), ['ann']);
  const [copy = ''] = readdirSync(join(root, 'var/backups/snitch'));
  assert.match(copy, /^var-spool-cron-crontabs-ann\.\d{8}T\d{6}Z$/);
  assert.is(read(`/var/backups/snitch/${copy}`), before);

  // Nothing but what cron gives to a job.
  const env = { PATH: '/usr/bin:/bin', HOME: root };
  const [command = '', input = ''] = (after[2] ?? '').replace('30 4 * * * ', '').split(/(?<!\\)%/);
  const printed = execFileSync('/bin/sh', ['-c', command.replaceAll('\\%', '%')], { env, input });
  assert.is(printed.toString(), '100%\nfrom stdin');
  const failing = (after[3] ?? '').replace('0 5 * * * ', '');
  assert.throws(() => execFileSync('/bin/sh', ['-c', failing], { env, stdio: 'ignore' }), /failed/);
  const snitches = await listed();
  assert.equal(snitches.map(({ status }) => status).sort(), ['errored', 'healthy']);

  const again = await discover('--apply', '--yes', '--write-crontabs');
  assert.match(again.stderr, '0 made, 0 there already');
  assert.is(read('/var/spool/cron/crontabs/ann'), after.join('\n'));
});

test('a crontab that is no UTF-8 keeps its bytes, and the job runs the same program', async (context) => {
  const { root, put, discover } = context;
  put('/usr/bin/snitch', '#!/bin/sh\n', 0o755);
  const old = '# Prüfung\n0 4 * * * root /opt/prüfen --all\n';
  const path = join(root, 'etc/crontab');
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, old, 'latin1');
  const { code, stdout, stderr } = await discover('--apply', '--write-crontabs', '--yes');
  assert.is(code, 0, stderr);
  assert.match(stdout, 'prüfen@web1\n');
  assert.is(
    readFileSync(path, 'latin1').replace(/snitch exec \S+ -- /, ''),
    old,
    'nothing but the call is added',
  );
  const backups = join(root, 'var/backups/snitch');
  assert.is(readFileSync(join(backups, readdirSync(backups)[0] ?? ''), 'latin1'), old);
});

test('a drop-in says how the service ended, as systemd saw it', async (context) => {
  furnish(context);
  await context.discover('--apply', '--yes', '--program', join(import.meta.dirname, '../../../bin/snitch'));
  const text = context.read('/etc/systemd/system/rotate.service.d/snitch.conf');
  const [, quoted = ''] = /^ExecStopPost=-\/bin\/sh -c '(.*)'$/m.exec(text) ?? [];
  const script = quoted.replaceAll('$$', '$').replaceAll('%%', '%');
  const run = (env: Record<string, string>) =>
    execFileSync('/bin/sh', ['-c', script], { env: { PATH: process.env.PATH, ...env } });
  run({ SERVICE_RESULT: 'success', EXIT_CODE: 'exited', EXIT_STATUS: '1' });
  run({ SERVICE_RESULT: 'exit-code', EXIT_CODE: 'exited', EXIT_STATUS: '2' });
  run({ SERVICE_RESULT: 'timeout' });
  // `ExecCondition=` said that there is nothing to do: systemd skips the service, and its result is success.
  run({ SERVICE_RESULT: 'exec-condition', EXIT_CODE: 'exited', EXIT_STATUS: '1' });
  const history = await context.json<WireCheckIn[]>('history', 'rotate@web1');
  assert.equal(
    history.map(({ outcome, message }) => [outcome, message?.trim()]),
    [
      ['healthy', 'exec-condition exited 1'],
      ['error', 'timeout'],
      ['error', 'exit-code exited 2'],
      ['healthy', 'success exited 1'],
    ],
  );
});

test('a drop-in of somebody else’s, and links, are left as they are', async (context) => {
  furnish(context);
  context.put('/etc/systemd/system/rotate.service.d/snitch.conf', '[Service]\nNice=5\n');
  const { code, stderr } = await context.discover('--apply', '--yes');
  assert.is(code, 1);
  assert.match(stderr, 'snitch.conf exists already');
  assert.is(context.read('/etc/systemd/system/rotate.service.d/snitch.conf'), '[Service]\nNice=5\n');
  symlinkSync('/etc/passwd', join(context.root, 'etc/cron.d/link'));
  context.put('/etc/cron.d/open', '0 3 * * * root /opt/open\n', 0o666);
  const { passed_over } = await found(context);
  assert.ok(passed_over.some(({ where, reason }) => where === '/etc/cron.d/link' && /link/.test(reason)));
  assert.ok(
    passed_over.some(({ where, reason }) => where === '/etc/cron.d/open' && /chmod go-w/.test(reason)),
  );
});

test('jobs of the same name are told apart, wherever they stand in the file', async (context) => {
  const lines = ['0 1 * * * root /opt/a/run.sh\n', '0 2 * * * root /opt/b/run.sh\n'];
  context.put('/etc/crontab', lines.join(''));
  const names = async () => (await found(context)).proposals.map(({ name }) => name);
  const first = await names();
  assert.is(new Set(first).size, 2);
  for (const name of first) assert.match(name, /^run-[0-9a-f]{6}@web1$/);
  context.put('/etc/crontab', lines.toReversed().join(''));
  assert.equal(await names(), first.toReversed());
});

test('an empty host has nothing to propose', async (context) => {
  assert.equal(await context.discover(), {
    code: 0,
    stdout: '',
    stderr: '0 proposed, 0 watched already, 0 not proposed\n',
  });
});

test.run();
