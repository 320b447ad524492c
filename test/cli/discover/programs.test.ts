/** The lines that `snitch discover` writes are run as cron would run them. */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { findOnPath, isSameFile } from '../../../src/cli/command/own-program.ts';
import { faultOfProgram } from '../../../src/cli/discover/program-trial.ts';
import { shellWord } from '../../../src/text/shell-word.ts';
import { unless, withoutRoot } from '../../skipped.ts';
import { SNITCH } from '../exec/exec-process.ts';
import { temporaryDirectory } from '../snitch-process.ts';
import { type Commands, withCase } from '../with-daemon.ts';

interface Context extends Commands {
  directory: ReturnType<typeof temporaryDirectory>;
  root: string;
  put(path: string, text: string, mode?: number): void;
}

interface Found {
  proposals: { where: string; line?: string; drop_in?: { text: string } }[];
  passed_over: { where: string; reason: string }[];
}

const test = suite<Context>('what discover writes');

test.before.each(async (context) => {
  const directory = temporaryDirectory();
  chmodSync(directory.path, 0o755);
  const root = join(directory.path, 'root');
  Object.assign(context, await withCase(), {
    directory,
    root,
    put: (path: string, text: string, mode = 0o644) => {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text, { mode });
    },
  });
});
test.after.each(async ({ end, directory }) => {
  await end();
  directory.remove();
});

function discover({ root, env }: Context, program: string, ...flags: string[]): Found {
  const args = ['discover', '--root', root, '--host', 'h', '--json', ...flags];
  const { status, stdout, stderr } = spawnSync(program, args, {
    env: { PATH: process.env.PATH, HOME: '/nonexistent', ...env },
    encoding: 'utf8',
  });
  assert.is(status, 0, stderr);
  return JSON.parse(stdout) as Found;
}

/** Another program, in another directory. */
function install(directory: string, mode = 0o755): string {
  const own = dirname(dirname(SNITCH));
  for (const part of ['bin', 'dist']) cpSync(join(own, part), join(directory, part), { recursive: true });
  symlinkSync(join(own, 'node_modules'), join(directory, 'node_modules'));
  chmodSync(directory, mode);
  return join(directory, 'bin', 'snitch');
}

/** Runs the command of a crontab line with the environment that cron gives to jobs, and nothing else. */
function runAsCron(line: string, { path = '/usr/bin:/bin', home = '/' } = {}): { status: number | null } {
  const command = line.replace(/^(?:\S+\s+){5}/, '').replaceAll('\\%', '%');
  return spawnSync('/usr/bin/env', ['-i', `PATH=${path}`, `HOME=${home}`, '/bin/sh', '-c', command]);
}

test('a crontab that was written runs under cron’s own PATH, and the job checks in', async (context) => {
  const { root, directory, put, listed } = context;
  put('/var/spool/cron/crontabs/root', '1 * * * * exit 3\n2 * * * * /bin/echo 100\\% | cat > /dev/null\n');
  discover(context, SNITCH, '--apply', '--yes', '--write-crontabs');
  const written = readFileSync(join(root, 'var/spool/cron/crontabs/root'), 'utf8');
  const [failing = '', fine = ''] = written.split('\n');
  assert.is(runAsCron(failing, { home: directory.path }).status, 3);
  assert.is(runAsCron(fine, { home: directory.path }).status, 0);
  const snitches = await listed();
  assert.equal(snitches.map(({ status }) => status).sort(), ['errored', 'healthy']);
});

test('a path with spaces and percent signs stays one word, in a crontab and in a unit', async (context) => {
  const { directory, put, root, listed } = context;
  const program = install(join(directory.path, 'a b%25c'));
  put('/var/spool/cron/crontabs/root', '1 * * * * exit 4\n');
  put('/lib/systemd/system/rotate.timer', '[Timer]\nOnCalendar=daily\n');
  put('/lib/systemd/system/rotate.service', '[Service]\nExecStart=/bin/true\n');
  put('/etc/systemd/system/timers.target.wants/rotate.timer', '');
  discover(context, program, '--apply', '--yes', '--write-crontabs');
  const [line = ''] = readFileSync(join(root, 'var/spool/cron/crontabs/root'), 'utf8').split('\n');
  assert.match(line, `'${program.replaceAll('%', '\\%')}' exec http`);
  assert.is(runAsCron(line, { home: directory.path }).status, 4);
  const unit = readFileSync(join(root, 'etc/systemd/system/rotate.service.d/snitch.conf'), 'utf8');
  const [, quoted = ''] = /^ExecStopPost=-\/bin\/sh -c '(.*)'$/m.exec(unit) ?? [];
  const script = quoted.replaceAll('$$', '$').replaceAll('%%', '%');
  execFileSync('/bin/sh', ['-c', script], { env: { SERVICE_RESULT: 'success', HOME: directory.path } });
  const snitches = await listed();
  assert.equal(snitches.map(({ status }) => status).sort(), ['errored', 'healthy']);
  const again = discover(context, program);
  assert.equal(again.proposals, [], 'it knows its own lines again');
});

test('the bare name is written only where the PATH above the line leads to it', (context) => {
  const lines = ['1 * * * * root /opt/a', 'PATH="/opt/bin:/bin"', '2 * * * * root /opt/b'];
  const more = ['PATH=/usr/bin:$PATH', '3 * * * * root /opt/c', 'PATH=bin:/usr/bin', '4 * * * * root /opt/d'];
  context.put('/etc/crontab', `${[...lines, ...more].join('\n')}\n`);
  context.put('/opt/bin/snitch', '#!/bin/sh\n', 0o755);
  context.put('/usr/bin/snitch', 'no program', 0o644);
  assert.equal(
    discover(context, SNITCH).proposals.map(({ line }) => line),
    [
      `1 * * * * root ${SNITCH} exec TOKEN -- /opt/a`,
      '2 * * * * root snitch exec TOKEN -- /opt/b',
      `3 * * * * root ${SNITCH} exec TOKEN -- /opt/c`,
      `4 * * * * root ${SNITCH} exec TOKEN -- /opt/d`,
    ],
  );
});

unless(withoutRoot(), test)(
  'where the job’s user cannot run the program, its line stays as it is',
  async (context) => {
    const { directory, put, root, listed } = context;
    const program = install(join(directory.path, 'private'), 0o700);
    const text = '1 * * * * root /opt/a\n2 * * * * nobody /opt/b\nSHELL=/bin/false\n3 * * * * root /opt/c\n';
    put('/etc/cron.d/jobs', text);
    const { proposals, passed_over } = discover(context, program, '--apply', '--yes', '--write-crontabs');
    assert.equal(
      proposals.map(({ where }) => where),
      ['/etc/cron.d/jobs:1'],
    );
    assert.equal(
      passed_over.map(({ where }) => where),
      ['/etc/cron.d/jobs:2', '/etc/cron.d/jobs:4'],
    );
    assert.match(passed_over[0]!.reason, `nobody cannot run ${program}: `);
    assert.match(passed_over[0]!.reason, /[Pp]ermission denied|not found/);
    const written = readFileSync(join(root, 'etc/cron.d/jobs'), 'utf8').split('\n');
    assert.equal(written.slice(1), text.split('\n').slice(1));
    assert.is((await listed()).length, 1, 'no snitch is made for a job that will never check in');
  },
);

test('a line that an earlier version made, and that does not run, is mended', async (context) => {
  const { put, root, directory, make, named } = context;
  const { token } = await make('old');
  const address = `${context.daemon.url}/c/${token}`;
  const fine = `PATH=/opt:/usr/bin\n2 * * * * root snitch exec ${address} -- true\n`;
  put('/opt/snitch', '#!/bin/sh\n', 0o755);
  put('/etc/cron.d/jobs', `1 * * * * root snitch exec ${address} -- sh -c 'exit 5' # 100\\%\n${fine}`);
  const preview = discover(context, SNITCH);
  assert.equal([preview.proposals, preview.passed_over.length], [[], 1]);
  assert.match(preview.passed_over[0]!.reason, '--write-crontabs mends it');
  discover(context, SNITCH, '--apply', '--yes', '--write-crontabs');
  const [mended = '', ...others] = readFileSync(join(root, 'etc/cron.d/jobs'), 'utf8').split('\n');
  assert.is(mended, `1 * * * * root ${SNITCH} exec ${address} -- sh -c 'exit 5' # 100\\%`);
  assert.is(others.join('\n'), fine);
  assert.is(runAsCron(mended.replace(' root', ''), { home: directory.path }).status, 5);
  assert.is((await named('old')).status, 'errored');
  assert.equal(discover(context, SNITCH).passed_over, []);
});

test('--program is tried too, and another program of that name is refused', (context) => {
  context.put('/etc/crontab', '1 * * * * root /opt/a\n');
  const { passed_over } = discover(context, SNITCH, '--program', '/bin/echo');
  assert.match(passed_over[0]!.reason, 'cannot run /bin/echo: it is another program of that name');
  assert.match(discover(context, SNITCH, '--program', '/no/where').passed_over[0]!.reason, 'not found');
  assert.match(discover(context, SNITCH, '--program', 'snitch').passed_over[0]!.reason, 'it is not there');
  const dollar = discover(context, SNITCH, '--program', '/opt/$x').passed_over[0]!.reason;
  assert.match(dollar, 'dollar signs');
});

test('a command that cron would cut off is not made longer', (context) => {
  // Quotes within quotes count four times.
  const commands = [
    `/opt/a ${'x'.repeat(900)}`,
    `/opt/b ${"'y' ".repeat(90)}; true`,
    `/opt/c ${'x'.repeat(600)}`,
  ];
  context.put('/etc/crontab', commands.map((command) => `1 * * * * root ${command}\n`).join(''));
  const { proposals, passed_over } = discover(context, SNITCH);
  assert.equal(
    proposals.map(({ where }) => where),
    ['/etc/crontab:3'],
  );
  assert.is(passed_over.length, 2);
  for (const { reason } of passed_over) assert.match(reason, 'too long for cron, which would cut it off');
});

test('a service that can reach nobody gets no drop-in', (context) => {
  const walls = {
    network: 'PrivateNetwork=yes',
    code: 'MemoryDenyWriteExecute=true',
    families: 'RestrictAddressFamilies=AF_UNIX',
    addresses: 'IPAddressDeny=any',
    root: 'RootDirectory=/srv/jail',
    temporary: 'PrivateTmp=yes\nProtectHome=yes',
    none: 'PrivateNetwork=yes\nPrivateNetwork=no\nIPAddressDeny=any\nIPAddressAllow=localhost',
  };
  for (const [name, settings] of Object.entries(walls)) {
    context.put(`/lib/systemd/system/${name}.timer`, '[Timer]\nOnCalendar=daily\n');
    context.put(`/lib/systemd/system/${name}.service`, `[Service]\nExecStart=/bin/true\n${settings}\n`);
    context.put(`/etc/systemd/system/timers.target.wants/${name}.timer`, '');
  }
  const { proposals, passed_over } = discover(context, SNITCH, '--apply', '--yes');
  // If this checkout is in a place that such a service cannot see.
  const isHidden = /^\/(?:home|root|tmp|var\/tmp)\//.test(SNITCH);
  assert.equal(
    proposals.map(({ where }) => where),
    isHidden ? ['none.timer'] : ['none.timer', 'temporary.timer'],
  );
  assert.match(proposals[0]!.drop_in!.text, `exec ${SNITCH} check-in`);
  assert.is(passed_over.length, isHidden ? 6 : 5);
  assert.not.ok(existsSync(join(context.root, 'etc/systemd/system/network.service.d')));
});

test('files on a path: executable ones in absolute directories, and whether two names are one file', ({
  put,
  root,
}) => {
  put('/b/snitch', '', 0o755);
  put('/c/snitch', '', 0o755);
  put('/d/snitch', '', 0o644);
  symlinkSync('snitch', join(root, 'b/link'));
  assert.is(findOnPath('snitch', '/a:b:/d:/b:/c', root), '/b/snitch');
  assert.is(findOnPath('snitch', '/a:$PATH', root), null);
  assert.ok(isSameFile(join(root, 'b/snitch'), join(root, 'b/link')));
  assert.not.ok(isSameFile(join(root, 'b/snitch'), join(root, 'c/snitch')));
  assert.not.ok(isSameFile(join(root, 'b/snitch'), join(root, 'gone')));
  assert.is(shellWord("it's"), "'it'\\''s'");
  rmSync(join(root, 'b'), { recursive: true });
});

test('the trial sees what a job would see', ({ directory }) => {
  const account = { name: 'root', uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0, home: '/' };
  const fault = (word: string, path: string) => faultOfProgram(word, { account, shell: '/bin/sh', path });
  mkdirSync(join(directory.path, 'bin'));
  symlinkSync(SNITCH, join(directory.path, 'bin/snitch'));
  assert.is(fault('snitch', `${directory.path}/bin:/usr/bin:/bin`), null);
  assert.match(fault('snitch', '/usr/bin:/bin') ?? '', 'not found');
  assert.not.equal(
    fault('snitch', `${directory.path}/bin`),
    null,
    'its own script follows links by another program',
  );
  assert.match(fault('exit 7; true', '/bin') ?? '', 'it ended with 7');
});

test.run();
