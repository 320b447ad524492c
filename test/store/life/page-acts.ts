/** What others see: status pages, badges, and the lists that monitoring reads. */
import type { StatusPageChanges } from '../../../src/core/status-page/page.ts';
import { DAY } from '../fixture.ts';
import { TAGS } from './choices.ts';
import type { Act } from './live.ts';
import type { Team } from './team.ts';

const SLUGS = ['acme', 'shop', 'mail'] as const;

const MOST_BADGES = 3;

export function pageActs(team: Team): Act[] {
  const { world } = team;
  return [
    { often: 4, name: 'somebody changes the status page', run: () => putPage(team) },
    {
      often: 1,
      name: 'somebody takes the status page away',
      run: () => world.ask('deleteStatusPage', team.someCase()),
    },
    { often: 5, name: 'somebody looks at a status page', run: () => lookAtPage(team) },
    { often: 3, name: 'somebody makes a badge', run: () => makeBadge(team) },
    { often: 1, name: 'somebody deletes a badge', run: () => deleteBadge(team) },
    { often: 3, name: 'somebody looks at a badge', run: () => lookAtBadge(team) },
    { often: 4, name: 'monitoring reads', run: () => measure(team) },
    { often: 4, name: 'somebody lists snitches', run: () => list(team) },
  ];
}

async function putPage(team: Team): Promise<void> {
  const { world } = team;
  const { dice } = world;
  const full = { slug: dice.oneOf(SLUGS), tags: dice.oneOf([['*'], ['db'], ['db', 'web']]) };
  const changes = dice.oneOf<StatusPageChanges>([
    full,
    { ...full, title: 'Our jobs', groups: ['db'] },
    { announcement: dice.oneOf(['We are moving.', 'Done.', null]) },
    { passwordHash: dice.oneOf(['salted', null]) },
    { keepsPassword: true, title: 'Renamed' },
    { tags: ['night'] },
  ]);
  const caseId = team.someCase();
  await world.ask('putStatusPage', caseId, changes, world.now);
  await world.ask('getStatusPage', caseId);
}

async function lookAtPage(team: Team): Promise<void> {
  const { world } = team;
  const own = await world.store.getStatusPage(team.someCase());
  const slug = own?.slug ?? world.dice.oneOf(SLUGS);
  await world.ask('findStatusPage', slug);
  const page = (await world.store.findStatusPage(slug))?.page;
  if (!page) return;
  const { caseId } = page;
  const tag = world.dice.oneOf([null, ...TAGS]);
  const shown = await world.ask('listShown', caseId, { tag, after: 0, limit: world.dice.oneOf([2, 100]) });
  const pasts = await world.store.listPasts(page, shown?.snitches ?? []);
  for (const { id, token } of shown?.snitches ?? []) {
    world.tell(`the past of ${token}`, pasts.get(id));
  }
  await world.ask('listStatusChanges', page.id, 3);
  await world.ask('quietTimes', caseId, world.now - DAY, world.now);
}

async function makeBadge(team: Team): Promise<void> {
  const { world } = team;
  const { token, caseId } = team.someSnitch();
  const subject = world.dice.oneOf([
    { kind: 'snitch' as const, token },
    { kind: 'tag' as const, tag: world.dice.oneOf(TAGS) },
  ]);
  const label = world.dice.oneOf([null, 'jobs']);
  await world.ask('createBadge', caseId, { subject, label }, world.now, MOST_BADGES);
}

async function someBadge(team: Team): Promise<[caseId: string, id: string] | null> {
  const { world } = team;
  const caseId = team.someCase();
  const listed = await world.ask('listBadges', caseId);
  if (!listed || listed.length === 0) return null;
  return [world.dice.isHit(0.1) ? team.someCase() : caseId, world.dice.oneOf(listed).id];
}

async function deleteBadge(team: Team): Promise<void> {
  const ids = await someBadge(team);
  if (ids) await team.world.ask('deleteBadge', ...ids);
}

async function lookAtBadge(team: Team): Promise<void> {
  const { world } = team;
  const ids = await someBadge(team);
  if (!ids) return;
  await world.ask('getBadge', ...ids);
  await world.ask('findBadge', ids[1]);
  await world.ask('tagStatuses', ids[0], world.dice.oneOf(TAGS), 0);
}

async function measure(team: Team): Promise<void> {
  const { world } = team;
  const slice = {
    after: 0,
    limit: world.dice.oneOf([2, 100]),
    tags: world.dice.oneOf([[], [], ['web'], ['web', 'db']]),
  };
  await world.ask('listMeasured', team.someCase(), slice);
  await world.ask('listReported', team.someCase(), slice);
}

async function list(team: Team): Promise<void> {
  const { world } = team;
  const { dice } = world;
  const { token, caseId } = team.someSnitch();
  const slice = { after: 0, limit: dice.oneOf([1, 3, 100]), tags: dice.oneOf([[], ['db'], ['web', 'db']]) };
  await world.ask('listSnitches', caseId, { ...slice, name: dice.oneOf([null, 'twin', token]) });
  await world.ask('findLearned', token);
  await world.ask('findValues', caseId, token);
  await world.ask('findRuns', token);
  await world.ask('listCheckIns', caseId, token, {
    limit: 3,
    before: dice.oneOf([null, { at: world.now - 3_600_000 }]),
  });
}
