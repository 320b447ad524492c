/**
 * A large database is opened before it is checked; another process checks it afterwards.
 * Time limit: 120 s.
 */
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { StoreUnavailable } from '../../../src/core/errors.ts';
import type { CheckOutcome } from '../../../src/store/sqlite/background-check.ts';
import { DatabaseDamaged, databasePath, type Opening } from '../../../src/store/sqlite/connection.ts';
import type { SqliteOptions } from '../../../src/store/sqlite/sqlite-store.ts';
import { until } from '../../until.ts';
import type { Store } from '../acting.ts';
import { newCase, newSnitch, openIn, rejection, temporaryDirectory } from '../fixture.ts';
import { writeVersion1 } from './version-1.ts';

/** The program from its sources, as `snitch serve` would start it. */
const CHECKER = [process.execPath, join(import.meta.dirname, '../../../src/main.ts'), '__check-database'];

/** Somewhat larger than what is checked before it is opened, in snitches with the longest notes. */
const MANY = 3_600;

interface World {
  dir: string;
  dataDir: string;
}

const test = suite<World>('a large database');
let whole: string;

test.before(async () => {
  whole = temporaryDirectory();
  await using store = openIn(whole);
  const owner = await newCase(store);
  await Promise.all(
    Array.from({ length: MANY }, () => newSnitch(store, owner, { notes: 'x'.repeat(10_000) })),
  );
});

test.after(() => rmSync(whole, { recursive: true }));

test.before.each((world) => {
  world.dir = temporaryDirectory();
  world.dataDir = join(world.dir, 'data');
  cpSync(whole, world.dataDir, { recursive: true });
});

test.after.each(({ dir }) => rmSync(dir, { recursive: true }));

interface Watched extends AsyncDisposable {
  store: Store;
  openings: string[];
  outcome: Promise<CheckOutcome>;
}

function open(dataDir: string, options: Partial<SqliteOptions> = {}): Watched {
  const { promise: outcome, resolve } = Promise.withResolvers<CheckOutcome>();
  const openings: string[] = [];
  const store = openIn(dataDir, {
    clock: Date.now,
    checkWith: CHECKER,
    onCheck: (check) => void (check.kind !== 'began' && resolve(check)),
    onOpening: ({ doing }: Opening) => void openings.push(doing),
    ...options,
  });
  return { store, openings, outcome, [Symbol.asyncDispose]: store.close };
}

/** Pages in the middle, which nothing needs that is read at the start. */
function damage(dataDir: string): void {
  const bytes = readFileSync(databasePath(dataDir));
  const start = Math.floor(bytes.length / 2 / 4096) * 4096;
  bytes.fill(0xa5, start, start + 3 * 4096);
  writeFileSync(databasePath(dataDir), bytes);
}

test('one that is whole is opened at once, and found whole behind that', async ({ dataDir }) => {
  const { store, openings, outcome } = open(dataDir);
  try {
    assert.equal(openings, []);
    assert.is(store.checking(), null);
    store.check();
    assert.equal(store.checking(), { done: 0, of: 0 });
    await store.setSetting('maintenance', 'on');
    assert.is((await outcome).kind, 'well', JSON.stringify(await outcome));
    assert.is(store.checking(), null);
  } finally {
    await store.close();
  }
});

test('damage that is found behind makes the store fail in words, and the next start refuse', async ({
  dataDir,
}) => {
  damage(dataDir);
  const { store, outcome } = open(dataDir);
  try {
    await store.setSetting('maintenance', 'on');
    store.check();
    const failure = await store.failed;
    assert.is((await outcome).kind, 'damaged');
    assert.instance(failure, DatabaseDamaged);
    for (const words of [databasePath(dataDir), 'is damaged', 'snitch restore FILE']) {
      assert.match(failure.message, words);
    }
    assert.instance(await rejection(store.setSetting('maintenance', 'off')), StoreUnavailable);
  } finally {
    await store.close();
  }
  const noted = statSync(join(dataDir, 'snitch.suspect'));
  assert.is(noted.mode & 0o777, 0o600);
  for (const _ of [1, 2]) assert.throws(() => open(dataDir), /is damaged .*snitch restore FILE/);
});

test('one that was found damaged is checked first, until it was found whole', async ({ dataDir }) => {
  damage(dataDir);
  await using opened = open(dataDir);
  const { store } = opened;
  store.check();
  await store.failed;
  await store.close();
  rmSync(databasePath(dataDir));
  cpSync(databasePath(whole), databasePath(dataDir));
  for (const expected of [['checking'], []]) {
    await using again = open(dataDir);
    assert.equal(again.openings, expected);
  }
});

test('a check that cannot be finished is reported, and the store goes on', async ({ dataDir }) => {
  const exits = [process.execPath, '-e', 'console.error("no room"); process.exit(7)'];
  for (const [checkWith, reason] of [
    [['/nowhere/snitch'], /ENOENT/],
    [['/a\0b'], /null bytes/],
    [exits, /^it ended with 7: no room$/],
    [[process.execPath, '-e', 'process.kill(process.pid, "SIGKILL")'], /^it was ended by SIGKILL$/],
  ] as const) {
    await using opened = open(dataDir, { checkWith });
    const { store, outcome } = opened;
    store.check();
    const told = await outcome;
    assert.is(told.kind, 'undone');
    assert.match('reason' in told ? told.reason : '', reason);
    await store.setSetting('maintenance', 'on');
  }
});

test('a check that is told to end together with the daemon is no failure', async ({ dataDir }) => {
  const told: string[] = [];
  const checkWith = [
    process.execPath,
    '-e',
    'process.kill(process.pid, "SIGTERM"); setTimeout(() => {}, 1e6)',
  ];
  const { store } = open(dataDir, { checkWith, onCheck: ({ kind }) => void told.push(kind) });
  try {
    store.check();
    while (store.checking() !== null) await sleep(10);
    assert.equal(told, ['began']);
  } finally {
    await store.close();
  }
});

test('a store that is closed ends its check at once', async ({ dir, dataDir }) => {
  const file = join(dir, 'pid');
  const hangs = `require('node:fs').writeFileSync(${JSON.stringify(file)}, String(process.pid)); for (;;);`;
  await using opened = open(dataDir, { checkWith: [process.execPath, '-e', hangs] });
  const { store } = opened;
  store.check();
  while (!existsSync(file) || statSync(file).size === 0) await sleep(10);
  await store.close();
  const pid = Number(readFileSync(file, 'utf8'));
  const lives = () => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  };
  await until(() => !lives());
  assert.not(lives());
});

test('a small one, and one that needs an upgrade, are checked before anything else', async ({ dir }) => {
  const dataDir = join(dir, 'old');
  mkdirSync(dataDir);
  writeVersion1(dataDir);
  for (const expected of ['checking,copying', 'checking']) {
    await using opened = open(dataDir);
    const { store, openings } = opened;
    assert.is(openings.filter((doing) => doing !== 'upgrading').join(), expected);
    store.check();
    assert.is(store.checking(), null);
  }
});

test.run();
