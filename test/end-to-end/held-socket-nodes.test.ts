/**
 * On PostgreSQL too an orderly restart is no blind window if the service manager held the socket all the time, unless
 * another node took check-ins meanwhile and was lost. Time limit: 180 s.
 */
import { closeSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { newDataDir, removeDataDir } from '../data-directory.ts';
import { runUnless } from '../skipped.ts';
import { type Cluster, startCluster } from '../store/postgres/clusters/cluster.ts';
import { WITHOUT_POSTGRES } from '../store/postgres/clusters/programs.ts';
import { openListeningSocket } from '../system/raw-sockets.ts';
import { until } from '../until.ts';
import { type DaemonProcess, startProcess } from './daemon-process.ts';
import { createSnitches } from './ledger.ts';

const test = suite<{ cluster: Cluster; database: string; dataDir: string }>(
  'restarts of nodes on a held socket',
);

test.before(async (context) => {
  context.cluster = await startCluster();
});
test.before.each(async (context) => {
  context.database = await context.cluster.newDatabase();
  context.dataDir = newDataDir();
});
test.after.each(({ dataDir }) => removeDataDir(dataDir));
test.after(({ cluster }) => cluster[Symbol.asyncDispose]());

interface Restart {
  socket: number | null;
  signal: NodeJS.Signals;
  again: number | null;
}

/** Restarts a node. @returns the number of blind windows once the node has judged the gap */
async function restart(
  { cluster, database, dataDir }: { cluster: Cluster; database: string; dataDir: string },
  { socket, signal, again }: Restart,
  meanwhile: (daemon: DaemonProcess, token: string) => Promise<unknown> = async () => {},
): Promise<number> {
  const env = { SNITCH_STORE_URL: cluster.url(database) };
  const passed = (fd: number | null) => (fd === null ? {} : { socket: fd });
  const ask = async (sql: string) => Number((await cluster.query<{ n: string }>(sql, [], database))[0]?.n);
  let daemon = await startProcess({ dataDir, env, ...passed(socket) });
  const keysOf = daemon;
  const isSettled = async () =>
    (await ask(`SELECT count(*) AS n FROM nodes WHERE id = (SELECT id FROM nodes ORDER BY started_at DESC LIMIT 1)
      AND alive_at - started_at > 4000 AND NOT EXISTS (SELECT 1 FROM nodes WHERE unsure_from IS NOT NULL)`)) >
    0;
  try {
    const [token = ''] = await createSnitches(daemon, 1);
    await until(isSettled, 'it lives');
    assert.is(await ask('SELECT count(*) AS n FROM blind_windows'), 0);
    await daemon.end(signal);
    const other = meanwhile(daemon, token);
    daemon = await startProcess({ dataDir, env, keysOf, ...passed(again) });
    await other;
    await until(isSettled, 'it knows what the silence was');
    return await ask('SELECT count(*) AS n FROM blind_windows');
  } finally {
    await daemon.end('SIGKILL');
  }
}

test('an orderly restart opens none, and requests from meanwhile are answered', async (context) => {
  const { fd } = openListeningSocket();
  try {
    const checkIn = async ({ url }: DaemonProcess, token: string) =>
      assert.is((await fetch(`${url}/c/${token}`)).status, 202);
    assert.is(await restart(context, { socket: fd, signal: 'SIGTERM', again: fd }, checkIn), 0);
  } finally {
    closeSync(fd);
  }
});

test('a crash opens one, and so does a restart on another socket', async (context) => {
  const [one, other] = [openListeningSocket(), openListeningSocket()];
  try {
    assert.is(await restart(context, { socket: one.fd, signal: 'SIGKILL', again: one.fd }), 1);
    const database = await context.cluster.newDatabase();
    const again = { socket: one.fd, signal: 'SIGTERM', again: other.fd } as const;
    const dataDir = newDataDir();
    try {
      assert.is(await restart({ ...context, database, dataDir }, again), 1);
    } finally {
      removeDataDir(dataDir);
    }
  } finally {
    closeSync(one.fd);
    closeSync(other.fd);
  }
});

test('if another node took check-ins since and was lost, the time after that is one', async (context) => {
  const { fd } = openListeningSocket();
  const elsewhere = newDataDir();
  try {
    const env = { SNITCH_STORE_URL: context.cluster.url(context.database) };
    const { cluster, database, dataDir } = context;
    const first = await startProcess({ dataDir, env, socket: fd });
    await first.end('SIGTERM');
    const other = await startProcess({ dataDir: elsewhere, env, keysOf: first });
    await other.end('SIGKILL');
    const again = await startProcess({ dataDir, env, keysOf: first, socket: fd });
    try {
      await until(
        async () => (await cluster.query('SELECT FROM blind_windows', [], database)).length > 0,
        'the time since then is blind',
      );
    } finally {
      await again.end('SIGKILL');
    }
  } finally {
    closeSync(fd);
    removeDataDir(elsewhere);
  }
});

runUnless(WITHOUT_POSTGRES, test, 'restarts of nodes on a held socket');
