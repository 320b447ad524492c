/**
 * The built dashboard on a real terminal, against a real daemon.
 * Alone in its process. Time limit: 180 s.
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireSnitch } from '../../src/api/wire.ts';
import { withCase } from '../cli/with-daemon.ts';
import { removeDataDir } from '../data-directory.ts';
import { type DaemonProcess, startProcess } from '../end-to-end/daemon-process.ts';
import { freePort } from '../free-port.ts';
import { runUnless, without } from '../skipped.ts';
import { openTerminal, type Terminal } from './tmux.ts';

const DASHBOARD = `node ${join(import.meta.dirname, '../../dist/snitch.mjs')} dashboard`;

interface Context {
  daemon: DaemonProcess;
  terminal: Terminal;
  /** Ends what this test has of the daemon: its case, or the daemon itself. */
  end(): Promise<void>;
}

const test = suite<Context>('the dashboard on a terminal');

async function create(daemon: DaemonProcess, name: string, tags: string[] = []): Promise<WireSnitch> {
  const response = await daemon.call('POST', '/v1/snitches', { name, interval: 'daily', tags });
  return (await response.json()) as WireSnitch;
}

function checkIn({ check_in_url }: WireSnitch, query = ''): Promise<Response> {
  return fetch(`${check_in_url}${query}`, { method: 'POST' });
}

test.before.each(async (context) => {
  const { daemon, end } = await withCase();
  await open(context, daemon, end);
});
test.after.each(close);

async function open(context: Context, daemon: DaemonProcess, end: () => Promise<void>): Promise<void> {
  Object.assign(context, { daemon, end });
  await checkIn(await create(daemon, 'nightly-backup', ['db']));
  await checkIn(await create(daemon, 'log-rotate', ['web']));
  await checkIn(await create(daemon, 'disk-check', ['web']), '?s=1&m=disk%20full');
  await create(daemon, '日本語\u{1f389}', ['web']);
  const env = { SNITCH_URL: daemon.url, SNITCH_API_KEY: daemon.apiKey };
  context.terminal = openTerminal('dashboard', env);
  context.terminal.type('echo before');
  context.terminal.press('Enter');
  await context.terminal.shows(/^before$/m);
}

async function close({ terminal, end }: Context): Promise<void> {
  terminal.close();
  await end();
}

async function start(terminal: Terminal, flags = ''): Promise<void> {
  terminal.type(`${DASHBOARD}${flags}`);
  terminal.press('Enter');
  await terminal.shows('live', '4 in all');
}

/** The screen from before is back, the mouse and the cursor are the shell's, and typing is echoed line by line. */
async function assertClean(terminal: Terminal): Promise<void> {
  await terminal.shows(/^before$/m, /bash-[\d.]+[#$]\s*$/);
  await terminal.hides('in all');
  assert.is(terminal.ask('#{alternate_on} #{mouse_any_flag} #{cursor_flag}'), '0 0 1');
  const settings = execFileSync('stty', ['-a', '-F', terminal.ask('#{pane_tty}')], { encoding: 'utf8' });
  // The shell edits lines itself while it waits; a command that reads sees the terminal as it was before.
  assert.match(settings, /\bisig\b/);
  assert.not.match(settings, /-isig\b/);
}

test('a morning with the dashboard', async ({ terminal, daemon }) => {
  await start(terminal);
  await terminal.shows(/❯ ▲ errored disk-check/, /✓ healthy log-rotate/, /○ pending 日本語🎉 /);

  terminal.type('/tag:db');
  const filtered = await terminal.shows('Filter: tag:db  (1 of 4)', 'nightly-backup');
  assert.not.match(filtered, 'log-rotate');
  terminal.press('Enter');
  await terminal.hides('/tag:db');

  terminal.press('Enter');
  await terminal.shows('Check-in URL', 'If it does not check in again by');
  terminal.press('G');
  await terminal.shows('alert: reporting, was pending');
  terminal.press('g');
  terminal.press('p');
  await terminal.shows('Pause nightly-backup until');
  terminal.press('Enter');
  await terminal.shows('‖ paused  nightly-backup', '1 paused');
  terminal.press('Escape');
  await terminal.shows('STATUS');
  terminal.press('Escape');
  await terminal.hides('Filter:');

  terminal.press('n');
  await terminal.shows('New snitch');
  terminal.type('fresh-job');
  terminal.press('Tab', 'C-u');
  terminal.type('sometimes');
  terminal.press('Enter');
  await terminal.shows(/sometimes\s+✗ is not a valid interval/);
  terminal.press('C-u');
  terminal.type('hourly');
  terminal.press('Enter');
  await terminal.shows('Created fresh-job', /❯ ○ pending fresh-job\s+hourly/, '5 in all');

  terminal.press('d');
  await terminal.shows('Delete fresh-job?');
  terminal.press('y');
  await terminal.shows('Deleted fresh-job', '4 in all');
  const left = (await (await daemon.call('GET', '/v1/snitches')).json()) as WireSnitch[];
  assert.equal(left.map(({ name }) => name).sort(), [
    'disk-check',
    'log-rotate',
    'nightly-backup',
    '日本語🎉',
  ]);

  terminal.press('q');
  await assertClean(terminal);
});

test('while a schedule is typed, its next runs are shown', async ({ terminal, daemon }) => {
  await start(terminal);
  terminal.press('n');
  await terminal.shows('New snitch');
  terminal.type('weekdays');
  terminal.press('Tab', 'Tab');
  terminal.type('0 3 * * 1-9');
  await terminal.shows(/Schedule +0 3 \* \* 1-9/, '✗ ');
  terminal.press('BSpace');
  terminal.type('5');
  await terminal.shows('Next runs, UTC:', /Mon \d{4}-\d\d-\d\d 03:00 \+00:00 by 03:15/);
  terminal.press('Tab');
  terminal.type('Europe/Berlin');
  await terminal.shows('Next runs, Europe/Berlin:', /Mon .* 03:00 \+0[12]:00 by 03:15/);
  terminal.resize(40, 10);
  await terminal.shows(/❯ Time zone +Europe\/Berlin/, /03:00 \+0[12]:00 by 03:15/, 'enter save');
  terminal.press('Tab');
  terminal.type('1h');
  await terminal.shows(/❯ Grace +1h/, /03:00 \+0[12]:00 by 04:00/);
  terminal.press('Enter');
  await terminal.shows('Created weekdays');
  terminal.resize(100, 30);
  await terminal.shows(/❯ ○ pending weekdays +weekly/);
  terminal.press('Enter');
  await terminal.shows(
    'Schedule',
    'cron 0 3 * * 1-5 (Europe/Berlin)',
    /Next runs +\w{3} .* 03:00 .* by 04:00/,
  );
  const made = (await (await daemon.call('GET', '/v1/snitches')).json()) as WireSnitch[];
  const { schedule, timezone, grace } = made.find(({ name }) => name === 'weekdays') ?? {};
  assert.equal([schedule, timezone, grace], [{ cron: '0 3 * * 1-5' }, 'Europe/Berlin', 3_600]);
});

test('changes of others appear by themselves', async ({ terminal, daemon }) => {
  await start(terminal);
  const added = await create(daemon, 'from-elsewhere');
  await terminal.shows(/○ pending from-elsewhere/, '5 in all');
  await checkIn(added);
  await terminal.shows(/✓ healthy from-elsewhere/);
  await daemon.call('DELETE', `/v1/snitches/${added.token}`);
  await terminal.shows('4 in all');
  await terminal.hides('from-elsewhere');
});

test('the details say by themselves who paused it meanwhile', async ({ terminal, daemon }) => {
  await start(terminal);
  const [{ token, name } = { token: '', name: '' }] = (await (
    await daemon.call('GET', '/v1/snitches?tags=db')
  ).json()) as WireSnitch[];
  terminal.type(`/${name}`);
  terminal.press('Enter');
  terminal.press('Enter');
  await terminal.shows('Check-in URL', 'It last checked in at');
  await daemon.call('POST', `/v1/snitches/${token}/pause`, { until: 'unpaused' });
  await terminal.shows(/first start paused it at /);
  terminal.press('G');
  await terminal.shows(
    'Last changes',
    'first start made it',
    'first start paused it until somebody unpauses it',
  );
});

test('the terminal gets narrow and wide again without leaving anything behind', async ({ terminal }) => {
  await start(terminal);
  await terminal.shows('HISTORY');
  terminal.resize(40, 12);
  await terminal.hides('HISTORY');
  const narrow = await terminal.shows(/❯ ▲ errored disk-check/, 'DUE', /q quit/);
  assert.is(narrow.match(/disk-check/g)?.length, 1);
  assert.is(narrow.match(/STATUS/g)?.length, 1);
  terminal.resize(100, 24);
  const wide = await terminal.shows('HISTORY', '4 in all');
  assert.is(wide.match(/disk-check/g)?.length, 1);
  assert.is(wide.match(/STATUS/g)?.length, 1);
  terminal.press('q');
  await assertClean(terminal);
});

test('it waits for a daemon that died, and then shows its news', async (context) => {
  await close(context);
  // It is restarted at the address that the dashboard uses.
  const daemon = await startProcess({ env: { SNITCH_LISTEN: `127.0.0.1:${await freePort()}` } });
  await open(context, daemon, async () => {
    await context.daemon.end();
    removeDataDir(daemon.dataDir);
  });
  const { terminal } = context;
  await start(terminal);
  await daemon.end('SIGKILL');
  await terminal.shows('no connection', /Data is \d+s old/, 'nightly-backup');
  terminal.press('j');
  await terminal.shows(/❯ ✓ healthy log-rotate /);
  const { dataDir } = daemon;
  context.daemon = await startProcess({ dataDir, env: { SNITCH_LISTEN: new URL(daemon.url).host } });
  await terminal.shows('live');
  await terminal.hides('Data is');
  await create(context.daemon, 'after-the-crash');
  await terminal.shows('after-the-crash', '5 in all');
});

test('the check-in URL is copied to the clipboard, and the mouse selects and opens', async ({ terminal }) => {
  await start(terminal);
  terminal.press('y');
  await terminal.shows('Copied the check-in URL of disk-check');
  assert.match(terminal.clipboard(), /^http:\/\/127\.0\.0\.1:\d+\/c\/[a-z0-9]{26}$/);
  const row =
    1 +
    terminal
      .screen()
      .split('\n')
      .findIndex((line) => line.includes('log-rotate'));
  terminal.type(`\u001b[<0;20;${row}M\u001b[<0;20;${row}m`);
  await terminal.shows(/❯ ✓ healthy log-rotate/);
  terminal.type(`\u001b[<0;20;${row}M\u001b[<0;20;${row}m`);
  await terminal.shows('Check-in URL', 'Last periods');
});

test('read-only, nothing can be changed', async ({ terminal }) => {
  await start(terminal, ' --readonly');
  terminal.press('d');
  await terminal.shows('This dashboard is read-only.', 'read-only');
  terminal.press('C-c');
  await assertClean(terminal);
});

for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
  test(`${signal} gives the terminal back`, async ({ terminal }) => {
    await start(terminal);
    process.kill(terminal.programPid(), signal);
    await assertClean(terminal);
  });
}

test('Ctrl-Z gives the terminal back, and fg shows everything again, in the size of then', async ({
  terminal,
  daemon,
}) => {
  await start(terminal);
  for (const stop of [() => terminal.press('C-z'), () => process.kill(terminal.programPid(), 'SIGTSTP')]) {
    stop();
    await terminal.shows('Stopped');
    await assertClean(terminal);
    await create(daemon, 'made-meanwhile');
    terminal.resize(90, 20);
    terminal.type('clear; echo before; fg');
    terminal.press('Enter');
    await terminal.shows('live', 'in all', 'made-meanwhile');
    assert.is(terminal.ask('#{alternate_on} #{mouse_any_flag} #{cursor_flag}'), '1 1 0');
    terminal.press('?');
    await terminal.shows('read everything again');
    terminal.press('Escape');
    await terminal.hides('read everything again');
  }
  terminal.press('q');
  await assertClean(terminal);
});

test('a crash gives the terminal back, and says what it was', async ({ terminal }) => {
  const defect = "process.on('SIGUSR2',()=>{throw(new(Error)('planted-defect'))})";
  terminal.type(`export NODE_OPTIONS="--import=data:text/javascript,${defect}"`);
  terminal.press('Enter');
  await terminal.shows('NODE_OPTIONS');
  terminal.type('clear; echo before');
  terminal.press('Enter');
  // Text typed before the shell reads again would be echoed amid its output.
  await terminal.hides('NODE_OPTIONS');
  await terminal.shows(/^before$/m, /[#$]\s*$/);
  await start(terminal);
  process.kill(terminal.programPid(), 'SIGUSR2');
  await terminal.shows('snitch: planted-defect');
  await assertClean(terminal);
});

test('a key that is refused is said on a terminal that is given back', async ({ terminal }) => {
  terminal.type(`SNITCH_API_KEY=snk_wrong ${DASHBOARD}; echo "ended with $?"`);
  terminal.press('Enter');
  await terminal.shows('API key', 'ended with 4');
});

test('without a terminal the table is printed once', async ({ daemon }) => {
  const env = { PATH: process.env.PATH, LANG: 'C', SNITCH_URL: daemon.url, SNITCH_API_KEY: daemon.apiKey };
  const printed = execFileSync('sh', ['-c', DASHBOARD], {
    encoding: 'utf8',
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  assert.match(printed, /^ {2}STATUS {4}NAME/);
  assert.match(printed, /! errored disk-check/);
  assert.is(printed.trimEnd().split('\n').length, 5);
});

runUnless(without('tmux', '-V'), test, 'the dashboard on a terminal');
