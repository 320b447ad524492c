/** What a file of snitches does: import, own, change and delete many at once; and jobs that make their own snitch. */
import type { ImportedSnitch } from '../../../src/store/ownership.ts';
import { checkIn } from '../fixture.ts';
import { randomChanges, randomSnitch } from './choices.ts';
import type { Act } from './live.ts';
import type { Team } from './team.ts';

const OWNERS = ['shop.yaml', 'mail.yaml', null] as const;

export function fileActs(team: Team): Act[] {
  return [
    { often: 3, name: 'a file imports snitches', run: () => importSome(team) },
    { often: 2, name: 'a file changes snitches', run: () => changeSome(team) },
    { often: 1, name: 'a file deletes snitches', run: () => deleteSome(team) },
    { often: 2, name: 'a file takes or frees snitches', run: () => own(team) },
    { often: 3, name: 'a job checks in by name', run: () => checkInByName(team) },
  ];
}

const MOST = 12;

async function importSome(team: Team): Promise<void> {
  const { world } = team;
  const { dice } = world;
  if (team.snitches.length >= MOST) return;
  const caseId = team.someCase();
  const { token: taken } = team.someSnitch();
  const tokens = [null, null, null, `imported-${world.lines.length}`, taken];
  const imported: ImportedSnitch[] = ['twin', `imported ${world.lines.length}`].map((name) => ({
    ...randomSnitch(dice, team.tokensOf(caseId)),
    name,
    token: dice.oneOf(tokens),
  }));
  const known = dice.oneOf([null, team.tokensOf(caseId), []]);
  const batch = { imported, owner: dice.oneOf(OWNERS), known };
  const made = await world.ask('importSnitches', caseId, batch, world.now);
  for (const { token } of made ?? []) team.add({ token, caseId });
  for (const { token } of imported) if (token !== null) await world.ask('ownerOfToken', token);
}

async function changeSome(team: Team): Promise<void> {
  const { world } = team;
  const caseId = team.someCase();
  const tokens = world.dice.someOf(team.tokensOf(caseId), 0.5);
  const unknown = world.dice.isHit(0.1) ? ['nobody'] : [];
  const changes = [...tokens, ...unknown].map((token) => ({
    token,
    changes: randomChanges(world.dice, team.tokensOf(caseId)),
  }));
  await world.ask('updateSnitches', caseId, changes, world.now);
}

async function deleteSome(team: Team): Promise<void> {
  const { world } = team;
  if (team.snitches.length < 6) return;
  const caseId = team.someCase();
  const tokens = world.dice.someOf(team.snitches, 0.2).map(({ token }) => token);
  await world.ask('deleteSnitches', caseId, tokens);
  team.remove(tokens.filter((token) => team.tokensOf(caseId).includes(token)));
}

async function own(team: Team): Promise<void> {
  const { world } = team;
  const caseId = team.someCase();
  const tokens = world.dice.someOf(team.tokensOf(caseId), 0.5);
  await world.ask('setOwnership', caseId, [...tokens, team.someSnitch().token], world.dice.oneOf(OWNERS));
  for (let after: number | null = 0; after !== null; ) {
    const slice: { owned: unknown[]; next: number | null } = await world.store.listOwnership(caseId, {
      after,
      limit: 2,
    });
    world.tell('owned', slice.owned);
    after = slice.next;
  }
}

async function checkInByName(team: Team): Promise<void> {
  const { world } = team;
  const { dice, now } = world;
  const caseId = team.someCase();
  const name = dice.oneOf(['twin', 'A', 'by name', 'unheard']);
  const token = await world.ask('findTokenByName', caseId, name);
  if (token !== null && dice.isHit(0.5)) {
    await checkIn(world.store, token, now);
    return;
  }
  const plain = { exitStatus: null, message: null, source: null, runId: null, output: null };
  const fields = { ...randomSnitch(dice, []), name };
  await world.ask('applyFirstCheckIn', caseId, fields, { now, at: now, outcome: 'healthy', ...plain });
  const made = await world.ask('findTokenByName', caseId, name);
  if (made !== null) team.add({ token: made, caseId });
}
