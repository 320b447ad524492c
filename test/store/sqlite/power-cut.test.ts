import { fstatSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Case } from '../../../src/core/case.ts';
import { databasePath } from '../../../src/store/sqlite/connection.ts';
import { cases } from '../../cases.ts';
import { randomFrom } from '../../random.ts';
import type { Store } from '../acting.ts';
import {
  checkIn,
  NOW,
  newCase,
  newSnitch,
  openIn,
  openSqlite,
  queryDirectory,
  temporaryDirectory,
} from '../fixture.ts';
import { turns } from './controlled-sync.ts';

type FileName = 'snitch.db' | 'snitch.db-wal';
const FILES: readonly FileName[] = ['snitch.db', 'snitch.db-wal'];

/** What a disk writes at once; a write of more can be cut anywhere in between. */
const SECTOR = 512;

/** A disk that keeps for certain what a sync has finished, and of all else any sectors or none. */
class UncertainDisk {
  readonly #dataDir: string;
  readonly #kept = new Map<FileName, Buffer>();
  #syncing: { file: FileName; content: Buffer; done: (error: null) => void } | null = null;

  constructor(dataDir: string) {
    this.#dataDir = dataDir;
  }

  /** Everything that is there now is on the disk. */
  settle(): void {
    for (const file of FILES) this.#kept.set(file, this.#now(file));
  }

  readonly syncFile = (fd: number, done: (error: null) => void): void => {
    const { ino } = fstatSync(fd);
    const file = FILES.find((name) => statSync(join(this.#dataDir, name)).ino === ino);
    assert.ok(file && !this.#syncing);
    this.#syncing = { file: file!, content: this.#now(file!), done };
  };

  get isSyncing(): boolean {
    return this.#syncing !== null;
  }

  endSync(): void {
    assert.ok(this.#syncing);
    const { file, content, done } = this.#syncing!;
    this.#syncing = null;
    this.#kept.set(file, content);
    done(null);
  }

  /** Writes to `target` what a power cut at this moment may leave. */
  cut(target: string, random: () => number): void {
    mkdirSync(target, { recursive: true });
    for (const file of FILES) {
      const kept = this.#kept.get(file) ?? Buffer.alloc(0);
      writeFileSync(join(target, file), mix(kept, this.#now(file), random));
    }
  }

  #now(file: FileName): Buffer {
    return readFileSync(join(this.#dataDir, file));
  }
}

/** Takes each sector from `written` or from `kept`: scattered ones, or all before or after some place. */
function mix(kept: Buffer, written: Buffer, random: () => number): Buffer {
  const mixed = Buffer.alloc(random() < 0.5 ? written.length : kept.length);
  const share = [0, 0.1, 0.5, 0.9, 1][Math.floor(random() * 5)] ?? 0;
  const place = random() * Math.min(kept.length, written.length);
  const order = Math.floor(random() * 3);
  for (let at = 0; at < mixed.length; at += SECTOR) {
    const takesWritten = [random() < share, at >= place, at < place][order];
    const source = takesWritten ? written : kept;
    if (at < source.length) source.copy(mixed, at, at, Math.min(at + SECTOR, mixed.length));
  }
  return mixed;
}

interface Acknowledged {
  snitches: string[];
  checkIns: Map<string, number>;
}

const powerCut = suite('power cuts');

/** Does work that writes many pages, and answers with a record of what was acknowledged so far. */
function work(
  store: Store,
  owner: Case,
  round: number,
  known: readonly string[],
  record: Acknowledged,
): void {
  const quietly = (promise: Promise<unknown>) => void promise.catch(() => {});
  for (let index = 0; index <= round % 4; index += 1) {
    const notes = 'x'.repeat(((round * 7 + index) % 5) * 1_500);
    const created = newSnitch(store, owner, { name: `job ${round}.${index}`, notes });
    quietly(created.then(({ token }) => record.snitches.push(token)));
  }
  for (const token of known.filter((_, index) => (index + round) % 3 === 0)) {
    const applied = checkIn(store, token, NOW + round, { output: 'y'.repeat((round % 3) * 2_000) });
    quietly(applied.then(() => record.checkIns.set(token, (record.checkIns.get(token) ?? 0) + 1)));
  }
}

/** Opens what the power cut left, as the next start of the daemon does, and looks for all that was acknowledged. */
async function verify(target: string, owner: Case, { snitches, checkIns }: Acknowledged, when: string) {
  await using store = openIn(target);
  for (const token of snitches) {
    assert.ok(await store.getSnitch(owner.id, token), `a snitch is lost, cut ${when}`);
    const logged = await store.listCheckIns(owner.id, token, { limit: 1_000, before: null });
    assert.ok((logged?.length ?? 0) >= (checkIns.get(token) ?? 0), `a check-in is lost, cut ${when}`);
  }
  assert.equal(
    queryDirectory(target, 'PRAGMA integrity_check'),
    [{ integrity_check: 'ok' }],
    `the database is damaged, cut ${when}`,
  );
  await store.close();
  rmSync(target, { recursive: true });
}

powerCut('nothing acknowledged is lost at any moment, whatever sectors were written', async () => {
  const dataDir = temporaryDirectory();
  const disk = new UncertainDisk(dataDir);
  await using opened = await openSqlite({ dataDir, syncFile: disk.syncFile, checkpointAfter: 25 });
  const { store } = opened;
  disk.settle();
  const settled = async () => {
    await turns();
    while (disk.isSyncing) {
      disk.endSync();
      await turns();
    }
  };
  const creating = newCase(store);
  await settled();
  const owner = await creating;
  const record: Acknowledged = { snitches: [], checkIns: new Map() };
  const random = randomFrom(20_250_709);
  const target = `${dataDir}-cut`;
  let moments = 0;
  for (let round = 0; round < 16; round += 1) {
    work(store, owner, round, [...record.snitches], record);
    await turns();
    while (disk.isSyncing) {
      for (let variant = 0; variant < cases(4); variant += 1) {
        disk.cut(target, random);
        await verify(target, owner, record, `at moment ${moments} of round ${round}, variant ${variant}`);
      }
      moments += 1;
      disk.endSync();
      await turns();
    }
  }
  assert.ok(moments > 25, `${moments} moments`);
  assert.ok(record.snitches.length > 20);
  assert.ok(statSync(databasePath(dataDir)).size > 0);
});

powerCut.run();
