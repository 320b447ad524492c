/**
 * Starting, stopping and reloading as a supervisor does it.
 * Time limit: 120 s.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parse } from 'yaml';
import { newDataDir, removeDataDir } from '../data-directory.ts';
import { startProcess } from './daemon-process.ts';
import { createSnitches, Ledger } from './ledger.ts';

const test = suite('the life of the daemon');

test('the first start makes a case and two keys, and says where they are, but not what', async () => {
  const daemon = await startProcess();
  try {
    const file = join(daemon.dataDir, 'credentials.yaml');
    assert.is(statSync(file).mode & 0o777, 0o600);
    const { url, admin_key, api_key } = parse(readFileSync(file, 'utf8')) as Record<string, string>;
    assert.is(url, daemon.url);
    assert.match(String(admin_key), /^snk_[0-9A-Za-z]{40}$/);
    const team = (await (await daemon.call('GET', '/v1/case')).json()) as { name: string };
    assert.is(team.name, 'default');
    const cases = (await (await daemon.call('GET', '/v1/cases', undefined, admin_key)).json()) as unknown[];
    assert.is(cases.length, 1);
    const log = daemon.log.join('\n');
    assert.match(log, file);
    assert.not.match(log, String(admin_key));
    assert.not.match(log, String(api_key));
  } finally {
    await daemon.end('SIGKILL');
    removeDataDir(daemon.dataDir);
  }
});

test('a restart keeps the keys and names the new address', async () => {
  const first = await startProcess();
  const { dataDir } = first;
  try {
    assert.is(await first.end(), 0);
    await using second = await startProcess({ dataDir });
    assert.is(second.apiKey, first.apiKey);
    const { url } = parse(readFileSync(join(dataDir, 'credentials.yaml'), 'utf8')) as { url: string };
    assert.is(url, second.url);
    assert.is((await second.call('GET', '/v1/case')).status, 200);
    assert.is(await second.end('SIGINT'), 0);
  } finally {
    await first.end('SIGKILL');
    removeDataDir(dataDir);
  }
});

test('SIGTERM under load answers what is in flight and ends with 0', async () => {
  const daemon = await startProcess();
  try {
    const tokens = await createSnitches(daemon, 8);
    const ledger = new Ledger();
    const stopped = ledger.grown(65).then(() => daemon.end());
    await ledger.load(daemon, tokens, stopped);
    assert.is(await stopped, 0);
    assert.ok(ledger.acknowledged.size > 64);
    assert.not.ok(existsSync(join(daemon.dataDir, 'snitch.db-wal')), 'the log was folded into the database');
    await ledger.verify(daemon.dataDir);
  } finally {
    await daemon.end('SIGKILL');
    removeDataDir(daemon.dataDir);
  }
});

test('SIGHUP applies a good file, and a bad one changes nothing', async () => {
  const root = newDataDir();
  const file = join(root, 'config.yaml');
  writeFileSync(file, 'log: { level: info }\n');
  const daemon = await startProcess({ dataDir: join(root, 'data'), env: { SNITCH_CONFIG: file } });
  try {
    const logged = async (text: string) => {
      for (let tries = 0; tries < 500 && !daemon.log.some((line) => line.includes(text)); tries += 1)
        await sleep(20);
      assert.match(daemon.log.join('\n'), text);
    };
    writeFileSync(file, 'log: { levle: debug }\n');
    process.kill(daemon.pid, 'SIGHUP');
    await logged('log.levle');
    assert.is((await daemon.call('GET', '/v1/case')).status, 200);
    writeFileSync(file, 'log: { level: debug }\n');
    process.kill(daemon.pid, 'SIGHUP');
    await logged('the configuration was read again');
  } finally {
    await daemon.end('SIGKILL');
    removeDataDir(root);
  }
});

test('a second daemon on the same data directory is refused with exit code 75', async () => {
  const daemon = await startProcess();
  try {
    const second = await startProcess({ dataDir: daemon.dataDir }).then(
      async (started) => {
        await started.end('SIGKILL');
        return 'it started';
      },
      (error: Error) => error.message,
    );
    assert.match(second, 'ended with 75');
    assert.match(second, 'another snitch daemon is using');
  } finally {
    await daemon.end('SIGKILL');
    removeDataDir(daemon.dataDir);
  }
});

test('jobs can check in while the log cannot be written', async () => {
  const dataDir = newDataDir();
  const socketPath = join(dataDir, 'socket');
  const env = { PATH: process.env.PATH, SNITCH_DATA_DIR: dataDir, SNITCH_LISTEN: `unix:${socketPath}` };
  const command = [process.execPath, join(import.meta.dirname, '../../dist/snitch.mjs'), 'serve'];
  const child = spawn('sh', ['-c', 'exec "$@" >/dev/full 2>&1', 'sh', ...command], { env, stdio: 'ignore' });
  const ended = once(child, 'exit');
  const status = () =>
    new Promise((resolve) => {
      get({ socketPath, path: '/readyz' }, ({ statusCode }) => resolve(statusCode)).on('error', resolve);
    });
  try {
    while ((await status()) !== 200 && child.exitCode === null) await sleep(20);
    for (let reload = 0; reload < 5; reload += 1) {
      child.kill('SIGHUP');
      await sleep(50);
    }
    assert.is(await status(), 200);
    child.kill('SIGTERM');
    assert.equal(await ended, [0, null]);
  } finally {
    child.kill('SIGKILL');
    removeDataDir(dataDir);
  }
});

test.run();
