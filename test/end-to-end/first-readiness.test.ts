/**
 * When the built daemon first reports that it is ready. A script that provisions a host waits for that, and then uses
 * the keys. Time limit: 120 s.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { newDataDir, removeDataDir } from '../data-directory.ts';
import { freePort } from '../free-port.ts';
import { runUnless, unless, without } from '../skipped.ts';
import { WITHOUT_SQLITE } from '../store/postgres/open.ts';
import { startProcess } from './daemon-process.ts';

/** Every commit takes half a second, so that there is time to look. */
const SLOW_DISK = [
  ...['strace', '-f', '-qq', '-o', '/dev/null', '-e', 'trace=fdatasync'],
  ...['-e', 'inject=fdatasync:delay_enter=500000'],
];

const test = suite('the first readiness');

interface Seen {
  status: number;
  body: string;
  /** Whether the file of the keys was there when the answer came. */
  hasKeys: boolean;
  isAlive: boolean;
}

/** Its answers from the first one until it reports that it is ready. */
async function untilReady(url: string, dataDir: string): Promise<Seen[]> {
  const seen: Seen[] = [];
  while (seen.at(-1)?.status !== 200) {
    const answer = await fetch(`${url}/readyz`).catch(() => null);
    const body = await answer?.text();
    const hasKeys = existsSync(join(dataDir, 'credentials.yaml'));
    if (answer) {
      const isAlive = (await fetch(`${url}/healthz`)).status === 200;
      seen.push({ status: answer.status, body: body ?? '', hasKeys, isAlive });
    }
    await sleep(5);
  }
  return seen;
}

const withStrace = unless(without('strace', '-V'), test);

withStrace('comes when the keys can be used, and until then it says what it still does', async () => {
  const dataDir = newDataDir();
  const port = await freePort();
  const wrapper = SLOW_DISK;
  const starting = startProcess({ dataDir, wrapper, env: { SNITCH_LISTEN: `127.0.0.1:${port}` } });
  try {
    const [seen, daemon] = await Promise.all([untilReady(`http://127.0.0.1:${port}`, dataDir), starting]);
    const ready = seen.pop();
    assert.ok(ready?.hasKeys, 'ready before the keys were there');
    assert.ok(seen.length > 0, 'the disk was too fast for this test');
    for (const { status, body, isAlive } of seen) {
      assert.is(status, 503);
      assert.match(body, 'the daemon is starting');
      assert.ok(isAlive);
    }
    assert.is((await daemon.call('GET', '/v1/snitches')).status, 200);
  } finally {
    await (await starting.catch(() => null))?.end('SIGKILL');
    removeDataDir(dataDir);
  }
});

runUnless(WITHOUT_SQLITE, test, 'the first readiness');
