/**
 * A disk that fills up or turns read-only: no false success, and recovery without a restart.
 * Time limit: 120 s.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { newDataDir, removeDataDir } from '../data-directory.ts';
import { runUnless, unless, withoutRoot } from '../skipped.ts';
import { WITHOUT_SQLITE } from '../store/postgres/open.ts';
import { until } from '../until.ts';
import { type DaemonProcess, startProcess } from './daemon-process.ts';
import { createSnitches, Ledger } from './ledger.ts';

/** How long to wait for a change of the disk to show, in milliseconds: only so that nothing waits for ever. */
const PATIENCE = 30_000;

const test = suite('a disk that refuses');

const withMounts = unless(withoutRoot(), test);

withMounts('full: 503 with Retry-After, then success again when there is space', async () => {
  await onSmallDisk(async (disk, daemon) => {
    const [token] = await createSnitches(daemon, 1);
    const ledger = new Ledger();
    const filler = join(disk, 'filler');
    fill(filler);
    await answers(() => checkIn(daemon, `${token}?m=full`), 503);
    const refused = await fetch(`${daemon.url}/c/${token}?m=full`);
    assert.is(refused.status, 503);
    assert.ok(Number(refused.headers.get('retry-after')) > 0);
    const api = await daemon.call('POST', '/v1/snitches', { name: 'no space', interval: 'daily' });
    assert.is(api.status, 503);
    assert.is(((await api.json()) as { type: string }).type, 'service_unavailable');
    const readiness = await fetch(`${daemon.url}/readyz`);
    assert.is(readiness.status, 503);
    assert.match(await readiness.text(), /the store cannot write since \S+: the disk is full/);
    assert.is((await daemon.call('GET', '/v1/snitches')).status, 200, 'reading still works');

    rmSync(filler);
    await answers(() => checkIn(daemon, `${token}?m=space`), 202);
    for (let number = 0; number < 20; number += 1) {
      if ((await checkIn(daemon, `${token}?m=after-${number}`)) === 202)
        ledger.acknowledged.add(`after-${number}`);
    }
    assert.is(ledger.acknowledged.size, 20);
    await ledger.verify(daemon.dataDir);
    await answers(async () => (await fetch(`${daemon.url}/readyz`)).status, 200);
    const listed = (await (await daemon.call('GET', '/v1/snitches')).json()) as unknown[];
    assert.is(listed.length, 1, 'what was refused is not there');
  });
});

withMounts('full under load: every check-in that was answered 202 is there', async () => {
  await onSmallDisk(async (disk, daemon) => {
    const tokens = await createSnitches(daemon, 64);
    const ledger = new Ledger();
    const filler = join(disk, 'filler');
    const enough = until(() => ledger.acknowledged.size > 64, 'the load has begun');
    const filled = enough.then(async () => {
      fill(filler);
      await sleep(700);
      rmSync(filler);
      await sleep(500);
    });
    await ledger.load(daemon, tokens, filled);
    assert.is(await daemon.end(), 0);
    assert.ok(ledger.acknowledged.size > 64, 'the load was too small to prove anything');
    await ledger.verify(daemon.dataDir);
  });
});

async function onSmallDisk(use: (disk: string, daemon: DaemonProcess) => Promise<void>): Promise<void> {
  const root = newDataDir();
  const disk = join(root, 'disk');
  mkdirSync(disk);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', disk], { stdio: 'pipe' });
  const daemon = await startProcess({ dataDir: join(disk, 'data') });
  try {
    await use(disk, daemon);
  } finally {
    await daemon.end('SIGKILL');
    execFileSync('umount', [disk]);
    removeDataDir(root);
  }
}

/** Writes until nothing fits any more. */
function fill(path: string): void {
  for (const size of [1024 * 1024, 4096, 1]) {
    try {
      for (;;) writeFileSync(path, Buffer.alloc(size), { flag: 'a' });
    } catch {
      // No more blocks of this size fit.
    }
  }
}

async function checkIn(daemon: DaemonProcess, path: string): Promise<number> {
  const answer = await fetch(`${daemon.url}/c/${path}`);
  await answer.arrayBuffer();
  return answer.status;
}

async function answers(status: () => Promise<number>, wanted: number): Promise<void> {
  const end = Date.now() + PATIENCE;
  let last = await status();
  while (last !== wanted && Date.now() < end) {
    await sleep(20);
    last = await status();
  }
  assert.is(last, wanted);
}

runUnless(WITHOUT_SQLITE, test, 'a disk that refuses');
