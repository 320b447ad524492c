/**
 * The built daemon under a service manager: what it reports, and the socket that outlives it.
 * Time limit: 120 s.
 */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { Agent, get } from 'node:http';
import { createConnection, type Socket } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ending } from '../closing.ts';
import { newDataDir, removeDataDir } from '../data-directory.ts';
import { unless, without } from '../skipped.ts';
import { openListeningFile, openListeningSocket, openNotifySocket } from '../system/raw-sockets.ts';
import { until } from '../until.ts';
import { type DaemonProcess, startProcess } from './daemon-process.ts';
import { createSnitches, Ledger } from './ledger.ts';

const test = suite<{ dataDir: string }>('under a service manager');

test.before.each((context) => {
  context.dataDir = newDataDir();
});
test.after.each(({ dataDir }) => removeDataDir(dataDir));

test('it is ready when clients are served, tells what it has, reloads and stops', async ({ dataDir }) => {
  const notify = openNotifySocket(join(dataDir, 'notify'));
  const config = join(dataDir, 'config.yaml');
  writeFileSync(config, 'log: { level: info }\n');
  const daemon = await startProcess({
    dataDir,
    env: { NOTIFY_SOCKET: join(dataDir, 'notify'), WATCHDOG_USEC: '300000', SNITCH_CONFIG: config },
  });
  try {
    await notify.until('READY=1');
    assert.is((await fetch(`${daemon.url}/readyz`)).status, 200);
    const opening = notify.fields.indexOf('STATUS=Opening the database');
    assert.ok(opening >= 0 && opening < notify.fields.indexOf('READY=1'));
    await createSnitches(daemon, 3);
    await notify.until('STATUS=3 snitches: 3 pending; 0 deliveries waiting');
    await notify.until('WATCHDOG=1', notify.fields.length);

    assert.equal(await reload(daemon, notify), ['RELOADING=1', 'READY=1']);
    writeFileSync(config, 'log: { level: loud }\n');
    assert.equal(await reload(daemon, notify), ['RELOADING=1', 'READY=1']);
    const isTold = () => daemon.log.join('\n').includes('everything stays as it was');
    await until(isTold, 'the log tells of the reload that failed');

    const before = notify.fields.length;
    assert.is(await daemon.end(), 0);
    await notify.until('STOPPING=1', before);
    assert.not(notify.fields.slice(notify.fields.indexOf('STOPPING=1')).includes('WATCHDOG=1'));
  } finally {
    await daemon.end('SIGKILL');
    notify.close();
  }
});

/** What it reports after a SIGHUP, without signs of life; the time of the reload is by the kernel's clock. */
async function reload(daemon: DaemonProcess, notify: ReturnType<typeof openNotifySocket>): Promise<string[]> {
  const from = notify.fields.length;
  const before = process.hrtime.bigint() / 1_000n;
  process.kill(daemon.pid, 'SIGHUP');
  const at = BigInt((await notify.until('MONOTONIC_USEC=', from)).split('=')[1] ?? '');
  assert.ok(at >= before && at <= process.hrtime.bigint() / 1_000n, 'the time of the reload');
  await notify.until('READY=1', from);
  return notify.fields.slice(from).filter((field) => /^(RELOADING|READY)/.test(field));
}

test('it takes the socket that it is given, and says its address', async ({ dataDir }) => {
  using socket = openListeningSocket();
  const env = { SNITCH_LISTEN: '127.0.0.1:1' };
  await using daemon = await startProcess({ dataDir, socket: socket.fd, env });
  assert.is(daemon.url, `http://127.0.0.1:${socket.port}`);
  assert.is((await daemon.call('GET', '/v1/snitches')).status, 200);
  assert.is(await daemon.end(), 0);
});

test('two sockets are refused, and it says what to do', async ({ dataDir }) => {
  using _socket = openListeningSocket();
  const wrapper = ['sh', '-c', 'LISTEN_FDS=2 LISTEN_PID=$$ exec "$@"', 'sh'];
  const error = await startProcess({ dataDir, wrapper }).catch((reason: Error) => reason);
  assert.match((error as Error).message, 'leave one ListenStream= in snitch.socket');
});

/** Restarts the daemon under the load of 64 connections, each time on the same socket. */
async function restartUnderLoad(dataDir: string, restarts: number): Promise<void> {
  using socket = openListeningSocket();
  const { fd } = socket;
  // On a quick machine each snitch checks in more often than its log is long.
  const env = { SNITCH_RETENTION_CHECK_INS: '1000000' };
  let daemon = await startProcess({ dataDir, socket: fd, env });
  try {
    const tokens = await createSnitches(daemon, 64);
    const ledger = new Ledger();
    const over = Promise.withResolvers<void>();
    const load = ledger.load(daemon, tokens, over.promise);
    for (let restart = 0; restart < restarts; restart += 1) {
      await until(() => ledger.acknowledged.size > 64 * (restart + 1), 'the load goes on');
      const before = ledger.acknowledged.size;
      assert.is(await daemon.end(), 0);
      daemon = await startProcess({ dataDir, socket: fd, env });
      assert.ok(ledger.acknowledged.size > before);
    }
    await until(() => ledger.acknowledged.size > 64 * (restarts + 1), 'the load goes on');
    over.resolve();
    await load;
    assert.equal(ledger.failures, []);
    assert.ok(ledger.acknowledged.size > 64 * restarts);
    assert.is(await daemon.end(), 0);
    await ledger.verify(dataDir);
  } finally {
    await daemon.end('SIGKILL');
  }
}

test('a restart refuses no check-in of 64 connections, and loses none', ({ dataDir }) =>
  restartUnderLoad(dataDir, 5));

for (const [who, sent] of [
  ['has connected and sent nothing', ''],
  ['has sent half of its request', 'GET /c/'],
] as const) {
  test(`a client that ${who} when the daemon is told to stop is answered`, async ({ dataDir }) => {
    await using daemon = await startProcess({ dataDir });
    const [token = ''] = await createSnitches(daemon, 1);
    const client = createConnection(Number(new URL(daemon.url).port), '127.0.0.1');
    const answer = text(client);
    client.write(sent);
    // Connections are accepted in the order in which they came.
    await fetch(`${daemon.url}/healthz`);
    const ended = daemon.end();
    await sleep(800);
    client.write(`GET /c/${token} HTTP/1.1\r\nhost: snitch\r\n\r\n`.slice(sent.length));
    assert.match(await answer, /^HTTP\/1\.1 202 [\s\S]*connection: close[\s\S]*Got it, thanks!/i);
    assert.is(await ended, 0);
  });
}

test('it takes a socket file too, and says its path', async ({ dataDir }) => {
  const path = join(dataDir, 'snitch.sock');
  using socket = openListeningFile(path);
  await using daemon = await startProcess({ dataDir, socket: socket.fd });
  assert.is(daemon.url, `unix:${path}`);
  const status = await new Promise((resolve, reject) => {
    get({ socketPath: path, path: '/readyz' }, ({ statusCode }) => resolve(statusCode)).on('error', reject);
  });
  assert.is(status, 200);
  assert.match(daemon.log.join('\n'), '"base_url":"http://localhost"');
  assert.is(await daemon.end(), 0);
});

const withStrace = unless(without('strace', '-V'), test);

withStrace(
  'every address of the host can be listened on where the kernel tells of none',
  async ({ dataDir }) => {
    // As under the unit, which allows no sockets but those of IP and of Unix.
    const wrapper = ['strace', '-f', '-qq', '-o', '/dev/null', '-e', 'trace=socket'];
    const inject = ['-e', 'inject=socket:error=EAFNOSUPPORT:when=2+1'];
    const env = { SNITCH_LISTEN: '0.0.0.0:0' };
    await using daemon = await startProcess({ dataDir, env, wrapper: [...wrapper, ...inject] });
    assert.match(daemon.url, /^http:\/\/127\.0\.0\.1:\d+$/);
    assert.is((await fetch(`${daemon.url}/healthz`)).status, 200);
    assert.is(await daemon.end(), 0);
  },
);

test('a descriptor that is no socket is refused in words', async ({ dataDir }) => {
  await using file = await open(join(dataDir, 'no-socket'), 'w');
  const error = await startProcess({ dataDir, socket: file.fd }).catch((reason: Error) => reason);
  assert.match((error as Error).message, 'passed descriptor 3, which is not a socket to listen on (E');
});

test('a client that keeps its connection open and is silent is let go at the stop', async ({ dataDir }) => {
  await using daemon = await startProcess({ dataDir });
  await using agent = ending(new Agent({ keepAlive: true }), (one) => one.destroy());
  await new Promise<void>((resolve) => {
    get(`${daemon.url}/healthz`, { agent }, (response) => response.resume().on('end', resolve));
  });
  const closed = once(Object.values(agent.freeSockets).flat()[0] as Socket, 'close');
  assert.is(await daemon.end(), 0);
  await closed;
});

test.run();
