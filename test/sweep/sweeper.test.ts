import { pino } from 'pino';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openStore } from '../../src/store/sqlite/sqlite-store.ts';
import type { Alert, Case, Store } from '../../src/store/store.ts';
import { Sweeper } from '../../src/sweep/sweeper.ts';
import { newDataDir, removeDataDir } from '../end-to-end/daemon-process.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

interface Context {
  dataDir: string;
  store: Store;
  team: Case;
  sweeper: Sweeper;
  /** The injected wall clock. */
  now: number;
}

const test = suite<Context>('the sweeper');

test.before.each(async (context) => {
  context.now = Date.parse('2026-03-10T10:59:00Z');
  context.dataDir = newDataDir();
  await start(context);
  context.team = await context.store.createCase(
    {
      name: 'team',
      timezone: 'UTC',
      members: ['team@example.com'],
      reminders: 'off',
      errorNotices: true,
      maxSnitches: null,
      onHold: false,
    },
    context.now,
  );
});

test.after.each(async ({ store, dataDir }) => {
  await store.close();
  removeDataDir(dataDir);
});

/** Starts the daemon's part of it, as after a start of the process. */
async function start(context: Context): Promise<void> {
  const clock = () => context.now;
  context.store = openStore({ dataDir: context.dataDir, clock });
  context.sweeper = sweeperOf(context, context.store);
  await context.sweeper.wake();
}

function sweeperOf(context: Context, store: Store): Sweeper {
  return new Sweeper({
    store,
    clock: () => context.now,
    monotonic: () => 0,
    logger: pino({ level: 'silent' }),
  });
}

async function crash(context: Context): Promise<void> {
  await context.store.close();
}

async function healthySnitch({ store, team, now }: Context, name = 'job'): Promise<string> {
  const fields = {
    name,
    notes: '',
    tags: [],
    alertEmail: [],
    interval: 'hourly',
    alertType: 'basic',
  } as const;
  const { token } = await store.createSnitch(team.id, { ...fields, tags: [], alertEmail: [] }, now);
  await checkIn(store, token, now);
  return token;
}

function checkIn(store: Store, token: string, at: number): Promise<boolean> {
  const nothing = { exitStatus: null, message: null, source: null, runId: null, output: null };
  return store.applyCheckIn({ token, now: at, at, outcome: 'healthy', ...nothing });
}

/** Types of the alerts so far, oldest first, without the first report of each snitch. */
async function alertsOf({ store, team }: Context): Promise<Alert[]> {
  const listed = await store.listAlerts(team.id, null, { limit: 1_000, before: null });
  return listed
    .map(({ alert }) => alert)
    .filter(({ type }) => type !== 'snitch.reporting')
    .reverse();
}

/** Lets the daemon live on, second by second, until `until`. */
async function liveUntil(context: Context, until: number): Promise<void> {
  while (context.now < until) {
    context.now = Math.min(until, context.now + 10 * SECOND);
    await context.sweeper.tick();
  }
}

const at = (time: string) => Date.parse(`2026-03-10T${time}Z`);

test('a deadline alarms when it passes, and not a moment before', async (context) => {
  await healthySnitch(context);
  await liveUntil(context, at('11:59:59.999'));
  assert.equal(await alertsOf(context), []);
  await liveUntil(context, at('12:00:00'));
  const [alert, ...others] = await alertsOf(context);
  assert.is(alert?.type, 'snitch.missing');
  assert.is(alert?.snitch?.previous_status, 'healthy');
  assert.is(others.length, 0);
});

test('two sweeps at the same time alarm once', async (context) => {
  for (let index = 0; index < 30; index += 1) await healthySnitch(context, `job ${index}`);
  await liveUntil(context, at('11:59:50'));
  context.now = at('12:00:01');
  await Promise.all([context.sweeper.tick(), context.sweeper.tick(), context.sweeper.tick()]);
  assert.is((await alertsOf(context)).length, 30);
});

test('after a downtime a job that could not reach the daemon is not accused', async (context) => {
  const token = await healthySnitch(context);
  await liveUntil(context, at('11:30:00'));
  await crash(context);
  context.now = at('12:20:00');
  await start(context);
  await context.sweeper.tick();
  const [notice, ...others] = await alertsOf(context);
  assert.is(notice?.type, 'service.blind');
  assert.equal(notice?.notice, {
    start: at('11:30:00'),
    end: at('12:20:00'),
    postponed: ['job'],
    postponedCount: 1,
  });
  assert.is(others.length, 0);
  await liveUntil(context, at('12:59:00'));
  await checkIn(context.store, token, context.now);
  await liveUntil(context, at('13:30:00'));
  assert.is((await alertsOf(context)).length, 1);
});

test('a job that stays silent after a downtime is alarmed one period later', async (context) => {
  await healthySnitch(context);
  await liveUntil(context, at('11:30:00'));
  await crash(context);
  context.now = at('12:20:00');
  await start(context);
  await liveUntil(context, at('12:59:59'));
  assert.is((await alertsOf(context)).length, 1);
  await liveUntil(context, at('13:00:00'));
  const alerts = await alertsOf(context);
  assert.equal(
    alerts.map(({ type }) => type),
    ['service.blind', 'snitch.missing'],
  );
});

test('a job that had been expected before the downtime is alarmed as soon as the daemon is back', async (context) => {
  context.now = at('10:30:00');
  await context.sweeper.tick();
  await healthySnitch(context);
  await liveUntil(context, at('11:59:58'));
  await context.sweeper.stop();
  await crash(context);
  context.now = at('12:20:00');
  await start(context);
  await context.sweeper.tick();
  assert.equal(
    (await alertsOf(context)).map(({ type }) => type),
    ['snitch.missing'],
  );
});

test('a restart of some seconds tells nobody', async (context) => {
  await healthySnitch(context);
  await liveUntil(context, at('11:30:00'));
  await context.sweeper.stop();
  await crash(context);
  context.now += 5 * SECOND;
  await start(context);
  await liveUntil(context, at('12:00:00'));
  assert.equal(
    (await alertsOf(context)).map(({ type }) => type),
    ['snitch.missing'],
  );
});

test('a machine that slept, or a clock that jumped forward, is a blind window', async (context) => {
  await healthySnitch(context);
  await liveUntil(context, at('11:30:00'));
  context.now = at('12:10:00');
  await context.sweeper.tick();
  assert.equal(
    (await alertsOf(context)).map(({ type }) => type),
    ['service.blind'],
  );
});

test('a clock that is set back alarms nobody and repeats nothing', async (context) => {
  await healthySnitch(context);
  await liveUntil(context, at('12:00:00'));
  assert.is((await alertsOf(context)).length, 1);
  context.now -= 2 * HOUR;
  await liveUntil(context, at('12:00:05'));
  assert.is((await alertsOf(context)).length, 1);
});

test('while the store refuses to write, nobody is accused, and the window is kept when it recovers', async (context) => {
  await healthySnitch(context);
  await liveUntil(context, at('11:58:00'));
  const outage = { start: at('11:58:30'), end: at('11:59:40') };
  let outages = [outage];
  const store: Store = { ...context.store, takeOutage: () => outages.pop() ?? null };
  const sweeper = sweeperOf(context, store);
  await sweeper.wake();
  outages = [outage];
  context.now = at('11:59:41');
  await sweeper.tick();
  context.now = at('12:00:01');
  await sweeper.tick();
  assert.equal(
    (await alertsOf(context)).map(({ type }) => type),
    ['service.blind'],
  );
});

test('a sweep that fails makes the daemon not ready; only one that hangs calls for a restart', async ({
  store,
}) => {
  let seconds = 0;
  let applyDue: Store['applyDue'] = () => Promise.reject(new Error('no space'));
  const sweeper = new Sweeper({
    store: { ...store, applyDue: (...sweep) => applyDue(...sweep) },
    clock: () => Date.parse('2026-03-10T10:59:00Z'),
    monotonic: () => seconds * SECOND,
    logger: pino({ level: 'silent' }),
  });
  assert.equal([sweeper.problem(), sweeper.stall()], [null, null]);
  seconds = 31;
  await sweeper.tick();
  assert.equal([sweeper.problem(), sweeper.stall()], ['no sweep has ended for 31 s', null]);

  applyDue = () => new Promise(() => {});
  void sweeper.tick();
  seconds = 62;
  assert.equal(
    [sweeper.problem(), sweeper.stall()],
    ['no sweep has ended for 62 s', 'no sweep has ended for 31 s'],
  );
});

test.run();
