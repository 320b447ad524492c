/** The keys of a host that had its own database before it became a node, because installing the package starts it once. Time limit: 120 s. */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { parse } from 'yaml';
import { loadConfig } from '../../src/config/config.ts';
import { startDaemon } from '../../src/daemon/daemon.ts';
import { SnitchProcess } from '../cli/snitch-process.ts';
import { newDataDir, removeDataDir } from '../data-directory.ts';
import { runUnless } from '../skipped.ts';
import { startCluster } from '../store/postgres/clusters/cluster.ts';
import { WITHOUT_POSTGRES } from '../store/postgres/clusters/programs.ts';

async function started(dataDir: string, storeUrl?: string) {
  const env = {
    SNITCH_LISTEN: '127.0.0.1:0',
    SNITCH_DATA_DIR: dataDir,
    ...(storeUrl !== undefined && { SNITCH_STORE_URL: storeUrl }),
  };
  const log: string[] = [];
  const logger = pino({ base: null }, { write: (line: string) => void log.push(line) });
  const daemon = await startDaemon(await loadConfig({ env }), logger);
  const stop = async () => {
    await daemon.stop();
  };
  return { log, env, [Symbol.asyncDispose]: stop };
}

const UNKNOWN = 'this database knows none of the API keys in the file';

test('a node whose file has the keys of another database says so, and doctor says which it needs', async () => {
  await using cluster = await startCluster();
  const url = cluster.url(await cluster.newDatabase());
  const [first, second] = [newDataDir(), newDataDir()];
  try {
    for (const dataDir of [first, second]) {
      await using alone = await started(dataDir);
      assert.not.match(alone.log.join(''), UNKNOWN);
    }
    await using one = await started(first, url);
    assert.not.match(one.log.join(''), UNKNOWN, 'it has made keys');
    await using two = await started(second, url);
    assert.match(two.log.join(''), UNKNOWN);
    const { stdout } = await new SnitchProcess(['doctor', '--json'], two.env).ended();
    const { findings } = { findings: JSON.parse(stdout) as { check: string; remedy?: string }[] };
    const { remedy = '' } = findings.find(({ check }) => check === 'API key') ?? {};
    assert.match(remedy, `Copy that file to ${join(second, 'credentials.yaml')}`);
    assert.not.match(remedy, 'snitch doctor');
    rmSync(join(second, 'postgres-primary.json'));
    const other = await new SnitchProcess(['doctor', '--json'], two.env).ended();
    assert.match(other.stdout, /the server does not know this key/);
  } finally {
    removeDataDir(first);
    removeDataDir(second);
  }
});

test('a node whose keys were deleted says so, and does not only mention another database', async () => {
  await using cluster = await startCluster();
  const url = cluster.url(await cluster.newDatabase());
  const dataDir = newDataDir();
  try {
    {
      await using node = await started(dataDir, url);
      assert.not.match(node.log.join(''), UNKNOWN);
      const keys = parse(readFileSync(join(dataDir, 'credentials.yaml'), 'utf8')) as Record<string, string>;
      const asked = async <Answer>(key: string, method: string, path: string, scope?: string) => {
        const headers = { authorization: `Basic ${btoa(`${key}:`)}`, 'content-type': 'application/json' };
        const body = scope === undefined ? {} : { body: JSON.stringify({ name: 'newer', scope }) };
        const answer = await fetch(`${keys.url}/v1/${path}`, { method, headers, ...body });
        const text = await answer.text();
        assert.ok(answer.ok, text);
        return (text === '' ? null : JSON.parse(text)) as Answer;
      };
      for (const [key = '', scope] of [
        [keys.api_key, 'write'],
        [keys.admin_key, 'admin'],
      ] as const) {
        const before = await asked<{ id: string }[]>(key, 'GET', 'api_keys');
        const newer = await asked<{ key: string }>(key, 'POST', 'api_keys', scope);
        for (const { id } of before) await asked(newer.key, 'DELETE', `api_keys/${id}`);
      }
    }
    await using again = await started(dataDir, url);
    const said = again.log.find((line) => line.includes(UNKNOWN)) ?? '';
    assert.match(said, 'deleted');
    assert.match(said, 'snitch key create');
  } finally {
    removeDataDir(dataDir);
  }
});

runUnless(WITHOUT_POSTGRES, test, 'keys of nodes');
