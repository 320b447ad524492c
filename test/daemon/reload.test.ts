import { pino } from 'pino';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Config, loadConfig } from '../../src/config/config.ts';
import { type Daemon, startDaemon } from '../../src/daemon/daemon.ts';
import { newDataDir, removeDataDir } from '../data-directory.ts';

const test = suite('a reload');

/** @param use also gets what the daemon has warned of since its last use */
async function withDaemon(
  use: (daemon: Daemon, config: Config, warned: () => string[]) => Promise<void>,
): Promise<void> {
  const lines: string[] = [];
  const dataDir = newDataDir();
  try {
    const config = await loadConfig({
      env: { SNITCH_LISTEN: '127.0.0.1:0', SNITCH_DATA_DIR: dataDir, SNITCH_LOG_LEVEL: 'warn' },
    });
    const daemon = await startDaemon(
      config,
      pino({ level: 'warn' }, { write: (line) => void lines.push(line) }),
    );
    const warned = () => lines.splice(0).map((line) => (JSON.parse(line) as { msg: string }).msg);
    try {
      await use(daemon, config, warned);
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

test('it warns of what a start would warn of', async () => {
  await withDaemon(async (daemon, config, warned) => {
    const off = 'email is off: set smtp.url and smtp.from to send it';
    assert.equal(warned(), [off]);
    const smtp = { url: 'smtp://127.0.0.1:9', from: 'snitch@example.com' };
    await daemon.reload({ ...config, smtp });
    assert.equal(warned(), []);
    await daemon.reload({ ...config, warnings: ['only its first document is read'] });
    assert.equal(warned(), ['only its first document is read', off]);
  });
});

test.run();
