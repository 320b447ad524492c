/** A daemon that is killed between the end of a silence and its sweep sends what was kept back once. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireAlert, WireSnitch } from '../../src/api/wire.ts';
import type { WireSilence } from '../../src/api/wire-kept-back.ts';
import { newDataDir, removeDataDir } from '../data-directory.ts';
import { queryDirectory } from '../store/fixture.ts';
import { ON_POSTGRES, queryOnPostgres } from '../store/postgres/open.ts';
import { until } from '../until.ts';
import { type DaemonProcess, startProcess } from './daemon-process.ts';

const query = ON_POSTGRES ? queryOnPostgres : queryDirectory;

const test = suite('a silence and a crash');

async function call<T>(daemon: DaemonProcess, method: string, path: string, body?: unknown): Promise<T> {
  const response = await daemon.call(method, path, body);
  assert.ok(response.ok, `${method} ${path}: ${response.status}`);
  return (await response.json()) as T;
}

/** Types of the alerts of the case, oldest first. */
async function alertsOf(daemon: DaemonProcess): Promise<string[]> {
  const alerts = await call<WireAlert[]>(daemon, 'GET', '/v1/alerts');
  return alerts.map(({ type }) => type).reverse();
}

test('kill -9 in a silence, and again after its end, loses and repeats nothing', async () => {
  const dataDir = newDataDir();
  let daemon = await startProcess({ dataDir });
  try {
    const snitch = await call<WireSnitch>(daemon, 'POST', '/v1/snitches', { name: 'a', interval: 'daily' });
    const checkIn = async (query: string) => {
      assert.is((await fetch(`${daemon.url}/c/${snitch.token}${query}`)).status, 202);
    };
    await checkIn('');
    const silence = await call<WireSilence>(daemon, 'POST', '/v1/silences', { all: true, duration: 3_600 });
    await checkIn('?s=3');
    assert.equal(await alertsOf(daemon), ['snitch.reporting']);
    await daemon.end('SIGKILL');
    // The silence ends while nobody runs.
    const ended = Date.now() - 1;
    await query(dataDir, 'UPDATE silences SET to_at = ?, over_at = ?', ended, ended);
    await query(dataDir, 'UPDATE silenced_alarms SET settle_at = ?', ended);
    for (let restart = 0; restart < 2; restart += 1) {
      daemon = await startProcess({ dataDir });
      await until(async () => (await alertsOf(daemon)).includes('snitch.errored'), 'the alarm is told');
      assert.equal(await alertsOf(daemon), ['snitch.reporting', 'snitch.errored']);
      assert.is((await call<WireSilence>(daemon, 'GET', `/v1/silences/${silence.id}`)).active, false);
      await daemon.end('SIGKILL');
    }
  } finally {
    await daemon.end('SIGKILL');
    removeDataDir(dataDir);
  }
});

test.run();
