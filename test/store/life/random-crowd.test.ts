/**
 * More snitches than any slice takes, written down: everything that the daemon does slice by slice reaches each of them
 * once, and nothing of another case. Alone in its process. Time limit: 110 s.
 */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { CaseSettings } from '../../../src/core/case.ts';
import { assertKept } from '../../kept-text.ts';
import { Dice } from '../../random.ts';
import { TESTER } from '../acting.ts';
import { checkIn, DAY, HOUR, MINUTE, openEmpty, utc } from '../fixture.ts';
import { World } from './world.ts';

const crowd = suite('a random crowd');

const SNITCHES = 420;

/** What of a snitch the daemon's slices change. */
interface StateRow extends Record<string, unknown> {
  id: number;
  case_id: string;
  status: string;
  due_at: number | null;
  look_at: number | null;
}

/** A case with a crowd, and one with a single snitch that nothing of it may touch. */
class Crowd {
  readonly world: World;
  readonly dice: Dice;
  caseId = '';
  tokens: string[] = [];
  needed = '';

  constructor(world: World) {
    this.world = world;
    this.dice = new Dice(41);
  }

  async gather(): Promise<void> {
    const { world } = this;
    const settings: Omit<CaseSettings, 'name'> = {
      timezone: 'UTC',
      members: ['ann@x.org'],
      reminders: 'off',
      errorNotices: true,
      maxSnitches: null,
      onHold: false,
    };
    for (const [name, count] of [
      ['Crowd', SNITCHES],
      ['Other', 1],
    ] as const) {
      const { id } = await world.store.createCase({ name, ...settings }, world.now);
      const imported = Array.from({ length: count }, (_, index) => this.#member(name, index));
      const made = await world.store.importSnitches(id, { imported, owner: 'crowd.yaml' }, world.now);
      for (const { token } of made) await checkIn(world.store, token, world.now);
      if (count === SNITCHES) Object.assign(this, { caseId: id, tokens: made.map(({ token }) => token) });
    }
    this.needed = this.tokens[0] ?? '';
  }

  #member(name: string, index: number) {
    const interval = this.dice.oneOf(['hourly', '2_hour', 'daily'] as const);
    const described = {
      token: null,
      name: `${name} ${index}`,
      notes: '',
      tags: index % 3 === 0 ? ['db'] : [],
    };
    return { ...described, alertEmail: [], interval, alertType: 'basic' as const };
  }

  /** How many snitches of each case have each status and deadline, and a digest of all of it. */
  async tell(what: string): Promise<void> {
    const { world } = this;
    world.begin(what);
    const rows = await world.tables.rows<StateRow>('snitch_states');
    const counts = new Map<string, number>();
    for (const { case_id: owner, status, due_at: due } of rows) {
      const at = due === null ? 'never' : new Date(due).toISOString();
      const key = `${owner === this.caseId ? 'crowd' : 'other'}: ${status}, due ${at}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    for (const [key, count] of [...counts].toSorted()) world.say(`  ${count} of the ${key}`);
    const first = Math.min(...rows.map(({ id }) => id));
    const told = rows.map(({ id, status, due_at: due, look_at: look }) => [id - first, status, due, look]);
    const alerts = await world.tables.rows('alerts');
    const digest = createHash('sha256').update(JSON.stringify(told)).digest('hex').slice(0, 12);
    world.say(`  ${alerts.length} alerts, states ${digest}`);
  }

  async everybodyIsWell(): Promise<void> {
    for (const token of this.tokens) await checkIn(this.world.store, token, this.world.now);
  }
}

/** Calls it until there is nothing more to do. @returns how often there was more */
async function slices(call: () => Promise<unknown>): Promise<number> {
  for (let count = 0; ; count += 1) {
    const more = await call();
    if (more === false || more === null) return count;
  }
}

async function changeZone({ world, caseId }: Crowd): Promise<string> {
  await world.store.updateCase(caseId, { timezone: 'Asia/Kathmandu' }, world.now);
  const count = await slices(() => world.store.rescheduleSlice(world.now));
  return `the time zone changes, in ${count} slices`;
}

async function beAway({ world }: Crowd): Promise<string> {
  const start = world.now;
  world.pass(80 * MINUTE);
  await world.store.openBlindWindow({ start, end: world.now });
  const count = await slices(() => world.store.postponeSlice(world.now));
  return `the daemon was away, ${count} slices`;
}

async function setClockBack({ world }: Crowd): Promise<string> {
  world.pass(-5 * DAY);
  let after: number | null = 0;
  const count = await slices(async () => {
    after = await world.store.setAnewSlice(world.now, after ?? 0);
    return after;
  });
  return `the clock was set back, ${count} slices`;
}

async function beSilent({ world, caseId }: Crowd): Promise<string> {
  const time = { kind: 'once', from: world.now, to: world.now + 9 * HOUR } as const;
  const given = { scope: { kind: 'all' }, time, note: '', by: 'ann' } as const;
  const { id } = await world.store.createSilence(caseId, given, world.now);
  world.pass(3 * HOUR);
  await world.sweep();
  await world.store.deleteSilence(caseId, id, world.now);
  const count = await slices(async () => (await world.store.endSilencesSlice(world.now)).more);
  return `a silence began and was ended early, ${count} slices`;
}

/** Their alarms are kept back until the silence ends. */
async function failInSilence({ world, caseId, tokens }: Crowd): Promise<string> {
  const time = { kind: 'once', from: world.now, to: world.now + HOUR } as const;
  await world.store.createSilence(
    caseId,
    { scope: { kind: 'tags', tags: ['db'] }, time, note: '', by: 'ann' },
    world.now,
  );
  for (const token of tokens) await checkIn(world.store, token, world.now + MINUTE, { outcome: 'error' });
  world.pass(HOUR);
  const count = await slices(async () => (await world.store.endSilencesSlice(world.now)).more);
  return `many failed in a silence, ${count} slices`;
}

/** All but one need that one, which is down while they are missing. */
async function needOne({ world, caseId, tokens, needed }: Crowd): Promise<string> {
  const changes = tokens.slice(1).map((token) => ({ token, changes: { needs: [needed] } }));
  await world.store.updateSnitches(caseId, changes, world.now);
  world.pass(2 * DAY);
  await world.sweep();
  await checkIn(world.store, needed, world.now);
  const count = await slices(() => world.store.relieveSlice(world.now));
  return `what all need went down and came back, ${count} slices`;
}

async function goMissing({ world }: Crowd): Promise<string> {
  world.pass(2 * DAY);
  await world.sweep();
  return 'all are missing';
}

async function prune({ world }: Crowd): Promise<string> {
  world.pass(9 * DAY);
  const limits = { checkIns: 1, olderThan: world.now - DAY, now: world.now };
  const count = await slices(() => world.store.prune(limits));
  const left = (await world.tables.rows('check_ins')).length;
  return `what is old is deleted, ${count} slices, ${left} check-ins left`;
}

async function look({ world }: Crowd): Promise<string> {
  let after: Parameters<typeof world.store.moveLooks>[1] = null;
  const count = await slices(async () => {
    after = await world.store.moveLooks(world.now + DAY, after);
    return after;
  });
  return `the daemon looks ahead, ${count} slices`;
}

async function isListed({ world: { store }, caseId, tokens }: Crowd): Promise<void> {
  const owned: string[] = [];
  for (let after: number | null = 0; after !== null; ) {
    const slice: Awaited<ReturnType<typeof store.listOwnership>> = await store.listOwnership(caseId, {
      after,
      limit: 100,
    });
    owned.push(...slice.owned.map(({ token }) => token));
    after = slice.next;
  }
  assert.equal(owned, tokens);
}

async function vanish({ world, caseId }: Crowd): Promise<string> {
  await world.store.planDeletion(caseId, TESTER);
  const count = await slices(() => world.store.deletionSlice(world.now));
  assert.is((await world.tables.rows('snitch_states')).length, 1);
  assert.is((await world.tables.rows('snitch_tags')).length, 1);
  return `the case is deleted, ${count} slices`;
}

crowd('is treated as it was, slice by slice', async () => {
  await using opened = await openEmpty();
  using world = new World(opened, { seed: 41, begin: utc('2026-06-01T12:10:00') });
  const people = new Crowd(world);
  await people.gather();
  await people.tell('a crowd gathers');
  for (const step of [
    changeZone,
    beAway,
    setClockBack,
    beSilent,
    failInSilence,
    goMissing,
    needOne,
    prune,
    look,
  ]) {
    await people.everybodyIsWell();
    await people.tell(await step(people));
    await isListed(people);
    world.pass(MINUTE);
  }
  await people.tell(await vanish(people));
  assertKept(join(import.meta.dirname, 'random-crowd.txt'), world.lines);
});

crowd.run();
