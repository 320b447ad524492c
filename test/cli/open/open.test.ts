/** `snitch open`: what it prints is run as the programs run it that it is meant for, and the check-ins arrive. Time limit: 120 s. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parseAllDocuments } from 'yaml';
import type { WireCheckIn, WireSnitch } from '../../../src/api/wire.ts';
import { type CronJob, parseCrontab } from '../../../src/cli/discover/crontab/lines.ts';
import { parseCronSchedule } from '../../../src/cli/schedule/cron.ts';
import { SNIPPET_KINDS, type Snippet } from '../../../src/core/snippets/snippet.ts';
import { openTerminal } from '../../tui/tmux.ts';
import { fakeServer } from '../fake-server.ts';
import { onTerminal, plain } from '../on-terminal.ts';
import { runSnitch, temporaryDirectory } from '../snitch-process.ts';
import { type Commands, withCase } from '../with-daemon.ts';

const test = suite('snitch open');
let on: Commands;

test.before.each(async () => {
  on = await withCase();
});
test.after.each(() => on.end());
test.after(async () => {
  await on.daemon.end();
});

const NAME = `it's "50%" $(reboot) \\ é`;

const create = (...flags: string[]) => on.json<WireSnitch>('create', NAME, ...flags);

/** What comes out for a file. */
async function printed(kind: string): Promise<string> {
  const { code, stdout, stderr } = await on.run('open', NAME, '--for', kind, '-q');
  assert.equal([code, stderr], [0, '']);
  return stdout;
}

/** New entries of the history since the last call, oldest first: `start`, `healthy`, `error 3`. */
async function reported(): Promise<string[]> {
  const all = await on.json<WireCheckIn[]>('history', NAME);
  return all.reverse().map(({ outcome, exit_status: status }) => (status ? `${outcome} ${status}` : outcome));
}

/** An environment like that of cron: hardly any. */
const CRON = { PATH: '/usr/bin:/bin', HOME: '/nonexistent', LOGNAME: 'nobody', SHELL: '/bin/sh' };

/** Does not block: the daemon is another process, but the timers of the test are in this one. */
async function run(program: string, args: readonly string[], env: NodeJS.ProcessEnv = CRON) {
  const child = spawn(program, args, { env, stdio: ['ignore', 'ignore', 'inherit'] });
  const [code] = (await once(child, 'close')) as [number | null];
  return code;
}

function jobOf(line: string): CronJob {
  const [job] = parseCrontab(`${line}\n`, false);
  assert.is(job?.kind, 'job', line);
  return job as CronJob;
}

test('a line of the crontab, with the program and with curl', async () => {
  await create('--cron', '30 2 * * MON-FRI');
  const [, byProgram = '', , byCurl = ''] = (await printed('crontab')).split('\n');
  for (const line of [byProgram, byCurl.replace('#', '')]) {
    const { schedule, command, input } = jobOf(line);
    assert.equal([schedule, input], ['30 2 * * 1-5', '']);
    parseCronSchedule(schedule);
    for (const job of ['/bin/true', '/bin/false']) {
      await run('/bin/sh', ['-c', command.replace('/path/to/job', job)]);
    }
  }
  assert.equal(await reported(), ['start', 'healthy', 'start', 'error 1', 'healthy', 'error 1']);
});

test('a script of a shell', async () => {
  await create('-i', 'daily');
  const text = await printed('curl');
  assert.match(text, /^#!\/bin\/sh\n/);
  assert.is(await run('/bin/sh', ['-c', text.replace('/path/to/job', '/bin/true')]), 0);
  assert.is(await run('/bin/sh', ['-c', text.replace('/path/to/job', '(exit 3)')]), 3);
  assert.equal(await reported(), ['start', 'healthy', 'start', 'error 3']);
});

test('the command of a drop-in, after success and failure', async () => {
  await create('-i', 'daily');
  const lines = (await printed('systemd')).split('\n');
  const commands = lines.flatMap((line) => /^#?ExecStopPost=-\/bin\/sh -c "(.*)"$/.exec(line)?.[1] ?? []);
  assert.is(commands.length, 2);
  for (const quoted of commands) {
    const command = quoted.replace(/\\(.)/g, '$1').replaceAll('$$', '$').replaceAll('%%', '%');
    for (const [SERVICE_RESULT, EXIT_STATUS] of [
      ['success', '0'],
      ['exec-condition', '1'],
      ['signal', 'KILL'],
    ]) {
      await run('/bin/sh', ['-c', command], { ...CRON, SERVICE_RESULT, EXIT_CODE: 'exited', EXIT_STATUS });
    }
  }
  const all = await on.json<WireCheckIn[]>('history', NAME);
  assert.equal(
    all.map(({ outcome, message }) => [outcome, message]).reverse(),
    [1, 2].flatMap(() => [
      ['healthy', 'success exited 0'],
      ['healthy', 'exec-condition exited 1'],
      ['error', 'signal exited KILL'],
    ]),
  );
});

test('a script of Python, whose errors stay its own', async () => {
  await create('-i', 'daily');
  const text = await printed('python');
  const python = (job: string) =>
    run('python3', ['-I', '-c', text.replace('pass  # what the job does', job)]);
  assert.is(await python('pass'), 0);
  assert.is(await python('raise SystemExit(4)'), 4);
  assert.is(await python('raise SystemExit()'), 0);
  assert.equal(await reported(), ['start', 'healthy', 'start', 'error 1', 'start', 'healthy']);
  const [last] = (await on.json<WireCheckIn[]>('history', NAME)).filter(({ outcome }) => outcome === 'error');
  assert.match(last?.message ?? '', 'SystemExit(4)');
});

interface Step {
  run?: string;
}

test('the script in a workflow of GitHub, and in a CronJob of Kubernetes', async () => {
  const { check_in_url: CHECK_IN } = await create('--cron', '@daily');
  const [workflow] = parseAllDocuments(await printed('github-actions')).map((one) => one.toJS()) as [
    { jobs: { job: { steps: Step[] } } },
  ];
  const step = workflow.jobs.job.steps.at(-1)?.run ?? '';
  for (const RESULT of ['success', 'cancelled'])
    await run('/bin/sh', ['-ec', step, 'sh'], { ...CRON, CHECK_IN, RESULT });
  assert.equal(await reported(), ['healthy', 'error']);
  const [secret, job] = parseAllDocuments(await printed('kubernetes')).map((one) => one.toJS());
  assert.is(secret.stringData.url, CHECK_IN);
  assert.equal([job.spec.schedule, job.spec.timeZone], ['0 0 * * *', 'UTC']);
  const [{ command, args }] = job.spec.jobTemplate.spec.template.spec.containers;
  const script = String(args[0]).replace('/path/to/job', '/bin/true');
  assert.is(await run(command[0], [command[1], script], { ...CRON, CHECK_IN }), 0);
  assert.equal((await reported()).slice(2), ['start', 'healthy']);
});

test('the badge is the one that there is, or it is said how to make one', async () => {
  const { token } = await create('-i', 'daily');
  const none = await on.run('open', NAME, '--for', 'badge');
  assert.equal([none.code, none.stdout], [1, '']);
  assert.match(none.stderr, 'snitch badge add');
  await on.run('badge', 'add', '--tag', 'x');
  const { url } = await on.json<{ url: string }>('badge', 'add', token, '--label', 'ours');
  assert.is(await printed('badge'), `![ours](${url})\n`);
});

test('without --for all of it comes, each below its title, and as JSON', async () => {
  await create('--calendar', 'Mon..Fri 03:00', '--timezone', 'Europe/Berlin');
  const { stdout, code } = await on.run('open', NAME);
  assert.is(code, 0);
  for (const kind of SNIPPET_KINDS) assert.match(stdout, `(--for ${kind})`);
  assert.match(stdout, '# Its timer has: OnCalendar=Mon..Fri 03:00 Europe/Berlin\n');
  assert.match(stdout, 'OnCalendar), which cron does not know');
  const all = await on.json<Snippet[]>('open', NAME);
  assert.equal(
    all.map(({ kind }) => kind),
    [...SNIPPET_KINDS],
  );
  const one = await on.json<Snippet>('open', NAME, '--for', 'python');
  assert.equal(
    one,
    all.find(({ kind }) => kind === 'python'),
  );
  assert.is(one.text, (await printed('python')).replace(/\n$/, ''));
  const refused = await on.run('open', NAME, '--for', 'crontab');
  assert.equal([refused.code, refused.stdout], [1, '']);
});

test('what is wrong is said', async () => {
  await create('-i', 'daily');
  assert.is((await on.run('open', 'nobody')).code, 3);
  assert.is((await on.run('open', NAME, '--for', 'fortran')).code, 2);
  const all = await on.run('open', NAME, '--copy');
  assert.is(all.code, 2);
  assert.match(all.stderr, '--for crontab|curl');
  const piped = await on.run('open', NAME, '--for', 'curl', '--copy');
  assert.is(piped.code, 1);
  assert.match(piped.stderr, 'nothing was copied');
  assert.match(piped.stdout, /^#!\/bin\/sh\n/, 'it is printed all the same');
});

test('on 40 columns no line is broken, and the text is copied through the terminal', async () => {
  await create('-i', 'daily');
  const { screen } = await onTerminal(['open', NAME, '--for', 'crontab', '--copy'], {
    columns: 40,
    env: envOf(),
  });
  const text = await printed('crontab');
  assert.ok(plain(screen).includes(text), screen);
  const [, copied = ''] = /\]52;c;([A-Za-z0-9+/=]+)/.exec(screen) ?? [];
  assert.is(`${Buffer.from(copied, 'base64')}\n`, text);
  assert.match(screen, 'copied, if the terminal allows it: Crontab of');
  const whole = await onTerminal(['open', NAME], { columns: 40, env: envOf() });
  assert.ok(plain(whole.screen).includes(text));
});

/** The environment of a command on the daemon's host. */
const envOf = () => Object.fromEntries(Object.entries(on.env).map(([name, value]) => [name, value ?? '']));

test('in tmux it can be pasted', async () => {
  await create('-i', 'daily');
  using directory = temporaryDirectory();
  const terminal = openTerminal('open', envOf(), { columns: 40, rows: 24 });
  try {
    const snitch = join(import.meta.dirname, '../../../bin/snitch');
    const file = join(directory.path, 'name');
    writeFileSync(file, NAME);
    terminal.type(`'${snitch}' open "$(cat '${file}')" --for curl --copy`);
    terminal.press('Enter');
    await terminal.shows('copied, if the terminal allows');
    const text = await printed('curl');
    assert.is(terminal.clipboard().trimEnd(), text.trimEnd());
  } finally {
    terminal.close();
  }
});

test('a server that does not know badges gives everything else', async () => {
  const { token } = await create('-i', 'daily');
  const { url, apiKey } = on.daemon;
  await using old = await fakeServer((request, response) => {
    if (request.url?.startsWith('/v1/badges')) {
      const body = { type: 'resource_not_found', error: 'There is nothing at this path.' };
      response.writeHead(404).end(JSON.stringify(body));
      return;
    }
    const authorization = request.headers.authorization ?? '';
    void fetch(`${url}${request.url}`, { headers: { authorization } }).then(async (answer) =>
      response.writeHead(answer.status).end(await answer.text()),
    );
  });
  const env = { SNITCH_URL: old.url, SNITCH_API_KEY: apiKey, TZ: 'UTC' };
  const all = await runSnitch(['open', NAME], env);
  assert.is(all.code, 0, all.stderr);
  assert.match(all.stdout, token);
  assert.match(all.stdout, 'The server is too old for badges, and must be updated first.');
  const badge = await runSnitch(['open', NAME, '--for', 'badge'], env);
  assert.equal([badge.code, badge.stdout], [1, '']);
  assert.match(badge.stderr, 'older than this program');
});

test('shells complete the name and what there is', async () => {
  await on.make('plain');
  const values = async (...words: string[]) =>
    (await runSnitch(['__complete', '--', ...words], on.env)).stdout;
  assert.match(await values('open', 'pl'), /^plain\t/);
  assert.equal((await values('open', 'plain', '--for', 'k')).trim(), 'kubernetes');
  const badge = await on.json<{ id: string }>('badge', 'add', 'plain');
  assert.match(await values('badge', 'delete', ''), badge.id);
});

test('curl of this host knows the options', () => {
  const { stdout } = spawnSync('curl', ['--help', 'all'], { encoding: 'utf8' });
  for (const option of ['--retry <num>', '-m, --max-time', '--data-urlencode']) assert.match(stdout, option);
});

test.run();
