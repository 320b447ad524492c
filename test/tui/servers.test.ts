/**
 * The dashboard with several servers on a real terminal: which one is shown, the state of the others, and switching.
 * Time limit: 180 s.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireSnitch } from '../../src/api/wire.ts';
import { startFakeServer } from '../cli/fake-server.ts';
import { removeDataDir } from '../data-directory.ts';
import { type DaemonProcess, startProcess } from '../end-to-end/daemon-process.ts';
import { runUnless, without } from '../skipped.ts';
import { openTerminal, type Terminal } from './tmux.ts';

const DASHBOARD = `node ${join(import.meta.dirname, '../../dist/snitch.mjs')} dashboard`;

interface Context {
  home: DaemonProcess;
  work: DaemonProcess;
  path: string;
}

const test = suite<Context>('the dashboard with several servers');

async function create(daemon: DaemonProcess, name: string): Promise<WireSnitch> {
  const response = await daemon.call('POST', '/v1/snitches', { name, interval: 'daily' });
  const snitch = (await response.json()) as WireSnitch;
  await fetch(snitch.check_in_url, { method: 'POST' });
  return snitch;
}

async function statusOf(daemon: DaemonProcess, { token }: WireSnitch): Promise<string> {
  const response = await daemon.call('GET', `/v1/snitches/${token}`);
  return ((await response.json()) as WireSnitch).status;
}

test.before(async (context) => {
  [context.home, context.work] = await Promise.all([startProcess(), startProcess()]);
  context.path = mkdtempSync(join(tmpdir(), 'snitch-'));
  mkdirSync(join(context.path, 'snitch'));
});

test.after(async ({ home, work, path }) => {
  for (const daemon of [home, work]) {
    await daemon.end();
    removeDataDir(daemon.dataDir);
  }
  rmSync(path, { recursive: true, force: true });
});

function write({ path }: Context, first: string, servers: Record<string, [url: string, key: string]>): void {
  const lines = Object.entries(servers).map(([name, [url, key]]) => {
    const own = key === '' ? '' : `    api_key: ${key}\n`;
    return `  ${name}:\n    url: ${url}\n${own}`;
  });
  writeFileSync(join(path, 'snitch/cli.yaml'), `${first}servers:\n${lines.join('')}`, { mode: 0o600 });
}

async function withTerminal(
  { path }: Context,
  size: { columns: number; rows: number },
  run: (terminal: Terminal) => Promise<void>,
): Promise<void> {
  const terminal = openTerminal('servers', { XDG_CONFIG_HOME: path }, size);
  try {
    terminal.type(DASHBOARD);
    terminal.press('Enter');
    await run(terminal);
  } finally {
    terminal.close();
  }
}

test('the header names the server; @ tells how all are, and goes to another', async (context) => {
  const { home, work } = context;
  const hanging = await startFakeServer(null);
  try {
    const [atHome, atWork] = [await create(home, 'same-name'), await create(work, 'same-name')];
    await create(work, 'only-at-work');
    await fetch(`${(await create(work, 'broken')).check_in_url}?s=1`, { method: 'POST' });
    write(context, 'server: home\n', {
      home: [home.url, home.apiKey],
      work: [work.url, work.apiKey],
      stuck: [hanging.url, 'x'],
      refuses: [work.url, `snk_${'a'.repeat(40)}`],
      keyless: ['http://127.0.0.1:1', ''],
    });
    await withTerminal(context, { columns: 100, rows: 24 }, async (terminal) => {
      await terminal.shows(`Snitch home ${home.url}`, 'same-name', 'live');
      terminal.type('@');
      await terminal.shows(
        'Servers',
        /❯ home \(here\) +all well, 1 in all/,
        /work +1 errored, 3 in all/,
        /refuses +The API key/,
      );
      await terminal.shows(/keyless +no API key for keyless/, /stuck +(asking|cannot reach)/);
      // Escape leaves everything as it was.
      terminal.press('Down', 'Escape');
      await terminal.shows(`Snitch home ${home.url}`, 'STATUS');

      terminal.type('@');
      await terminal.shows(/work +1 errored/);
      terminal.type('j');
      await terminal.shows(/❯ work/);
      terminal.press('Enter');
      await terminal.shows(`Snitch work ${work.url}`, 'only-at-work', '3 in all', 'live');
      terminal.type('/same');
      terminal.press('Enter');
      await terminal.shows('1 of 3', /❯ .*same-name/);
      terminal.type('d');
      await terminal.shows('Delete same-name on work?');
      terminal.press('Escape');
      await terminal.hides('Delete same-name');
      terminal.type('p');
      await terminal.shows('Pause same-name until');
      terminal.press('Enter');
      await terminal.shows('‖ paused  same-name');
      assert.is(await statusOf(work, atWork), 'paused');
      assert.is(await statusOf(home, atHome), 'healthy');

      // One server refuses the key, and one has none: the dashboard goes on, and the way back works.
      terminal.type('@');
      await terminal.shows(/refuses +The API key/);
      terminal.type('jj');
      await terminal.shows(/❯ refuses/);
      terminal.press('Enter');
      await terminal.shows('Snitch refuses', 'refused', 'The API key is missing or invalid');
      await terminal.hides('only-at-work');
      terminal.type('@');
      await terminal.shows(/❯ refuses \(here\)/);
      terminal.type('j');
      terminal.press('Enter');
      await terminal.shows('Still here: no API key for keyless', 'Snitch refuses');
      terminal.type('@kkkk');
      await terminal.shows(/❯ home/);
      terminal.press('Enter');
      await terminal.shows(`Snitch home ${home.url}`, '1 in all', 'live', /healthy same-name/);
      terminal.type('q');
      await terminal.hides('in all');
    });
  } finally {
    await hanging.stop();
  }
});

test('in a form the key is a character, so that nothing typed is lost', async (context) => {
  const { home, work } = context;
  write(context, 'server: home\n', { home: [home.url, home.apiKey], work: [work.url, work.apiKey] });
  await withTerminal(context, { columns: 40, rows: 14 }, async (terminal) => {
    await terminal.shows(/^Snitch home /m, 'live');
    terminal.type('n');
    await terminal.shows('New snitch');
    terminal.type('ops@example');
    await terminal.shows('ops@example');
    terminal.press('Escape');
    await terminal.shows('STATUS');
    terminal.type('@');
    const screen = await terminal.shows('Servers', /home \(here\)/, /work /);
    for (const line of screen.split('\n')) assert.ok(line.length <= 40, line);
  });
});

test('with one server there is nothing to choose, and no name in the header', async (context) => {
  const { home } = context;
  write(context, '', { home: [home.url, home.apiKey] });
  await withTerminal(context, { columns: 100, rows: 24 }, async (terminal) => {
    await terminal.shows(`Snitch ${home.url}`, 'live');
    terminal.type('@');
    await terminal.shows('There is only one server');
  });
});

runUnless(without('tmux', '-V'), test, 'the dashboard with several servers');
