import { pino } from 'pino';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Config, loadConfig } from '../../src/config/config.ts';
import { type Daemon, startDaemon } from '../../src/daemon/daemon.ts';
import { newDataDir, removeDataDir } from '../data-directory.ts';

const test = suite('a reload');

async function withDaemon(use: (daemon: Daemon, config: Config) => Promise<void>): Promise<void> {
  const dataDir = newDataDir();
  try {
    const config = await loadConfig({ env: { SNITCH_LISTEN: '127.0.0.1:0', SNITCH_DATA_DIR: dataDir } });
    const daemon = await startDaemon(config, pino({ level: 'silent' }));
    try {
      await use(daemon, config);
    } finally {
      await daemon.stop();
    }
  } finally {
    removeDataDir(dataDir);
  }
}

/** The status of a request for the metrics through a proxy, which only succeeds if they are public. */
async function statusOfMetrics({ url }: Daemon): Promise<number> {
  const response = await fetch(`${url}/metrics`, { headers: { via: '1.1 proxy' } });
  await response.arrayBuffer();
  return response.status;
}

test('a new setting takes effect at once, and so does the old one again', async () => {
  await withDaemon(async (daemon, config) => {
    assert.is(await statusOfMetrics(daemon), 404);
    await daemon.reload({ ...config, metrics: { public: true } });
    assert.is(await statusOfMetrics(daemon), 200);
    await daemon.reload(config);
    assert.is(await statusOfMetrics(daemon), 404);
  });
});

test('nothing changes if one setting is invalid', async () => {
  await withDaemon(async (daemon, config) => {
    const bad = {
      ...config,
      metrics: { public: true },
      smtp: { url: 'no address', from: 'snitch@example.com' },
    };
    await daemon.reload(bad).then(
      () => assert.unreachable('it was taken'),
      (error: unknown) => assert.instance(error, Error),
    );
    assert.is(await statusOfMetrics(daemon), 404);
  });
});

test.run();
