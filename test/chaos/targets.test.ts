/** Alerts to many targets of which a third misbehave, while the daemon is killed: none is lost, nobody waits. */
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireDelivery, WireWebhook } from '../../src/api/wire.ts';
import type { AlertPayload } from '../../src/core/alert.ts';
import { until } from '../delivery/outbox.ts';
import { ChaosTarget, decidedAt, MISBEHAVIOURS } from './chaos-target.ts';
import { CrashingDaemon, inParallel } from './crashing-daemon.ts';
import { quantile, rounded } from './latency.ts';

const ALERTS = 1_000;
const TARGETS = 20;
const LOAD_MS = 15_000;
/** When the daemon is killed, as shares of the load. */
const KILLS = [0.15, 0.3, 0.45];

/** Alerts that were decided so shortly before a kill, or so shortly after the restart, tell of the restart only. */
const BEFORE_KILL = 1_000;
const AFTER_RESTART = 2_000;

/** A shorter latency than this is noise on a machine that others use too, in milliseconds. */
const NOISE = 150;

const DEADLINE = 120_000;

interface Context {
  daemon: CrashingDaemon;
  targets: ChaosTarget[];
}

const test = suite<Context>('targets that misbehave');

test.before.each((context) => {
  context.daemon = new CrashingDaemon();
  context.targets = [];
});

test.after.each(async ({ daemon, targets }) => {
  await daemon.dispose();
  await Promise.all(targets.map((target) => target.stop()));
});

/** Starts the daemon with its targets, those of `misbehaviours` in between the healthy ones. */
async function start({ daemon, targets }: Context, misbehaviours: readonly string[]): Promise<string[]> {
  await daemon.start();
  const gap = misbehaviours.length > 0 ? Math.floor(TARGETS / misbehaviours.length) : TARGETS + 1;
  for (let index = 0; index < TARGETS; index += 1) {
    const misbehaves = index % gap === gap - 1 ? misbehaviours[(index + 1) / gap - 1] : undefined;
    targets.push(await ChaosTarget.start(misbehaves ?? null));
  }
  // A third of 20 does not divide evenly: what is left over takes the place of the last healthy one.
  for (const target of targets) {
    const webhook = await daemon.call<WireWebhook>('POST', '/v1/webhooks', { url: target.url });
    target.secret = webhook.secret ?? '';
  }
  return daemon.createSnitches(ALERTS);
}

/** One error report of every snitch, evenly over the time of the load: each makes one alert. */
async function raiseAlerts(daemon: CrashingDaemon, tokens: readonly string[]): Promise<void> {
  const giveUp = AbortSignal.timeout(DEADLINE);
  await Promise.all(
    tokens.map(async (token, index) => {
      await sleep((index / tokens.length) * LOAD_MS);
      await daemon.reportError(token, giveUp);
    }),
  );
}

async function killNowAndThen(daemon: CrashingDaemon): Promise<void> {
  const began = Date.now();
  for (const share of KILLS) {
    await sleep(Math.max(0, began + share * LOAD_MS - Date.now()));
    await daemon.killAndRestart();
  }
}

function haveAll(targets: readonly ChaosTarget[]): Promise<void> {
  return until(
    () => targets.every((target) => target.distinct() === ALERTS),
    `all ${ALERTS} alerts reached every healthy target`,
    DEADLINE,
  );
}

/** From the decision to the first arrival, of all alerts that were decided in quiet times. */
function latencyP99(targets: readonly ChaosTarget[], { outages }: CrashingDaemon): number {
  const quiet = (at: number) =>
    outages.every(({ from, to }) => at < from - BEFORE_KILL || at > to + AFTER_RESTART);
  const latencies = targets.flatMap(({ posts }) => {
    const first = new Map(posts.toReversed().map((post) => [post.id, post]));
    return [...first.values()]
      .filter((post) => quiet(decidedAt(post)))
      .map((post) => post.at - decidedAt(post));
  });
  assert.ok(latencies.length > ALERTS, 'too few alerts were decided in quiet times to prove anything');
  return quantile(latencies, 0.99);
}

/** The same id for the same alert, at every target and every attempt, with a signature that the receiver accepts. */
function assertSameIds(targets: readonly ChaosTarget[]): void {
  const bodies = new Map<string, string>();
  const ids = new Map<string, string>();
  for (const target of targets) {
    target.verifySignatures();
    for (const { id, body } of target.posts) {
      const { token } = (JSON.parse(body) as AlertPayload).data.snitch;
      assert.is(bodies.get(id) ?? body, body, `two alerts have the id ${id}`);
      assert.is(ids.get(token) ?? id, id, `the alert of ${token} came with two ids`);
      bodies.set(id, body);
      ids.set(token, id);
    }
  }
  assert.is(ids.size, ALERTS);
}

function rowsOf(rows: readonly WireDelivery[], { url }: ChaosTarget): WireDelivery[] {
  return rows.filter(({ target }) => target === url);
}

/** Tried ones say why in words and when they are tried again; the others wait for their turn. None is missing. */
function assertNoneForgotten(rows: readonly WireDelivery[], target: ChaosTarget, now: number): void {
  const what = `the target that ${target.misbehaviour}`;
  const { told } = MISBEHAVIOURS[target.misbehaviour ?? ''] ?? { told: /^$/ };
  assert.is(new Set(rows.map(({ alert }) => alert)).size, ALERTS, what);
  const failed = rows.filter(({ last_error: error }) => error !== null);
  assert.ok(failed.length > 0, `${what}: a failure is shown`);
  for (const { last_error: error, state, attempts } of failed) {
    assert.match(error ?? '', told, what);
    assert.ok(state === 'dead' || attempts > 0, what);
  }
  for (const { state, next_attempt_at: next } of rows) {
    assert.is.not(state, 'delivered', what);
    assert.is(next === null, state === 'dead', `${what}: what is not dead has a time`);
  }
  const waitsFor = (row: WireDelivery) => Date.parse(row.next_attempt_at ?? '') > now;
  assert.ok(failed.some(waitsFor), `${what}: a retry is planned`);
}

let calm = 0;

test(`${TARGETS} healthy targets get ${ALERTS} alerts: the figure to compare with`, async (context) => {
  const { daemon, targets } = context;
  const tokens = await start(context, []);
  await raiseAlerts(daemon, tokens);
  await haveAll(targets);
  assertSameIds(targets);
  calm = latencyP99(targets, daemon);
});

test(`a third misbehave and the daemon is killed ${KILLS.length} times: healthy ones get all, none is forgotten`, async (context) => {
  const { daemon, targets } = context;
  const tokens = await start(context, Object.keys(MISBEHAVIOURS));
  const healthy = targets.filter(({ misbehaviour }) => misbehaviour === null);
  const bad = targets.filter(({ misbehaviour }) => misbehaviour !== null);
  assert.is(bad.length, Object.keys(MISBEHAVIOURS).length);
  await Promise.all([raiseAlerts(daemon, tokens), killNowAndThen(daemon)]);
  await haveAll(healthy);
  const chaos = latencyP99(healthy, daemon);
  console.log(`      p99 from decision to arrival: ${rounded(calm)} all healthy, ${rounded(chaos)} in chaos`);

  const failures = (rows: readonly WireDelivery[]) => rows.filter(({ last_error }) => last_error !== null);
  let rows: WireDelivery[] = [];
  await until(
    async () => {
      await sleep(1_000);
      rows = await daemon.deliveries();
      return bad.every((target) => failures(rowsOf(rows, target)).length > 0);
    },
    'every misbehaving target has failed',
    DEADLINE,
  );
  assert.is(rows.length, ALERTS * TARGETS);
  for (const target of bad) assertNoneForgotten(rowsOf(rows, target), target, Date.now());
  for (const target of healthy) {
    assert.is(rowsOf(rows, target).filter(({ state }) => state === 'delivered').length, ALERTS);
  }
  assert.ok(chaos <= 2 * Math.max(calm, NOISE), `p99 ${rounded(chaos)}, all healthy ${rounded(calm)}`);

  await Promise.all(bad.map((target) => target.heal()));
  const late = rows.filter(({ state, attempts }) => state !== 'delivered' && attempts > 0);
  await inParallel(late, ({ id }) => daemon.call('POST', `/v1/deliveries/${id}/retry`).catch(() => null));
  await haveAll(targets);
  assertSameIds(targets);
  await until(
    async () => (await daemon.deliveries('pending')).length === 0,
    'the outbox is empty once all targets are healthy',
    DEADLINE,
  );
});

test.run();
