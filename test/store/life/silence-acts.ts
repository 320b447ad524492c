/** What people do with silences: once, recurring, over tags, over some snitches and over all; and who asks about them. */
import type { SilenceScope, SilenceTime } from '../../../src/core/silences/silence.ts';
import { DAY, HOUR, MINUTE } from '../fixture.ts';
import { TAGS, ZONES } from './choices.ts';
import type { Act } from './live.ts';
import type { Team } from './team.ts';

/** Unfinished silences that a case can have here. */
const MOST = 4;

export function silenceActs(team: Team): Act[] {
  return [
    { often: 5, name: 'somebody makes a silence', run: () => make(team) },
    { often: 4, name: 'somebody changes a silence', run: () => change(team) },
    { often: 3, name: 'somebody ends a silence', run: () => end(team) },
    { often: 3, name: 'somebody asks what is silenced', run: () => ask(team) },
    { often: 3, name: 'somebody asks what comes next', run: () => askProspect(team) },
    { often: 2, name: 'only what follows the silences is done', run: () => endSlices(team) },
    { often: 3, name: 'a silence that some wait for is ended', run: () => endEarly(team) },
  ];
}

/** Seldom the same one in each case, so that they end at the same time. */
async function make(team: Team): Promise<void> {
  const { world } = team;
  const time = timeOf(team);
  for (const caseId of world.dice.isHit(0.2) ? team.cases : [team.someCase()]) {
    const given = { scope: scopeOf(team, caseId), time, note: 'planned', by: 'ann' };
    await world.ask('createSilence', caseId, given, world.now, MOST);
  }
}

function scopeOf(team: Team, caseId: string): SilenceScope {
  const { dice } = team.world;
  const tokens = dice.someOf(team.tokensOf(caseId), 0.4);
  return dice.oneOf<SilenceScope>([
    { kind: 'all' },
    { kind: 'tags', tags: [dice.oneOf(TAGS)] },
    { kind: 'tags', tags: [dice.oneOf(TAGS), 'web'] },
    { kind: 'tokens', tokens: tokens.length > 0 ? tokens : [team.someSnitch().token] },
  ]);
}

function timeOf({ world: { dice, now } }: Team): SilenceTime {
  if (dice.isHit(0.7)) {
    const from = now + dice.oneOf([0, 0, 0, MINUTE, HOUR, DAY]);
    return { kind: 'once', from, to: from + dice.oneOf([MINUTE, 30 * MINUTE, 3 * HOUR, DAY]) };
  }
  const schedule = dice.oneOf([
    { cron: '15 * * * *' },
    { cron: '30 2 * * *' },
    { calendar: 'Mon..Fri 12:00' },
    { calendar: new Date(now + HOUR).toISOString().slice(0, 16).replace('T', ' ') },
  ]);
  const timezone = dice.oneOf([null, ...ZONES]);
  return { kind: 'recurring', schedule, duration: dice.oneOf([10 * MINUTE, 2 * HOUR]), timezone };
}

/** One that is not over, with its case; seldom with another one. */
async function someSilence(team: Team): Promise<[caseId: string, id: string, time: SilenceTime] | null> {
  const { world } = team;
  const listed = [];
  for (const caseId of team.cases) listed.push(...(await world.store.listSilences(caseId, world.now)));
  if (listed.length === 0) return null;
  const { id, caseId, time } = world.dice.oneOf(listed);
  return [world.dice.isHit(0.1) ? team.someCase() : caseId, id, time];
}

async function change(team: Team): Promise<void> {
  const { world } = team;
  if (!(await someSilence(team))) await make(team);
  const [caseId, id, time] = (await someSilence(team)) ?? [];
  if (caseId === undefined || id === undefined) return;
  const from = time?.kind === 'once' ? Math.max(time.from, world.now) : null;
  const to = (from ?? 0) + world.dice.oneOf([1, 5 * MINUTE, 2 * HOUR]);
  const changes = from !== null && world.dice.isHit(0.7) ? { to } : { note: 'takes longer' };
  await world.ask('updateSilence', caseId, id, changes, world.now);
}

async function end(team: Team): Promise<void> {
  const { world } = team;
  const [caseId, id] = (await someSilence(team)) ?? [];
  if (caseId === undefined || id === undefined) return;
  await world.ask('deleteSilence', caseId, id, world.now);
  await world.ask('getSilence', caseId, id);
  if (world.dice.isHit(0.3)) await world.ask('deleteSilence', caseId, id, world.now);
}

async function ask(team: Team): Promise<void> {
  const { world } = team;
  const caseId = team.someCase();
  await world.ask('listSilences', caseId, world.now);
  const { snitches } = await world.store.listSnitches(caseId, { after: 0, limit: 100, tags: [] });
  const candidates = snitches.map(({ token, tags, state: { dueAt } }) => ({ token, tags, dueAt }));
  await world.ask('silencedAmong', caseId, candidates, world.now);
  await world.ask('unknownTags', caseId, [...TAGS, 'none']);
}

async function askProspect(team: Team): Promise<void> {
  const { world } = team;
  const { caseId, token } = team.someSnitch();
  await world.ask('findProspect', caseId, token, world.now);
  await world.ask('silenceOver', caseId, token, world.now);
  await world.ask('listPostponements', caseId, token, world.dice.oneOf([1, 2, 10]));
}

/** What was due in them is looked at again at once, whatever ends at the same time in another case. */
async function endEarly(team: Team): Promise<void> {
  const { world } = team;
  const time = {
    kind: 'once' as const,
    from: world.now,
    to: world.now + world.dice.oneOf([6 * HOUR, 9 * HOUR]),
  };
  const made: [caseId: string, id: string][] = [];
  for (const caseId of team.cases) {
    const given = { scope: scopeOf(team, caseId), time, note: '', by: 'bob' };
    const silence = await world.ask('createSilence', caseId, given, world.now);
    if (silence) made.push([caseId, silence.id]);
  }
  world.pass(world.dice.oneOf([HOUR, 4 * HOUR]));
  await world.sweep();
  await world.sayRows();
  for (const [caseId, id] of made) await world.ask('deleteSilence', caseId, id, world.now);
  await endSlices(team);
  await world.sayRows();
  await world.sweep();
}

/** All of it: of two silences that were ended, either may be the first. */
async function endSlices({ world }: Team): Promise<void> {
  while ((await world.ask('endSilencesSlice', world.now))?.more);
  if (world.dice.isHit(0.5)) await world.ask('relieveSlice', world.now);
}
