import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { databasePath } from '../../../src/store/sqlite/connection.ts';
import { restoreBackup, takeBackup } from '../../../src/store/sqlite/copy.ts';
import { closing } from '../../closing.ts';
import {
  type Closing,
  checkIn,
  NOW,
  newCase,
  newSnitch,
  openIn,
  queryDirectory,
  SECOND,
  temporaryDirectory,
} from '../fixture.ts';

interface World {
  dir: string;
  /** The files of a store that was killed after 40 check-ins, one a second from `NOW`. */
  dataDir: string;
  token: string;
  reports: string[];
}

const CHECK_INS = 40;
const END = NOW + 60 * SECOND;
const FILES = ['snitch.db', 'snitch.db-wal', 'snitch.acknowledged'];

const lostLog = suite<World>('a log that lost something');

lostLog.before.each(async (world) => {
  const dir = temporaryDirectory();
  const dataDir = join(dir, 'killed');
  const clock = { now: NOW };
  await using store = openIn(join(dir, 'live'), { clock: () => clock.now });
  const { token } = await newSnitch(store, await newCase(store));
  for (let second = 1; second <= CHECK_INS; second += 1) {
    clock.now = NOW + second * SECOND;
    await checkIn(store, token, clock.now);
  }
  copy(join(dir, 'live'), dataDir);
  Object.assign(world, { dir, dataDir, token, reports: [] });
});

lostLog.after.each(({ dir }) => rmSync(dir, { recursive: true }));

/** What a daemon leaves that is killed now. */
function copy(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const file of FILES) copyFileSync(join(from, file), join(to, file));
}

function open({ dataDir, reports }: World): Closing {
  return openIn(dataDir, { clock: () => END, report: (message) => void reports.push(message) });
}

function lastCheckIn({ dataDir }: World): number {
  const [row] = queryDirectory<{ at: number }>(dataDir, 'SELECT MAX(at) AS at FROM check_ins');
  return row?.at ?? 0;
}

function flip(file: string, place: number): void {
  const bytes = readFileSync(file);
  const at = Math.floor(bytes.length * place);
  bytes[at] = (bytes[at] as number) ^ 1;
  writeFileSync(file, bytes);
}

const DAMAGE: Record<string, (log: string) => void> = {
  'a flipped byte': (log) => flip(log, 0.6),
  'a flipped byte in its header': (log) => flip(log, 0),
  'a flipped byte in its last commit': (log) => flip(log, 0.9999),
  'a cut': (log) => truncateSync(log, Math.floor(statSync(log).size / 2)),
  'a cut to nothing': (log) => truncateSync(log, 0),
  'no file': (log) => rmSync(log),
};

for (const [what, damage] of Object.entries(DAMAGE)) {
  lostLog(
    `${what}: the window of what is missing is told, from the last commit that is left`,
    async (world) => {
      damage(`${databasePath(world.dataDir)}-wal`);
      await using store = open(world);
      const last = lastCheckIn(world);
      assert.ok(last < NOW + CHECK_INS * SECOND, 'something is missing');
      assert.equal(store.lost, { start: last === 0 ? NOW : last, end: END });
      assert.is(world.reports.length, 1);
      assert.match(world.reports[0] as string, `and ${new Date(NOW + CHECK_INS * SECOND).toISOString()}`);
    },
  );
}

lostLog('it is told until something was written after it, and not again', async (world) => {
  rmSync(`${databasePath(world.dataDir)}-wal`);
  for (let start = 1; start <= 3; start += 1) {
    await using store = open(world);
    assert.ok(store.lost);
    assert.is(world.reports.length, start);
    if (start === 3) await store.openBlindWindow(store.lost as NonNullable<typeof store.lost>);
  }
  await using store = open(world);
  assert.is(store.lost, null);
  await checkIn(store, world.token, END);
  await store.close();
  await open(world).close();
  assert.is(world.reports.length, 3);
});

const acknowledged = (dataDir: string) => join(dataDir, 'snitch.acknowledged');

const HARMLESS: Record<string, (world: World) => void | Promise<void>> = {
  'a kill': () => {},
  'an orderly stop': async (world) => open(world).close(),
  'another process that copied the log and removed it': ({ dataDir }) => {
    using db = closing(new Database(databasePath(dataDir)));
    db.prepare('SELECT COUNT(*) FROM check_ins').get();
    db.close();
    assert.not(existsSync(`${databasePath(dataDir)}-wal`));
  },
  'a power cut that left an older number': ({ dataDir }) => {
    const text = readFileSync(acknowledged(dataDir), 'utf8');
    writeFileSync(acknowledged(dataDir), text.replace(/ \d+ /, ' 3 '));
  },
  'a power cut that left half of it': ({ dataDir }) => {
    const text = readFileSync(acknowledged(dataDir), 'utf8');
    writeFileSync(acknowledged(dataDir), text.replace(/ \d\d/, ' 99'));
  },
  'a power cut that left zeros': ({ dataDir }) => writeFileSync(acknowledged(dataDir), Buffer.alloc(128)),
  'a program from before, which counted nothing': ({ dataDir }) => {
    rmSync(acknowledged(dataDir));
    queryDirectory(dataDir, `DELETE FROM settings WHERE name = 'commit'`);
  },
  'a program from before, between two of this one': ({ dataDir, token }) => {
    queryDirectory(dataDir, `UPDATE snitches SET name = 'changed' WHERE token = ?`, token);
  },
  'a database that was begun anew': ({ dataDir }) => {
    for (const suffix of ['', '-wal']) rmSync(databasePath(dataDir) + suffix);
  },
  'a restored backup': async (world) => {
    const file = join(world.dir, 'backup.db');
    await takeBackup(world.dataDir, file);
    await using store = open(world);
    for (let count = 0; count < 9; count += 1) await checkIn(store, world.token, END);
    await store.close();
    restoreBackup(file, world.dataDir, 'now');
  },
};

for (const [what, happens] of Object.entries(HARMLESS)) {
  lostLog(`${what} is no loss`, async (world) => {
    await happens(world);
    for (let start = 0; start < 2; start += 1) {
      await using store = open(world);
      assert.is(store.lost, null);
      await store.setSetting('maintenance', 'off');
    }
    assert.equal(world.reports, []);
  });
}

lostLog('an older copy of the database put in its place by hand is a loss', async (world) => {
  const older = join(world.dir, 'older.db');
  await takeBackup(world.dataDir, older);
  await using store = open(world);
  await checkIn(store, world.token, END);
  await store.close();
  copyFileSync(older, databasePath(world.dataDir));
  await using again = open(world);
  assert.equal(again.lost, { start: NOW + CHECK_INS * SECOND, end: END });
});

lostLog('where the note cannot be kept the store works on, and says so', async (world) => {
  rmSync(acknowledged(world.dataDir));
  writeFileSync(join(world.dir, 'precious'), 'precious');
  symlinkSync(join(world.dir, 'precious'), acknowledged(world.dataDir));
  await using store = open(world);
  await checkIn(store, world.token, END);
  await store.close();
  assert.is(readFileSync(join(world.dir, 'precious'), 'utf8'), 'precious');
  assert.match(world.reports.join(), 'cannot be noted');
});

lostLog('only its owner can read the note', ({ dataDir, dir }) => {
  assert.is(statSync(acknowledged(join(dir, 'live'))).mode & 0o777, 0o600);
  assert.ok(existsSync(acknowledged(dataDir)));
});

lostLog('after a while everything is in the database, not in the log alone', async (world) => {
  await using store = openIn(world.dataDir, { clock: () => END, checkpointWithin: 30 });
  await checkIn(store, world.token, END);
  const withoutLog = join(world.dir, 'without log.db');
  const count = () => {
    copyFileSync(databasePath(world.dataDir), withoutLog);
    using db = closing(new Database(withoutLog));
    const counted = db.prepare('SELECT COUNT(*) FROM check_ins').pluck().get();
    rmSync(withoutLog);
    return counted;
  };
  for (let turn = 0; turn < 2_000 && count() !== CHECK_INS + 1; turn += 1) await sleep(5);
  assert.is(count(), CHECK_INS + 1);
  await checkIn(store, world.token, END + 1);
  for (let turn = 0; turn < 2_000 && count() !== CHECK_INS + 2; turn += 1) await sleep(5);
  assert.is(count(), CHECK_INS + 2);
});

lostLog.run();
