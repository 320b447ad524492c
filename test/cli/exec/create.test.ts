/**
 * `snitch exec --create` and `snitch check-in --create`: a job that is deployed watches itself.
 * Time limit: 120 s.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireApiKey, WireCase, WireCheckIn, WireSnitch } from '../../../src/api/wire.ts';
import { newDataDir, removeDataDir } from '../../data-directory.ts';
import type { DaemonProcess } from '../../end-to-end/daemon-process.ts';
import { freePort } from '../../free-port.ts';
import { fakeServer } from '../fake-server.ts';
import { Host, type Result, SNITCH, startOn } from './exec-process.ts';

interface Context {
  dataDir: string;
  port: number;
  daemon: DaemonProcess;
  host: Host;
  keyFile: string;
}

const test = suite<Context>('snitch exec: --create');

const DAILY = ['--cron', '0 3 * * *'];

async function newKey(daemon: DaemonProcess, scope: string): Promise<string> {
  const answer = await daemon.call('POST', '/v1/api_keys', { name: scope, scope });
  return ((await answer.json()) as WireApiKey).key ?? '';
}

test.before(async (context) => {
  context.dataDir = newDataDir();
  context.port = await freePort();
  context.daemon = await startOn(context.port, context.dataDir);
});
test.before.each(async (context) => {
  // A failed test may have left it stopped.
  if (context.daemon.child.exitCode !== null) context.daemon = await startOn(context.port, context.dataDir);
  for (const { href } of await list(context.daemon)) {
    assert.is((await context.daemon.call('DELETE', href)).status, 204);
  }
  context.host = new Host(context.daemon.url);
  context.keyFile = join(context.host.path, 'key');
  writeFileSync(context.keyFile, await newKey(context.daemon, 'provision'), { mode: 0o600 });
});
test.after.each(({ host }) => host.remove());
test.after(async ({ daemon, dataDir }) => {
  await daemon.end();
  removeDataDir(dataDir);
});

const list = async (daemon: DaemonProcess) =>
  (await (await daemon.call('GET', '/v1/snitches')).json()) as WireSnitch[];

async function named(daemon: DaemonProcess, name: string): Promise<WireSnitch> {
  const [found, ...others] = (await list(daemon)).filter((one) => one.name === name);
  assert.equal(others, []);
  assert.ok(found, `${name} was made`);
  return found!;
}

async function outcomes(daemon: DaemonProcess, { href }: WireSnitch): Promise<unknown[]> {
  const found = (await (await daemon.call('GET', `${href}/check_ins`)).json()) as WireCheckIn[];
  return found.reverse().map(({ outcome, exit_status }) => [outcome, exit_status]);
}

function exec(
  { host, keyFile }: Context,
  options: readonly string[],
  name: string,
  job: string,
): Promise<Result> {
  const env = { SNITCH_API_KEY_FILE: keyFile };
  return host.run(['exec', '--create', ...options, name, '--', 'sh', '-c', job], { env });
}

test('the first run makes the snitch as the options say, and the next one leaves it alone', async (context) => {
  const { daemon } = context;
  const described = [
    ...DAILY,
    '--timezone',
    'Europe/Berlin',
    '--grace',
    '10m',
    '--tag',
    'web1',
    '--tag',
    'db',
  ];
  const first = await exec(context, described, 'nightly backup', 'echo out; exit 3');
  assert.equal([first.code, first.stdout, first.stderr], [3, 'out\n', '']);
  const made = await named(daemon, 'nightly backup');
  assert.equal([made.schedule, made.timezone, made.grace], [{ cron: '0 3 * * *' }, 'Europe/Berlin', 600]);
  assert.equal([made.tags, made.status], [['web1', 'db'], 'errored']);
  assert.equal(await outcomes(daemon, made), [
    ['start', null],
    ['error', 3],
  ]);
  const other = await exec(context, ['--interval', '2h', '--tag', 'x'], 'nightly backup', 'exit 0');
  assert.equal([other.code, other.stderr], [0, '']);
  const { schedule, interval, tags, status } = await named(daemon, 'nightly backup');
  assert.equal([schedule, interval, tags, status], [made.schedule, 'daily', ['web1', 'db'], 'healthy']);
});

test('the first run has all options of `snitch create`', async (context) => {
  const { daemon } = context;
  for (const name of ['web1', 'Berlin, rack 2']) {
    await daemon.call('POST', '/v1/snitches', { name, interval: 'daily' });
  }
  const [web, rack] = [await named(daemon, 'web1'), await named(daemon, 'Berlin, rack 2')];
  const said = [
    '--alert-email',
    'ann@example.com',
    '--alert-email',
    'bob@example.com',
    '--alert-type',
    'smart',
  ];
  const wanted = ['--needs', 'web1', '--needs', rack.token, '--needs', 'tag:net, work'];
  const shown = ['--notes', 'see the runbook: 50 % & more', '--public-name', 'Backup'];
  const options = ['--interval', 'daily', ...said, ...wanted, ...shown];
  const { code, stderr } = await exec(context, options, 'nightly', 'exit 0');
  assert.equal([code, stderr], [0, '']);
  const made = await named(daemon, 'nightly');
  assert.equal(made.alert_email, ['ann@example.com', 'bob@example.com']);
  assert.equal([made.alert_type, made.public_name], ['smart', 'Backup']);
  assert.is(made.notes, 'see the runbook: 50 % & more');
  assert.equal(made.needs, [web.token, rack.token, 'tag:net, work']);
  const unknown = await exec(context, ['--interval', 'daily', '--needs', 'none of these'], 'other', 'exit 0');
  assert.is(unknown.code, 0);
  assert.match(unknown.stderr, /needs/);
  const odd = await exec(context, ['--interval', 'daily', '--alert-type', 'odd'], 'third', 'exit 0');
  assert.match(odd.stderr, '--alert-type is basic or smart');
});

test('each kind of schedule makes one: an interval, a calendar, a time between runs', async (context) => {
  for (const [name, options] of [
    ['interval', ['--interval', '15m']],
    ['calendar', ['--calendar', 'Mon..Fri 03:00']],
    ['every', ['--every', '90m', '--grace', '0s']],
  ] as const) {
    const { code, stderr } = await exec(context, options, name, 'exit 0');
    assert.equal([code, stderr], [0, ''], name);
  }
  const shown = [];
  for (const name of ['interval', 'calendar', 'every']) {
    const { interval, schedule, grace } = await named(context.daemon, name);
    shown.push([interval, schedule, grace]);
  }
  assert.equal(shown, [
    ['15_minute', null, null],
    ['weekly', { calendar: 'Mon..Fri 03:00' }, null],
    ['2_hour', { every: 5400 }, 0],
  ]);
});

test('the options also say what the job must report', async (context) => {
  const rules = [
    '--max-runtime',
    '3h',
    '--min-runtime',
    '1h',
    '--failures-before-alert',
    '2',
    '--expect',
    'bytes>=1M',
  ];
  const { code, stderr } = await exec(context, ['--interval', 'daily', ...rules], 'judged', 'exit 0');
  assert.equal([code, stderr], [0, '']);
  const { max_runtime, min_runtime, failures_before_alert, expect } = await named(context.daemon, 'judged');
  assert.equal([max_runtime, min_runtime, failures_before_alert], [10_800, 3_600, 2]);
  assert.equal(
    expect?.map(({ value, min }) => [value, min]),
    [['bytes', 1_000_000]],
  );
});

test('cron and its empty environment: a key in the configuration file, and nothing else', async (context) => {
  const { daemon, host, keyFile } = context;
  const directory = join(host.path, '.config', 'snitch');
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'cli.yaml'), `url: ${daemon.url}\napi_key_file: ${keyFile}\n`);
  const { spawnSync } = await import('node:child_process');
  const cron = spawnSync('/bin/sh', ['-c', `${SNITCH} exec --create --cron '0 3 * * *' from-cron -- true`], {
    env: { HOME: host.path, PATH: '/usr/bin:/bin', SHELL: '/bin/sh', LOGNAME: 'root' },
    encoding: 'utf8',
    timeout: 30_000,
  });
  assert.equal([cron.status, cron.stdout, cron.stderr], [0, '', '']);
  assert.is((await named(daemon, 'from-cron')).status, 'healthy');
});

test('a write key creates it too; with a read key the check-in is kept, and the reason said', async (context) => {
  const { daemon, host, keyFile } = context;
  writeFileSync(keyFile, await newKey(daemon, 'write'));
  assert.equal([(await exec(context, DAILY, 'by write', 'exit 0')).stderr], ['']);
  await named(daemon, 'by write');
  writeFileSync(keyFile, await newKey(daemon, 'read'));
  const { code, stderr } = await exec(context, DAILY, 'by read', 'exit 7');
  assert.is(code, 7);
  assert.match(stderr, /needs a key of the scope provision[^\n]*\nsnitch: the check-in is kept/);
  assert.is(host.kept().length, 2);
  assert.is((await list(daemon)).length, 1);
});

test('no key, a wrong key, a key file that is not there: the job runs, and its check-in is kept', async (context) => {
  const { host, keyFile } = context;
  for (const [text, words] of [
    ['snk_nobodyhasthis', /The API key is missing or invalid/],
    ['', /must hold one API key/],
  ] as const) {
    writeFileSync(keyFile, text);
    const { code, stdout, stderr } = await exec(context, DAILY, 'job', 'echo ran; exit 5');
    assert.equal([code, stdout], [5, 'ran\n']);
    assert.match(stderr, words);
    assert.match(stderr, /the check-in is kept/);
  }
  const none = await host.run(['exec', '--create', ...DAILY, 'job', '--', 'sh', '-c', 'exit 6']);
  assert.is(none.code, 6);
  assert.match(none.stderr, /no API key for [^\n]+/);
  assert.is(host.kept().length, 6);
});

test('the job runs, whatever is wrong with the options', async (context) => {
  const { daemon, host } = context;
  for (const [options, words] of [
    [
      ['--cron', '0 3 * *'],
      /cannot be made, so nothing was recorded: schedule cannot be read: cron has five fields/,
    ],
    [['--cron', '0 3 31 2 *'], /schedule would never be due/],
    [[...DAILY, '--timezone', 'Mars/Base'], /timezone is not a time zone/],
    [[...DAILY, '--every', '5m'], /use only one of --cron, --calendar and --every; no snitch is created/],
    [['--every', 'often'], /--every: "often" is not a length of time/],
    [['--interval', 'often'], /--interval: "often" is not an interval/],
    [['--grace', '10m'], /--create needs --interval, or one of --cron, --calendar and --every/],
    [['--interval', 'daily', '--timezone', 'UTC'], /--timezone is that of a schedule/],
  ] as const) {
    const { code, stdout, stderr } = await exec(context, options, 'job', 'echo ran; exit 9');
    assert.equal([code, stdout], [9, 'ran\n'], options.join(' '));
    assert.match(stderr, words);
  }
  assert.equal(await list(daemon), []);
  assert.is(host.kept().filter((name) => name.endsWith('.json')).length, 0);
  // The check-in of a snitch that exists counts, whatever is wrong with the options.
  await daemon.call('POST', '/v1/snitches', { name: 'job', interval: 'daily' });
  const { code, stderr } = await exec(context, ['--every', 'often'], 'job', 'exit 0');
  assert.is(code, 0);
  assert.match(stderr, /no snitch is created, and this run counts only if it exists already\n$/);
  assert.is((await named(daemon, 'job')).status, 'healthy');
});

test('a snitch cannot be created from a token or an address', async (context) => {
  const { daemon } = context;
  await daemon.call('POST', '/v1/snitches', { name: 'job', interval: 'daily' });
  const { token, check_in_url } = await named(daemon, 'job');
  for (const given of [token, check_in_url]) {
    const { code, stderr } = await exec(context, DAILY, given, 'exit 0');
    assert.is(code, 0);
    assert.match(
      stderr,
      /^snitch: --create needs the name of the snitch, and neither a token nor an address; /,
    );
  }
  assert.is((await outcomes(daemon, await named(daemon, 'job'))).length, 4);
  assert.is((await list(daemon)).length, 1);
});

test('an address with a key in it is refused without a word of the key', async (context) => {
  const { daemon, host, keyFile } = context;
  const key = readFileSync(keyFile, 'utf8');
  const { code, stderr } = await host.run(['exec', `${daemon.url}/c/${key}/job`, '--', 'sh', '-c', 'exit 4']);
  assert.is(code, 4);
  assert.match(stderr, /the check-in address has an API key in it/);
  assert.not.match(stderr, key.slice(4));
});

test('options of the job are never taken for ours: the dashes are needed', async (context) => {
  const { host } = context;
  const { code, stdout, stderr } = await host.run(['exec', '--create', ...DAILY, 'job', 'echo', 'ran']);
  assert.equal([code, stdout], [2, '']);
  assert.match(stderr, /write -- before the job/);
  const inner = await exec(context, DAILY, 'job', 'echo "$0 $*"; exit 0');
  assert.is(inner.code, 0);
});

test('server down from start to end: the spool lists it, and it is created when the server is back', async (context) => {
  const { daemon, host, keyFile } = context;
  const env = { SNITCH_API_KEY_FILE: keyFile };
  await daemon.end();
  const { code, stderr } = await exec(context, [...DAILY, '--tag', 'web1'], 'new job', 'exit 6');
  assert.is(code, 6);
  assert.match(
    stderr,
    /^snitch: cannot reach http:\S+: ECONNREFUSED\nsnitch: the check-in is kept;[^\n]+\n$/,
  );
  assert.is(host.kept().length, 2);
  for (const name of host.kept()) {
    assert.not.match(readFileSync(join(host.spool, name), 'utf8'), readFileSync(keyFile, 'utf8').slice(4));
  }
  const { stdout } = await host.run(['spool', 'list', '--json']);
  const kept = JSON.parse(stdout) as { kind: string; creates: boolean; token: string }[];
  assert.equal(
    kept.map(({ kind, creates, token }) => [kind, creates, token]),
    [
      ['start', true, 'new job'],
      ['6', true, 'new job'],
    ],
  );
  assert.match((await host.run(['spool', 'list'])).stdout, /start, create +new job/);
  context.daemon = await startOn(context.port, context.dataDir);
  const flushed = await host.run(['spool', 'flush'], { env });
  assert.equal([flushed.code, flushed.stderr], [0, 'sent 2\n']);
  const made = await named(context.daemon, 'new job');
  assert.equal([made.schedule, made.tags, made.status], [{ cron: '0 3 * * *' }, ['web1'], 'errored']);
  assert.equal(await outcomes(context.daemon, made), [
    ['start', null],
    ['error', 6],
  ]);
});

test('the next run of any job sends what waits, and two hosts at once make one snitch', async (context) => {
  const { daemon, host, keyFile } = context;
  await daemon.end();
  await exec(context, DAILY, 'first', 'exit 0');
  context.daemon = await startOn(context.port, context.dataDir);
  const others = [new Host(context.daemon.url), new Host(context.daemon.url), new Host(context.daemon.url)];
  try {
    const results = await Promise.all(
      [host, ...others].map((one) => exec({ ...context, host: one, keyFile }, DAILY, 'second', 'exit 0')),
    );
    assert.equal(
      results.map(({ code, stderr }) => [code, stderr]),
      Array(4).fill([0, '']),
    );
  } finally {
    for (const one of others) one.remove();
  }
  await named(context.daemon, 'first');
  assert.is((await outcomes(context.daemon, await named(context.daemon, 'second'))).length, 8);
  assert.equal(host.kept(), []);
});

test('a refused creation is set aside, and its check-in can be sent once the snitch exists', async (context) => {
  const { daemon, host, keyFile } = context;
  const env = { SNITCH_API_KEY_FILE: keyFile };
  await exec(context, ['--cron', '61 * * * *'], 'job', 'exit 0');
  const listed = await host.run(['spool', 'list', '-o', 'wide']);
  assert.match(listed.stdout, /exit 0, create +job +refused +.*schedule/);
  await daemon.call('POST', '/v1/snitches', { name: 'job', interval: 'daily' });
  const retried = await host.run(['spool', 'retry'], { env });
  assert.equal([retried.code, retried.stderr], [0, 'sent 2\n']);
  assert.is((await named(daemon, 'job')).status, 'healthy');
  await exec(context, ['--cron', '61 * * * *'], 'other', 'exit 0');
  assert.is((await host.run(['spool', 'drop', '--all'])).code, 0);
  assert.is((await host.run(['spool', 'list', '-q'])).stdout, '');
});

test('if the case is full the check-in is kept, and sent once there is room', async (context) => {
  const { daemon, host, keyFile } = context;
  const env = { SNITCH_API_KEY_FILE: keyFile };
  const cases = await daemon.call('GET', '/v1/cases', undefined, daemon.adminKey);
  const [own] = (await cases.json()) as WireCase[];
  const call = (max_snitches: number | null) =>
    daemon.call('PATCH', `/v1/cases/${own!.id}`, { max_snitches }, daemon.adminKey);
  assert.is((await call(0)).status, 200);
  const { code, stderr } = await exec(context, DAILY, 'job', 'exit 3');
  assert.is(code, 3);
  assert.match(stderr, /has as many snitches as its plan allows[^\n]*\nsnitch: the check-in is kept/);
  assert.is((await call(null)).status, 200);
  assert.is((await host.run(['spool', 'flush'], { env })).code, 0);
  assert.is((await named(daemon, 'job')).status, 'errored');
});

test('an older server, or another program, is not taken for a success', async (context) => {
  const { host } = context;
  for (const [headers, words] of [
    [{ snitch: '1' }, /is too old to take check-ins by name: update it/],
    [{}, /answered with status 404, and not as a snitch server/],
  ] as const) {
    await using old = await fakeServer((_, response) => {
      response.writeHead(404, headers).end('There is no such check-in address.\n');
    });
    host.url = old.url;
    const { code, stderr } = await exec(context, DAILY, 'job', 'exit 2');
    assert.is(code, 2);
    assert.match(stderr, words);
    assert.match(stderr, /the check-in is kept/);
  }
  await using portal = await fakeServer((_, response) => response.writeHead(200).end('<html>log in</html>'));
  host.url = portal.url;
  const { stderr } = await exec(context, DAILY, 'job', 'exit 0');
  assert.match(stderr, /the check-in is kept/);
});

test('check-in --create does the same for what is run without exec', async (context) => {
  const { daemon, host, keyFile } = context;
  const env = { SNITCH_API_KEY_FILE: keyFile };
  const checkIn = (...args: string[]) => host.run(['check-in', '--create', ...args], { env });
  const first = await checkIn(...DAILY, 'job', '-s', '3', '-m', 'disk full');
  assert.equal([first.code, first.stderr], [0, '']);
  assert.is((await named(daemon, 'job')).last_report?.message, 'disk full');
  const bad = await checkIn('--cron', 'x', 'other');
  assert.is(bad.code, 1);
  assert.match(bad.stderr, /cannot be made, so nothing was recorded: schedule/);
  await daemon.end();
  const away = await checkIn(...DAILY, 'later');
  assert.is(away.code, 5);
  context.daemon = await startOn(context.port, context.dataDir);
  assert.is((await checkIn(...DAILY, 'job')).code, 0);
  assert.is((await named(context.daemon, 'later')).status, 'healthy');
});

test('a provisioning key checks in by name without --create too', async (context) => {
  const { daemon, host, keyFile } = context;
  const env = { SNITCH_API_KEY_FILE: keyFile };
  await daemon.call('POST', '/v1/snitches', { name: 'job', interval: 'daily' });
  assert.equal((await host.run(['check-in', 'job'], { env })).code, 0);
  assert.is((await named(daemon, 'job')).status, 'healthy');
  const unknown = await host.run(['check-in', 'other'], { env });
  assert.is(unknown.code, 3);
  assert.match(unknown.stderr, /no snitch has the name "other": nothing was recorded/);
  const doctor = await host.run(['doctor', '--json'], { env });
  const found = JSON.parse(doctor.stdout) as { check: string; state: string; message: string }[];
  const key = found.find(({ check }) => check === 'API key');
  assert.is(key?.state, 'ok');
  assert.match(key?.message ?? '', /^can check in by name and create snitches, and nothing else/);
});

test.run();
