/** `snitch health`: exit codes for container engines and scripts. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { OWN_ANSWER } from '../../../src/api/own-answer.ts';
import { ownDirectory } from '../../data-directory.ts';
import { startProcess } from '../../end-to-end/daemon-process.ts';
import { type Ended, runSnitch, temporaryDirectory } from '../snitch-process.ts';

const test = suite('snitch health');

test('a daemon that works is found by its credentials file, and is well; once it is gone, it is not', async () => {
  using directory = ownDirectory();
  await using daemon = await startProcess({ dataDir: directory.path });
  const env = { SNITCH_DATA_DIR: directory.path };
  assert.equal(await runSnitch(['health'], env), { code: 0, stdout: 'ready\n', stderr: '' });
  assert.equal(await runSnitch(['health', '-q', '--url', daemon.url]), { code: 0, stdout: '', stderr: '' });
  await daemon.end();
  const gone = await runSnitch(['health'], env);
  assert.equal([gone.code, gone.stdout], [1, '']);
  assert.match(gone.stderr, `snitch: cannot reach ${daemon.url}`);
  assert.equal(await runSnitch(['health', '-q'], env), { code: 1, stdout: '', stderr: '' });
});

/** What the command says about a server that gives this answer. */
async function healthOf(status: number, body: unknown, headers: Record<string, string>): Promise<Ended> {
  await using server: Server = createServer((_request, response) =>
    response.writeHead(status, headers).end(JSON.stringify(body)),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return await runSnitch(['health', '--url', url]);
}

test('a server is asked by its name', async () => {
  await using daemon = await startProcess();
  const config = temporaryDirectory();
  try {
    mkdirSync(join(config.path, 'snitch'));
    const text = `servers:\n  home:\n    url: ${daemon.url}\n  away:\n    url: http://127.0.0.1:9\nserver: away\n`;
    writeFileSync(join(config.path, 'snitch/cli.yaml'), text);
    const env = { XDG_CONFIG_HOME: config.path };
    for (const args of [
      ['--server', 'home', 'health'],
      ['health', '--server', 'home'],
    ]) {
      assert.equal(await runSnitch(args, env), { code: 0, stdout: 'ready\n', stderr: '' });
    }
    const away = await runSnitch(['health'], env);
    assert.is(away.code, 1);
    assert.match(away.stderr, 'cannot reach http://127.0.0.1:9');
  } finally {
    config.remove();
  }
});

test('a server that makes no progress is not well, and says why', async () => {
  const own = Object.fromEntries([OWN_ANSWER]);
  const body = { status: 'not ready', problems: ['the store cannot be written', 'the sweep is late'] };
  const { code, stderr } = await healthOf(503, body, own);
  assert.equal([code, stderr], [1, 'snitch: not ready: the store cannot be written; the sweep is late\n']);
  assert.is((await healthOf(500, 'x', own)).stderr, 'snitch: not ready: status 500\n');
});

test('one that is busy behind its work is well', async () => {
  const own = Object.fromEntries([OWN_ANSWER]);
  const { code, stdout } = await healthOf(200, { status: 'ready', progress: ['checking the database'] }, own);
  assert.equal([code, stdout], [0, 'ready, and checking the database\n']);
});

test('another program at the address is not the daemon, however well it is', async () => {
  const { code, stderr } = await healthOf(200, { status: 'ready' }, {});
  assert.is(code, 1);
  assert.match(stderr, 'is not a snitch server');
});

test('an address that is none is no reason for another exit code', async () => {
  const { code, stderr } = await runSnitch(['health'], { SNITCH_URL: 'ftp://x' });
  assert.is(code, 1);
  assert.match(stderr, 'SNITCH_URL');
});

test('one that does not answer in time is not well', async () => {
  await using server: Server = createServer(() => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { code, stderr } = await runSnitch(['health', '--url', url, '--timeout', '100ms']);
  server.closeAllConnections();
  assert.is(code, 1);
  assert.match(stderr, 'no answer in time');
});

test.run();
