/**
 * The whole of it, with real parts and a real clock: check in, miss, be told. Once with the bundle on the project's
 * Node, at the same time with the executable in a root directory that holds nothing but the C library, and in the root of
 * the container image.
 * Time limit: 240 s.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireCheckIn, WireSnitch } from '../../src/api/wire.ts';
import { removeDataDir } from '../data-directory.ts';
import { withoutRoot } from '../skipped.ts';
import { type ContainerRoot, makeContainerRoot } from './container-root.ts';
import { type DaemonOptions, type DaemonProcess, startProcess } from './daemon-process.ts';
import { inEmptyRoot, makeEmptyRoot } from './empty-root.ts';
import { type Mailbox, startMailbox } from './mailbox.ts';
import { startWebhookReceiver, type WebhookReceiver } from './webhook-receiver.ts';

const MINUTE = 60_000;

/** How soon after its deadline an alert must have arrived, in milliseconds. */
const PROMPT = 2_000;

interface Installation {
  daemon: DaemonProcess;
  mailbox: Mailbox;
  receiver: WebhookReceiver;
}

interface Context {
  root: string;
  bundle: Installation;
  executable: Installation;
  /** Null for a user who is not root, and so can make no such root. */
  image: ContainerRoot | null;
  container: Installation | null;
}

const test = suite<Context>('the main job');

test.before(async (context) => {
  context.root = makeEmptyRoot();
  context.bundle = await install({});
  context.executable = await install(inEmptyRoot(context.root));
  context.image = withoutRoot() === null ? makeContainerRoot() : null;
  context.container = context.image && (await install(context.image.options));
});

test.after(async ({ root, bundle, executable, image, container }) => {
  for (const installation of [bundle, executable, container]) if (installation) await uninstall(installation);
  removeDataDir(root);
  image?.remove();
});

async function install(options: DaemonOptions): Promise<Installation> {
  const mailbox = await startMailbox();
  const receiver = await startWebhookReceiver();
  const daemon = await startProcess({
    ...options,
    env: { SNITCH_SMTP_URL: mailbox.url, SNITCH_SMTP_FROM: 'snitch@example.com' },
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

test('a job checks in, misses its deadline, and checks in again', async ({
  bundle,
  executable,
  container,
}) => {
  const installations = [bundle, executable, container].filter((one) => one !== null);
  await Promise.all(installations.map(tellTheStory));
});

async function tellTheStory({ daemon, mailbox, receiver }: Installation): Promise<void> {
  const created = await daemon.call('POST', '/v1/snitches', { name: 'nightly-backup', interval: '1_minute' });
  const snitch = (await created.json()) as WireSnitch;
  assert.is(await statusOf(daemon, snitch), 'pending');

  const checkedInAt = await checkIn(snitch);
  assert.is(await statusOf(daemon, snitch), 'healthy');
  await expectAlert({ mailbox, receiver }, 1, 'snitch.reporting', 'healthy', 'pending');

  const deadline = (Math.floor(checkedInAt / MINUTE) + 2) * MINUTE;
  await receiver.waitFor(2, deadline - Date.now() + 20_000);
  await mailbox.waitFor(2, 20_000);
  const missing = await expectAlert({ mailbox, receiver }, 2, 'snitch.missing', 'missing', 'healthy');
  for (const { channel, at } of missing) {
    assert.ok(at >= deadline, `the ${channel} came ${deadline - at} ms before the deadline`);
    assert.ok(at - deadline <= PROMPT, `the ${channel} came ${at - deadline} ms after the deadline`);
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

async function statusOf(daemon: DaemonProcess, { token }: WireSnitch): Promise<string> {
  const answer = await daemon.call('GET', `/v1/snitches/${token}`);
  return ((await answer.json()) as WireSnitch).status;
}

/** Checks in as a job would, and answers with when. */
async function checkIn(snitch: WireSnitch): Promise<number> {
  const answer = await fetch(`${snitch.check_in_url}?m=all+is+well`);
  assert.is(answer.status, 202);
  assert.is(await answer.text(), 'Got it, thanks!\n');
  return Date.now();
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
