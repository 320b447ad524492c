/** What people do with those who are told: webhooks, channels, and the routes of members. */
import type { ChannelEvent, ChannelKind, RouteRule } from '../../../src/core/channel.ts';
import type { Hours } from '../../../src/core/hours/hours.ts';
import type { Route } from '../../../src/core/routing.ts';
import { DAY } from '../fixture.ts';
import { TAGS } from './choices.ts';
import type { Act } from './live.ts';
import type { Team } from './team.ts';

/** Webhooks and channels together. */
const MOST = 7;

export const KINDS = ['ntfy', 'slack', 'pagerduty', 'alertmanager'] as const satisfies ChannelKind[];

const EVENTS: readonly (readonly ChannelEvent[])[] = [
  ['missing', 'errored', 'reporting', 'paused'],
  ['missing', 'errored', 'reporting', 'paused', 'blind'],
  ['missing', 'reporting'],
  ['reporting'],
  ['errored', 'blind'],
];

export const OFFICE: Hours = {
  timezone: 'Europe/Berlin',
  days: ['mon', 'tue', 'wed', 'thu', 'fri'],
  from: '08:00',
  to: '18:00',
};

export function targetActs(team: Team): Act[] {
  const { world } = team;
  return [
    { often: 3, name: 'somebody adds a channel', run: () => addChannel(team) },
    { often: 3, name: 'somebody changes a channel', run: () => changeChannel(team) },
    { often: 2, name: 'somebody removes a channel', run: () => removeChannel(team) },
    { often: 2, name: 'somebody adds a webhook', run: () => addWebhook(team) },
    { often: 2, name: 'somebody changes a webhook', run: () => changeWebhook(team) },
    { often: 3, name: 'somebody changes a route', run: () => changeRoute(team) },
    { often: 2, name: 'somebody tests a target', run: () => testTarget(team) },
    { often: 1, name: 'a member comes or goes', run: () => changeMembers(team) },
    {
      often: 4,
      name: 'somebody asks whom alerts reach',
      run: async () => {
        const caseId = team.someCase();
        await world.ask('listChannels', caseId);
        await world.ask('listWebhooks', caseId);
        await world.ask('listRoutes', caseId);
        await world.ask('listLastDeaths', caseId);
        await world.ask('listRoutedSnitches', caseId, { after: 0, limit: 3 });
        const { token } = team.someSnitch();
        await world.ask('findOutage', caseId, token);
      },
    },
  ];
}

function randomRule({ world: { dice } }: Team): RouteRule {
  return {
    events: dice.oneOf(EVENTS),
    tags: dice.isHit(0.3) ? [dice.oneOf(TAGS)] : [],
    after: dice.oneOf([0, 0, 600, 7_200]),
    hours: dice.isHit(0.35) ? OFFICE : null,
  };
}

async function addChannel(team: Team): Promise<void> {
  const { world } = team;
  const { dice } = world;
  const kind = dice.oneOf(KINDS);
  const channel = {
    kind,
    name: dice.oneOf([null, 'pager', 'pager']),
    known: dice.oneOf([null, null, []]),
    fields: { settings: { url: `https://${kind}.org/`, token: 'secret' }, ...randomRule(team) },
  };
  await world.ask('createChannel', team.someCase(), channel, world.now, MOST);
}

/** Of its case, or seldom of another one. */
async function someChannel(team: Team): Promise<[caseId: string, id: string] | null> {
  const { world } = team;
  const caseId = team.someCase();
  const listed = await world.store.listChannels(caseId);
  if (listed.length === 0) return null;
  return [world.dice.isHit(0.1) ? team.someCase() : caseId, world.dice.oneOf(listed).id];
}

async function changeChannel(team: Team): Promise<void> {
  const ids = await someChannel(team);
  if (!ids) return;
  const { dice } = team.world;
  const { events, tags, after, hours } = randomRule(team);
  const changes = dice.oneOf([
    { events },
    { tags },
    { after },
    { hours },
    { name: 'renamed' },
    { settings: { url: 'https://new.org/' } },
  ]);
  await team.world.ask('updateChannel', ...ids, changes);
  await team.world.ask('getChannel', ...ids);
}

async function removeChannel(team: Team): Promise<void> {
  const ids = await someChannel(team);
  if (ids) await team.world.ask('deleteChannel', ...ids);
}

async function addWebhook(team: Team): Promise<void> {
  const { world } = team;
  const options = world.dice.oneOf([{ most: MOST }, { notices: true, most: MOST }, {}]);
  await world.ask('createWebhook', team.someCase(), 'https://user:pass@h.org/', world.now, options);
}

async function changeWebhook(team: Team): Promise<void> {
  const { world } = team;
  const caseId = team.someCase();
  const listed = await world.store.listWebhooks(caseId);
  if (listed.length === 0) return;
  const { id } = world.dice.oneOf(listed);
  const owner = world.dice.isHit(0.1) ? team.someCase() : caseId;
  if (world.dice.isHit(0.5)) await world.ask('rotateWebhookSecret', owner, id, world.now + DAY);
  else await world.ask('deleteWebhook', owner, id);
  await world.ask('getWebhook', caseId, id);
}

/** The webhooks and members of a case. */
async function routesOf({ world: { store } }: Team, caseId: string): Promise<Route[]> {
  const webhooks = await store.listWebhooks(caseId);
  const members = (await store.getCase(caseId))?.members ?? [];
  return [
    ...webhooks.map(({ id }): Route => ({ channel: 'webhook', target: id })),
    ...members.map((target): Route => ({ channel: 'email', target })),
  ];
}

async function changeRoute(team: Team): Promise<void> {
  const { world } = team;
  const caseId = team.someCase();
  const targets = await routesOf(team, caseId);
  if (targets.length === 0) return;
  const target = world.dice.oneOf(targets);
  const { events, tags, after, hours } = randomRule(team);
  const everything: RouteRule = { events: EVENTS[1] ?? [], tags: [], after: 0, hours: null };
  const changes = world.dice.oneOf<Partial<RouteRule>>([{ events, tags }, { after }, { hours }, everything]);
  await world.ask('updateRoute', caseId, target, changes);
}

async function testTarget(team: Team): Promise<void> {
  const { world } = team;
  const caseId = team.someCase();
  const channels = (await world.store.listChannels(caseId)).map(
    ({ id, kind }): Route => ({ channel: kind, target: id }),
  );
  const targets = [...(await routesOf(team, caseId)), ...channels];
  if (targets.length === 0) return;
  const target = world.dice.oneOf(targets);
  await world.ask('createTestDelivery', world.dice.isHit(0.1) ? team.someCase() : caseId, target, world.now);
}

async function changeMembers(team: Team): Promise<void> {
  const { world } = team;
  const members = world.dice.oneOf([['ann@x.org'], ['ann@x.org', 'bob@x.org'], ['Ann@x.org', 'cy@x.org']]);
  await world.ask('updateCase', team.someCase(), { members }, world.now);
}
