/**
 * No acknowledged check-in and no decided alert is lost, whenever the process or the power fails. CHAOS=full
 * makes the crashes more.
 * Time limit: 300 s. Also on PostgreSQL.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { newDataDir, removeDataDir } from '../data-directory.ts';
import { unless, without, withoutRoot } from '../skipped.ts';
import { ON_POSTGRES } from '../store/postgres/open.ts';
import { until } from '../until.ts';
import { type DaemonProcess, startProcess } from './daemon-process.ts';
import { createSnitches, decidedAlerts, Ledger } from './ledger.ts';
import { startWebhookReceiver, type WebhookReceiver } from './webhook-receiver.ts';

const IS_FULL = process.env.CHAOS === 'full';

/** On PostgreSQL all that dies with a process is what it was about to send. */
const [KILLS, POWER_CUTS] = IS_FULL ? [ON_POSTGRES ? 5 : 12, 5] : [ON_POSTGRES ? 2 : 4, 3];
const SNITCHES = 64;

/** How many check-ins are acknowledged before each crash. */
const PER_ROUND = 64;

/** The least number of alerts that are decided before the last crash. */
const ALERTS = 64;

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
      const killed = ledger
        .grown(PER_ROUND)
        .then(() => manyDecided(dataDir, (ALERTS * (round + 1)) / KILLS))
        .then(() => sleep(Math.random() * 400))
        .then(() => running.end('SIGKILL'));
      await ledger.load(running, tokens, killed);
      daemon = await startProcess({ dataDir, env: keepAll });
      await ledger.verify(dataDir);
    }
    assert.ok(ledger.acknowledged.size >= KILLS * PER_ROUND, 'the load was too small to prove anything');
    await expectAllAlerts(dataDir, receiver);
    assert.is(await daemon.end(), 0);
  } finally {
    await daemon.end('SIGKILL');
    await receiver.stop();
    removeDataDir(dataDir);
  }
});

const testOnDisk = ON_POSTGRES ? () => undefined : unless(withoutPowerCuts(), test);

testOnDisk(`${POWER_CUTS} power cuts under load lose nothing`, async () => {
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
      const cut = ledger
        .grown(PER_ROUND)
        .then(() => manyDecided(disk.dataDir, (ALERTS * (round + 1)) / POWER_CUTS))
        .then(() => sleep(Math.random() * 600))
        .then(() => {
          disk.cut(running.pid);
          return running.end('SIGKILL');
        });
      await ledger.load(running, tokens, cut);
      await disk.restore();
      daemon = await startProcess({ dataDir: disk.dataDir, env: keepAll });
      await ledger.verify(disk.dataDir);
    }
    assert.ok(ledger.acknowledged.size >= POWER_CUTS * PER_ROUND, 'the load was too small to prove anything');
    await expectAllAlerts(disk.dataDir, receiver);
    assert.is(await daemon.end(), 0);
  } finally {
    await daemon.end('SIGKILL');
    await disk.unmount();
    await receiver.stop();
    removeDataDir(root);
  }
});

async function prepare(daemon: DaemonProcess, receiver: WebhookReceiver): Promise<string[]> {
  const target = await daemon.call('POST', '/v1/webhooks', { url: receiver.url });
  assert.is(target.status, 200);
  return createSnitches(daemon, SNITCHES);
}

/** Resolves when this many alerts are in the database, or after long enough for any machine. */
async function manyDecided(dataDir: string, count: number): Promise<void> {
  const until = Date.now() + 30_000;
  while ((await decidedAlerts(dataDir)).length < count && Date.now() < until) await sleep(50);
}

async function expectAllAlerts(dataDir: string, receiver: WebhookReceiver): Promise<void> {
  const until = Date.now() + ARRIVE_WITHIN;
  const missing = async () => {
    const received = new Set(receiver.posts.map(({ headers }) => headers['webhook-id']));
    return (await decidedAlerts(dataDir)).filter((id) => !received.has(id));
  };
  while ((await missing()).length > 0 && Date.now() < until) await sleep(250);
  assert.equal(await missing(), [], 'these alerts were decided and never delivered');
  assert.ok((await decidedAlerts(dataDir)).length >= ALERTS, 'too few alerts were decided to prove anything');
}

/** Why a power cut cannot be tried here, or null. */
function withoutPowerCuts(): string | null {
  return withoutRoot() ?? without('mkfs.ext4', '-V');
}

/**
 * A file system on a loop device whose power can be cut: what is in its image at that instant is what the disk has. (To
 * shut the file system down with `xfs_io` is no cut: on a busy machine ext4 lets a sync that is under way return without
 * an error, although its journal was thrown away.)
 */
class LoopDisk {
  readonly #image: string;
  readonly #atTheCut: string;
  readonly #mountPoint: string;

  constructor(root: string) {
    this.#image = join(root, 'disk.img');
    this.#atTheCut = join(root, 'at-the-cut.img');
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

  /** Without the file system's own commit every few seconds, only the daemon's syncs write to the image. */
  mount(): void {
    run('mount', '-o', 'loop,commit=3600', this.#image, this.#mountPoint);
  }

  /** Stops the daemon while the image is copied; anything that its syncs did not wait for is not in it. */
  cut(pid: number): void {
    process.kill(pid, 'SIGSTOP');
    run('cp', '--sparse=always', this.#image, this.#atTheCut);
  }

  async restore(): Promise<void> {
    await this.unmount();
    renameSync(this.#atTheCut, this.#image);
    this.mount();
  }

  /** What was killed in the middle of a write keeps the disk busy for a moment after its end. */
  async unmount(): Promise<void> {
    const unmounted = () => spawnSync('umount', [this.#mountPoint], { stdio: 'pipe' }).status === 0;
    await until(unmounted, 'the disk is unmounted');
  }
}

function run(command: string, ...parameters: string[]): void {
  execFileSync(command, parameters, { stdio: 'pipe' });
}

test.run();
