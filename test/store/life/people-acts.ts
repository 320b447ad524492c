/** What people do to snitches: make, change, tag, pause, acknowledge and delete them. */
import type { PauseUntil } from '../../../src/core/snitch.ts';
import { HOUR, MINUTE } from '../fixture.ts';
import { randomChanges, randomTags, TAGS } from './choices.ts';
import type { Act } from './live.ts';
import type { Team } from './team.ts';

export function snitchActs(team: Team): Act[] {
  const { world } = team;
  return [
    { often: 3, name: 'somebody makes a snitch', run: () => make(team) },
    { often: 3, name: 'somebody changes a snitch', run: () => change(team) },
    { often: 2, name: 'somebody tags a snitch', run: () => tag(team) },
    { often: 1, name: 'somebody removes a tag', run: () => untag(team) },
    { often: 1, name: 'somebody deletes a snitch', run: () => remove(team) },
    {
      often: 2,
      name: 'somebody looks at a snitch',
      run: () => world.ask('getSnitch', ...idsOf(team)),
    },
  ];
}

export function pauseActs(team: Team): Act[] {
  return [
    { often: 3, name: 'somebody pauses a snitch', run: () => pause(team) },
    {
      often: 2,
      name: 'somebody ends a pause',
      run: () => team.world.ask('unpauseSnitch', ...idsOf(team), team.world.now),
    },
    { often: 3, name: 'somebody acknowledges', run: () => acknowledge(team) },
    {
      often: 1,
      name: 'somebody takes that back',
      run: () => team.world.ask('unacknowledgeSnitch', ...idsOf(team), team.world.now),
    },
    { often: 2, name: 'somebody follows a link', run: () => followLink(team) },
  ];
}

const MOST = 9;

function idsOf(team: Team): [caseId: string, token: string] {
  const { caseId, token } = team.someSnitch();
  return [caseId, token];
}

async function make(team: Team): Promise<void> {
  if (team.snitches.length < MOST) await team.makeSnitch(team.someCase());
}

async function change(team: Team): Promise<void> {
  const { world } = team;
  const { caseId, token } = team.someSnitch();
  const changes = randomChanges(world.dice, team.tokensOf(caseId));
  await world.ask('updateSnitch', caseId, token, changes, world.now);
}

async function tag(team: Team): Promise<void> {
  await team.world.ask('addTags', ...idsOf(team), randomTags(team.world.dice));
}

async function untag(team: Team): Promise<void> {
  const { dice } = team.world;
  await team.world.ask(
    'removeTag',
    ...idsOf(team),
    dice.oneOf([[dice.oneOf(TAGS)], ['none', 'db'], ['a+b', 'a, b']]),
  );
}

async function remove(team: Team): Promise<void> {
  if (team.snitches.length < 4) return;
  const { caseId, token } = team.someSnitch();
  if (await team.world.ask('deleteSnitch', caseId, token)) team.remove([token]);
}

async function pause(team: Team): Promise<void> {
  const { world } = team;
  const until = world.dice.oneOf<PauseUntil>([
    { kind: 'healthy' },
    { kind: 'unpaused' },
    { kind: 'time', at: world.now + world.dice.oneOf([MINUTE, 2 * HOUR]) },
  ]);
  await world.ask('pauseSnitch', ...idsOf(team), until, world.now);
}

const SAID = [
  { note: null, by: 'ann' },
  { note: 'on it', by: 'bob' },
  { note: 'still on it', by: 'ann' },
];

async function acknowledge(team: Team): Promise<void> {
  const { world } = team;
  const tokens: [string, string][] = [];
  for (const { caseId, token } of team.snitches) {
    const status = (await world.store.getSnitch(caseId, token))?.state.status;
    if (status === 'failed' || status === 'errored') tokens.push([caseId, token]);
  }
  const ids = tokens.length > 0 && world.dice.isHit(0.9) ? world.dice.oneOf(tokens) : idsOf(team);
  await world.ask('acknowledgeSnitch', ...ids, world.dice.oneOf(SAID), world.now);
}

async function followLink(team: Team): Promise<void> {
  const { world } = team;
  const listed = await world.store.listAlerts(team.someCase(), null, { limit: 6, before: null });
  if (listed.length === 0) return;
  const { id } = world.dice.oneOf(listed).alert;
  await world.ask('findAlarm', id);
  if (world.dice.isHit(0.5)) await world.ask('acknowledgeAlarm', id, world.dice.oneOf(SAID), world.now);
}
