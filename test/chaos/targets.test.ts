/**
 * Alerts to many targets, a third of which misbehave, while the daemon is killed: none is lost, and no target delays another. CHAOS=full
 * makes the alerts more.
 * Time limit: 240 s. Also on PostgreSQL with CHAOS=full.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireDelivery, WireWebhook } from '../../src/api/wire.ts';
import type { AlertPayload } from '../../src/core/alert.ts';
import { RETRY_WAITS } from '../../src/core/backoff.ts';
import { until } from '../until.ts';
import { ChaosTarget, decidedAt, MISBEHAVIOURS } from './chaos-target.ts';
import { CrashingDaemon, inParallel } from './crashing-daemon.ts';
import { quantile, rounded } from './latency.ts';

const IS_FULL = process.env.CHAOS === 'full';

const TARGETS = 20;

/** Alerts that are raised over this time while the daemon is killed again and again. */
const IN_CHAOS = IS_FULL ? 300 : 120;
const CHAOS_MS = IS_FULL ? 6_000 : 4_000;
const KILLS = IS_FULL ? 3 : 2;

/** Alerts for measuring the latency, raised evenly over this time. */
const MEASURED = IS_FULL ? 200 : 80;
const MEASURED_MS = IS_FULL ? 12_000 : 5_000;

const ALERTS = IN_CHAOS + MEASURED;

/** Latencies below this are noise on a shared machine, in milliseconds. */
const NOISE = 150;

const DEADLINE = 120_000;

/** The least wait before the first retry, in milliseconds: jitter can make it a tenth shorter. */
const SHORTEST_WAIT = 0.9 * Math.min(...RETRY_WAITS);

/** A daemon with its targets, and the snitches that raise the alerts. */
class Site {
  readonly daemon = new CrashingDaemon();
  readonly targets: ChaosTarget[] = [];
  tokens: string[] = [];

  /** Starts the daemon and its targets, those of `misbehaviours` between the healthy ones. */
  async start(misbehaviours: readonly string[], snitches: number): Promise<void> {
    await this.daemon.start();
    const every = Math.floor(TARGETS / Math.max(1, misbehaviours.length));
    for (let index = 0; index < TARGETS; index += 1) {
      const misbehaves = index % every === 0 ? misbehaviours[index / every] : undefined;
      this.targets.push(await ChaosTarget.start(misbehaves ?? null));
    }
    for (const target of this.targets) {
      const webhook = await this.daemon.call<WireWebhook>('POST', '/v1/webhooks', { url: target.url });
      target.secret = webhook.secret ?? '';
    }
    this.tokens = await this.daemon.createSnitches(snitches);
  }

  get healthy(): ChaosTarget[] {
    return this.targets.filter(({ misbehaviour }) => misbehaviour === null);
  }

  get bad(): ChaosTarget[] {
    return this.targets.filter(({ misbehaviour }) => misbehaviour !== null);
  }

  /** Reports one error of each of the next snitches, evenly over the time: each makes one alert. */
  async raise(count: number, milliseconds: number): Promise<void> {
    const giveUp = AbortSignal.timeout(DEADLINE);
    await Promise.all(
      this.tokens.splice(0, count).map(async (token, index) => {
        await sleep((index / count) * milliseconds);
        await this.daemon.reportError(token, giveUp);
      }),
    );
  }

  async dispose(): Promise<void> {
    await this.daemon.dispose();
    await Promise.all(this.targets.map((target) => target.stop()));
  }
}

const test = suite<{ calm: Site; chaos: Site }>('targets that misbehave');

test.before.each((context) => {
  context.calm = new Site();
  context.chaos = new Site();
});

test.after.each(async ({ calm, chaos }) => {
  await calm.dispose();
  await chaos.dispose();
});

async function killNowAndThen(daemon: CrashingDaemon): Promise<void> {
  for (let kill = 1; kill <= KILLS; kill += 1) {
    await sleep(CHAOS_MS / (KILLS + 1));
    await daemon.killAndRestart();
  }
}

function haveAll(targets: readonly ChaosTarget[], count = ALERTS): Promise<void> {
  return until(
    () => targets.every((target) => target.distinct() === count),
    `all ${count} alerts reached every healthy target`,
    DEADLINE,
  );
}

/** The times from decision to first arrival of all alerts that were decided since `since`. */
function latencyP99(targets: readonly ChaosTarget[], since: number): number {
  const latencies = targets.flatMap(({ posts }) => {
    const first = new Map(posts.toReversed().map((post) => [post.id, post]));
    return [...first.values()]
      .filter((post) => decidedAt(post) >= since)
      .map((post) => post.at - decidedAt(post));
  });
  assert.is(latencies.length, MEASURED * targets.length);
  return quantile(latencies, 0.99);
}

/** Asserts that an alert has the same id at every target and attempt, with a signature that the receiver accepts. */
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

/** Asserts that tried deliveries have an error and a next time, that the others wait, and that none is missing. */
function assertNoneForgotten(
  rows: readonly WireDelivery[],
  target: ChaosTarget,
  decided: ReadonlyMap<string, number>,
): void {
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
  // That time may already be over: on a busy host the retry itself has to wait for its turn.
  const planned = failed.filter(({ state, sending }) => state === 'pending' && !sending);
  for (const { alert, next_attempt_at: next } of planned) {
    const waits = Date.parse(next ?? '') - (decided.get(alert) ?? Number.NaN);
    assert.ok(waits >= SHORTEST_WAIT, `${what}: a retry is planned ${waits} ms after the alert`);
  }
}

function deliveredOf(rows: readonly WireDelivery[]): WireDelivery[] {
  return rows.filter(({ state }) => state === 'delivered');
}

/** Measures both sites at the same time, so that other load on this machine affects both. */
async function assertAsFastAsInCalm({ calm, chaos }: { calm: Site; chaos: Site }): Promise<void> {
  const since = Date.now();
  await Promise.all([calm.raise(MEASURED, MEASURED_MS), chaos.raise(MEASURED, MEASURED_MS)]);
  await haveAll(calm.targets, MEASURED);
  await haveAll(chaos.healthy);
  const [expected, measured] = [latencyP99(calm.targets, since), latencyP99(chaos.healthy, since)];
  const shown = `p99 from decision to arrival: ${rounded(expected)} all healthy, ${rounded(measured)} in chaos`;
  console.log(`      ${shown}`);
  assert.ok(measured <= 2 * Math.max(expected, NOISE), shown);
}

/** Once every misbehaving target has failed in its own way, the outbox has a row for every alert and target. */
async function assertAllAccountedFor({ daemon, healthy, bad }: Site): Promise<WireDelivery[]> {
  let rows: WireDelivery[] = [];
  const hasFailed = (target: ChaosTarget) =>
    rowsOf(rows, target).some(({ last_error: error }) => error !== null);
  const read = async () => {
    await sleep(1_000);
    rows = await daemon.deliveries();
    return bad.every(hasFailed);
  };
  await until(read, 'every misbehaving target has failed', DEADLINE);
  assert.is(rows.length, ALERTS * TARGETS);
  const decided = new Map(healthy[0]?.posts.map((post) => [post.id, decidedAt(post)]));
  for (const target of bad) assertNoneForgotten(rowsOf(rows, target), target, decided);
  for (const target of healthy) assert.is(deliveredOf(rowsOf(rows, target)).length, ALERTS);
  return rows;
}

test(`${ALERTS} alerts, a third of ${TARGETS} targets misbehaving, ${KILLS} times kill -9: none is lost, nobody waits`, async (context) => {
  const { calm, chaos } = context;
  await calm.start([], MEASURED);
  await chaos.start(Object.keys(MISBEHAVIOURS), ALERTS);
  assert.is(chaos.bad.length, Object.keys(MISBEHAVIOURS).length);
  await Promise.all([chaos.raise(IN_CHAOS, CHAOS_MS), killNowAndThen(chaos.daemon)]);
  await haveAll(chaos.healthy, IN_CHAOS);
  await assertAsFastAsInCalm(context);
  assertSameIds(chaos.targets);
  const rows = await assertAllAccountedFor(chaos);

  await Promise.all(chaos.bad.map((target) => target.heal()));
  const tried = rows.filter(({ state, attempts }) => state !== 'delivered' && attempts > 0);
  await inParallel(tried, ({ id }) => chaos.daemon.retry(id));
  await haveAll(chaos.targets);
  assertSameIds(chaos.targets);
  const isEmpty = async () => (await chaos.daemon.deliveries('pending')).length === 0;
  await until(isEmpty, 'the outbox is empty once all targets are healthy', DEADLINE);
});

test.run();
