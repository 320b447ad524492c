/**
 * Hundreds of alerts to twelve channels while the daemon is killed: each arrives at least once on each of them, at most three
 * messages a minute in a chat, and recoveries only where the alarm went. The first minute is a real one; when a chat
 * would have to wait for the next one, the host is down for a minute instead.
 * CHAOS=full makes them three times as many. Time limit: 180 s. Also on PostgreSQL.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { ChannelKind } from '../../src/core/channel.ts';
import { type Receiver, startReceiver } from '../delivery/receiver.ts';
import { settingsAt } from '../delivery/service-settings.ts';
import { ON_POSTGRES } from '../store/postgres/open.ts';
import { CrashingDaemon } from './crashing-daemon.ts';

const CHATS = [
  'ntfy',
  'gotify',
  'slack',
  'mattermost',
  'discord',
  'teams',
  'google_chat',
  'rocketchat',
  'zulip',
  'telegram',
  'matrix',
] as const satisfies readonly ChannelKind[];

const IS_FULL = process.env.CHAOS === 'full';

/**
 * Each is a dozen deliveries, of which each takes several times as long where the store is another process. A tenth of them
 * would still be more than a chat is told one by one, and be under way at each kill.
 */
const ALERTS = (ON_POSTGRES ? 120 : 300) * (IS_FULL ? 3 : 1);
/** How many of them recover in the end. */
const RECOVERIES = ALERTS / 3;
const KILLS = 3;
const CHAOS_MS = 6_000;
const DEADLINE = ON_POSTGRES ? 240_000 : 120_000;
const MINUTE = 60_000;
/**
 * Where nothing was sent for so many milliseconds, what is left waits for its minute to end. On PostgreSQL what the killed
 * daemon had claimed goes to the next one when that has lived for ten seconds, as to any other node.
 */
const PATIENCE = ON_POSTGRES ? 13_000 : 4_000;

/** The answer with which each service accepts a message. */
const ANSWERS: Partial<Record<ChannelKind, string>> = {
  slack: 'ok',
  mattermost: 'ok',
  rocketchat: '{"success":true}',
  zulip: '{"result":"success","id":1}',
  telegram: '{"ok":true,"result":{"message_id":1}}',
};

/** A token in the form that this kind of channel expects. */
const TOKENS: Partial<Record<ChannelKind, Record<string, string>>> = {
  telegram: { token: '123456:abcdefghijklmnop' },
};

const test = suite('channels in chaos');

/** When each chat got messages, by the clock of the daemon's host. */
type Times = Map<ChannelKind, number[]>;

/** How many alerts a message reports. */
function alertsIn({ body }: { body: string }): number {
  const text = body.startsWith('{') || body.startsWith('[') ? body : new URLSearchParams(body).toString();
  const plain = text.replaceAll('\\', '').replaceAll('+', ' ').replaceAll('%5B', '[').replaceAll('%5D', ']');
  return Number(/\[Digest\] (\d+) alerts/.exec(plain)?.[1] ?? 1);
}

/** Waits until nothing is pending; whenever sending stalls, the host is down for a minute. */
async function settle(daemon: CrashingDaemon): Promise<void> {
  const end = performance.now() + DEADLINE;
  let wentOnAt = performance.now();
  let left = Number.POSITIVE_INFINITY;
  for (;;) {
    const { length: pending } = await daemon.deliveries('pending');
    if (pending === 0) return;
    assert.ok(performance.now() < end, `everything is settled in time, and ${pending} are not`);
    if (pending < left) wentOnAt = performance.now();
    left = pending;
    await sleep(250);
    if (performance.now() < wentOnAt + PATIENCE) continue;
    await daemon.killAndRestart(MINUTE);
    wentOnAt = performance.now();
  }
}

function assertReadable(times: Times): void {
  for (const [kind, at] of times) {
    const fullest = Math.max(...at.map((end) => at.filter((one) => one > end - MINUTE && one <= end).length));
    assert.ok(fullest <= 3, `${kind} got ${fullest} messages in a minute`);
  }
}

interface Ends {
  servers: ReadonlyMap<ChannelKind, Receiver>;
  /** The receiver that refused every alarm. */
  refusing: Receiver;
  /** The receiver of a channel for other snitches. */
  aside: Receiver;
}

/** Each recovery goes where its alarm went, and nowhere else, even across another kill. */
async function recover(
  daemon: CrashingDaemon,
  tokens: readonly string[],
  { servers, refusing, aside }: Ends,
): Promise<void> {
  const before = refusing.received.length;
  refusing.behaviour = (response) => response.writeHead(200).end();
  const giveUp = AbortSignal.timeout(DEADLINE);
  const reports = tokens.map((token) => daemon.reportHealthy(token, giveUp));
  await sleep(300);
  await daemon.killAndRestart(MINUTE);
  await Promise.all(reports);
  await settle(daemon);
  const recoveries = (await daemon.deliveries()).filter(({ type }) => type === 'snitch.reporting');
  const delivered = recoveries.filter(({ state }) => state === 'delivered');
  assert.is(delivered.length, tokens.length * servers.size);
  assert.ok(delivered.every(({ channel }) => channel !== 'apprise'));
  assert.equal(
    [...new Set(recoveries.filter(({ state }) => state !== 'delivered').map(({ last_error }) => last_error))],
    ['its alarm did not arrive there'],
  );
  // All channels are told that one of them refuses, whatever their tags.
  const strayed = [...refusing.received.slice(before), ...aside.received]
    .map(({ body }) => body)
    .filter((body) => !body.includes('[Channel]'));
  assert.equal(strayed, []);
  const resolved = servers
    .get('alertmanager')
    ?.received.filter(({ body }) => !('startsAt' in JSON.parse(body)[0]));
  assert.ok(new Set(resolved?.map(({ body }) => JSON.parse(body)[0].labels.token)).size === tokens.length);
}

test('no decided alert is lost on any of them', async () => {
  const daemon = new CrashingDaemon();
  const servers = new Map<ChannelKind, Receiver>();
  const times: Times = new Map(CHATS.map((kind) => [kind, []]));
  const others: Receiver[] = [];
  try {
    await daemon.start();
    for (const kind of [...CHATS, 'alertmanager'] as const) {
      const server = await startReceiver((response) => {
        times.get(kind)?.push(daemon.now());
        response.writeHead(kind === 'teams' ? 202 : 200).end(ANSWERS[kind] ?? '{}');
      });
      servers.set(kind, server);
      const settings = { ...settingsAt(`http://127.0.0.1:${server.port}`)[kind], ...TOKENS[kind] };
      await daemon.call('POST', '/v1/channels', { kind, settings });
    }
    const refusing = await startReceiver((response) => response.writeHead(404).end());
    const aside = await startReceiver();
    others.push(refusing, aside);
    const apprise = { url: `http://127.0.0.1:${refusing.port}/notify/key` };
    await daemon.call('POST', '/v1/channels', { kind: 'apprise', settings: apprise });
    const gotify = { server: `http://127.0.0.1:${aside.port}`, token: 'abcdefghijklmno' };
    await daemon.call('POST', '/v1/channels', { kind: 'gotify', settings: gotify, tags: ['another'] });
    const tokens = await daemon.createSnitches(ALERTS);
    const giveUp = AbortSignal.timeout(DEADLINE);
    const raised = tokens.map(async (token, index) => {
      await sleep((index / ALERTS) * CHAOS_MS);
      await daemon.reportError(token, giveUp);
    });
    for (let kill = 0; kill < KILLS; kill += 1) {
      await sleep(CHAOS_MS / (KILLS + 1));
      await daemon.killAndRestart();
    }
    await Promise.all(raised);
    await settle(daemon);
    const deliveries = await daemon.deliveries();
    // The eleven chats were told of the refusal once, and the incident service not at all.
    const alarms = deliveries.filter(({ type }) => type === 'snitch.errored');
    assert.is(alarms.length, ALERTS * (servers.size + 1));
    const states = Object.groupBy(alarms, ({ channel, state }) => `${channel === 'apprise'} ${state}`);
    assert.equal(
      [states['false delivered']?.length, states['true dead']?.length],
      [ALERTS * servers.size, ALERTS],
    );
    assert.is(deliveries.filter(({ type }) => type === 'service.refused').length, CHATS.length + 1);
    for (const [kind, { received }] of servers) {
      const told = received.reduce((sum, message) => sum + alertsIn(message), 0);
      assert.ok(told >= ALERTS, `${kind} was told of ${told}`);
      console.log(`${kind}: ${told} alerts in ${received.length} messages`);
    }
    const fired =
      servers.get('alertmanager')?.received.map(({ body }) => JSON.parse(body)[0].labels.token) ?? [];
    assert.is(new Set(fired).size, ALERTS);
    await recover(daemon, tokens.slice(0, RECOVERIES), { servers, refusing, aside });
    assertReadable(times);
  } finally {
    await daemon.dispose();
    for (const server of [...servers.values(), ...others]) server.close();
  }
});

test.run();
