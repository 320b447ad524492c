/**
 * What a storm of alerts does to check-ins: thousands of snitches fail in the same second, with webhooks and emails
 * to send, while others go on checking in. Each round measures check-ins before the storm, in it, and after it.
 *
 *   node bench/storm.ts [--rounds 3] [--failing 5000] [--webhooks 2] [--seconds 4] [--rate 200]
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import Database from 'better-sqlite3';
import { Pool } from 'undici';
import { newDataDir, removeDataDir } from '../test/data-directory.ts';
import { type DaemonProcess, startProcess } from '../test/end-to-end/daemon-process.ts';
import { quantile } from './quantile.ts';
import type { Addresses, Arrived } from './storm-receivers.ts';

const { values: given } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    failing: { type: 'string', default: '5000' },
    webhooks: { type: 'string', default: '2' },
    seconds: { type: 'string', default: '4' },
    rate: { type: 'string', default: '200' },
  },
});
const rounds = Number(given.rounds);
const failing = Number(given.failing);
const seconds = Number(given.seconds);
const pause = 1_000 / Number(given.rate);

const HOUR = 3_600_000;
const STEADY = 64;
const WARM_UP = 2_000;
const RECIPIENTS = ['ann@example.com', 'bob@example.com'];
const FIELDS = { notes: '', tags: [], alertEmail: [], interval: 'hourly', alertType: 'basic' };

interface Receivers {
  addresses: Addresses;
  ask(): Promise<Arrived>;
  end(): void;
}

async function startReceivers(): Promise<Receivers> {
  const child = fork(join(import.meta.dirname, 'storm-receivers.ts'), [given.webhooks]);
  const [addresses] = (await once(child, 'message')) as [Addresses];
  const ask = async () => {
    child.send('how many');
    const [counts] = (await once(child, 'message')) as [Arrived];
    return counts;
  };
  return { addresses, ask, end: () => child.disconnect() };
}

/** Snitches that fail in the storm, and such that go on checking in; nobody is told of their first check-in. */
async function prepare(daemon: DaemonProcess, { webhooks }: Addresses): Promise<string[]> {
  const create = async (count: number, name: string) => {
    const tokens: string[] = [];
    for (let index = 0; index < count; index += 1) {
      const body = { name: `${name} ${index}`, ...FIELDS };
      const answer = await daemon.call('POST', '/v1/snitches', body);
      const { token } = (await answer.json()) as { token: string };
      await (await fetch(`${daemon.url}/c/${token}`)).arrayBuffer();
      tokens.push(token);
    }
    return tokens;
  };
  await create(failing, 'failing');
  const steady = await create(STEADY, 'steady');
  await daemon.call('PATCH', '/v1/case', { members: RECIPIENTS, reminders: 'off' });
  for (const url of webhooks) await daemon.call('POST', '/v1/webhooks', { url });
  return steady;
}

/** While the daemon is down: all that fail are healthy again, and due at `dueAt`. */
function arm(dataDir: string, dueAt: number): void {
  const db = new Database(join(dataDir, 'snitch.db'));
  db.prepare(
    `UPDATE snitch_states SET status = 'healthy', due_at = @due, look_at = @due, last_check_in_at = @at, postponed = 0, thread_id = NULL
     WHERE id IN (SELECT id FROM snitches WHERE name LIKE 'failing %')`,
  ).run({ due: dueAt, at: dueAt - 3 * HOUR });
  // Without the last sign of life the time in which the daemon was down is no blind window.
  db.exec(`DELETE FROM settings WHERE name = 'liveness'; DELETE FROM deliveries; DELETE FROM alerts`);
  db.close();
}

/** Latencies of check-ins at a steady rate until `work` ends. */
async function checkInUntil(pool: Pool, steady: readonly string[], work: Promise<void>): Promise<number[]> {
  const latencies: number[] = [];
  const underWay = new Set<Promise<void>>();
  let over = false;
  const ended = work.finally(() => {
    over = true;
  });
  for (let number = 0; !over; number += 1) {
    const before = performance.now();
    const checkIn = pool
      .request({ method: 'GET', path: `/c/${steady[number % steady.length]}` })
      .then(async ({ statusCode, body }) => {
        await body.dump();
        if (statusCode !== 202) throw new Error(`a check-in was answered ${statusCode}`);
        latencies.push(performance.now() - before);
      })
      .finally(() => underWay.delete(checkIn));
    underWay.add(checkIn);
    await sleep(pause);
  }
  await Promise.all(underWay);
  await ended;
  return latencies;
}

async function untilAllArrived(receivers: Receivers, before: Arrived): Promise<void> {
  const wanted = before.webhooks + failing * Number(given.webhooks);
  while ((await receivers.ask()).webhooks < wanted) await sleep(100);
}

async function round(dataDir: string, steady: readonly string[], receivers: Receivers) {
  const startsAt = Date.now();
  const dueAt = startsAt + 2_000 + WARM_UP + seconds * 1_000;
  arm(dataDir, dueAt);
  const daemon = await startProcess({ dataDir, env });
  const pool = new Pool(daemon.url, { connections: STEADY, pipelining: 1 });
  try {
    await checkInUntil(pool, steady, sleep(WARM_UP));
    const before = await receivers.ask();
    const calmBefore = await checkInUntil(pool, steady, sleep(dueAt - Date.now()));
    const began = performance.now();
    const storm = await checkInUntil(pool, steady, untilAllArrived(receivers, before));
    const took = performance.now() - began;
    // The digests wait for the end of the group wait.
    await sleep(6_000);
    const calmAfter = await checkInUntil(pool, steady, sleep(seconds * 1_000));
    const after = await receivers.ask();
    return { idle: calmBefore.concat(calmAfter), storm, took, emails: after.emails - before.emails, after };
  } finally {
    await pool.destroy();
    await daemon.end();
  }
}

const ms = (value: number) => `${value.toFixed(1)} ms`;
const row = (...cells: (string | number)[]) =>
  console.log(cells.map((cell) => String(cell).padEnd(14)).join(''));

const dataDir = newDataDir();
const receivers = await startReceivers();
const env = {
  SNITCH_SMTP_URL: receivers.addresses.smtp,
  SNITCH_SMTP_FROM: 'snitch@example.org',
  SNITCH_LOG_LEVEL: 'info',
};
const ratios: number[] = [];
try {
  const daemon = await startProcess({ dataDir, env });
  const steady = await prepare(daemon, receivers.addresses);
  await daemon.end();
  console.log(
    `${failing} snitches fail in one second, ${given.webhooks} webhooks, ${RECIPIENTS.length} recipients; check-ins at ${given.rate}/s beside it`,
  );
  row('round', 'idle p50', 'idle p99', 'storm p50', 'storm p99', 'storm/idle', 'all sent in', 'emails');
  for (let number = 1; number <= rounds; number += 1) {
    const { idle, storm, took, emails } = await round(dataDir, steady, receivers);
    const ratio = quantile(storm, 0.99) / quantile(idle, 0.99);
    ratios.push(ratio);
    const figures = [idle, storm].flatMap((values) => [quantile(values, 0.5), quantile(values, 0.99)]);
    row(number, ...figures.map(ms), ratio.toFixed(2), `${(took / 1_000).toFixed(1)} s`, emails);
  }
  const { first } = await receivers.ask();
  console.log(`first webhook at best ${Math.round(first)} ms after its sweep`);
  console.log(
    `p99 of check-ins in the storm to idle, median of the rounds: ${quantile(ratios, 0.5).toFixed(2)}`,
  );
} finally {
  receivers.end();
  removeDataDir(dataDir);
}
