/**
 * A disk that takes for ever: the service manager hears nothing more, and may restart the daemon.
 * Time limit: 180 s.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { newDataDir, removeDataDir } from '../data-directory.ts';
import { unless, without } from '../skipped.ts';
import { WITHOUT_SQLITE } from '../store/postgres/open.ts';
import { openNotifySocket } from '../system/raw-sockets.ts';
import { startProcess } from './daemon-process.ts';

/** A sweep that takes longer than 30 s is a stall; some seconds pass before the first write of one. */
const STALLED_WITHIN = 50_000;

const test = suite('a daemon whose disk hangs');

unless(WITHOUT_SQLITE ?? without('strace', '-V'), test)(
  'gives no sign of life while it hangs, says why, and goes on when it can',
  async () => {
    const dataDir = newDataDir();
    const notify = openNotifySocket(join(dataDir, 'notify'));
    const daemon = await startProcess({
      dataDir,
      env: { NOTIFY_SOCKET: join(dataDir, 'notify'), WATCHDOG_USEC: '300000' },
    });
    await notify.until('READY=1');
    await notify.until('WATCHDOG=1');
    const hang = ['-e', 'trace=fdatasync', '-e', 'inject=fdatasync:delay_enter=600s'];
    const strace = spawn('strace', ['-f', '-qq', '-o', '/dev/null', ...hang, '-p', String(daemon.pid)], {
      stdio: 'ignore',
    });
    try {
      const told = () => daemon.log.find((line) => line.includes('no sign of life is given'));
      for (let waited = 0; !told() && waited < STALLED_WITHIN; waited += 100) await sleep(100);
      assert.match(told() ?? 'nothing was said', 'no sweep has ended for 3');
      assert.is((await fetch(`${daemon.url}/readyz`)).status, 503);
      const before = notify.fields.length;
      await sleep(2_000);
      assert.equal(notify.fields.slice(before), [], 'a sign of life in spite of the stall');
      const ended = once(strace, 'exit');
      strace.kill('SIGTERM');
      await ended;
      await notify.until('WATCHDOG=1', before);
      assert.is(await daemon.end(), 0);
    } finally {
      strace.kill('SIGKILL');
      await daemon.end('SIGKILL');
      notify.close();
      removeDataDir(dataDir);
    }
  },
);

test.run();
