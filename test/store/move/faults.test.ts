/** What goes wrong in the middle of a move: the target stays empty, the sentence is true, and moving again works. */
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parsePostgresUrl } from '../../../src/core/database/postgres-url.ts';
import type { MoveFailed, Progress } from '../../../src/store/move/move.ts';
import { moveToPostgres } from '../../../src/store/move/to-postgres.ts';
import { moveToSqlite } from '../../../src/store/move/to-sqlite.ts';
import { openStoreOnPostgres } from '../../../src/store/postgres/open.ts';
import { lockDataDir } from '../../../src/store/sqlite/lock.ts';
import { newDataDir, removeDataDir } from '../../data-directory.ts';
import { runUnless } from '../../skipped.ts';
import { rejection } from '../fixture.ts';
import { type Cluster, startCluster } from '../postgres/clusters/cluster.ts';
import { runProgram, WITHOUT_POSTGRES } from '../postgres/clusters/programs.ts';
import { openSmallDisk } from '../sqlite/small-disk.ts';
import { contentOfDatabase, contentOfFile, differences, makeRich } from './rich.ts';

interface Context {
  cluster: Cluster;
  dataDir: string;
  database: string;
}

const test = suite<Context>('a move in which something goes wrong');

test.before(async (context) => {
  context.cluster = await startCluster();
});
test.after(({ cluster }) => cluster[Symbol.asyncDispose]());
test.before.each(async (context) => {
  context.dataDir = newDataDir();
  makeRich(join(context.dataDir, 'snitch.db'));
  context.database = await context.cluster.newDatabase();
});
test.after.each(({ dataDir }) => removeDataDir(dataDir));

type Watch = (progress: Progress) => void;
const nothing = () => undefined;

function toPostgres({ cluster, dataDir, database }: Context, onProgress: Watch = nothing) {
  const address = parsePostgresUrl(cluster.url(database));
  return moveToPostgres({ dataDir, address, shown: 'the target', version: '1', onProgress });
}

function toSqlite({ cluster, database }: Context, file: string, onProgress: Watch = nothing) {
  const address = parsePostgresUrl(cluster.url(database));
  return moveToSqlite({ address, shown: 'the source', dataDir: null, file, onProgress });
}

/** Calls `act` once, when it is the turn of the table of this name. */
function at(doing: 'copying' | 'verifying', table: string, act: () => void): Watch {
  let isDone = false;
  return (progress) => {
    if (isDone || progress.doing !== doing || progress.table !== table) return;
    isDone = true;
    act();
  };
}

async function failure(move: Promise<unknown>): Promise<MoveFailed> {
  const error = (await rejection(move)) as MoveFailed;
  assert.is(error.name, 'MoveFailed', String(error));
  return error;
}

async function isEmpty({ cluster, database }: Context): Promise<boolean> {
  const [row] = await cluster.query<{ count: string }>(
    `SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace`,
    [],
    database,
  );
  return row?.count === '0';
}

/** Done by another program that waits until they are gone, so that nothing here goes on meanwhile. */
function endSessions({ cluster, database }: Context): void {
  const sql = `SELECT pg_terminate_backend(pid, 30000) FROM pg_stat_activity WHERE datname = '${database}'`;
  runProgram('psql', ['--quiet', '--command', sql, cluster.url('postgres')]);
}

for (const doing of ['copying', 'verifying'] as const)
  test(`the connection is lost while it is ${doing}`, async (context) => {
    const lost = await failure(
      toPostgres(
        context,
        at(doing, 'cases', () => endSessions(context)),
      ),
    );
    assert.match(
      lost.message,
      /connection to PostgreSQL was lost .* nothing was moved, and .*snitch.db is as it was; move again/,
    );
    assert.is(lost.obstacle, 'unreachable');
    assert.ok(await isEmpty(context));
    await toPostgres(context);
    const file = join(context.dataDir, 'back.db');
    const back = await failure(
      toSqlite(
        context,
        file,
        at(doing, 'cases', () => endSessions(context)),
      ),
    );
    assert.match(back.message, 'connection to PostgreSQL was lost');
    assert.equal(
      readdirSync(context.dataDir).filter((name) => name.startsWith('back')),
      [],
    );
    await toSqlite(context, file);
    assert.equal(differences(contentOfFile(file), contentOfFile(join(context.dataDir, 'snitch.db'))), []);
  });

test('the disk of the new file is full', async (context) => {
  await toPostgres(context);
  const disk = openSmallDisk();
  try {
    mkdirSync(disk.dataDir, { recursive: true });
    const file = join(disk.dataDir, 'back.db');
    disk.fill(200_000);
    const full = await failure(toSqlite(context, file));
    assert.match(
      full.message,
      /there is no room for .*back\.db: nothing was moved, and the source is as it was/,
    );
    assert.equal(readdirSync(disk.dataDir), []);
    disk.free();
    await toSqlite(context, file);
    assert.ok(existsSync(file));
  } finally {
    disk.remove();
  }
});

test('a user who may not make tables is told what to do', async (context) => {
  const { cluster, database, dataDir } = context;
  await cluster.query('CREATE ROLE guest LOGIN');
  const address = parsePostgresUrl(`postgres://guest@127.0.0.1:${cluster.port}/${database}`);
  const move = moveToPostgres({ dataDir, address, shown: 'the target', version: '1', onProgress: nothing });
  assert.match((await failure(move)).message, /permission denied.*make the user the owner of the database/);
});

test('a move is refused at once while a daemon has the data directory, and so is a daemon while a move has it', async (context) => {
  const unlock = lockDataDir(context.dataDir);
  try {
    const refused = await failure(toPostgres(context));
    assert.is(refused.obstacle, 'running');
    assert.match(refused.message, 'stop it first');
  } finally {
    unlock();
  }
  let inside: unknown = null;
  await toPostgres(
    context,
    at('copying', 'check_ins', () => {
      try {
        lockDataDir(context.dataDir)();
      } catch (error) {
        inside = error;
      }
    }),
  );
  assert.match(String(inside), 'snitch move');
});

/** Opens the database as a daemon does, and says when it has to wait, and when it may go on. */
async function startNode({ cluster, database, dataDir }: Context, said: string[]) {
  const store = await openStoreOnPostgres({
    address: parsePostgresUrl(cluster.url(database)),
    dataDir,
    clock: Date.now,
    version: '1',
    warn: nothing,
    onWait: () => void said.push('waits'),
  });
  said.push('is open');
  return store;
}

test('a daemon that starts on either database meanwhile waits for the end of the move', async (context) => {
  /** What a daemon said that was started during the move. A move is short: on a busy host it may be over first. */
  const said = async (move: (onProgress: Watch) => Promise<unknown>) => {
    const words: string[] = [];
    for (let tries = 0; tries < 20 && words[0] !== 'waits'; tries += 1) {
      words.length = 0;
      const opening: ReturnType<typeof startNode>[] = [];
      await move(at('copying', 'cases', () => void opening.push(startNode(context, words))));
      for (const one of opening) await (await one).close();
    }
    return words;
  };
  const there = await said(async (onProgress) => {
    context.database = await context.cluster.newDatabase();
    await toPostgres(context, onProgress);
  });
  assert.equal(there, ['waits', 'is open']);
  const content = await contentOfDatabase(context.cluster, context.database);
  const source = contentOfFile(join(context.dataDir, 'snitch.db'));
  assert.equal(differences(content, source), [], 'the daemon found everything');
  let files = 0;
  const back = await said((onProgress) => {
    files += 1;
    return toSqlite(context, join(context.dataDir, `back-${files}.db`), onProgress);
  });
  assert.equal(back, ['waits', 'is open']);
});

/** Asked by another program, so that the move stands still until it has its answer. */
function refusalOfWrite({ cluster, database }: Context): string {
  const sql = `SET lock_timeout = '50ms'; UPDATE cases SET name = 'late'`;
  try {
    return runProgram('psql', ['--quiet', '--command', sql, cluster.url(database)]);
  } catch (error) {
    return String(error);
  }
}

test('a source on which a node lives is refused, and one that is held takes no writes', async (context) => {
  const { dataDir } = context;
  await toPostgres(context);
  const said: string[] = [];
  const store = await startNode(context, said);
  const file = join(dataDir, 'back.db');
  try {
    await store.node?.begin();
    const refused = await failure(toSqlite(context, file));
    assert.is(refused.obstacle, 'running');
    assert.match(refused.message, /daemons work on the source: .* Stop all of them first/);
  } finally {
    await store.close();
  }
  let refusal = 'it was taken';
  const write = () => {
    refusal = refusalOfWrite(context);
  };
  await toSqlite(context, file, at('copying', 'settings', write));
  assert.match(refusal, 'lock timeout');
  const changed = differences(contentOfFile(file), contentOfFile(join(dataDir, 'snitch.db')));
  assert.equal(changed, ['blind_windows', 'settings'], 'what the node noted, and its last sign of life');
});

runUnless(WITHOUT_POSTGRES, test, 'a move in which something goes wrong');
