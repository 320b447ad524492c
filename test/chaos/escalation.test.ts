/**
 * Alarms that escalate after some seconds, while people acknowledge them and the daemon is killed: what was acknowledged
 * before its time is never escalated, and everything else is, at least once. CHAOS=full makes both more.
 * Time limit: 180 s. Also on PostgreSQL with CHAOS=full.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireDelivery, WireSnitch } from '../../src/api/wire.ts';
import { type Receiver, startReceiver } from '../delivery/receiver.ts';
import { until } from '../until.ts';
import { CrashingDaemon, inParallel } from './crashing-daemon.ts';

const IS_FULL = process.env.CHAOS === 'full';

const ALARMS = IS_FULL ? 240 : 96;
/** Seconds. */
const AFTER = 6;
/** The time over which the alarms are raised, in milliseconds. */
const RAISING = 4_000;
const KILLS = IS_FULL ? 5 : 3;
const DEADLINE = 100_000;
/** Longer than the least time that the page expects a person to need, in milliseconds. */
const READING = 1_100;

const test = suite('escalation in chaos');

/** How an alarm is acknowledged: by the API or its link, well before it escalates or in the very second. */
const WAYS = ['api', 'link', 'api in time', 'link in time', null, null, null, null] as const;

/** What is known about an alarm; instants are milliseconds since the epoch. */
interface Course {
  token: string;
  way: (typeof WAYS)[number];
  /** An instant before it was reported; it cannot escalate until `AFTER` later. */
  reportedAt: number;
  /** When its acknowledgement was answered; null if there was none. */
  acknowledgedAt: number | null;
}

interface Heard {
  labels: { token: string };
  generatorURL?: string;
}

const heardOf = ({ received }: Receiver) => received.flatMap(({ body }) => JSON.parse(body) as Heard[]);

const byApi = (daemon: CrashingDaemon, token: string, giveUp: AbortSignal) =>
  daemon.insist(async () => {
    await daemon.call('POST', `/v1/snitches/${token}/acknowledge`, { by: 'Ann' });
    return true;
  }, giveUp);

/** Opens the page of the link in a message, reads it, and presses its button at `at` or as soon as it can. */
async function byLink(
  daemon: CrashingDaemon,
  { first, token, at }: { first: Receiver; token: string; at: number },
  giveUp: AbortSignal,
): Promise<void> {
  const link = () => heardOf(first).find(({ labels }) => labels.token === token)?.generatorURL;
  await until(() => link() !== undefined, 'the alarm is told', DEADLINE);
  const { pathname } = new URL(link() ?? '');
  let page = '';
  await daemon.insist(async () => {
    const answer = await fetch(`${daemon.url}${pathname}`, { signal: giveUp });
    page = /name="page" value="([^"]*)"/.exec(await answer.text())?.[1] ?? '';
    return answer.status === 200;
  }, giveUp);
  await sleep(Math.max(READING, at - Date.now()));
  await daemon.insist(async () => {
    const body = new URLSearchParams({ page, by: 'Ben' });
    const answer = await fetch(`${daemon.url}${pathname}`, { method: 'POST', body, signal: giveUp });
    return /acknowledged/i.test(await answer.text()) && answer.status === 200;
  }, giveUp);
}

async function goThrough(
  daemon: CrashingDaemon,
  first: Receiver,
  course: Course,
  giveUp: AbortSignal,
): Promise<void> {
  course.reportedAt = Date.now();
  await daemon.reportError(course.token, giveUp);
  const { token, way } = course;
  if (way === null) return;
  const inTime = way.endsWith('in time');
  const at = inTime ? Date.now() + AFTER * 1_000 - 500 + Math.random() * 1_000 : Date.now();
  if (way.startsWith('link')) await byLink(daemon, { first, token, at }, giveUp);
  else {
    await sleep(Math.max(0, at - Date.now()));
    await byApi(daemon, token, giveUp);
  }
  course.acknowledgedAt = Date.now();
}

/** @param told the tokens of the snitches whose alarms reached the pager */
function assertJustice(courses: readonly Course[], pages: readonly WireDelivery[], told: Set<string>): void {
  const ofToken = new Map(pages.map((page) => [page.snitch?.token, page]));
  assert.is(pages.length, ALARMS);
  const kept = { inTime: 0, late: 0 };
  for (const { token, way, reportedAt, acknowledgedAt } of courses) {
    const { state = '', last_error: why = '', attempts = 0 } = ofToken.get(token) ?? {};
    const said = `${way}: ${state} after ${attempts}, ${why}`;
    const inTime = acknowledgedAt !== null && acknowledgedAt < reportedAt + AFTER * 1_000;
    if (acknowledgedAt === null || state !== 'dropped') {
      assert.equal([state, told.has(token), inTime], ['delivered', true, false], said);
    } else if (inTime || attempts === 0) {
      assert.equal([why, attempts, told.has(token)], ['it was acknowledged before', 0, false], said);
    } else {
      assert.match(why ?? '', /^it was acknowledged before/, said);
    }
    if (state === 'dropped') kept.inTime += 1;
    else if (acknowledgedAt !== null) kept.late += 1;
  }
  console.log(`${kept.inTime} acknowledged in time, ${kept.late} while they were being told`);
}

test('an alarm that is acknowledged in time never escalates, and every other one does', async () => {
  const daemon = new CrashingDaemon({ SNITCH_BASE_URL: 'https://ops.example.com' });
  const [first, pager] = [await startReceiver(), await startReceiver()];
  const giveUp = AbortSignal.timeout(DEADLINE);
  try {
    await daemon.start();
    for (const [{ port }, after] of [
      [first, 0],
      [pager, AFTER],
    ] as const) {
      const settings = { url: `http://127.0.0.1:${port}` };
      await daemon.call('POST', '/v1/channels', { kind: 'alertmanager', name: `${after}`, settings, after });
    }
    const tokens = await daemon.createSnitches(ALARMS);
    const courses = tokens.map((token, index): Course => {
      const way = WAYS[index % WAYS.length] ?? null;
      return { token, way, reportedAt: 0, acknowledgedAt: null };
    });
    const gone = courses.map(async (course, index) => {
      await sleep((index / ALARMS) * RAISING);
      await goThrough(daemon, first, course, giveUp);
    });
    for (let kill = 0; kill < KILLS; kill += 1) {
      await sleep(((RAISING + AFTER * 1_000) / KILLS) * (0.5 + Math.random() / 2));
      await daemon.killAndRestart();
    }
    await Promise.all(gone);
    await until(async () => (await daemon.deliveries('pending')).length === 0, 'all is settled', DEADLINE);
    const pages = (await daemon.deliveries()).filter(({ target }) => target === `${AFTER}`);
    const told = new Set(heardOf(pager).map(({ labels }) => labels.token));
    assertJustice(courses, pages, told);
    assert.is(new Set(heardOf(first).map(({ labels }) => labels.token)).size, ALARMS);
    await inParallel(courses, async ({ token, acknowledgedAt }) => {
      const { acknowledged } = await daemon.call<WireSnitch>('GET', `/v1/snitches/${token}`);
      assert.is(acknowledged !== null, acknowledgedAt !== null, 'a kill takes no acknowledgement back');
    });
  } finally {
    await daemon.dispose();
    for (const server of [first, pager]) server.close();
  }
});

test.run();
