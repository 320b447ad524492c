/**
 * Nothing acknowledged is lost where the process or the power goes at any step of a checkpoint that begins in the
 * background. `POWER_CUTS=30` cuts the power so often on each file system. Time limit: 300 s.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { unless, without, withoutRoot } from '../../skipped.ts';
import { newCase, newSnitch, openIn, queryDirectory, temporaryDirectory } from '../fixture.ts';

const FILES = ['the database', 'the log', 'the log after it'];
const NAMES = [
  ...['a copy begins', 'amid a copy', 'after a copy'],
  ...FILES.flatMap((file) => [`a sync of ${file} begins`, `after a sync of ${file}`]),
];

/** Each step at its first and at its second time: what is being written then differs. */
const STEPS = [1, 2].flatMap((times) => NAMES.map((name) => ({ name, times })));

type Step = (typeof STEPS)[number];
const POWER_CUTS = Number(process.env.POWER_CUTS ?? 4);

interface World {
  dir: string;
  /** A file with a byte for each check-in that was acknowledged. */
  acknowledged: string;
}

const cuts = suite<World>('the end at each step of a checkpoint');

cuts.before.each((world) => {
  const dir = temporaryDirectory();
  const acknowledged = join(dir, 'acknowledged');
  writeFileSync(acknowledged, '');
  Object.assign(world, { dir, acknowledged });
});

cuts.after.each(({ dir }) => rmSync(dir, { recursive: true }));

interface Work {
  caseId: string;
  tokens: string[];
}

async function prepare(dataDir: string): Promise<Work> {
  await using store = openIn(dataDir);
  const owner = await newCase(store);
  const snitches = await Promise.all(Array.from({ length: 8 }, () => newSnitch(store, owner)));
  await store.close();
  return { caseId: owner.id, tokens: snitches.map(({ token }) => token) };
}

function startAt(step: Step, signal: string, dataDir: string, { acknowledged }: World, { tokens }: Work) {
  const program = join(import.meta.dirname, 'stepping-store.ts');
  const until = [signal, step.name, String(step.times)];
  return spawn(process.execPath, [program, dataDir, acknowledged, ...until, ...tokens], { stdio: 'inherit' });
}

/** The next start of a store, on a copy: the one after that goes on with the log as the last one left it. */
async function verify(dataDir: string, { dir, acknowledged }: World, work: Work, when: string) {
  const copy = join(dir, 'copy');
  mkdirSync(copy);
  for (const file of ['snitch.db', 'snitch.db-wal', 'snitch.acknowledged']) {
    if (existsSync(join(dataDir, file))) copyFileSync(join(dataDir, file), join(copy, file));
  }
  await using store = openIn(copy);
  assert.is(store.lost, null, `something is called lost ${when}`);
  let kept = 0;
  for (const token of work.tokens) {
    kept += (await store.listCheckIns(work.caseId, token, { limit: 100_000, before: null }))?.length ?? 0;
  }
  assert.ok(kept >= statSync(acknowledged).size, `a check-in is lost ${when}`);
  await store.close();
  assert.equal(queryDirectory(copy, 'PRAGMA integrity_check'), [{ integrity_check: 'ok' }], when);
  rmSync(copy, { recursive: true });
}

cuts(`kill -9 at each of ${STEPS.length} steps loses nothing`, async (world) => {
  const dataDir = join(world.dir, 'data');
  const work = await prepare(dataDir);
  for (const step of STEPS) {
    const [, signal] = await once(startAt(step, 'SIGKILL', dataDir, world, work), 'close');
    assert.is(signal, 'SIGKILL', `never reached ${step.times} times: ${step.name}`);
    await verify(dataDir, world, work, `killed at ${step.name}, ${step.times}`);
  }
  assert.ok(statSync(world.acknowledged).size > STEPS.length * 30);
});

/** A file system in a file, of which a copy at any instant is what the disk has then. */
class Disk {
  readonly #image: string;
  readonly #atTheCut: string;
  readonly #mountPoint: string;
  readonly #options: string;

  constructor(root: string, kind: 'ext4' | 'xfs') {
    [this.#image, this.#atTheCut, this.#mountPoint] = [
      join(root, 'disk'),
      join(root, 'cut'),
      join(root, 'm'),
    ];
    mkdirSync(this.#mountPoint);
    run('truncate', '-s320M', this.#image);
    run(`mkfs.${kind}`, '-q', this.#image);
    // Without the file system's own commit every few seconds, only the syncs of the store change the image.
    this.#options = kind === 'ext4' ? 'loop,commit=3600' : 'loop';
    this.#mount();
  }

  get dataDir(): string {
    return join(this.#mountPoint, 'data');
  }

  /** Nothing else must be using it. */
  cut(): void {
    run('cp', '--sparse=always', this.#image, this.#atTheCut);
  }

  restore(): void {
    this.unmount();
    renameSync(this.#atTheCut, this.#image);
    this.#mount();
  }

  unmount(): void {
    run('umount', this.#mountPoint);
  }

  #mount(): void {
    run('mount', '-o', this.#options, this.#image, this.#mountPoint);
  }
}

function run(command: string, ...parameters: string[]): void {
  execFileSync(command, parameters, { stdio: 'pipe' });
}

async function isStopped(child: ChildProcess): Promise<boolean> {
  while (child.exitCode === null) {
    if (/\) T /.test(readFileSync(`/proc/${child.pid}/stat`, 'utf8'))) return true;
    await sleep(5);
  }
  return false;
}

for (const kind of ['ext4', 'xfs'] as const) {
  const reason = withoutRoot() ?? without(`mkfs.${kind}`, '-V');
  unless(reason, cuts)(`${POWER_CUTS} power cuts over ${kind} lose nothing`, async (world) => {
    const disk = new Disk(world.dir, kind);
    try {
      const work = await prepare(disk.dataDir);
      for (let cut = 0; cut < POWER_CUTS; cut += 1) {
        // Each cut at another step, and enough cuts reach all of them.
        const step = STEPS[(cut * 5) % STEPS.length] as Step;
        using child = startAt(step, 'SIGSTOP', disk.dataDir, world, work);
        const closed = once(child, 'close');
        assert.ok(await isStopped(child), `never reached ${step.times} times: ${step.name}`);
        disk.cut();
        child.kill('SIGKILL');
        await closed;
        disk.restore();
        await verify(disk.dataDir, world, work, `cut at ${step.name}, ${step.times}`);
      }
    } finally {
      disk.unmount();
    }
  });
}

cuts.run();
