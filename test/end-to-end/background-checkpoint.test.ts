/**
 * The built programs copy a long log in a separate thread, with the SQLite that is already loaded.
 * Time limit: 240 s.
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { removeDataDir } from '../data-directory.ts';
import { runUnless } from '../skipped.ts';
import { WITHOUT_SQLITE } from '../store/postgres/open.ts';
import { type DaemonOptions, type DaemonProcess, startProcess } from './daemon-process.ts';
import { EXECUTABLE } from './empty-root.ts';
import { createSnitches, Ledger } from './ledger.ts';

/** Long enough for any machine to write one checkpoint, in milliseconds. */
const WITHIN = 90_000;

const test = suite('the checkpoint of the built program');

/** SQLite has the database open, and so has the code that syncs it; the third descriptor is the thread's. */
function hasThread({ pid, dataDir }: DaemonProcess): boolean {
  const directory = `/proc/${pid}/fd`;
  const names = readdirSync(directory).map((fd) => {
    try {
      return readlinkSync(join(directory, fd));
    } catch {
      return '';
    }
  });
  return names.filter((name) => name === join(dataDir, 'snitch.db')).length > 2;
}

/** The native addons that the process has loaded. */
function loadedAddons({ pid }: DaemonProcess): Set<string> {
  const lines = readFileSync(`/proc/${pid}/maps`, 'latin1').split('\n');
  const addons = lines.filter((line) => /\.node( \(deleted\))?$/.test(line));
  return new Set(addons.map((line) => line.split(/ +/).slice(3, 5).join(' ')));
}

async function threadOf(daemon: DaemonProcess): Promise<void> {
  const until = Date.now() + WITHIN;
  while (!hasThread(daemon) && Date.now() < until) await sleep(2);
}

async function endAmidWork(options: DaemonOptions, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  const ledger = new Ledger();
  const daemon = await startProcess({ ...options, env: { SNITCH_RETENTION_CHECK_INS: '1000000' } });
  try {
    const tokens = await createSnitches(daemon, 64);
    const ended = threadOf(daemon).then(async () => {
      assert.ok(hasThread(daemon), 'the thread is at work');
      assert.is(loadedAddons(daemon).size, 1);
      assert.is(await daemon.end(signal), signal === 'SIGTERM' ? 0 : null);
    });
    await Promise.all([ended, ledger.load(daemon, tokens, ended)]);
    assert.not.match(daemon.log.join('\n'), 'in the background');
    await ledger.verify(daemon.dataDir);
  } finally {
    await daemon.end('SIGKILL');
    removeDataDir(daemon.dataDir);
  }
}

test('the bundle has one, and ends with it in order', () => endAmidWork({}, 'SIGTERM'));

test('the executable has one, and loses nothing to kill -9 amid its work', () =>
  endAmidWork({ program: [EXECUTABLE] }, 'SIGKILL'));

runUnless(WITHOUT_SQLITE, test, 'the checkpoint of the built program');
