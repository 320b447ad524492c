/**
 * 1,000 alerts to twelve channels while the daemon is killed: each is told at least once on each of them, at most three
 * messages a minute in a chat, and recoveries only where the alarm went. The first minute is a real one; where a chat
 * would have to wait for the next, the host is down for a minute instead.
 * Time limit: 180 s.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { ChannelKind } from '../../src/core/channel.ts';
import { type Receiver, startReceiver } from '../delivery/receiver.ts';
import { settingsAt } from '../delivery/service-settings.ts';
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

const ALERTS = 1_000;
/** So many of them are over in the end. */
const RECOVERIES = 300;
const KILLS = 3;
const CHAOS_MS = 6_000;
const DEADLINE = 120_000;
const MINUTE = 60_000;
/** After so many milliseconds a chat that still has something to tell waits for its minute to end. */
const PATIENCE = 8_000;

/** What each service answers that took a message. */
const ANSWERS: Partial<Record<ChannelKind, string>> = {
  slack: 'ok',
  mattermost: 'ok',
  rocketchat: '{"success":true}',
  zulip: '{"result":"success","id":1}',
  telegram: '{"ok":true,"result":{"message_id":1}}',
};

/** A token of the form that the kind takes. */
const TOKENS: Partial<Record<ChannelKind, Record<string, string>>> = {
  telegram: { token: '123456:abcdefghijklmnop' },
};

const test = suite('channels in chaos');

/** When each chat was told something, on the clock of the daemon's host. */
type Times = Map<ChannelKind, number[]>;

/** How many alerts a message stands for. */
function alertsIn({ body }: { body: string }): number {
  const text = body.startsWith('{') || body.startsWith('[') ? body : new URLSearchParams(body).toString();
  const plain = text.replaceAll('\\', '').replaceAll('+', ' ').replaceAll('%5B', '[').replaceAll('%5D', ']');
  return Number(/\[Digest\] (\d+) alerts/.exec(plain)?.[1] ?? 1);
}

/** Waits until nothing is pending; for as long as something is, the host is down for a minute now and then. */
async function settle(daemon: CrashingDaemon): Promise<void> {
  const end = performance.now() + DEADLINE;
  let downAt = performance.now() + PATIENCE;
  while ((await daemon.deliveries('pending')).length > 0) {
    assert.ok(performance.now() < end, 'everything is settled in time');
    await sleep(250);
    if (performance.now() < downAt) continue;
    await daemon.killAndRestart(MINUTE);
    downAt = performance.now() + PATIENCE;
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
  /** Refused every alarm. */
  refusing: Receiver;
  /** Takes other snitches only. */
  aside: Receiver;
}

/** Each recovery is told where its alarm was told, and nowhere else, over another kill. */
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
  // That a channel is refused is told to all channels, whatever their tags.
  const strayed = [...refusing.received.slice(before), ...aside.received]
    .map(({ body }) => body)
    .filter((body) => !body.includes('[Channel]'));
  assert.equal(strayed, []);
  const resolved = servers
    .get('alertmanager')
    ?.received.filter(({ body }) => !('startsAt' in JSON.parse(body)[0]));
  assert.ok(new Set(resolved?.map(({ body }) => JSON.parse(body)[0].labels.token)).size === tokens.length);
}

test('nothing that was decided is lost on any of them', async () => {
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
    // The refusal itself was told once to the eleven chats, and not to the service that keeps incidents.
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
