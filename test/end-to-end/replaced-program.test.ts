/**
 * An upgrade takes away the files of the program that runs: whatever it needs to send alerts it must have by then.
 * Time limit: 120 s.
 */
import { copyFileSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireSnitch } from '../../src/api/wire.ts';
import { newDataDir, removeDataDir } from '../data-directory.ts';
import { startProcess } from './daemon-process.ts';
import { startMailbox } from './mailbox.ts';
import { startWebhookReceiver } from './webhook-receiver.ts';

const DIST = join(import.meta.dirname, '../../dist');
const WITHIN = 60_000;

const test = suite('a daemon whose program was taken away');

/** A copy of the bundle in a new directory. */
function install(directory: string): string {
  mkdirSync(directory);
  for (const name of readdirSync(DIST).filter((file) => /\.(mjs|node)$/.test(file))) {
    copyFileSync(join(DIST, name), join(directory, name));
  }
  return join(directory, 'snitch.mjs');
}

test('sends its first mail, webhook and sign of life, and answers the first call of each kind', async () => {
  const dataDir = newDataDir();
  const place = join(dataDir, 'program');
  const [mailbox, receiver] = await Promise.all([startMailbox(), startWebhookReceiver()]);
  const seen = Promise.withResolvers<string>();
  const elsewhere = createServer(({ headers }, response) => {
    seen.resolve(String(headers['user-agent']));
    response.end();
  });
  await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
  const { port } = elsewhere.address() as AddressInfo;
  const env = {
    SNITCH_SMTP_URL: mailbox.url,
    SNITCH_SMTP_FROM: 'snitch@example.com',
    SNITCH_WATCHDOG_URL: `http://127.0.0.1:${port}/c/token`,
  };
  const daemon = await startProcess({ dataDir, env, program: [process.execPath, install(place)] });
  try {
    rmSync(place, { recursive: true });
    for (const path of ['/openapi.json', '/metrics', '/readyz', '/v1/snitches', '/v1/deliveries']) {
      assert.is((await daemon.call('GET', path)).status, 200, path);
    }
    assert.ok((await daemon.call('PATCH', '/v1/case', { members: ['team@example.com'] })).ok);
    assert.ok((await daemon.call('POST', '/v1/webhooks', { url: receiver.url })).ok);
    const created = await daemon.call('POST', '/v1/snitches', { name: 'job', interval: 'daily' });
    const { check_in_url: address } = (await created.json()) as WireSnitch;
    assert.is((await fetch(`${daemon.url}${new URL(address).pathname}?s=1`)).status, 202);
    const [[mail], [post]] = await Promise.all([mailbox.waitFor(1, WITHIN), receiver.waitFor(1, WITHIN)]);
    assert.equal(mail?.recipients, ['team@example.com']);
    assert.is(post?.body.type, 'snitch.errored');
    assert.match(await seen.promise, /^Snitch\//);
    assert.is(await daemon.end(), 0);
  } finally {
    await daemon.end('SIGKILL');
    await Promise.all([mailbox.stop(), receiver.stop()]);
    elsewhere.close();
    removeDataDir(dataDir);
  }
});

test.run();
