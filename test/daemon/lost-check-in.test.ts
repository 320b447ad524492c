/** A check-in by name that is refused because its key cannot be looked up counts as a blind window. Time limit: 120 s. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pino from 'pino';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parse } from 'yaml';
import { loadConfig } from '../../src/config/config.ts';
import { startDaemon } from '../../src/daemon/daemon.ts';
import { ownDirectory } from '../data-directory.ts';
import { runUnless } from '../skipped.ts';
import { startCluster } from '../store/postgres/clusters/cluster.ts';
import { WITHOUT_POSTGRES } from '../store/postgres/clusters/programs.ts';
import { until } from '../until.ts';

const test = suite('a check-in whose key cannot be read');

test('a job whose check-in was refused before its snitch was looked up causes no alarm', async () => {
  await using cluster = await startCluster();
  const database = await cluster.newDatabase();
  using place = ownDirectory();
  const env = {
    SNITCH_LISTEN: '127.0.0.1:0',
    SNITCH_DATA_DIR: place.path,
    SNITCH_STORE_URL: cluster.url(database),
  };
  const daemon = await startDaemon(await loadConfig({ env }), pino({ level: 'silent' }));
  try {
    const { api_key: key } = parse(readFileSync(join(place.path, 'credentials.yaml'), 'utf8')) as {
      api_key: string;
    };
    const authorization = `Basic ${Buffer.from(`${key}:`).toString('base64')}`;
    const provisioned = await fetch(`${daemon.url}/v1/api_keys`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'jobs', scope: 'provision' }),
    });
    const { key: jobs } = (await provisioned.json()) as { key: string };
    const checkIn = async (query = '') => (await fetch(`${daemon.url}/c/${jobs}/backup${query}`)).status;
    assert.is(await checkIn('?create=1&interval=daily'), 201);
    const windows = () =>
      cluster.query<{ from: number; to: number }>(
        'SELECT started_at::float8 AS from, ended_at::float8 AS to FROM blind_windows',
        [],
        database,
      );
    const before = (await windows()).length;
    await cluster.query('ALTER TABLE api_keys RENAME TO taken_away', [], database);
    assert.is(await checkIn(), 503);
    await cluster.query('ALTER TABLE taken_away RENAME TO api_keys', [], database);
    await until(async () => (await windows()).length === before + 1, 'the time is a blind window');
  } finally {
    await daemon.stop();
  }
});

runUnless(WITHOUT_POSTGRES, test, 'a check-in whose key cannot be read');
