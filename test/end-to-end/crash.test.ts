/**
 * Nothing that was acknowledged is lost, and no alert that was decided, whenever the process or the power goes.
 * Time limit: 300 s.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { unless, without, withoutRoot } from '../skipped.ts';
import { type DaemonProcess, newDataDir, removeDataDir, startProcess } from './daemon-process.ts';
import { createSnitches, decidedAlerts, Ledger } from './ledger.ts';
import { startWebhookReceiver, type WebhookReceiver } from './webhook-receiver.ts';

const KILLS = 20;
const POWER_CUTS = 5;
const SNITCHES = 64;

/** The longest that all alerts of a test may take to arrive after the last crash, in milliseconds. */
const ARRIVE_WITHIN = 120_000;

const test = suite('crashes');

const keepAll = { SNITCH_RETENTION_CHECK_INS: '1000000' };

test(`${KILLS} times kill -9 under load lose nothing`, async () => {
  const dataDir = newDataDir();
  const receiver = await startWebhookReceiver();
  const ledger = new Ledger();
  let daemon = await startProcess({ dataDir, env: keepAll });
  try {
    const tokens = await prepare(daemon, receiver);
    for (let round = 0; round < KILLS; round += 1) {
      const running = daemon;
      const killed = sleep(50 + Math.random() * 400).then(() => running.end('SIGKILL'));
      await ledger.load(running, tokens, killed);
      daemon = await startProcess({ dataDir, env: keepAll });
      ledger.verify(dataDir);
    }
    assert.ok(ledger.acknowledged.size > KILLS * 64, 'the load was too small to prove anything');
    await expectAllAlerts(dataDir, receiver);
    assert.is(await daemon.end(), 0);
  } finally {
    await daemon.end('SIGKILL');
    await receiver.stop();
    removeDataDir(dataDir);
  }
});

unless(withoutPowerCuts(), test)(`${POWER_CUTS} power cuts under load lose nothing`, async () => {
  const root = newDataDir();
  const disk = new LoopDisk(root);
  const receiver = await startWebhookReceiver();
  const ledger = new Ledger();
  disk.make();
  disk.mount();
  let daemon = await startProcess({ dataDir: disk.dataDir, env: keepAll });
  try {
    const tokens = await prepare(daemon, receiver);
    for (let round = 0; round < POWER_CUTS; round += 1) {
      const running = daemon;
      const cut = sleep(200 + Math.random() * 600).then(() => {
        disk.cut();
        return running.end('SIGKILL');
      });
      await ledger.load(running, tokens, cut);
      disk.remount();
      daemon = await startProcess({ dataDir: disk.dataDir, env: keepAll });
      ledger.verify(disk.dataDir);
    }
    assert.ok(ledger.acknowledged.size > POWER_CUTS * 64, 'the load was too small to prove anything');
    await expectAllAlerts(disk.dataDir, receiver);
    assert.is(await daemon.end(), 0);
  } finally {
    await daemon.end('SIGKILL');
    disk.unmount();
    await receiver.stop();
    removeDataDir(root);
  }
});

async function prepare(daemon: DaemonProcess, receiver: WebhookReceiver): Promise<string[]> {
  const target = await daemon.call('POST', '/v1/webhooks', { url: receiver.url });
  assert.is(target.status, 200);
  return createSnitches(daemon, SNITCHES);
}

async function expectAllAlerts(dataDir: string, receiver: WebhookReceiver): Promise<void> {
  const until = Date.now() + ARRIVE_WITHIN;
  const missing = () => {
    const received = new Set(receiver.posts.map(({ headers }) => headers['webhook-id']));
    return decidedAlerts(dataDir).filter((id) => !received.has(id));
  };
  while (missing().length > 0 && Date.now() < until) await sleep(250);
  assert.equal(missing(), [], 'these alerts were decided and never delivered');
  assert.ok(decidedAlerts(dataDir).length > SNITCHES, 'too few alerts were decided to prove anything');
}

/** Why a power cut cannot be tried here, or null. */
function withoutPowerCuts(): string | null {
  return withoutRoot() ?? without('xfs_io', '-V') ?? without('mkfs.ext4', '-V');
}

/** A file system on a loop device whose power can be cut. */
class LoopDisk {
  readonly #image: string;
  readonly #mountPoint: string;

  constructor(root: string) {
    this.#image = join(root, 'disk.img');
    this.#mountPoint = join(root, 'disk');
  }

  get dataDir(): string {
    return join(this.#mountPoint, 'data');
  }

  make(): void {
    mkdirSync(this.#mountPoint, { recursive: true });
    run('truncate', '-s400M', this.#image);
    run('mkfs.ext4', '-qF', this.#image);
  }

  mount(): void {
    run('mount', '-o', 'loop', this.#image, this.#mountPoint);
  }

  /** From this moment nothing reaches the disk, and what was not synced is gone. */
  cut(): void {
    run('xfs_io', '-x', '-c', 'shutdown', this.#mountPoint);
  }

  remount(): void {
    this.unmount();
    this.mount();
  }

  unmount(): void {
    run('umount', this.#mountPoint);
  }
}

function run(command: string, ...parameters: string[]): void {
  execFileSync(command, parameters, { stdio: 'pipe' });
}

test.run();
