/** What those who deliver do: claim, send, settle, try again, and repeat lasting alarms. */
import type { ClaimedDelivery, Settlement } from '../../../src/core/delivery.ts';
import type { Channel } from '../../../src/core/routing.ts';
import { HOUR, MINUTE, SECOND } from '../fixture.ts';
import { checkClaimed } from './checks.ts';
import type { Act } from './live.ts';
import { KINDS } from './target-acts.ts';
import type { Team } from './team.ts';

const CHANNELS: readonly Channel[] = ['email', 'email', 'webhook', ...KINDS];

export function outboxActs(team: Team): Act[] {
  const { world } = team;
  /** Claims that are not settled yet. */
  const claimed: ClaimedDelivery[] = [];
  return [
    { often: 7, name: 'a sender claims', run: () => claim(team, claimed) },
    { often: 9, name: 'a sender settles', run: () => settle(team, claimed) },
    { often: 4, name: 'all that is due is tried', run: () => tryAll(team) },
    { often: 2, name: 'the senders end, and begin anew', run: () => world.ask('releaseLeases', world.now) },
    { often: 3, name: 'somebody tries again', run: () => retry(team) },
    { often: 3, name: 'somebody lists deliveries', run: () => list(team) },
    { often: 4, name: 'lasting alarms are repeated', run: () => repeat(team) },
    { often: 2, name: 'a pace is kept', run: () => keepPace(team) },
    { often: 2, name: 'a sender asks when to wake', run: () => world.ask('nextDeliveryAt') },
    { often: 2, name: 'an attempt comes', run: () => toNextAttempt(team, claimed) },
  ];
}

async function claim(
  team: Team,
  claimed: ClaimedDelivery[],
  channel = team.world.dice.oneOf(CHANNELS),
): Promise<void> {
  const { world } = team;
  const { dice, now } = world;
  const targets = claimed.map(({ target }) => target);
  const found = await world.ask('claimDeliveries', {
    now,
    channel,
    leaseUntil: now + dice.oneOf([MINUTE, HOUR]),
    perTarget: dice.oneOf([1, 2, 50]),
    limit: dice.oneOf([1, 3, 50]),
    after: targets.length > 0 && dice.isHit(0.4) ? dice.oneOf(targets) : '',
    busy: targets.length > 0 && dice.isHit(0.3) ? [dice.oneOf(targets)] : [],
  });
  for (const one of found ?? []) await checkClaimed(team, one);
  claimed.push(...(found ?? []));
}

/** Often in another order than they were claimed; seldom twice. */
async function settle(team: Team, claimed: ClaimedDelivery[]): Promise<void> {
  const { world } = team;
  if (claimed.length === 0) return;
  const index = world.dice.whole(0, claimed.length - 1);
  const one = claimed[index];
  if (!one) return;
  if (!world.dice.isHit(0.1)) claimed.splice(index, 1);
  await world.ask('settleDelivery', one.id, one.fence, settlementOf(team, one));
}

function settlementOf({ world: { dice, now } }: Team, { channel }: ClaimedDelivery): Settlement {
  const isChat = channel !== 'email' && channel !== 'webhook';
  const reference = dice.oneOf([null, 'message 7']);
  return dice.oneOf<Settlement>([
    { kind: 'delivered', at: now, ...(isChat ? { told: { reference } } : {}) },
    { kind: 'delivered', at: now, ...(isChat ? { told: { reference } } : {}) },
    {
      kind: 'delivered',
      at: now,
      ...(isChat ? { told: { reference, settings: { url: 'https://moved.org/' } } } : {}),
    },
    { kind: 'retry', at: now + dice.oneOf([10 * SECOND, 5 * MINUTE]), error: 'no answer' },
    { kind: 'retry', at: now + dice.oneOf([HOUR, 3 * HOUR]), error: 'no answer' },
    { kind: 'dead', error: 'gone', ...(isChat ? { refusedAt: now } : {}) },
    { kind: 'released' },
  ]);
}

/** What waits for another delivery to be settled is due after that. */
async function tryAll(team: Team): Promise<void> {
  const { world } = team;
  for (const channel of new Set(CHANNELS)) {
    for (let rounds = 0; rounds < 3; rounds += 1) {
      const claimed: ClaimedDelivery[] = [];
      await claim(team, claimed, channel);
      if (claimed.length === 0) break;
      for (const one of claimed) {
        await world.ask('settleDelivery', one.id, one.fence, settlementOf(team, one));
      }
    }
  }
}

async function retry(team: Team): Promise<void> {
  const { world } = team;
  const caseId = team.someCase();
  const page = { limit: 20, before: null };
  const dead = await world.store.listDeliveries(caseId, { state: 'dead', ...page });
  const all = await world.store.listDeliveries(caseId, { state: null, ...page });
  const listed = dead.length > 0 && world.dice.isHit(0.5) ? dead : all;
  if (listed.length === 0) return;
  const owner = world.dice.isHit(0.1) ? team.someCase() : caseId;
  await world.ask('retryDelivery', owner, world.dice.oneOf(listed).id, world.now);
}

async function list(team: Team): Promise<void> {
  const { world } = team;
  const { dice, now } = world;
  const before = dice.oneOf([null, null, { at: now - HOUR }]);
  const state = dice.oneOf([null, 'pending', 'delivered', 'dead', 'dropped'] as const);
  await world.ask('listDeliveries', team.someCase(), { state, limit: 4, before });
  const { caseId, token } = team.someSnitch();
  await world.ask('listAlerts', caseId, dice.oneOf([null, token]), { limit: 2, before });
}

async function repeat(team: Team): Promise<void> {
  const { world } = team;
  await world.ask('nextRepeatAt');
  const repeats = await world.ask('takeRepeats', world.now, world.dice.oneOf([1, 10]));
  const [first] = repeats ?? [];
  if (!first) return;
  await world.ask('lasts', { channelId: first.channelId, token: first.token });
  await world.ask('takeRepeats', world.now + MINUTE, 10, [first.channelId]);
}

async function keepPace(team: Team): Promise<void> {
  const { world } = team;
  const channel = world.dice.oneOf(KINDS);
  const target = world.dice.oneOf(
    await world.store.listChannels(team.someCase()).then((all) => [...all.map(({ id }) => id), 'chat']),
  );
  await world.ask('keepPace', channel, target, { sent: [{ at: world.now, digest: false }], heldUntil: null });
  await world.ask('listPaces', channel);
}

async function toNextAttempt(team: Team, claimed: ClaimedDelivery[]): Promise<void> {
  const { world } = team;
  const next = await world.store.nextDeliveryAt();
  if (next !== null && next > world.now && next < world.now + 12 * HOUR) {
    world.pass(next - world.now - world.dice.oneOf([0, 0, 1]));
  }
  await claim(team, claimed);
}
