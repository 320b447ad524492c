import { fdatasync, rmSync } from 'node:fs';
import Database from 'better-sqlite3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { StoreUnavailable } from '../../../src/core/errors.ts';
import { Calendar } from '../../../src/core/interval.ts';
import type { Change } from '../../../src/store/change.ts';
import { Acknowledged } from '../../../src/store/sqlite/acknowledged.ts';
import { databasePath, openDatabase } from '../../../src/store/sqlite/connection.ts';
import { GroupCommit } from '../../../src/store/sqlite/group-commit.ts';
import { LogSync } from '../../../src/store/sqlite/log-sync.ts';
import type { Operation, Transaction } from '../../../src/store/transaction.ts';
import { cases } from '../../cases.ts';
import {
  checkIn,
  NOW,
  newCase,
  newSnitch,
  type Opened,
  openSqlite,
  rejection,
  temporaryDirectory,
} from '../fixture.ts';

const throughput = suite<Opened>('throughput of the group commit');

throughput.before.each(async (context) => {
  Object.assign(context, await openSqlite());
});
throughput.after.each(({ dispose }) => dispose());

throughput('64 callers share commits, and commits share syncs', async ({ store }) => {
  const owner = await newCase(store);
  const snitches = await Promise.all(Array.from({ length: 64 }, () => newSnitch(store, owner)));
  const before = store.health();
  const each = 30;
  await Promise.all(
    snitches.map(async ({ token }) => {
      for (let index = 0; index < each; index += 1) await checkIn(store, token, NOW + index);
    }),
  );
  const { commits, syncs } = store.health();
  const made = 64 * each;
  assert.ok(commits - before.commits < made / 4, `${commits - before.commits} commits for ${made} check-ins`);
  assert.ok(syncs - before.syncs < made / 4, `${syncs - before.syncs} syncs for ${made} check-ins`);
  for (const { token } of snitches) {
    assert.is((await store.listCheckIns(owner.id, token, { limit: 99, before: null }))?.length, each);
  }
});

throughput('a queue of any length is worked off', async ({ store }) => {
  const settings = await Promise.all(
    Array.from({ length: cases(200_000) }, () => store.getSetting('maintenance')),
  );
  assert.ok(settings.every((value) => value === null));
});

throughput.run();

interface World {
  dataDir: string;
  db: Database.Database;
  log: LogSync;
  acknowledged: Acknowledged;
  batches: GroupCommit;
  told: Change[];
  /** If it is set, syncs wait here until the test begins them. */
  heldSyncs: (() => void)[] | null;
}

const batch = suite<World>('calls of one batch');

/** A batch ends after some milliseconds; on a busy host that would be after any call, so here no time passes. */
const { now } = performance;
batch.before(() => {
  performance.now = () => 0;
});
batch.after(() => {
  performance.now = now;
});

batch.before.each((world) => {
  const dataDir = temporaryDirectory();
  const db = openDatabase(dataDir);
  const told: Change[] = [];
  const syncFile = (fd: number, done: (error: Error | null) => void) => {
    const begin = () => fdatasync(fd, done);
    if (world.heldSyncs) world.heldSyncs.push(begin);
    else begin();
  };
  const log = new LogSync(db, databasePath(dataDir), { syncFile });
  const acknowledged = new Acknowledged(db, dataDir, NOW, () => {});
  const batches = new GroupCommit({
    db,
    calendar: new Calendar(),
    sync: log,
    acknowledged,
    clock: () => NOW,
    announce: (changes) => told.push(...changes),
  });
  Object.assign(world, { dataDir, db, log, acknowledged, batches, told, heldSyncs: null });
});

batch.after.each(async ({ dataDir, db, log, acknowledged, batches }) => {
  await batches.drain();
  db.close();
  log.close();
  acknowledged.close();
  rmSync(dataDir, { recursive: true });
});

const insert = (tx: Transaction, name: string) =>
  tx.run('INSERT INTO settings (name, value) VALUES (?, ?)', name, 'x');

const note =
  (name: string): Operation<string> =>
  async (tx) => {
    await insert(tx, name);
    tx.announce({ kind: 'snitch', caseId: 'case', token: name });
    return name;
  };

function namesIn(db: Database.Database): unknown[] {
  return db
    .prepare(`SELECT name FROM settings WHERE name NOT IN ('canary', 'commit') ORDER BY name`)
    .pluck()
    .all();
}

const fault = (code: string) => new Database.SqliteError('the disk says no', code);

const tokensOf = (told: Change[]) => told.map((change) => (change.kind === 'snitch' ? change.token : ''));

batch('calls of one turn are one commit, in the order they were made', async ({ batches, db, told }) => {
  const names = ['c', 'a', 'b'];
  assert.equal(await Promise.all(names.map((name) => batches.write(note(name)))), names);
  assert.is(batches.commits, 1);
  assert.equal(namesIn(db), ['a', 'b', 'c']);
  assert.equal(tokensOf(told), names);
});

batch(
  'who calls waits for a moment of own work, and for more of it only where nobody else calls',
  async (world) => {
    const { batches, db } = world;
    const { now: frozen } = performance;
    let time = 10_000;
    performance.now = () => time;
    const work = (name: string) =>
      batches.writeInBackground(async (tx) => {
        time += 0.7;
        return note(name)(tx);
      });
    try {
      const worked = ['own 0', 'own 1', 'own 2', 'own 3'].map(work);
      await batches.write(note('check-in'));
      assert.equal(namesIn(db), ['check-in', 'own 0', 'own 1'], 'what began within a millisecond');
      time += 300;
      await Promise.all(worked);
      assert.is(batches.commits, 2, 'the rest goes on in one transaction');
    } finally {
      performance.now = frozen;
    }
  },
);

batch('half of many calls go first where the disk is idle, and the rest while it works', async (world) => {
  const { batches, log, told } = world;
  const names = Array.from({ length: 40 }, (_, index) => `check-in ${index}`);
  const atWork: boolean[] = [];
  // However quick the disk is, it works until the last of them has looked.
  const held: (() => void)[] = [];
  world.heldSyncs = held;
  const looking = names.map((name) =>
    batches.write(async (tx) => {
      atWork.push(log.syncing);
      if (atWork.length === names.length) {
        world.heldSyncs = null;
        for (const begin of held.splice(0)) begin();
      }
      return note(name)(tx);
    }),
  );
  assert.equal(await Promise.all(looking), names);
  assert.is(batches.commits, 2);
  assert.equal(atWork, [...Array(20).fill(false), ...Array(20).fill(true)]);
  assert.equal(tokensOf(told), names);
});

batch('all of them go at once where work of the daemon waits behind them', async ({ batches }) => {
  const names = Array.from({ length: 40 }, (_, index) => `check-in ${index}`);
  const later = batches.writeInBackground(note('sweep'));
  await Promise.all([later, ...names.map((name) => batches.write(note(name)))]);
  assert.is(batches.commits, 1);
});

batch('urgent calls go first, and hold up the others only for a while', async ({ batches, told }) => {
  const later = ['sweep', 'settle'].map((name) => batches.writeInBackground(note(name)));
  const names = Array.from({ length: 70 }, (_, index) => `check-in ${index}`);
  await Promise.all([...later, ...names.map((name) => batches.write(note(name)))]);
  const order = tokensOf(told);
  assert.equal(
    order.filter((name) => name.startsWith('check-in')),
    names,
  );
  assert.is(order.indexOf('sweep'), 64);
  assert.is(order.indexOf('settle'), 71);
});

batch('work of the daemon that rests goes on by itself, whenever the rest ends', async ({ batches, db }) => {
  const still = performance.now;
  try {
    // Time passes with each look at the clock, so that a rest ends between any two of them.
    for (const step of [0.05, 0.11, 0.2, 0.35, 0.5, 0.8, 1.3, 2]) {
      let time = 0;
      performance.now = () => {
        time += step;
        return time;
      };
      const names = Array.from({ length: 12 }, (_, index) => `${step} ${index}`);
      const called = batches.write(note(`${step}`));
      assert.equal(await Promise.all(names.map((name) => batches.writeInBackground(note(name)))), names);
      await called;
      for (const name of names) await batches.writeInBackground(note(`${name} alone`));
    }
  } finally {
    performance.now = still;
  }
  assert.is(namesIn(db).length, 8 * 25);
});

batch('one that throws fails alone: its writes and its announcements are undone', async (world) => {
  const { batches, db, told } = world;
  const reason = new Error('poison');
  const results = await Promise.allSettled([
    batches.write(note('before')),
    batches.write(async (tx) => {
      await note('undone')(tx);
      await tx.run(`DELETE FROM settings WHERE name = 'before'`);
      throw reason;
    }),
    batches.write(note('after')),
  ]);
  assert.equal(
    results.map((result) => (result.status === 'fulfilled' ? result.value : result.reason)),
    ['before', reason, 'after'],
  );
  assert.is(batches.commits, 1);
  assert.equal(namesIn(db), ['after', 'before']);
  assert.equal(tokensOf(told), ['before', 'after']);
});

batch('one that breaks a rule of the database fails alone', async ({ batches, db }) => {
  await batches.write(note('there'));
  const results = await Promise.allSettled([batches.write(note('there')), batches.write(note('new'))]);
  assert.equal(
    results.map(({ status }) => status),
    ['rejected', 'fulfilled'],
  );
  assert.equal(namesIn(db), ['new', 'there']);
});

batch('a statement that writes and answers with rows counts as a write', async ({ batches, log }) => {
  const sql = `INSERT INTO settings (name, value) VALUES (?, 'x') RETURNING name`;
  await batches.write(async (tx) => tx.get(sql, 'a'));
  await batches.write(async (tx) => tx.all(sql, 'b'));
  assert.equal([batches.commits, log.syncs], [2, 2]);
});

batch('what a transaction remembered is forgotten when it is undone', async ({ batches }) => {
  await rejection(
    batches.write(async (tx) => {
      await tx.remember('rules', async () => 'never stored');
      throw fault('SQLITE_FULL');
    }),
  );
  assert.is(await batches.read((tx) => tx.remember('rules', async () => 'stored')), 'stored');
});

batch('a savepoint within a call undoes its own part only', async ({ batches, db, told }) => {
  await batches.write(async (tx) => {
    await note('kept')(tx);
    const inner = tx.savepoint(async () => {
      await note('undone')(tx);
      throw new Error('poison');
    });
    await rejection(inner);
    await note('later')(tx);
  });
  assert.equal(namesIn(db), ['kept', 'later']);
  assert.equal(tokensOf(told), ['kept', 'later']);
});

batch('a call that fails is undone from its beginning, however its parts ended', async ({ batches, db }) => {
  const poison = () => Promise.reject(new Error('poison'));
  const failing = (name: string, part: (tx: Transaction) => Promise<unknown>) => async (tx: Transaction) => {
    await note(name)(tx);
    await tx.savepoint(() => part(tx)).catch(() => {});
    await poison();
  };
  await Promise.allSettled([
    batches.write(failing('before a part that is kept', note('part'))),
    batches.write(failing('before a part that is undone', poison)),
    batches.write(note('after')),
  ]);
  assert.equal(namesIn(db), ['after']);
});

batch('a call that fails before it writes has none of the others done again', async ({ batches, db }) => {
  const done: string[] = [];
  const counted = (name: string) => async (tx: Transaction) => {
    done.push(name);
    return note(name)(tx);
  };
  await Promise.allSettled([
    batches.write(counted('first')),
    batches.write(async () => {
      done.push('refused');
      throw new Error('there is no such snitch');
    }),
    batches.write(counted('last')),
  ]);
  assert.equal(done, ['first', 'refused', 'last']);
  assert.equal(namesIn(db), ['first', 'last']);
});

batch('a single change is told as well as many', async ({ batches, told }) => {
  await batches.write(note('lone'));
  assert.equal(tokensOf(told), ['lone']);
});

batch('a call whose writes were all undone commits nothing', async ({ batches, log }) => {
  await rejection(
    batches.write(async (tx) => {
      await note('undone')(tx);
      throw new Error('poison');
    }),
  );
  await batches.drain();
  assert.equal([batches.commits, log.syncs], [0, 0]);
});

batch('a commit that fails fails every call of its batch, and the next ones succeed', async (world) => {
  const { batches, db, told } = world;
  db.exec(`CREATE TABLE strict (name TEXT REFERENCES settings (name) DEFERRABLE INITIALLY DEFERRED)`);
  db.pragma('foreign_keys = ON');
  const results = await Promise.allSettled([
    batches.write(note('a')),
    batches.write(async (tx) => tx.run(`INSERT INTO strict (name) VALUES ('nowhere')`)),
  ]);
  assert.equal(
    results.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  assert.equal([namesIn(db), told], [[], []]);
  await batches.write(note('b'));
  assert.equal(namesIn(db), ['b']);
});

batch('a disk that refuses a call refuses its whole batch', async ({ batches, db }) => {
  const results = await Promise.all([
    rejection(batches.write(note('before'))),
    rejection(
      batches.write(async (tx) => {
        await note('refused')(tx);
        throw fault('SQLITE_FULL');
      }),
    ),
  ]);
  for (const error of results) assert.instance(error, StoreUnavailable);
  assert.is(batches.failingSince, NOW);
  assert.equal(namesIn(db), []);
  await batches.write(note('after'));
  assert.is(batches.failingSince, null);
  const { refused } = batches;
  assert.equal(refused, { start: NOW, end: NOW });
  batches.forgetRefused(null);
  assert.is(batches.refused, refused, 'it stays until its window is opened');
  batches.forgetRefused(refused);
  assert.is(batches.refused, null);
});

batch('a call that writes nothing does not prove that the disk is well again', async ({ batches }) => {
  await rejection(
    batches.write(() => {
      throw fault('SQLITE_FULL');
    }),
  );
  await batches.write(async (tx) => tx.run(`DELETE FROM settings WHERE name = 'none'`));
  await rejection(
    batches.write(async (tx) => {
      await note('undone')(tx);
      throw new Error('poison');
    }),
  );
  assert.is(batches.failingSince, NOW);
  assert.equal(batches.refused, { start: NOW, end: NOW });
});

batch('a rollback that fails as well leaves no call unanswered', async ({ batches, db, log }) => {
  const prepare = db.prepare;
  const gone = {
    run: () => {
      throw fault('SQLITE_IOERR');
    },
  };
  Object.assign(db, {
    prepare: (sql: string) => (sql.startsWith('ROLLBACK') ? gone : prepare.call(db, sql)),
  });
  const full = batches.write(() => {
    throw fault('SQLITE_FULL');
  });
  assert.instance(await rejection(full), StoreUnavailable);
  assert.instance(await rejection(batches.write(note('b'))), StoreUnavailable);
  assert.instance(await log.failed, Error);
  Object.assign(db, { prepare });
  db.exec('ROLLBACK');
});

batch('damage that a call finds ends all trust', async ({ batches, log }) => {
  const damaged = batches.write(() => {
    throw fault('SQLITE_CORRUPT');
  });
  assert.instance(await rejection(damaged), StoreUnavailable);
  assert.instance(await log.failed, StoreUnavailable);
  assert.instance(await rejection(batches.write(note('b'))), StoreUnavailable);
});

batch.run();
