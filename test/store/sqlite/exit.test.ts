import { spawnSync } from 'node:child_process';
import { mkdtempDisposableSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { unless, without } from '../../skipped.ts';
import { openIn, openSqlite } from '../fixture.ts';

const LEAVER = fileURLToPath(new URL('leaver.ts', import.meta.url));

const exit = suite('end of the process');

/** What the leaver did to its files, one system call a line. */
function traceLeaver(dataDir: string): string[] {
  const trace = `${dataDir}.trace`;
  const cwd = fileURLToPath(new URL('.', import.meta.url));
  const calls = 'trace=fsync,fdatasync,unlink';
  const command = [process.execPath, LEAVER, dataDir];
  const { status } = spawnSync('strace', ['-f', '-y', '-qq', '-e', calls, '-o', trace, ...command], {
    cwd,
    stdio: 'ignore',
  });
  assert.is(status, 0);
  const lines = readFileSync(trace, 'utf8').split('\n');
  rmSync(trace);
  return lines.filter((line) => line.includes(dataDir));
}

unless(without('strace', '-V'), exit)(
  'a store that was never closed syncs the database before its log is removed',
  async () => {
    using dir = mkdtempDisposableSync(join(tmpdir(), 'snitch-exit-'));
    const dataDir = join(dir.path, 'data');
    const calls = traceLeaver(dataDir);
    const removed = calls.findIndex((call) => /unlink\(.*snitch\.db-wal/.test(call));
    assert.ok(removed > 0, 'the log was copied and removed');
    const lastSync = calls.slice(0, removed).findLast((call) => call.includes('sync('));
    assert.match(lastSync ?? '', /sync\(\d+<.*snitch\.db>/);
    await using store = openIn(dataDir);
    assert.is(await store.getSetting('maintenance'), 'on');
  },
);

exit('a store that was closed leaves nothing behind in the process', async () => {
  const before = process.listenerCount('exit');
  {
    await using _opened = await openSqlite();
    assert.is(process.listenerCount('exit'), before + 1);
  }
  assert.is(process.listenerCount('exit'), before);
});

exit.run();
