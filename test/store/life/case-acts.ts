/** What happens to whole cases, and to their keys. */
import type { Scope } from '../../../src/core/api-key.ts';
import type { CaseSettings } from '../../../src/core/case.ts';
import { TESTER } from '../acting.ts';
import { ZONES } from './choices.ts';
import type { Act } from './live.ts';
import type { Team } from './team.ts';

const MOST_CASES = 4;
const MOST_KEYS = 3;

export function caseActs(team: Team): Act[] {
  const { world } = team;
  return [
    { often: 2, name: 'somebody makes a case', run: () => make(team) },
    { often: 4, name: 'somebody changes a case', run: () => change(team) },
    { often: 1, name: 'somebody deletes a case', run: () => remove(team) },
    { often: 1, name: 'somebody plans to delete a case', run: () => plan(team) },
    { often: 2, name: 'somebody lists the cases', run: () => world.ask('listCases') },
    { often: 1, name: 'maintenance', run: () => world.ask('setMaintenance', world.dice.isHit(0.5)) },
    { often: 1, name: 'the server takes a note', run: () => takeNote(team) },
    { often: 2, name: 'somebody counts', run: () => world.ask('census') },
    { often: 4, name: 'somebody reads what was done', run: () => readActivity(team) },
  ];
}

export function keyActs(team: Team): Act[] {
  /** The keys that were made, which only their makers know. */
  const keys: { id: string; key: string; owner: string | null }[] = [];
  const { world } = team;
  const someKey = () =>
    keys.length > 0 ? world.dice.oneOf(keys) : { id: 'key_none', key: 'snk_none', owner: null };
  return [
    { often: 2, name: 'somebody makes a key', run: () => makeKey(team, keys) },
    { often: 2, name: 'a key is used', run: () => useKey(team, someKey()) },
    {
      often: 1,
      name: 'somebody deletes a key',
      run: async () => {
        const { id, owner } = someKey();
        await world.ask('deleteApiKey', world.dice.isHit(0.2) ? team.someCase() : owner, id);
        await world.ask('listApiKeys', owner);
      },
    },
    {
      often: 1,
      name: 'an admin key comes from outside',
      run: async () => {
        const key = world.dice.oneOf([`snk_${'a'.repeat(40)}`, `snk_${'b'.repeat(40)}`, null]);
        await world.ask('provideAdminKey', 'from outside', key, world.now);
        if (key !== null) await world.ask('findApiKey', key);
        await world.ask('listApiKeys', null);
      },
    },
  ];
}

async function make(team: Team): Promise<void> {
  if (team.cases.length < MOST_CASES) await team.makeCase({ maxSnitches: team.world.dice.oneOf([null, 2]) });
}

async function change(team: Team): Promise<void> {
  const { world } = team;
  const { dice } = world;
  const changes = dice.oneOf<Partial<CaseSettings>>([
    { timezone: dice.oneOf(ZONES) },
    { reminders: dice.oneOf(['period', 'hourly', 'daily', 'off']) },
    { errorNotices: dice.isHit(0.5) },
    { maxSnitches: dice.oneOf([null, 0, 3]) },
    { onHold: dice.isHit(0.4) },
    { name: dice.oneOf(['Shop', 'Mail']), members: dice.oneOf([[], ['dora@x.org']]) },
    {},
  ]);
  const caseId = team.someCase();
  await world.ask('updateCase', caseId, changes, world.now);
  await world.ask('hasRoomForSnitch', caseId);
  await world.ask('roomForSnitches', caseId);
  await world.ask('getCase', caseId);
}

function gone(team: Team, caseId: string): void {
  team.remove(team.tokensOf(caseId));
  team.cases.splice(team.cases.indexOf(caseId), 1);
  team.formerCases.push(caseId);
}

async function remove(team: Team): Promise<void> {
  if (team.cases.length < 3) return;
  const { world } = team;
  const caseId = team.someCase();
  while (await world.ask('emptyCaseSlice', caseId));
  await world.ask('deleteCase', caseId);
  await world.ask('deleteCase', caseId);
  gone(team, caseId);
}

async function plan(team: Team): Promise<void> {
  if (team.cases.length < 3) return;
  const { world } = team;
  const caseId = team.someCase();
  await world.ask('planDeletion', caseId, TESTER);
  await world.ask('planDeletion', caseId, TESTER);
  while (await world.ask('deletionSlice', world.now));
  await world.ask('planDeletion', caseId, TESTER);
  gone(team, caseId);
}

async function takeNote({ world }: Team): Promise<void> {
  const name = world.dice.oneOf(['links.key', 'credentials'] as const);
  await world.ask('setSetting', name, world.dice.oneOf(['one', 'other']));
  await world.ask('getSetting', name);
  await world.ask('getSetting', 'maintenance');
}

async function makeKey(team: Team, keys: { id: string; key: string; owner: string | null }[]): Promise<void> {
  const { world } = team;
  const owner = world.dice.isHit(0.2) ? null : team.someCase();
  const scope: Scope = owner === null ? 'admin' : world.dice.oneOf(['read', 'write', 'provision']);
  const made = await world.ask('createApiKey', { caseId: owner, name: scope, scope }, world.now, MOST_KEYS);
  if (made) keys.push({ id: made.apiKey.id, key: made.key, owner });
}

async function useKey({ world }: Team, { id, key }: { id: string; key: string }): Promise<void> {
  await world.ask('recordKeyUse', id, world.now);
  await world.ask('findApiKey', key);
  await world.ask('getApiKey', id);
}

async function readActivity(team: Team): Promise<void> {
  const { world } = team;
  const { dice, now } = world;
  const filter = {
    subjectId: dice.oneOf([null, team.someSnitch().token]),
    action: dice.oneOf([null, 'snitch.changed', 'snitches.imported'] as const),
  };
  const before = dice.oneOf([null, { at: now - 3_600_000 }]);
  await world.ask('listActivity', dice.oneOf([null, ...team.cases]), { ...filter, limit: 4, before });
}
