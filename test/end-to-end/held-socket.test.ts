/**
 * A restart is no blind window if, and only if, the service manager held the socket all the time.
 * Time limit: 120 s.
 */
import { closeSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { newDataDir, removeDataDir } from '../data-directory.ts';
import { runUnless } from '../skipped.ts';
import { WITHOUT_SQLITE } from '../store/postgres/open.ts';
import { openListeningSocket } from '../system/raw-sockets.ts';
import { until } from '../until.ts';
import { type DaemonProcess, startProcess } from './daemon-process.ts';
import { createSnitches } from './ledger.ts';

const test = suite<{ dataDir: string }>('restarts on a held socket');

test.before.each((context) => {
  context.dataDir = newDataDir();
});
test.after.each(({ dataDir }) => removeDataDir(dataDir));

/** The number of blind windows so far, read after the first sweep since the start. */
async function windowsOf({ url, dataDir }: DaemonProcess): Promise<number> {
  const swept = await sign(dataDir);
  while ((await sign(dataDir)) === swept) await new Promise((resolve) => setTimeout(resolve, 100));
  assert.is((await fetch(`${url}/readyz`)).status, 200);
  return read(dataDir, 'SELECT COUNT(*) FROM blind_windows');
}

/** The last recorded sign of life. */
async function sign(dataDir: string): Promise<number> {
  return read(dataDir, `SELECT CAST(value AS INTEGER) FROM settings WHERE name = 'liveness'`);
}

function read(dataDir: string, sql: string): number {
  const db = new Database(join(dataDir, 'snitch.db'), { readonly: true });
  try {
    return db.prepare(sql).pluck().get() as number;
  } finally {
    db.close();
  }
}

/** Runs a daemon on `socket`, ends it with `signal` and restarts it on `again`. @returns the blind windows */
async function restart(
  dataDir: string,
  [socket, signal, again]: [number | null, NodeJS.Signals, number | null],
  meanwhile: (url: string, token: string) => Promise<unknown> = async () => {},
): Promise<number> {
  const passed = (fd: number | null) => (fd === null ? {} : { socket: fd });
  let daemon = await startProcess({ dataDir, ...passed(socket) });
  try {
    const [token = ''] = await createSnitches(daemon, 1);
    await windowsOf(daemon);
    await daemon.end(signal);
    const other = meanwhile(daemon.url, token);
    daemon = await startProcess({ dataDir, ...passed(again) });
    await other;
    return await windowsOf(daemon);
  } finally {
    await daemon.end('SIGKILL');
  }
}

test('an orderly restart opens none, and requests from meanwhile are answered', async ({ dataDir }) => {
  const { fd } = openListeningSocket();
  try {
    const checkIn = async (url: string, token: string) =>
      assert.is((await fetch(`${url}/c/${token}`)).status, 202);
    assert.is(await restart(dataDir, [fd, 'SIGTERM', fd], checkIn), 0);
  } finally {
    closeSync(fd);
  }
});

test('a crash opens one', async ({ dataDir }) => {
  const { fd } = openListeningSocket();
  try {
    assert.is(await restart(dataDir, [fd, 'SIGKILL', fd]), 1);
  } finally {
    closeSync(fd);
  }
});

test('it listens before the time away has been processed', async ({ dataDir }) => {
  let daemon = await startProcess({ dataDir });
  try {
    await windowsOf(daemon);
    await daemon.end('SIGKILL');
    daemon = await startProcess({ dataDir });
    assert.is(await windowsOf(daemon), 1);
    const lineOf = (text: string) => daemon.log.findIndex((line) => line.includes(text));
    await until(() => lineOf('no check-in could be received') >= 0, 'the log arrives here');
    assert.ok(lineOf('"msg":"listening"') < lineOf('no check-in could be received'));
  } finally {
    await daemon.end('SIGKILL');
  }
});

test('a socket that was closed and opened again opens one', async ({ dataDir }) => {
  const first = openListeningSocket();
  const second = openListeningSocket();
  try {
    assert.is(await restart(dataDir, [first.fd, 'SIGTERM', second.fd]), 1);
  } finally {
    closeSync(first.fd);
    closeSync(second.fd);
  }
});

test('a socket that the daemon opened itself, before or after, opens one', async ({ dataDir }) => {
  const { fd } = openListeningSocket();
  try {
    assert.is(await restart(dataDir, [null, 'SIGTERM', fd]), 1);
    assert.is(await restart(dataDir, [fd, 'SIGTERM', null]), 3, 'both of its starts');
  } finally {
    closeSync(fd);
  }
});

runUnless(WITHOUT_SQLITE, test, 'restarts on a held socket');
