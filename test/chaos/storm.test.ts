/**
 * Many snitches fail in the same second: few emails, every webhook, and check-ins go on being answered. CHAOS=full makes
 * them thousands.
 * Time limit: 180 s. Also on PostgreSQL.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireDelivery } from '../../src/api/wire.ts';
import type { CaseSettings } from '../../src/core/case.ts';
import type { SnitchFields } from '../../src/core/snitch.ts';
import { EMAIL_LIMITS } from '../../src/delivery/channels/email.ts';
import { Sweeper } from '../../src/sweep/sweeper.ts';
import { type Mailbox, startMailbox } from '../end-to-end/mailbox.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../end-to-end/webhook-receiver.ts';
import type { Store } from '../store/acting.ts';
import { openStore } from '../store/acting.ts';
import { checkIn } from '../store/fixture.ts';
import { ON_POSTGRES } from '../store/postgres/open.ts';
import { until } from '../until.ts';
import { quantile, rounded } from './latency.ts';
import { LocalDaemon, MovableClock } from './local-daemon.ts';

const IS_FULL = process.env.CHAOS === 'full';

/** Creating them takes many times as long if each is a transaction over the network. */
const [FAILING, DUE] = IS_FULL ? [ON_POSTGRES ? 1_000 : 5_000, 1_000] : [ON_POSTGRES ? 400 : 1_500, 400];
const RECIPIENTS = ['ann@example.com', 'bob@example.com'];

/** All of them checked in before this time, and must again by `DEADLINE`. */
const LAST_CHECK_IN = '2026-03-10T10:30:00Z';
const DEADLINE = '2026-03-10T12:00:00Z';

/** The daemon's clock when it starts: shortly before the deadline. */
const START = '2026-03-10T11:59:58Z';

/** The longest that a storm may take before the test gives up, in milliseconds. */
const GIVE_UP = 90_000;

interface Context {
  daemon: LocalDaemon;
  mailbox: Mailbox;
  receivers: WebhookReceiver[];
}

const test = suite<Context>('a storm of alerts');

test.before.each(async (context) => {
  context.mailbox = await startMailbox();
  context.receivers = [await startWebhookReceiver(), await startWebhookReceiver()];
  context.daemon = new LocalDaemon(new MovableClock(START), { SMTP_URL: context.mailbox.url });
});

test.after.each(async ({ daemon, mailbox, receivers }) => {
  await daemon.dispose();
  await mailbox.stop();
  await Promise.all(receivers.map((receiver) => receiver.stop()));
});

const SETTINGS: CaseSettings = {
  name: 'default',
  timezone: 'UTC',
  members: [],
  reminders: 'off',
  errorNotices: true,
  maxSnitches: null,
  onHold: false,
};

const FIELDS: SnitchFields = {
  name: '',
  notes: '',
  tags: ['rack-7'],
  alertEmail: [],
  interval: 'hourly',
  alertType: 'basic',
};

/** A snitch that checked in at `at`. */
async function healthySnitch(store: Store, caseId: string, name: string, at: number): Promise<string> {
  const { token } = await store.createSnitch(caseId, { ...FIELDS, name }, at);
  await checkIn(store, token, at);
  return token;
}

/** Written to the store before the daemon starts, because that is faster than a request for each. */
async function prepare({ daemon, receivers }: Context): Promise<string> {
  const at = Date.parse(LAST_CHECK_IN);
  const store = openStore({ dataDir: daemon.dataDir, clock: () => at });
  try {
    const team = await store.createCase(SETTINGS, at);
    const names = Array.from({ length: FAILING }, (_, index) => `job ${index}`);
    await Promise.all(names.map((name) => healthySnitch(store, team.id, name, at)));
    // It checks in all the time: the snitch that the latency is measured with must not fail.
    const busy = await healthySnitch(store, team.id, 'busy', Date.parse(DEADLINE) - 1);
    // The members are added last, so that they get no alerts about first reports.
    await store.updateCase(team.id, { members: RECIPIENTS }, at);
    for (const { url } of receivers) await store.createWebhook(team.id, url, at);
    return busy;
  } finally {
    await store.close();
  }
}

/** Checks in every few milliseconds until told to stop, and answers with how long each took. */
async function keepCheckingIn(daemon: LocalDaemon, token: string, over: AbortSignal): Promise<number[]> {
  const latencies: number[] = [];
  while (!over.aborted) {
    const before = performance.now();
    assert.is(await daemon.checkIn(token), 202);
    latencies.push(performance.now() - before);
    await sleep(10);
  }
  return latencies;
}

function perRecipient({ mails }: Mailbox): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { recipients } of mails) {
    for (const recipient of recipients) counts.set(recipient, (counts.get(recipient) ?? 0) + 1);
  }
  return counts;
}

async function pending(daemon: LocalDaemon): Promise<number> {
  return (await daemon.call<WireDelivery[]>('GET', '/v1/deliveries?state=pending&limit=1')).length;
}

test(`${FAILING} snitches fail in one second: webhooks get all, each recipient at most two emails`, async (context) => {
  const { daemon, mailbox, receivers } = context;
  const busy = await prepare(context);
  await daemon.start();
  const offset = daemon.clock.now() - Date.now();
  const over = new AbortController();
  const checkingIn = keepCheckingIn(daemon, busy, over.signal);
  try {
    await Promise.all(receivers.map((receiver) => receiver.waitFor(FAILING, GIVE_UP)));
    await until(async () => (await pending(daemon)) === 0, 'the outbox is empty', GIVE_UP);
  } finally {
    over.abort();
  }
  const latencies = await checkingIn;

  for (const { posts } of receivers) {
    const failed = posts.filter(({ body }) => body.type === 'snitch.missing');
    assert.is(new Set(failed.map(({ body }) => body.data.snitch.token)).size, FAILING);
    assert.is(new Set(failed.map(({ headers }) => headers['webhook-id'])).size, FAILING);
  }
  const told = mailbox.mails.map(({ subject }) => /^\[Digest\] (\d+) alerts/.exec(subject)?.[1] ?? '1');
  assert.is(
    told.reduce((sum, count) => sum + Number(count), 0),
    FAILING * RECIPIENTS.length,
  );

  // All alerts of one sweep bear its time.
  const swept = Math.min(
    ...receivers.flatMap(({ posts }) => posts.map(({ body }) => Date.parse(body.timestamp))),
  );
  const after = receivers.flatMap(({ posts }) => posts.map(({ at }) => at + offset - swept));
  const [first, last] = [Math.min(...after), Math.max(...after)];
  // A digest contains the alerts of its wait, and on a slow host the sweep takes longer than that.
  const most = 2 + Math.floor((last - first) / EMAIL_LIMITS.groupWait);
  for (const recipient of RECIPIENTS) {
    const count = perRecipient(mailbox).get(recipient) ?? 0;
    assert.ok(
      count >= 1 && count <= most,
      `${recipient} got ${count} emails, and ${most} at most are expected`,
    );
  }
  console.log(
    `      after the sweep: first webhook ${rounded(first)}, last ${rounded(last)}; ${latencies.length} check-ins beside it: p99 ${rounded(quantile(latencies, 0.99))}, longest ${rounded(Math.max(...latencies))}`,
  );
  assert.ok(swept >= Date.parse(DEADLINE), 'no alert before the deadline');
  assert.ok(latencies.length > 50, 'check-ins go on being answered');
});

test('a sweep lets check-ins through every few dozen snitches', async ({ daemon }) => {
  let now = Date.parse(LAST_CHECK_IN);
  const store = openStore({ dataDir: daemon.dataDir, clock: () => now });
  try {
    const team = await store.createCase({ ...SETTINGS, members: RECIPIENTS }, now);
    const names = Array.from({ length: DUE }, (_, index) => `job ${index}`);
    await Promise.all(names.map((name) => healthySnitch(store, team.id, name, now)));
    now = Date.parse(DEADLINE);
    const busy = await healthySnitch(store, team.id, 'busy', now);
    const logger = pino({ level: 'silent' });
    const sweeper = new Sweeper({ store, clock: () => now, monotonic: () => performance.now(), logger });
    let sweeping = true;
    const sweep = sweeper.tick().finally(() => {
      sweeping = false;
    });
    const missing: number[] = [];
    const count = async () => missing.push((await store.census()).snitches.failed ?? 0);
    for (; sweeping; await count()) await checkIn(store, busy, now);
    await sweep;
    await count();
    assert.is(missing.at(-1), DUE);
    assert.ok(missing.length > DUE / 40, `${missing.length - 1} check-ins were answered one after the other`);
    const most = Math.max(...missing.map((after, index) => after - (missing[index - 1] ?? 0)));
    // PostgreSQL applies them in larger sets, beside the check-ins.
    assert.ok(ON_POSTGRES || most <= 50, `${most} snitches were swept between two check-ins`);
  } finally {
    await store.close();
  }
});

test.run();
