/**
 * 1,000 alerts to twelve channels while the daemon is killed: each is told at least once on each of them.
 * Time limit: 300 s.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { ChannelKind } from '../../src/core/channel.ts';
import { type Receiver, startReceiver } from '../delivery/receiver.ts';
import { settingsAt } from '../delivery/service-settings.ts';
import { until } from '../until.ts';
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
const KILLS = 3;
const CHAOS_MS = 6_000;
const DEADLINE = 200_000;

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

/** How many alerts a message stands for. */
function alertsIn({ body }: { body: string }): number {
  const text = body.startsWith('{') || body.startsWith('[') ? body : new URLSearchParams(body).toString();
  const plain = text.replaceAll('\\', '').replaceAll('+', ' ').replaceAll('%5B', '[').replaceAll('%5D', ']');
  return Number(/\[Digest\] (\d+) alerts/.exec(plain)?.[1] ?? 1);
}

test('nothing that was decided is lost on any of them', async () => {
  const daemon = new CrashingDaemon();
  const servers = new Map<ChannelKind, Receiver>();
  try {
    await daemon.start();
    for (const kind of [...CHATS, 'alertmanager'] as const) {
      const server = await startReceiver((response) =>
        response.writeHead(kind === 'teams' ? 202 : 200).end(ANSWERS[kind] ?? '{}'),
      );
      servers.set(kind, server);
      const settings = { ...settingsAt(`http://127.0.0.1:${server.port}`)[kind], ...TOKENS[kind] };
      await daemon.call('POST', '/v1/channels', { kind, settings });
    }
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
    const settled = async () => {
      await sleep(1_000);
      return (await daemon.deliveries('pending')).length === 0;
    };
    await until(settled, 'everything is settled', DEADLINE);
    const deliveries = await daemon.deliveries();
    assert.is(deliveries.length, ALERTS * servers.size);
    assert.is(deliveries.filter(({ state }) => state !== 'delivered').length, 0);
    for (const [kind, { received }] of servers) {
      const told = received.reduce((sum, message) => sum + alertsIn(message), 0);
      assert.ok(told >= ALERTS, `${kind} was told of ${told}`);
      console.log(`${kind}: ${told} alerts in ${received.length} messages`);
    }
    const fired =
      servers.get('alertmanager')?.received.map(({ body }) => JSON.parse(body)[0].labels.token) ?? [];
    assert.is(new Set(fired).size, ALERTS);
  } finally {
    await daemon.dispose();
    for (const server of servers.values()) server.close();
  }
});

test.run();
