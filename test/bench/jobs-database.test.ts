/** The program reads the databases of the benches as if it had made them itself. Not with --fast. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  arm,
  fillDatabase,
  type JobsDatabase,
  observe,
  steadyTokens,
} from '../../bench/database/jobs-database.ts';
import { midnightBefore, midnightScene, usualScene, zoneAtNoon } from '../../bench/database/scene.ts';
import { basicDeadline } from '../../src/core/deadline.ts';
import { Calendar } from '../../src/core/interval.ts';
import type { Snitch } from '../../src/core/snitch.ts';
import { DAY, HOUR } from '../../src/text/durations.ts';
import { newDataDir, removeDataDir } from '../data-directory.ts';
import type { Store } from '../store/acting.ts';
import { openStore } from '../store/acting.ts';

const COUNT = 300;
const HISTORY = 4;
const NOW = Date.parse('2026-11-21T22:26:37Z');

const test = suite<{ made: JobsDatabase; caseId: string }>('databases for the benches');

const clock = () => NOW;
const rules = { timezone: zoneAtNoon(NOW), reminders: 'off', errorNotices: true } as const;
const context = { calendar: new Calendar(), rules };

test.before.each(async (context) => {
  const dataDir = newDataDir();
  const store = openStore({ dataDir, clock });
  try {
    const settings = { ...rules, name: 'night', members: [], maxSnitches: null, onHold: false };
    const { id } = await store.createCase(settings, NOW);
    context.caseId = id;
  } finally {
    await store.close();
  }
  context.made = fillDatabase(dataDir, { caseId: context.caseId, count: COUNT, history: HISTORY, now: NOW });
});
test.after.each(({ made }) => removeDataDir(made.dataDir));

/** The result of `work` on the program's own store over the database. */
async function read<T>({ dataDir }: JobsDatabase, work: (store: Store) => Promise<T>): Promise<T> {
  const store = openStore({ dataDir, clock });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

async function list(store: Store, caseId: string): Promise<Snitch[]> {
  const { snitches } = await store.listSnitches(caseId, { after: 0, limit: 2 * COUNT, tags: ['nightly'] });
  const whole = await Promise.all(snitches.map(({ token }) => store.getSnitch(caseId, token)));
  return whole.filter((snitch) => snitch !== null);
}

test('each snitch is healthy, with the deadline that the program would compute', async ({ made, caseId }) => {
  const snitches = await read(made, (store) => list(store, caseId));
  assert.equal(
    snitches.map(({ token }) => token),
    made.tokens,
  );
  const today = midnightBefore(NOW);
  for (const { state } of snitches) {
    const at = state.lastCheckInAt ?? 0;
    assert.is(state.status, 'healthy');
    assert.ok(at >= today - DAY && at < today - DAY + 6 * HOUR);
    assert.is(state.dueAt, basicDeadline(state, at, context));
  }
  assert.ok(NOW - today >= 12 * HOUR && NOW - today < 13 * HOUR, 'it is about noon');
  assert.is(new Set(snitches.map(({ state }) => state.lastCheckInAt)).size, COUNT);
});

test('the log of each has its check-ins, and the newest is the last report', async ({ made, caseId }) => {
  await read(made, async (store) => {
    const snitches = await list(store, caseId);
    for (const { token, state, lastReport } of snitches) {
      const log = await store.listCheckIns(caseId, token, { limit: 100, before: null });
      assert.is(log?.length, HISTORY);
      assert.is(log?.[0]?.at, state.lastCheckInAt);
      assert.is(lastReport?.at, state.lastCheckInAt);
      assert.equal(
        log?.slice(1).map(({ at }, index) => (log[index]?.at ?? 0) - at),
        Array.from({ length: HISTORY - 1 }, () => DAY),
      );
    }
    const census = await store.census();
    assert.equal([census.snitches.healthy, census.firstDueAt], [COUNT, midnightBefore(NOW) + DAY]);
  });
});

test('a check-in is the first of its period, and moves the deadline by a day', async ({ made, caseId }) => {
  const [token = ''] = made.tokens;
  await read(made, async (store) => {
    const silent = { exitStatus: null, message: null, source: null, runId: null, output: null };
    const checkIn = { token, now: NOW, at: NOW, outcome: 'healthy', durationMs: null, ...silent } as const;
    assert.ok(await store.applyCheckIn(checkIn));
    const after = await store.getSnitch(caseId, token);
    assert.is(after?.state.dueAt, midnightBefore(NOW) + 2 * DAY);
  });
});

async function sweep(store: Store, now: number): Promise<number> {
  let changed = 0;
  for (let after = null, first = true; first || after !== null; first = false) {
    const result = await store.applyDue(now, after, 20);
    changed += result.changed;
    after = result.next as never;
  }
  return changed;
}

test('exactly the chosen snitches fail, however often it is armed', async ({ made, caseId }) => {
  const dueAt = NOW + 5_000;
  const { midnight } = made;
  for (const scene of [
    usualScene(midnight, 30, dueAt),
    midnightScene(midnight, dueAt, 20),
    usualScene(midnight),
  ]) {
    arm(made, scene);
    assert.is(
      observe(made.dataDir, (db, tables) => tables.isWaiting(db, dueAt)),
      scene.failing > 0,
    );
    await read(made, async (store) => {
      assert.is(await sweep(store, dueAt - 1), 0);
      assert.is(await sweep(store, dueAt), scene.failing);
      assert.is((await store.census()).snitches.failed ?? 0, scene.failing);
      const steady = new Set(steadyTokens(made, 100));
      const failed = (await list(store, caseId)).filter(({ state }) => state.status === 'failed');
      assert.not(failed.some(({ token }) => steady.has(token)));
    });
    assert.is(
      observe(made.dataDir, (db, tables) => tables.alertsSince(db, dueAt)),
      scene.failing,
    );
  }
});

test('the bench notices when the deadlines of a partly missed night are postponed', async ({
  made,
  caseId,
}) => {
  const isPostponed = () => observe(made.dataDir, (db, tables) => tables.isPostponed(db));
  assert.not(isPostponed());
  await read(made, async (store) => {
    await store.openBlindWindow({ start: made.midnight + 2 * HOUR, end: NOW });
    assert.not(isPostponed());
    while (await store.postponeSlice(NOW));
    const moved = (await list(store, caseId)).filter(({ state }) => state.postponed > 0).length;
    assert.ok(moved > COUNT / 2 && moved < COUNT, `${moved} of ${COUNT} were postponed`);
  });
  assert.ok(isPostponed());
});

test('all that the list shows is read', ({ made }) => {
  assert.is(
    observe(made.dataDir, (db, tables) => tables.readList(db).length),
    COUNT,
  );
});

test('there is an order for any number of snitches, and for each time of the day a zone where it is noon', () => {
  for (let hour = 0; hour < 24; hour += 1) {
    const now = NOW + hour * HOUR;
    const zone = zoneAtNoon(now);
    const local = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(zone);
    assert.is(local.hour, 12, zone);
    assert.is(local.startOfDay().epochMilliseconds, midnightBefore(now), zone);
  }
});

test.run();
