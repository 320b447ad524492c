/**
 * One alert for a dead host and its forty jobs, and one for the job that does not come back with it. On a clock that runs
 * fast, because no schedule is shorter than a minute.
 * Time limit: 180 s.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireSnitch } from '../../src/api/wire.ts';
import { newDataDir, removeDataDir } from '../data-directory.ts';
import { runUnless } from '../skipped.ts';
import { WITHOUT_OWN_CLOCK } from '../store/postgres/open.ts';
import { type DaemonProcess, startProcess } from './daemon-process.ts';
import { hostClock } from './host-clock.ts';
import { startWebhookReceiver, type WebhookReceiver } from './webhook-receiver.ts';

const JOBS = 40;

/** How many seconds pass in a real one. */
const SPEED = 8;

/** Much longer than the shortest possible schedule, in real milliseconds. */
const SOON = 60_000;

const test = suite('a dead host');

async function make(
  daemon: DaemonProcess,
  name: string,
  { grace, needs }: { grace: number; needs: string[] },
): Promise<WireSnitch> {
  const body = { name, schedule: { every: 60 }, grace, needs };
  return (await (await daemon.call('POST', '/v1/snitches', body)).json()) as WireSnitch;
}

async function checkIn(daemon: DaemonProcess, snitches: readonly WireSnitch[]): Promise<void> {
  await Promise.all(snitches.map(({ token }) => fetch(`${daemon.url}/c/${token}`)));
}

async function all(daemon: DaemonProcess): Promise<WireSnitch[]> {
  return (await (await daemon.call('GET', '/v1/snitches')).json()) as WireSnitch[];
}

/** Polls until `isSo`, for as long as it takes on a busy machine. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + SOON;
  while (!(await isSo())) {
    if (Date.now() > end) throw new Error('it did not come about in time');
    await sleep(100);
  }
}

/** Alerts such as `missing db1`, without those for first check-ins. */
function told({ posts }: WebhookReceiver): string[] {
  return posts
    .filter(({ body }) => body.data.snitch.previous_status !== 'pending')
    .map(({ body }) => `${body.type.replace('snitch.', '')} ${body.data.snitch.name}`);
}

test('forty jobs raise no alerts, even across a kill, and the one that stays silent does', async () => {
  const dataDir = newDataDir();
  const receiver = await startWebhookReceiver();
  const nodeOptions = hostClock({ speed: SPEED, since: Date.now() });
  let daemon = await startProcess({ dataDir, nodeOptions });
  try {
    await daemon.call('POST', '/v1/webhooks', { url: receiver.url });
    const host = await make(daemon, 'db1', { grace: 15, needs: [] });
    const jobs: WireSnitch[] = [];
    // Half of them are due a moment before their host, and half after it.
    for (let index = 0; index < JOBS; index += 1) {
      const grace = index < JOBS / 2 ? 0 : 30;
      jobs.push(await make(daemon, `job ${index}`, { grace, needs: [host.token] }));
    }
    await checkIn(daemon, [host]);
    await checkIn(daemon, jobs);
    await until(async () => (await all(daemon)).every(({ status }) => status === 'failed'));
    await until(async () => told(receiver).length > 0);

    await daemon.end('SIGKILL');
    daemon = await startProcess({ dataDir, nodeOptions });
    await until(async () => (await all(daemon)).filter(({ held }) => held?.until === null).length === JOBS);
    assert.equal(told(receiver), ['missing db1']);
    for (const { name, held, status } of await all(daemon)) {
      assert.equal([status, held?.by?.name ?? name], ['failed', 'db1']);
    }

    const [silent, ...others] = jobs as [WireSnitch, ...WireSnitch[]];
    await checkIn(daemon, [host]);
    await until(async () => (await all(daemon)).filter(({ held }) => held?.until).length === JOBS);
    await until(async () => {
      await checkIn(daemon, [host, ...others]);
      return told(receiver).length > 2;
    });
    assert.equal(told(receiver), ['missing db1', 'reporting db1', `missing ${silent.name}`]);
    const last = receiver.posts.at(-1)?.body.data;
    assert.equal([last?.snitch.previous_status, last?.snitch.status], ['healthy', 'missing']);
    assert.match(
      last?.reason ?? '',
      /^no check-in by .+; the alert was held from .+ to .+, because db1 was down$/,
    );
    await checkIn(daemon, [silent]);
    await until(async () => told(receiver).at(-1) === `reporting ${silent.name}`);
    assert.is(await daemon.end(), 0);
  } finally {
    await daemon.end('SIGKILL');
    await receiver.stop();
    removeDataDir(dataDir);
  }
});

runUnless(WITHOUT_OWN_CLOCK, test, 'a dead host');
