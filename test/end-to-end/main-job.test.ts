/**
 * The whole of it, with real parts and a real clock: check in, miss, be told. Once with the bundle on the project's
 * Node, and at the same time with the executable in a root directory that holds nothing but the C library, in the root of
 * the container image, and with the executable for arm64 by emulation.
 * Time limit: 240 s. Also on PostgreSQL.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireCheckIn, WireSnitch } from '../../src/api/wire.ts';
import { removeDataDir } from '../data-directory.ts';
import { unless, withoutRoot } from '../skipped.ts';
import { ON_POSTGRES } from '../store/postgres/open.ts';
import { inArm64Root, isArm64, makeArm64Root, withoutArm64 } from './arm64-root.ts';
import { makeContainerRoot } from './container-root.ts';
import { type DaemonOptions, type DaemonProcess, startProcess } from './daemon-process.ts';
import { inEmptyRoot, makeEmptyRoot } from './empty-root.ts';
import { type Mailbox, startMailbox } from './mailbox.ts';
import { startWebhookReceiver, type WebhookReceiver } from './webhook-receiver.ts';

const MINUTE = 60_000;

interface Installation {
  daemon: DaemonProcess;
  mailbox: Mailbox;
  receiver: WebhookReceiver;
}

const FOREIGN = 'the executable for arm64';
const CONTAINER = 'the container image';
/** On PostgreSQL one is enough: what the others prove does not depend on the database. */
const HOSTS = ON_POSTGRES
  ? ['the bundle', 'the executable']
  : ['the bundle', 'the executable', CONTAINER, ...(isArm64 ? [] : [FOREIGN])];

interface Context {
  /** Removes what was made for them. */
  removals: (() => void)[];
  installations: Installation[];
  /** How the story ended on each; they go on at the same time, because each waits for minutes. */
  ends: Record<string, Promise<unknown>>;
}

const test = suite<Context>('the main job');

const emulated = withoutArm64();
const contained = withoutRoot();

test.before((context) => {
  const start = (options: DaemonOptions) =>
    install(options).then((installation) => {
      context.installations.push(installation);
      return tellTheStory(installation);
    });
  const rooted = (root: string) => {
    context.removals.push(() => removeDataDir(root));
    return root;
  };
  const inContainer = () => {
    const image = makeContainerRoot();
    context.removals.push(image.remove);
    return image.options;
  };
  Object.assign(context, { removals: [], installations: [], ends: {} });
  context.ends = {
    'the bundle': start({}),
    'the executable': start(inEmptyRoot(rooted(makeEmptyRoot()))),
    ...(contained === null && HOSTS.includes(CONTAINER) && { [CONTAINER]: start(inContainer()) }),
    ...(emulated === null &&
      HOSTS.includes(FOREIGN) && {
        [FOREIGN]: start(inArm64Root(rooted(makeArm64Root()))),
      }),
  };
  // One that fails is told by its own test, perhaps only after another has ended.
  for (const end of Object.values(context.ends)) end.catch(() => undefined);
});

test.after(async ({ removals, installations, ends }) => {
  await Promise.allSettled(Object.values(ends));
  for (const installation of installations) await uninstall(installation);
  for (const remove of removals) remove();
});

async function install(options: DaemonOptions): Promise<Installation> {
  const mailbox = await startMailbox();
  const receiver = await startWebhookReceiver();
  const daemon = await startProcess({
    ...options,
    env: { ...options.env, SNITCH_SMTP_URL: mailbox.url, SNITCH_SMTP_FROM: 'snitch@example.com' },
  });
  const team = await daemon.call('PATCH', '/v1/case', { members: ['team@example.com'] });
  assert.is(team.status, 200);
  const target = await daemon.call('POST', '/v1/webhooks', { url: `${receiver.url}/hook` });
  assert.is(target.status, 200);
  return { daemon, mailbox, receiver };
}

async function uninstall({ daemon, mailbox, receiver }: Installation): Promise<void> {
  await daemon.end();
  await mailbox.stop();
  await receiver.stop();
  removeDataDir(daemon.dataDir);
}

for (const host of HOSTS) {
  const reason = { [FOREIGN]: emulated, [CONTAINER]: contained }[host] ?? null;
  unless(reason, test)(
    `a job checks in, misses its deadline, and checks in again: ${host}`,
    async (context) => {
      assert.ok(context.ends[host], 'it was started');
      await context.ends[host];
    },
  );
}

async function tellTheStory({ daemon, mailbox, receiver }: Installation): Promise<void> {
  const created = await daemon.call('POST', '/v1/snitches', { name: 'nightly-backup', interval: '1_minute' });
  const snitch = (await created.json()) as WireSnitch;
  assert.is(await statusOf(daemon, snitch), 'pending');

  await checkIn(snitch);
  assert.is(await statusOf(daemon, snitch), 'healthy');
  await expectAlert({ mailbox, receiver }, 1, 'snitch.reporting', 'healthy', 'pending');

  // By the daemon's own record: the answer may come when the next minute has begun.
  const { checked_in_at } = await snitchNow(daemon, snitch);
  assert.ok(checked_in_at, 'it checked in');
  const deadline = (Math.floor(Date.parse(checked_in_at) / MINUTE) + 2) * MINUTE;
  // How soon it comes depends on the host, but it must not need another whole period.
  await receiver.waitFor(2, deadline - Date.now() + MINUTE);
  await mailbox.waitFor(2, MINUTE);
  const missing = await expectAlert({ mailbox, receiver }, 2, 'snitch.missing', 'missing', 'healthy');
  for (const { channel, at } of missing) {
    assert.ok(at >= deadline, `the ${channel} came ${deadline - at} ms before the deadline`);
  }
  assert.is(await statusOf(daemon, snitch), 'failed');

  await checkIn(snitch);
  assert.is(await statusOf(daemon, snitch), 'healthy');
  await expectAlert({ mailbox, receiver }, 3, 'snitch.reporting', 'healthy', 'missing');

  const log = (await (
    await daemon.call('GET', `/v1/snitches/${snitch.token}/check_ins`)
  ).json()) as WireCheckIn[];
  assert.equal(
    log.map(({ outcome, message }) => ({ outcome, message })),
    [
      { outcome: 'healthy', message: 'all is well' },
      { outcome: 'healthy', message: 'all is well' },
    ],
  );
}

async function snitchNow(daemon: DaemonProcess, { token }: WireSnitch): Promise<WireSnitch> {
  const answer = await daemon.call('GET', `/v1/snitches/${token}`);
  return (await answer.json()) as WireSnitch;
}

async function statusOf(daemon: DaemonProcess, snitch: WireSnitch): Promise<string> {
  return (await snitchNow(daemon, snitch)).status;
}

/** Checks in as a job would. */
async function checkIn(snitch: WireSnitch): Promise<void> {
  const answer = await fetch(`${snitch.check_in_url}?m=all+is+well`);
  assert.is(answer.status, 202);
  assert.is(await answer.text(), 'Got it, thanks!\n');
}

/** Asserts on the alert that came as number `count` on both channels, and answers when it came on each. */
async function expectAlert(
  { mailbox, receiver }: Pick<Installation, 'mailbox' | 'receiver'>,
  count: number,
  type: string,
  status: string,
  previousStatus: string,
): Promise<{ channel: string; at: number }[]> {
  const posts = await receiver.waitFor(count, 20_000);
  const mails = await mailbox.waitFor(count, 20_000);
  const post = posts[count - 1]!;
  const mail = mails[count - 1]!;
  assert.is(post.body.type, type);
  assert.is(post.body.data.snitch.status, status);
  assert.is(post.body.data.snitch.previous_status, previousStatus);
  assert.match(mail.subject, 'nightly-backup');
  assert.equal(mail.recipients, ['team@example.com']);
  return [
    { channel: 'webhook', at: post.at },
    { channel: 'email', at: mail.at },
  ];
}

test.run();
