/** `snitch discover --check`, and what a second discover says of snitches that are there. Time limit: 180 s. */
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireSnitch } from '../../../src/api/wire.ts';
import { startFakeServer } from '../fake-server.ts';
import { runSnitch } from '../snitch-process.ts';
import { type Commands, withCase } from '../with-daemon.ts';

interface Context extends Commands {
  root: string;
  put(path: string, text: string): void;
  read(path: string): string;
  discover(...flags: string[]): ReturnType<Commands['run']>;
  apply(...flags: string[]): ReturnType<Commands['run']>;
}

interface Checked {
  ok: boolean;
  findings: { kind: string; name: string | null; where: string; words: string; changes: unknown }[];
  watched: { where: string }[];
  ignored: { where: string }[];
}

const test = suite<Context>('snitch discover --check');

test.before.each(async (context) => {
  const commands = await withCase();
  const root = join(commands.daemon.dataDir, 'root');
  mkdirSync(join(root, 'etc'), { recursive: true });
  symlinkSync('/usr/share/zoneinfo/Europe/Berlin', join(root, 'etc/localtime'));
  const discover = (...flags: string[]) =>
    commands.run('discover', '--root', root, '--host', 'web1', ...flags);
  Object.assign(context, commands, {
    root,
    put: (path: string, text: string) => {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    },
    read: (path: string) => readFileSync(join(root, path), 'utf8'),
    discover,
    apply: (...flags: string[]) => discover('--apply', '--yes', '--write-crontabs', ...flags),
  });
});
test.after.each((context) => context.end());

const CRONTAB = '0 3 * * 1-5 root /opt/backup --password=geheim\n17 * * * * root /opt/sync\n';

async function checked({ discover }: Context, code: number): Promise<Checked> {
  const ended = await discover('--check', '--json');
  assert.is(ended.code, code, `${ended.stdout}${ended.stderr}`);
  return JSON.parse(ended.stdout) as Checked;
}

function addTimer({ put, root }: Context, name: string, settings: string): void {
  put(`/lib/systemd/system/${name}.timer`, `[Timer]\n${settings}\n`);
  put(`/lib/systemd/system/${name}.service`, '[Service]\nExecStart=/bin/true\n');
  const wants = join(root, 'etc/systemd/system/timers.target.wants');
  mkdirSync(wants, { recursive: true });
  symlinkSync(`/lib/systemd/system/${name}.timer`, join(wants, `${name}.timer`));
}

test('unwatched jobs are listed with 1, watched ones are well with 0', async (context) => {
  const { put, discover, apply, listed } = context;
  put('/etc/crontab', CRONTAB);
  addTimer(context, 'rotate', 'OnCalendar=daily\nRandomizedDelaySec=1h');
  const before = await discover('--check');
  assert.is(before.code, 1, before.stderr);
  assert.match(
    before.stdout,
    'Not watched:\n  backup@web1 (/etc/crontab:1): cron 0 3 * * 1-5 (Europe/Berlin)\n',
  );
  assert.match(before.stdout, '  rotate@web1 (rotate.timer): OnCalendar daily (Europe/Berlin)\n');
  assert.not.match(before.stdout + before.stderr, 'geheim');
  assert.match(before.stderr, '0 watched, 3 not watched');
  assert.match(before.stderr, '--apply --write-crontabs');

  assert.is((await apply()).code, 0);
  const snitches = await listed();
  const backup = snitches.find(({ name }) => name === 'backup@web1');
  assert.equal(
    [backup?.schedule, backup?.timezone, backup?.grace, backup?.interval],
    [{ cron: '0 3 * * 1-5' }, 'Europe/Berlin', 3_600, 'weekly'],
  );
  const after = await discover('--check');
  assert.equal(after, {
    code: 0,
    stdout: '',
    stderr:
      '3 watched, 0 not watched, 0 not as expected, 0 without a snitch, 0 snitches without a job, 0 ignored\n',
  });
  assert.equal((await checked(context, 0)).ok, true);
  assert.is((await discover('--check', '-q')).stdout, '');
});

test('instances of templates are jobs of their own, and are seen to check in', async (context) => {
  const { put, root, discover, apply, listed } = context;
  put('/lib/systemd/system/dump@.timer', '[Timer]\nOnCalendar=daily\n');
  put('/lib/systemd/system/dump@.service', '[Service]\nExecStart=/opt/dump %i\n');
  put('/lib/systemd/system/sync@.timer', '[Timer]\nOnCalendar=weekly\nUnit=push@%i.service\n');
  put('/lib/systemd/system/push@.service', '[Service]\nExecStart=/opt/push\n');
  put('/etc/systemd/system/sync@b.timer.d/often.conf', '[Timer]\nOnCalendar=\nOnCalendar=hourly\n');
  put('/lib/systemd/system/at@.timer', '[Timer]\nOnCalendar=%i\nUnit=push@%p.service\n');
  addTimer(context, 'plain', 'OnCalendar=daily\nUnit=push@plain.service');
  const wants = join(root, 'etc/systemd/system/timers.target.wants');
  for (const name of ['at@daily', 'dump@a', 'dump@b', 'sync@b', 'sync@off']) {
    symlinkSync(`/lib/systemd/system/${name.replace(/@.*/, '@')}.timer`, join(wants, `${name}.timer`));
  }
  symlinkSync('/dev/null', join(root, 'etc/systemd/system/sync@off.timer'));
  const { stdout } = await discover('--check');
  const lines = ['at@daily', 'dump@a', 'dump@b', 'plain', 'sync@b'].map(
    (name) =>
      `  ${name}@web1 (${name}.timer): OnCalendar ${name === 'sync@b' ? 'hourly' : 'daily'} (Europe/Berlin)\n`,
  );
  assert.is(stdout, `Not watched:\n${lines.join('')}`);
  assert.is((await apply()).code, 0);
  assert.is((await listed()).length, 5);
  for (const service of ['push@at', 'dump@a', 'dump@b', 'push@plain', 'push@b']) {
    assert.ok(existsSync(join(root, `etc/systemd/system/${service}.service.d/snitch.conf`)), service);
  }
  assert.is((await checked(context, 0)).watched.length, 5);
});

test('a job that is due at another time than its snitch expects, until --update', async (context) => {
  const { put, read, apply, listed, named, discover } = context;
  put('/etc/crontab', CRONTAB);
  addTimer(context, 'rotate', 'OnCalendar=daily');
  await apply();
  put('/etc/crontab', `CRON_TZ=Asia/Tokyo\n${read('/etc/crontab').replace('0 3 * * 1-5', '30 4 * * *')}`);
  put('/etc/systemd/system/rotate.timer.d/late.conf', '[Timer]\nRandomizedDelaySec=5h\n');
  const { findings } = await checked(context, 1);
  assert.equal(
    findings.map(({ kind, name, words }) => [kind, name, words]),
    [
      [
        'drifted',
        'backup@web1',
        'its snitch expects cron 0 3 * * 1-5 (Europe/Berlin), and it runs by cron 30 4 * * * (Asia/Tokyo)',
      ],
      [
        'drifted',
        'sync@web1',
        'its snitch expects cron 17 * * * * (Europe/Berlin), and it runs by cron 17 * * * * (Asia/Tokyo)',
      ],
      [
        'drifted',
        'rotate@web1',
        'its snitch has a grace of 1 h 1 min, and the host itself may start it 5 h 1 min late',
      ],
    ].filter(([, name]) => name !== 'sync@web1'),
    'at 17 minutes past the hour it is due at the same instants',
  );
  const proposed = await discover();
  assert.match(proposed.stdout, 'Not as its snitch expects:\n  backup@web1 (/etc/crontab:2)');
  const plain = await apply();
  assert.match(plain.stderr, '2 snitches could be updated to match their jobs: use --update');
  const updated = await apply('--update');
  assert.match(updated.stderr, '2 changed');
  assert.equal((await checked(context, 0)).findings, []);
  const backup = await named('backup@web1');
  assert.equal([backup.schedule, backup.timezone], [{ cron: '30 4 * * *' }, 'Asia/Tokyo']);
  const rotate = await named('rotate@web1');
  assert.ok((rotate.grace ?? 0) >= 5 * 3_600 + 60);
  assert.is((await listed()).length, 3);
});

test('what means the same is no drift, and neither is a longer grace or a paused snitch', async (context) => {
  const { put, apply, run } = context;
  put('/etc/crontab', CRONTAB);
  await apply();
  await run(
    'edit',
    'backup@web1',
    '--calendar',
    'Mon..Fri 03:00',
    '--timezone',
    'Europe/Vienna',
    '--grace',
    '1m',
  );
  await run('edit', 'sync@web1', '--grace', '3h');
  await run('check-in', 'sync@web1');
  await run('pause', 'sync@web1');
  assert.equal((await checked(context, 0)).findings, []);
});

test('an interval that an earlier discover gave is offered a schedule, and fails only where it does not fit', async (context) => {
  const { put, apply, run, json, listed, named } = context;
  const notes = 'Found by discover: /etc/crontab:1 (0 3 * * *, root)';
  const { check_in_url } = await json<WireSnitch>('create', 'backup@web1', '-i', 'daily', '--notes', notes);
  await run('create', 'smart@web1', '-i', 'hourly', '--alert-type', 'smart');
  put('/etc/crontab', `0 3 * * * root /usr/bin/snitch exec ${check_in_url} -- /opt/backup\n`);
  put('/usr/bin/snitch', '');
  chmodSync(join(context.root, 'usr/bin/snitch'), 0o755);
  put('/etc/cron.d/smart', '5 * * * * root /usr/bin/snitch exec smart@web1 -- /opt/smart\n');
  const fitting = await checked(context, 0);
  assert.equal(
    fitting.findings.map(({ kind, name }) => [kind, name]),
    [['inexact', 'backup@web1']],
  );
  put('/etc/crontab', `0 3 * * 1-5 root /usr/bin/snitch exec ${check_in_url} -- /opt/backup\n`);
  const { findings } = await checked(context, 1);
  assert.equal(
    findings.map(({ kind, words }) => [kind, words]),
    [['drifted', 'its snitch has the interval daily, and it runs by cron 0 3 * * 1-5 (Europe/Berlin)']],
  );
  await apply('--update');
  assert.equal((await checked(context, 0)).findings, []);
  assert.is((await listed()).length, 2, 'nothing is made twice');
  assert.is((await named('smart@web1')).alert_type, 'smart');
});

test('a snitch without its job, and a job without its snitch', async (context) => {
  const { put, read, apply, run, make, named } = context;
  put('/etc/crontab', CRONTAB);
  addTimer(context, 'rotate', 'OnCalendar=daily');
  await apply();
  await make('by-hand@web1');
  await run('create', 'elsewhere@web2', '-i', 'daily', '--notes', 'Found by discover: /etc/crontab:1 (x)');
  const [first = '', second = ''] = read('/etc/crontab').split('\n');
  put('/etc/crontab', `${second}\n`);
  writeFileSync(join(context.root, 'etc/systemd/system/timers.target.wants/x'), '');
  symlinkSync('/dev/null', join(context.root, 'etc/systemd/system/rotate.timer'));
  const gone = await checked(context, 1);
  assert.equal(
    gone.findings.map(({ kind, name, where }) => [kind, name, where]),
    [
      ['gone', 'backup@web1', '/etc/crontab:1'],
      ['gone', 'rotate@web1', 'rotate.timer'],
    ],
  );
  put('/etc/crontab', `# snitch: ignore\n${first}\n${second}\n`);
  await run('delete', '--force', 'rotate@web1');
  assert.equal((await checked(context, 0)).ignored.length, 1);

  const sync = await named('sync@web1');
  await run('delete', '--force', sync.token);
  const lost = await checked(context, 1);
  assert.equal(
    lost.findings.map(({ kind, where }) => [kind, where]),
    [['unknown', '/etc/crontab:3']],
  );
});

test('a snitch whose job may check in without naming it is not gone', async (context) => {
  const { put, read, apply } = context;
  put('/etc/crontab', CRONTAB);
  addTimer(context, 'rotate', 'OnCalendar=daily');
  await apply();
  const before = read('/etc/crontab');
  put('/etc/crontab', `# moved\n${before.replace(/exec \S+ --/, 'exec --token-file /etc/token --')}`);
  const dropIn = '/etc/systemd/system/rotate.service.d/snitch.conf';
  put(dropIn, read(dropIn).replace(/check-in \S+/, 'check-in --token-file /etc/token'));
  assert.equal((await checked(context, 0)).findings, []);
  put('/etc/crontab', before.split('\n').slice(1).join('\n'));
  assert.equal(
    (await checked(context, 1)).findings.map(({ kind, name }) => [kind, name]),
    [['gone', 'backup@web1']],
  );
});

test('jobs are left alone for good by a comment, or by a list', async (context) => {
  const { put, apply, listed, discover } = context;
  put('/etc/crontab', `# snitch: ignore\n${CRONTAB}0 5 * * * root /opt/own # snitch: ignore\nbroken\n`);
  put('/etc/cron.d/package', '1 1 * * * root /opt/a\n2 2 * * * root /opt/b\n');
  addTimer(context, 'apt-daily', 'OnCalendar=daily');
  addTimer(context, 'apt-upgrade', 'OnCalendar=daily');
  put(
    '/etc/snitch/discover-ignore',
    '# of packages\napt-*\n\n/etc/cron.d/package   # both\nsync@web1\n/etc/crontab:5\n',
  );
  const { findings, ignored } = await checked(context, 0);
  assert.equal([findings, ignored.length], [[], 8]);
  const applied = await apply();
  assert.match(applied.stderr, '0 made');
  assert.equal(await listed(), []);
  assert.match((await discover()).stdout, 'Ignored:\n');
});

test('what cannot be read, and what does not run, is no good news', async (context) => {
  const { put, root } = context;
  put(
    '/etc/crontab',
    '6 * * * * root snitch exec abc -- /opt/never-runs\n0 3 * * * root\n@reboot root /opt/once\n',
  );
  symlinkSync('/etc/passwd', join(root, 'etc/cron.d-link'));
  put('/etc/cron.d/keep', '');
  symlinkSync('/etc/passwd', join(root, 'etc/cron.d/link'));
  const { findings } = await checked(context, 1);
  assert.equal(
    findings.map(({ kind, where }) => `${kind} ${where}`),
    ['unclear /etc/crontab:1', 'unclear /etc/cron.d/link', 'unclear /etc/crontab:2'],
  );
});

test('a line that anacron does in its place does nothing, watched or not', async (context) => {
  const { put, apply, listed } = context;
  put('/etc/crontab', '25 6 * * * root test -x /usr/sbin/anacron || run-parts /etc/cron.daily\n');
  put('/etc/anacrontab', '1 5 cron.daily run-parts /etc/cron.daily\n');
  assert.equal(
    (await checked(context, 1)).findings.map(({ where }) => where),
    ['/etc/crontab:1'],
  );
  await apply();
  put('/usr/sbin/anacron', '');
  const { findings } = await checked(context, 1);
  assert.equal(
    findings.map(({ kind, name, where }) => [kind, name, where]),
    [
      ['unwatched', 'cron.daily@web1', '/etc/anacrontab:1'],
      ['unclear', null, '/etc/crontab:1'],
    ],
  );
  assert.match(findings[1]?.words ?? '', 'checks in without doing anything');
  await apply();
  const snitches = await listed();
  assert.is(snitches.length, 2, 'the line in the crontab keeps its own snitch');
  assert.match(context.read('/etc/anacrontab'), /^1 5 cron.daily \S+ exec \S+ -- run-parts/);
});

/** As Debian's packages write them for hosts without systemd; each has a timer as well. */
const LEFT_TO_SYSTEMD = [
  "0 */12 * * * root test -x /usr/bin/certbot -a \\! -d /run/systemd/system && perl -e 'sleep int(rand(43200))' && certbot -q renew",
  '10 3 * * * root test -e /run/systemd/system || SERVICE_MODE=1 /sbin/e2scrub_all -A -r',
  '09,39 * * * * root [ -x /usr/lib/php/sessionclean ] && if [ ! -d /run/systemd/system ]; then /usr/lib/php/sessionclean; fi',
];
/** These do something all the same. */
const NOT_LEFT = [
  '1 3 * * * root test -e /run/systemd/system || /opt/one && /opt/two',
  '2 3 * * * root test ! -d /run/systemd/system && /opt/one; /opt/two',
  '3 3 * * * root [ -d /run/systemd/system ] && /opt/three',
  '4 3 * * * root if [ ! -d /run/systemd/system ]; then /opt/one; else /opt/two; fi',
];

test('a line that only works without systemd is a job only where systemd does not run', async (context) => {
  const { put, root } = context;
  put('/etc/crontab', `${[...NOT_LEFT, ...LEFT_TO_SYSTEMD].join('\n')}\n`);
  assert.is((await checked(context, 1)).findings.length, 7);
  mkdirSync(join(root, 'run/systemd/system'), { recursive: true });
  assert.equal(
    (await checked(context, 1)).findings.map(({ where }) => where),
    [1, 2, 3, 4].map((line) => `/etc/crontab:${line}`),
  );
  assert.match(
    (await context.discover()).stdout,
    '/etc/crontab:6: it does nothing: systemd runs on this host',
  );
});

test('it is said where systemd may skip the runs of a service', async (context) => {
  addTimer(context, 'always', 'OnCalendar=daily');
  addTimer(context, 'mdcheck', 'OnCalendar=daily');
  context.put(
    '/lib/systemd/system/mdcheck.service',
    '[Unit]\nConditionPathExistsGlob=/var/lib/mdcheck/MD_UUID_*\nConditionACPower=\n[Service]\nExecStart=/bin/true\n',
  );
  const { stdout } = await context.discover('--json');
  const { proposals } = JSON.parse(stdout) as { proposals: { name: string; remarks: string[] }[] };
  assert.equal(
    proposals.map(({ name, remarks }) => [name, remarks]),
    [
      ['always@web1', []],
      [
        'mdcheck@web1',
        [
          'its service has ConditionPathExistsGlob=/var/lib/mdcheck/MD_UUID_*: where that does not hold, systemd skips the run, and nothing checks in',
        ],
      ],
    ],
  );
});

test('files in cron.d are read by their names as the cron of the host reads them', async (context) => {
  const names = ['plain', 'with.dot', '.hidden', 'old.rpmsave', 'old.dpkg-old', 'draft~'];
  for (const name of names) context.put(`/etc/cron.d/${name}`, '0 3 * * * root /opt/job\n');
  const found = async () => (await checked(context, 1)).findings.map(({ where }) => where);
  assert.equal(await found(), ['/etc/cron.d/plain:1', '/etc/cron.d/with.dot:1'], 'as on Fedora');
  context.put('/etc/debian_version', '12.1\n');
  assert.equal(await found(), ['/etc/cron.d/plain:1']);
});

test('crontabs of users are found where Debian, openSUSE and Fedora have them', async (context) => {
  const places = ['crontabs/ann', 'tabs/bob', 'cid'].map((name) => `/var/spool/cron/${name}`);
  for (const place of places) context.put(place, '0 3 * * * /opt/job\n');
  const { findings } = await checked(context, 1);
  assert.equal(
    findings.map(({ where }) => where),
    places.map((place) => `${place}:1`),
  );
});

test('it ends with 4 without a key, 5 without a server, 2 for what does not go together', async (context) => {
  const { root, daemon, discover } = context;
  const args = ['discover', '--check', '--root', root];
  const without = await runSnitch(args, { SNITCH_URL: daemon.url });
  assert.is(without.code, 4, without.stderr);
  assert.is((await runSnitch(args, { SNITCH_URL: daemon.url, SNITCH_API_KEY: 'wrong' })).code, 4);
  const nobody = await runSnitch(args, { SNITCH_URL: 'http://127.0.0.1:1', SNITCH_API_KEY: 'any' });
  assert.is(nobody.code, 5, nobody.stderr);
  assert.is(nobody.stdout, '');
  for (const flags of [['--check', '--apply'], ['--update'], ['--timezone', 'Mars'], ['--grace', 'soon']]) {
    assert.is((await discover(...flags)).code, 2, flags.join(' '));
  }
});

test('a server that knows no schedules gets intervals, and it is said', async (context) => {
  const { put, root, read } = context;
  put('/etc/crontab', `${CRONTAB}0 0 1 1 * root /opt/yearly\n`);
  const made: Record<string, unknown>[] = [];
  const bodies: Promise<string>[] = [];
  await using server = await startFakeServer((request) => {
    const { method, url = '' } = request;
    const answer = (status: number, body: unknown) => ({ status, headers: { snitch: '1' }, body });
    if (url === '/v1/case') return answer(200, CASE);
    if (url === '/v1/snitches' && method === 'GET') return answer(200, []);
    if (url === '/v1/imports/check') return answer(200, { snitches: [], case: {}, problems: [], room: null });
    if (url === '/v1/imports') {
      bodies.push(Array.fromAsync(request).then((parts) => Buffer.concat(parts).toString()));
      return answer(200, ['backup@web1', 'sync@web1'].map(oldSnitch));
    }
    return answer(404, { type: 'resource_not_found', error: 'no such path' });
  });
  const { code, stderr, stdout } = await runSnitch(
    ['discover', '--root', root, '--host', 'web1', '--apply', '--yes', '--write-crontabs', '--json'],
    { SNITCH_URL: server.url, SNITCH_API_KEY: 'key' },
  );
  assert.is(code, 0, stderr);
  for (const body of bodies) made.push(...(JSON.parse(await body) as { snitches: [] }).snitches);
  assert.equal(
    made.map(({ name, interval, schedule }) => [name, interval, schedule]),
    [
      ['backup@web1', 'weekly', undefined],
      ['sync@web1', 'hourly', undefined],
    ],
  );
  assert.match(stderr, 'the server does not know schedules: 2 snitches have only their interval');
  assert.match(stdout, 'the server knows no schedules, and no interval is long enough');
  assert.match(read('/etc/crontab'), /\n0 0 1 1 \* root \/opt\/yearly\n$/);
});

const CASE = {
  ...{ id: 'c', name: 'Case', timezone: 'UTC', members: [], reminders: 'period', max_snitches: null },
  ...{ error_notices: true, on_hold: false, created_at: '2026-01-01T00:00:00.000Z' },
};

function oldSnitch(name: string): unknown {
  const token = name.replace(/\W/g, '').padEnd(26, 'a').slice(0, 26);
  return {
    ...{ token, href: `/v1/snitches/${token}`, name, tags: [], notes: '', status: 'pending' },
    ...{ checked_in_at: null, check_in_url: `https://old.example/c/${token}`, interval: 'daily' },
    ...{ type: { interval: 'daily' }, alert_type: 'basic', alert_email: [] },
    created_at: '2026-01-01T00:00:00.000Z',
  };
}

test.run();
