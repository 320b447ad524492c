/** What is pasted, read by the programs that it is meant for, with names and addresses that mean something to them. */
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parseAllDocuments } from 'yaml';
import { badgeHtml, badgeMarkdown } from '../../../src/core/snippets/badge.ts';
import { cronTimesOf, timesOfInterval } from '../../../src/core/snippets/cron-times.ts';
import {
  SNIPPET_KINDS,
  type SnippetKind,
  type SnippetSubject,
  subjectOf,
} from '../../../src/core/snippets/snippet.ts';
import { snippetFor } from '../../../src/core/snippets/snippets.ts';

interface World {
  dir: string;
}

const test = suite<World>('snippets');
test.before.each((world) => {
  world.dir = mkdtempSync(join(tmpdir(), 'snitch-snippets-'));
});
test.after.each(({ dir }) => rmSync(dir, { recursive: true, force: true }));

/** It would do harm in every language, if it stood there as it is. */
const NAME = `a'b"c \`touch pwned\` $(touch pwned) %d \${{ x }} \\ '@ ; # é\u202e \u001b[31m """ ‘ end`;
/** What an address can hold, and more than that. */
const URL_OF = `https://in.example.com/c/a'b("c")$(touch pwned)%20%d;!*~&x\\`;

const subject = (more: Partial<SnippetSubject> = {}): SnippetSubject => ({
  name: NAME,
  url: URL_OF,
  interval: 'daily',
  schedule: null,
  timezone: 'UTC',
  program: '/usr/bin/snitch',
  hostZone: 'UTC',
  badge: null,
  ...more,
});

function textOf(kind: SnippetKind, more: Partial<SnippetSubject> = {}): string {
  const { text } = snippetFor(kind, subject(more));
  assert.type(text, 'string');
  return text ?? '';
}

/** A program that notes its arguments, one a line. */
function recorder(dir: string, name: string): { path: string; calls: () => string[][] } {
  const path = join(dir, name);
  const log = join(dir, 'calls');
  writeFileSync(
    path,
    `#!/bin/sh\nfor word; do printf '%s\\n' "$word"; done >>'${log}'\necho ==end== >>'${log}'\n`,
  );
  chmodSync(path, 0o755);
  const calls = () =>
    readFileSync(log, 'utf8')
      .split('==end==\n')
      .slice(0, -1)
      .map((call) => call.split('\n').slice(0, -1));
  return { path, calls };
}

/** Runs a script as a shell of a host does that has nothing but `curl`, and that noted by us. */
function sh(dir: string, script: string, env: Record<string, string> = {}): void {
  spawnSync('/bin/sh', ['-c', script], { cwd: dir, env: { PATH: `${dir}:/usr/bin:/bin`, ...env } });
}

/** What cron makes of a line: its times, and the command up to a bare percent sign. */
function asCron(line: string): { times: string; command: string } {
  const [, times = '', rest = ''] = /^((?:\S+ ){4}\S+) (.*)$/.exec(line) ?? [];
  const [command = ''] = rest.split(/(?<!\\)%/);
  return { times, command: command.replaceAll('\\%', '%') };
}

const hasOnlyCalls = (dir: string) => assert.equal(spawnSync('ls', [dir]).stdout.includes('pwned'), false);

test('nothing breaks a line, and no invisible character is left', () => {
  for (const kind of SNIPPET_KINDS) {
    const { text } = snippetFor(
      kind,
      subject({ name: 'x\ny', badge: { url: 'https://x/b/y.svg', label: null, public_name: null } }),
    );
    assert.not.match(text ?? '', /^y/m, kind);
    assert.not.match(
      textOf(kind, { badge: { url: 'https://x/b/y.svg', label: null, public_name: null } }).replaceAll(
        '\n',
        '',
      ),
      /\p{Cc}/u,
      kind,
    );
  }
});

test('the line of a crontab runs in the shell of cron, with and without the program', ({ dir }) => {
  const program = recorder(dir, `my snitch%'`);
  const curl = recorder(dir, 'curl');
  const lines = textOf('crontab', { program: program.path }).split('\n');
  assert.equal(
    lines.map((line) => line.startsWith('#')),
    [true, false, true, true],
  );
  const [, byProgram = '', , byCurl = ''] = lines;
  const first = asCron(byProgram);
  assert.is(first.times, '0 3 * * *');
  sh(dir, first.command);
  assert.equal(program.calls(), [['exec', URL_OF, '--', '/path/to/job']]);
  sh(dir, asCron(byCurl.slice(1)).command);
  assert.equal(curl.calls().at(-1)?.at(-1), `${URL_OF}?s=127`);
  hasOnlyCalls(dir);
});

test('the script of a shell reports start and exit status, and keeps it', ({ dir }) => {
  const curl = recorder(dir, 'curl');
  const job = join(dir, 'job');
  writeFileSync(job, '#!/bin/sh\nexit 7\n', { mode: 0o755 });
  const file = join(dir, 'script');
  writeFileSync(file, textOf('curl').replace('/path/to/job', job), { mode: 0o755 });
  const { status } = spawnSync(file, { env: { PATH: `${dir}:/usr/bin:/bin` }, cwd: dir });
  assert.is(status, 7);
  assert.equal(
    curl.calls().map((words) => words.at(-1)),
    [`${URL_OF}/start`, `${URL_OF}?s=7`],
  );
  assert.equal(curl.calls()[0]?.slice(0, 5), ['-fsS', '-m', '10', '--retry', '5']);
  hasOnlyCalls(dir);
});

/** What systemd hands to the shell: quotes and doubled signs taken away, as `systemd.service(5)` has it. */
function asSystemd(line: string): string {
  const [, quoted = ''] = /^ExecStopPost=-\/bin\/sh -c "(.*)"$/.exec(line) ?? [];
  return quoted.replace(/\\(.)/g, '$1').replaceAll('$$', '$').replaceAll('%%', '%');
}

test('the drop-in is one for systemd, and its command runs after success and failure', ({ dir }) => {
  const program = recorder(dir, `my snitch%'`);
  const curl = recorder(dir, 'curl');
  const text = textOf('systemd', { program: program.path });
  mkdirSync(join(dir, 'job.service.d'));
  writeFileSync(join(dir, 'job.service'), '[Service]\nType=oneshot\nExecStart=/bin/true\n');
  const uncommented = text.replace('#ExecStopPost', 'ExecStopPost');
  writeFileSync(join(dir, 'job.service.d/snitch.conf'), uncommented);
  const verified = spawnSync('systemd-analyze', ['verify', '--man=no', join(dir, 'job.service')], {
    encoding: 'utf8',
    env: { ...process.env, SYSTEMD_UNIT_PATH: `${dir}:` },
  });
  assert.not.match(verified.stderr, /job\.service|snitch\.conf/);
  assert.is(verified.status, 0, verified.stderr);
  const commands = uncommented.split('\n').filter((line) => line.startsWith('ExecStopPost'));
  const failed = { SERVICE_RESULT: 'exit-code', EXIT_CODE: 'exited', EXIT_STATUS: '3' };
  const ended = { SERVICE_RESULT: 'success', EXIT_CODE: 'exited', EXIT_STATUS: '0' };
  for (const env of [failed, ended]) for (const line of commands) sh(dir, asSystemd(line), env);
  const by = (s: string, m: string) => [
    ['check-in', URL_OF, '-s', s, '-m', m],
    [
      '-fsS',
      '-m',
      '10',
      '--retry',
      '5',
      '-o',
      '/dev/null',
      '-d',
      `s=${s}`,
      '--data-urlencode',
      `m=${m}`,
      URL_OF,
    ],
  ];
  assert.equal(curl.calls(), [...by('exit-code', 'exit-code exited 3'), ...by('0', 'success exited 0')]);
  hasOnlyCalls(dir);
});

test('the drop-in says what its timer has, where the schedule is one of systemd', () => {
  const lineOf = (more: Partial<SnippetSubject>) => textOf('systemd', more).split('\n')[2];
  const calendar = { schedule: { calendar: 'Mon..Fri 03:00' }, timezone: 'Europe/Berlin' };
  assert.is(lineOf(calendar), '# Its timer has: OnCalendar=Mon..Fri 03:00 Europe/Berlin');
  const zoned = { schedule: { calendar: 'daily UTC' }, timezone: 'Europe/Berlin' };
  assert.is(lineOf(zoned), '# Its timer has: OnCalendar=daily UTC');
  assert.is(lineOf({ schedule: { every: 5400 } }), '# Its timer has: OnUnitActiveSec=5400');
});

test('the script of Python compiles, and has the address', ({ dir }) => {
  const file = join(dir, 'job.py');
  writeFileSync(file, textOf('python'));
  const look = 'import sys, runpy; print(runpy.run_path(sys.argv[1], run_name="x")["CHECK_IN"], end="")';
  assert.is(execFileSync('python3', ['-I', '-c', look, file], { encoding: 'utf8' }), URL_OF);
});

test('PowerShell, which this cannot run, gets its quotes doubled and a comment of one line', () => {
  const [comment, assignment] = textOf('powershell', { url: `https://x/c/'’‘‚‛$(x)"` }).split('\n');
  assert.match(comment ?? '', /^# a'b"c /);
  assert.is(assignment, `$CheckIn = 'https://x/c/''’’‘‘‚‚‛‛$(x)"'`);
  const code = textOf('powershell', { url: 'https://x/c/y' }).split('\n').slice(1).join('\n');
  for (const [open, close] of ['{}', '()', '[]']) {
    assert.is(code.split(open ?? '').length, code.split(close ?? '').length, `${open}${close}`);
  }
  assert.is((code.match(/'/g) ?? []).length % 2, 0);
  assert.is((code.match(/"/g) ?? []).length % 2, 0);
});

interface Workflow {
  name: string;
  on: { schedule?: { cron: string }[] };
  jobs: { job: { steps: { name?: string; env?: Record<string, string>; run?: string }[] } };
}

const documents = (text: string) => parseAllDocuments(text).map((one) => one.toJS() as unknown);

test('the workflow of GitHub has the name as text, and reports what became of the job', ({ dir }) => {
  const curl = recorder(dir, 'curl');
  const { text, remarks } = snippetFor('github-actions', subject());
  const [workflow] = documents(text ?? '') as [Workflow];
  assert.match(workflow.name, `a'b"c \`touch pwned\``);
  assert.equal(workflow.on.schedule, [{ cron: '0 3 * * *' }]);
  assert.not.match(text ?? '', 'in.example.com', 'others may read the file');
  const { run = '', env = {} } = workflow.jobs.job.steps.at(-1) ?? {};
  assert.is(env.CHECK_IN, `\${{ secrets.CHECK_IN_URL }}`);
  for (const RESULT of ['success', 'failure']) sh(dir, run, { RESULT, CHECK_IN: URL_OF });
  assert.equal(
    curl.calls().map((words) => words.slice(-3)),
    [
      ['-d', 's=0', URL_OF],
      ['-d', 's=failure', URL_OF],
    ],
  );
  const gh = recorder(dir, 'gh');
  sh(dir, remarks[0]?.replace(/^.*?: (?=gh)/, '') ?? '');
  assert.equal(gh.calls().at(-1), ['secret', 'set', 'CHECK_IN_URL', '--body', URL_OF]);
  hasOnlyCalls(dir);
});

interface CronJob {
  metadata: { name: string };
  spec: {
    schedule: string;
    timeZone: string;
    jobTemplate: { spec: { template: { spec: { containers: { command: string[]; args: string[] }[] } } } };
  };
}

test('the CronJob of Kubernetes has a name that it takes, and its script runs', ({ dir }) => {
  const curl = recorder(dir, 'curl');
  const more = { schedule: { cron: '30 4 * * mon-FRI' }, timezone: 'Europe/Berlin' };
  const [secret, job] = documents(textOf('kubernetes', more)) as [{ stringData: { url: string } }, CronJob];
  assert.is(secret.stringData.url, URL_OF);
  assert.equal([job.spec.schedule, job.spec.timeZone], ['30 4 * * 1-5', 'Europe/Berlin']);
  assert.match(job.metadata.name, /^[a-z0-9]([a-z0-9-]{0,50}[a-z0-9])?$/);
  const [container] = job.spec.jobTemplate.spec.template.spec.containers;
  assert.equal(container?.command, ['/bin/sh', '-c']);
  sh(dir, container?.args[0] ?? '', { CHECK_IN: URL_OF });
  assert.equal(
    curl.calls().map((words) => words.at(-1)),
    [`${URL_OF}/start`, `${URL_OF}?s=127`],
  );
  for (const name of ['日本', '-', 'x'.repeat(300), 'A--b.']) {
    const [, other] = documents(textOf('kubernetes', { name })) as [unknown, CronJob];
    assert.match(other.metadata.name, /^[a-z0-9]([a-z0-9-]{0,50}[a-z0-9])?$/);
  }
  const [, umlauts] = documents(textOf('kubernetes', { name: 'Größe — Müller & Söhne' })) as [
    unknown,
    CronJob,
  ];
  assert.is(umlauts.metadata.name, 'gro-e-muller-sohne');
});

test('a label in Markdown and HTML stays text', () => {
  const badge = { url: 'https://x/b/y.svg', alt: 'a](javascript:x) <b> "c" `d` & *e*' };
  assert.is(badgeMarkdown(badge), '![a\\](javascript:x) \\<b\\> "c" \\`d\\` \\& \\*e\\*](https://x/b/y.svg)');
  assert.is(
    badgeHtml(badge),
    '<img alt="a](javascript:x) &lt;b&gt; &quot;c&quot; `d` &amp; *e*" src="https://x/b/y.svg">',
  );
});

test('schedules become the fields of cron, or it is said why not', () => {
  const fields: [SnippetSubject['schedule'], string][] = [
    [{ cron: ' 0  3 * * 1-5 ' }, '0 3 * * 1-5'],
    [{ cron: '@daily' }, '0 0 * * *'],
    [{ cron: '0 3 1 jan,Jul SUN' }, '0 3 1 1,7 0'],
    [{ cron: '0 3 * * FRI-SUN' }, '0 3 * * 5-7'],
    [{ cron: '*/15 8-18/2 * * *' }, '*/15 8-18/2 * * *'],
    [{ every: 60 }, '* * * * *'],
    [{ every: 900 }, '*/15 * * * *'],
    [{ every: 3_600 }, '0 * * * *'],
    [{ every: 21_600 }, '0 */6 * * *'],
    [{ every: 86_400 }, '0 3 * * *'],
  ];
  for (const [schedule, times] of fields) {
    assert.equal(cronTimesOf({ schedule, interval: 'daily' }), { times }, JSON.stringify(schedule));
  }
  for (const cron of [
    '0 3 L * *',
    '0 3 * * MON#1',
    '0 3 ? * *',
    '0 3 * * 5L',
    '0 3 15W * *',
    '5/15 * * * *',
    '0 3 * *',
    '0 0 3 * * *',
    '@reboot',
  ]) {
    assert.match(
      cronTimesOf({ schedule: { cron }, interval: 'daily' }).why ?? '',
      'cron does not know',
      cron,
    );
  }
  assert.equal(cronTimesOf({ schedule: { every: 5_400 }, interval: 'daily' }), {
    why: 'cron cannot run a job every 1 h 30 min',
  });
  const calendar = { calendar: 'Mon..Fri 03:00' };
  for (const kind of ['crontab', 'kubernetes'] as const) {
    const { text, remarks } = snippetFor(kind, subject({ schedule: calendar }));
    assert.is(text, null);
    assert.match(remarks[0] ?? '', 'OnCalendar');
  }
  assert.not.match(textOf('github-actions', { schedule: calendar }), 'schedule:');
  const known = ['3_minute', '1_minute', '12_hour', 'hourly', 'weekly', 'monthly'].map(timesOfInterval);
  assert.equal(known, ['*/3 * * * *', '* * * * *', '0 */12 * * *', '0 * * * *', '0 3 * * 1', '0 3 1 * *']);
});

test('another zone than that of the host is said', () => {
  const berlin = { schedule: { cron: '0 3 * * *' }, timezone: 'Europe/Berlin' };
  const said = (kind: SnippetKind, more: Partial<SnippetSubject>) =>
    snippetFor(kind, subject(more)).remarks.some((remark) => remark.includes('Europe/Berlin'));
  assert.ok(said('crontab', berlin));
  assert.ok(said('github-actions', berlin));
  assert.not(said('crontab', { ...berlin, hostZone: 'Europe/Berlin' }));
  assert.not(said('crontab', { timezone: 'Europe/Berlin' }));
});

test('a schedule is read in the zone of its snitch, and otherwise in that of the case', () => {
  const around = { caseZone: 'Europe/Berlin', program: 'snitch', hostZone: 'UTC', badges: null };
  const snitch = { token: 'a', name: 'job', check_in_url: URL_OF, interval: 'daily' } as const;
  assert.is(subjectOf(snitch, around).timezone, 'Europe/Berlin');
  assert.is(subjectOf({ ...snitch, timezone: null }, around).timezone, 'Europe/Berlin');
  assert.is(subjectOf({ ...snitch, timezone: 'Asia/Tokyo' }, around).timezone, 'Asia/Tokyo');
});

test.run();
