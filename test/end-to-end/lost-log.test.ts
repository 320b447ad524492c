import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireSnitch } from '../../src/api/wire.ts';
import { newDataDir, removeDataDir } from '../data-directory.ts';
import { runUnless } from '../skipped.ts';
import { WITHOUT_SQLITE } from '../store/postgres/open.ts';
import { startProcess } from './daemon-process.ts';

const lostLog = suite('a daemon whose log was damaged');

interface Window {
  started_at: number;
  ended_at: number;
}

function windowsOf(dataDir: string): Window[] {
  const db = new Database(join(dataDir, 'snitch.db'), { readonly: true });
  try {
    return db.prepare('SELECT started_at, ended_at FROM blind_windows').all() as Window[];
  } finally {
    db.close();
  }
}

lostLog('it says which time is missing, and takes that for blind', async () => {
  const dataDir = newDataDir();
  try {
    await using first = await startProcess({ dataDir });
    const created = await first.call('POST', '/v1/snitches', { name: 'job', interval: 'hourly' });
    const { check_in_url: address } = (await created.json()) as WireSnitch;
    const times: number[] = [];
    for (let count = 0; count < 30; count += 1) {
      times.push(Date.now());
      assert.is((await fetch(address)).status, 202);
    }
    await first.end('SIGKILL');
    const log = join(dataDir, 'snitch.db-wal');
    const bytes = readFileSync(log);
    const middle = Math.floor(bytes.length / 2);
    bytes[middle] = (bytes[middle] as number) ^ 255;
    writeFileSync(log, bytes);

    await using second = await startProcess({ dataDir });
    const told = second.log.filter((line) => line.includes('is missing from the database'));
    assert.is(told.length, 1);
    const { level, from, to } = JSON.parse(told[0] as string) as Record<string, string>;
    assert.is(level, 'error');
    assert.ok(Date.parse(from as string) <= (times.at(-1) as number));
    assert.ok(Date.parse(to as string) >= (times.at(-1) as number));
    const window = windowsOf(dataDir).find(({ started_at }) => started_at === Date.parse(from as string));
    assert.ok(window && window.ended_at >= Date.parse(to as string), JSON.stringify(windowsOf(dataDir)));
    assert.is((await fetch(`${second.url}${new URL(address).pathname}`)).status, 202);
    await second.end('SIGKILL');

    await using third = await startProcess({ dataDir });
    assert.not(third.log.some((line) => line.includes('is missing from the database')));
    await third.end();
  } finally {
    removeDataDir(dataDir);
  }
});

runUnless(WITHOUT_SQLITE, lostLog, 'a daemon whose log was damaged');
