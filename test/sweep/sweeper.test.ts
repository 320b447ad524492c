import { pino } from 'pino';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Alert } from '../../src/core/alert.ts';
import type { BlindWindow } from '../../src/core/blind-window.ts';
import type { Case } from '../../src/core/case.ts';
import { StoreUnavailable } from '../../src/core/errors.ts';
import type { ClusterNode } from '../../src/store/node.ts';
import { Sweeper } from '../../src/sweep/sweeper.ts';
import { newDataDir, removeDataDir } from '../data-directory.ts';
import type { Store } from '../store/acting.ts';
import { openStore } from '../store/acting.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

const ALL = { limit: 1_000, before: null };

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
    snitches: [{ token, name: 'job', deadlineAt: at('14:00:00') }],
  });
  assert.is(others.length, 0);
  await liveUntil(context, at('12:59:00'));
  await checkIn(context.store, token, context.now);
  await liveUntil(context, at('13:30:00'));
  assert.is((await alertsOf(context)).length, 1);
});

test('a job that stays silent after a downtime is alarmed after the first period that could be heard whole', async (context) => {
  await healthySnitch(context);
  await liveUntil(context, at('11:30:00'));
  await crash(context);
  context.now = at('12:20:00');
  await start(context);
  await liveUntil(context, at('13:59:59'));
  assert.is((await alertsOf(context)).length, 1);
  await liveUntil(context, at('14:00:00'));
  const alerts = await alertsOf(context);
  assert.equal(
    alerts.map(({ type }) => type),
    ['service.blind', 'snitch.missing'],
  );
});

test('a job that had been expected before the downtime gets back the time that it could not use', async (context) => {
  context.now = at('10:30:00');
  await context.sweeper.tick();
  await healthySnitch(context);
  await liveUntil(context, at('11:59:58'));
  await context.sweeper.stop();
  await crash(context);
  context.now = at('12:20:00');
  await start(context);
  await liveUntil(context, at('12:20:01'));
  const types = async () => (await alertsOf(context)).map(({ type }) => type);
  assert.equal(await types(), ['service.blind']);
  await liveUntil(context, at('12:20:02'));
  assert.equal(await types(), ['service.blind', 'snitch.missing']);
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

for (const [what, { name = 'boot 8 42', waited = 10 * SECOND, crashed = false }, windows] of [
  ['on the same socket', {}, 0],
  ['after which nobody can still be waiting', { waited: 31 * SECOND }, 1],
  ['after a boot of the machine, or on a socket that was opened anew', { name: 'boot 9 42' }, 1],
  ['after which it crashed: one stop counts for one start', { crashed: true }, 1],
] as const) {
  test(`an orderly restart ${what}: ${windows} blind windows`, async (context) => {
    await healthySnitch(context);
    await liveUntil(context, at('11:58:55'));
    await context.sweeper.stop(at('11:58:55'), { socket: 'boot 8 42' });
    await context.store.close();
    for (const start of crashed ? [1, 2] : [1]) {
      context.now = at('11:58:55') + start * waited;
      context.store = openStore({ dataDir: context.dataDir, clock: () => context.now });
      context.sweeper = sweeperOf(context, context.store);
      await context.sweeper.wake(name);
      if (start === 1 && crashed) await context.store.close();
    }
    await context.sweeper.tick();
    assert.is((await alertsOf(context)).length, windows);
  });
}

test('who waited at a held socket is taken before the first sweep', async (context) => {
  const token = await healthySnitch(context);
  await liveUntil(context, at('11:59:55'));
  await context.sweeper.stop(at('11:59:55'), { socket: 'held' });
  let elapsed = 0;
  const { store } = context;
  const sweeper = new Sweeper({
    store,
    clock: () => context.now,
    monotonic: () => elapsed,
    logger: pino({ level: 'silent' }),
  });
  context.now = at('12:00:02');
  await sweeper.wake('held');
  await sweeper.tick();
  assert.equal(await alertsOf(context), []);
  await checkIn(store, token, at('12:00:03'));
  elapsed = 2 * SECOND;
  context.now = at('12:00:04');
  await sweeper.tick();
  assert.equal(await alertsOf(context), []);
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

test('the window is kept before anything else that takes long', async (context) => {
  await liveUntil(context, at('11:30:00'));
  await crash(context);
  context.now = at('11:40:00');
  await start(context);
  const { store } = context;
  const order: string[] = [];
  const sweeper = sweeperOf(context, {
    ...store,
    openBlindWindow: (window) => {
      order.push('window');
      return store.openBlindWindow(window);
    },
    setAnewSlice: (...from) => {
      order.push('clock');
      return store.setAnewSlice(...from);
    },
    postponeSlice: (now) => {
      order.push('postponements');
      return store.postponeSlice(now);
    },
  });
  await sweeper.wake();
  await sweeper.tick();
  assert.equal([...new Set(order)], ['window', 'clock', 'postponements']);
});

test('what a node wrote while its own clock was ahead is corrected once the clock is right', async (context) => {
  const { store } = context;
  let ofDatabase = context.now;
  const node = {
    now: async () => ofDatabase,
    answerForRefused: async () => null,
    noteLostCheckIn: () => {},
  } as Partial<ClusterNode> as ClusterNode;
  const looks: number[] = [];
  const sweeper = sweeperOf(context, {
    ...store,
    node,
    setAnewSlice: async (now) => {
      looks.push(now);
      return null;
    },
  });
  const tickAfter = async (host: number) => {
    context.now += host;
    ofDatabase += SECOND;
    await sweeper.tick();
  };
  await tickAfter(SECOND);
  await tickAfter(40 * 24 * HOUR);
  await tickAfter(SECOND);
  assert.is(looks.length, 1, 'at the start');
  await tickAfter(-40 * 24 * HOUR);
  assert.equal(looks.slice(1), [ofDatabase]);
  await tickAfter(SECOND);
  assert.is(looks.length, 2);
});

test('what is heard while deadlines are postponed is not blind after a crash', async (context) => {
  await healthySnitch(context);
  await liveUntil(context, at('11:10:00'));
  await crash(context);
  context.now = at('11:20:00');
  await start(context);
  const { store } = context;
  const gone = new Error('the power was cut');
  let slices = 0;
  const sweeper = sweeperOf(context, {
    ...store,
    // A second for each, until the machine is gone in the middle.
    postponeSlice: async () => {
      context.now += SECOND;
      slices += 1;
      if (slices > 96) throw gone;
      return true;
    },
  });
  await sweeper.wake();
  await sweeper.tick();
  const heardUntil = Number(await store.getSetting('liveness'));
  assert.ok(heardUntil >= at('11:21:00') && heardUntil <= context.now, new Date(heardUntil).toISOString());
});

test('a clock that is set back alarms nobody and repeats nothing', async (context) => {
  await healthySnitch(context);
  await liveUntil(context, at('12:00:00'));
  assert.is((await alertsOf(context)).length, 1);
  context.now -= 2 * HOUR;
  await liveUntil(context, at('12:00:05'));
  assert.is((await alertsOf(context)).length, 1);
});

test('what the store refused is a blind window before anything is swept, however short it was', async (context) => {
  await healthySnitch(context);
  await liveUntil(context, at('11:59:50'));
  const order: string[] = [];
  let refused: BlindWindow | null = { start: at('11:59:51'), end: at('11:59:52') };
  let fails = 2;
  const { store } = context;
  const sweeper = sweeperOf(context, {
    ...store,
    refused: () => refused,
    openBlindWindow: (window) => {
      order.push('window');
      if (fails-- > 0) return Promise.reject(new StoreUnavailable('full'));
      refused = null;
      return store.openBlindWindow(window);
    },
    applyDue: (...sweep) => {
      order.push('sweep');
      return store.applyDue(...sweep);
    },
  });
  await sweeper.wake();
  for (const time of ['11:59:59', '12:00:00', '12:00:01']) {
    context.now = at(time);
    await sweeper.tick();
  }
  assert.equal(order, ['window', 'window', 'window', 'sweep']);
  assert.equal(
    (await alertsOf(context)).map(({ type }) => type),
    ['service.blind'],
  );
  assert.is((await store.listAlerts(context.team.id, null, ALL))[0]?.alert.notice?.start, at('11:59:51'));
});

test('a window that could not be opened lasts until it can, since the store refused check-ins as well', async (context) => {
  await healthySnitch(context);
  await liveUntil(context, at('11:30:00'));
  const { store } = context;
  let refused: BlindWindow | null = null;
  const opened: BlindWindow[] = [];
  const sweeper = sweeperOf(context, {
    ...store,
    refused: () => refused,
    openBlindWindow: (window) => {
      opened.push(window);
      if (opened.length > 1) return store.openBlindWindow(window);
      refused = { start: window.end, end: window.end };
      return Promise.reject(new StoreUnavailable('full'));
    },
  });
  await sweeper.wake();
  // The clock jumps, and the disk is full.
  for (const time of ['11:30:20', '11:30:25']) {
    context.now = at(time);
    await sweeper.tick();
  }
  assert.equal(opened, [
    { start: at('11:30:00'), end: at('11:30:20') },
    { start: at('11:30:00'), end: at('11:30:25') },
  ]);
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
