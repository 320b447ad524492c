/**
 * Whatever happens between two check-ins, a node that knows states from before decides as one that reads them each time:
 * two nodes on PostgreSQL do what one on SQLite does, in the same order. Time limit: 120 s.
 */
import { rmSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { CheckIn } from '../../../src/core/check-in.ts';
import type { SnitchFields } from '../../../src/core/snitch.ts';
import { RecalledStates } from '../../../src/store/postgres/recalled-states.ts';
import { openStore } from '../../../src/store/sqlite/sqlite-store.ts';
import { acting, type Store } from '../acting.ts';
import {
  checkIn,
  HOUR,
  MINUTE,
  NOW,
  newCase,
  newSnitch,
  SECOND,
  sweep,
  temporaryDirectory,
} from '../fixture.ts';
import { openPair } from './pair.ts';

const test = suite('known or read');

/** The same numbers for the same seed, from 0 up to 1. */
function numbersFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

class Chance {
  readonly #next: () => number;

  constructor(seed: number) {
    this.#next = numbersFrom(seed);
  }

  below(end: number): number {
    return Math.floor(this.#next() * end);
  }

  is(share: number): boolean {
    return this.#next() < share;
  }

  of<T>(all: readonly T[]): T {
    return all[this.below(all.length)] as T;
  }
}

/** One or several nodes on one database, with the snitches by their names. */
interface World {
  nodes: readonly Store[];
  caseId: string;
  tokens: Map<string, string>;
}

/** What is done by one node, or at once by any: the same in each world. */
type Step = (world: World) => Promise<unknown>;

const clock = { now: NOW };

const NOT_DUE_BY = { schedule: null, grace: null, maxRuntime: null } as const;

const FIELDS: readonly Partial<SnitchFields>[] = [
  { ...NOT_DUE_BY, interval: 'hourly', alertType: 'basic' },
  { ...NOT_DUE_BY, interval: 'daily', alertType: 'basic' },
  { ...NOT_DUE_BY, interval: '15_minute', alertType: 'basic' },
  { ...NOT_DUE_BY, interval: 'daily', alertType: 'smart' },
  { ...NOT_DUE_BY, interval: 'hourly', alertType: 'smart', maxRuntime: 60 },
  { ...NOT_DUE_BY, interval: 'daily', alertType: 'basic', schedule: { cron: '*/20 * * * *' }, grace: 60 },
];

const EVERYDAY: Partial<CheckIn> = {};

const KINDS: readonly ((chance: Chance, now: number) => Partial<CheckIn>)[] = [
  () => ({ outcome: 'error', exitStatus: 3 }),
  () => ({ outcome: 'start' }),
  () => ({ outcome: 'log', message: 'half of it' }),
  (chance) => ({ outcome: chance.of(['start', 'healthy']), runId: chance.of(['a', 'b']) }),
  () => ({ output: 'printed' }),
  (chance) => ({ reported: { values: { rows: chance.below(5) }, dropped: [] } }),
  (chance, now) => ({ at: now - chance.below(10) * MINUTE }),
];

/** Lets several snitches check in at once, some of them twice, through two nodes. */
function checkIns(chance: Chance, names: readonly string[]): Step {
  const { now } = clock;
  const isOdd = chance.is(0.4);
  const all = names
    .filter(() => chance.is(0.8))
    .map((name) => {
      const kind = isOdd && chance.is(0.3) ? chance.of(KINDS)(chance, now) : EVERYDAY;
      return { name, kind, nodes: kind === EVERYDAY && chance.is(0.1) ? [0, 1] : [chance.below(2)] };
    });
  const sweeps = chance.is(0.3);
  return async ({ nodes, tokens }) => {
    const calls = all.flatMap((one) =>
      one.nodes.map((node) =>
        checkIn(nodes[node % nodes.length] as Store, tokens.get(one.name) ?? '', now, one.kind),
      ),
    );
    const [first] = nodes;
    await Promise.all([
      ...calls,
      ...(sweeps && first ? [sweep(first, now), first.moveLooks(now, null)] : []),
    ]);
  };
}

/** What people do to one snitch, or to the case. */
function act(chance: Chance, names: string[], made: () => string): Step {
  const { now } = clock;
  const [node, name, fields] = [chance.below(2), chance.of(names), chance.of(FIELDS)];
  const on = (work: (store: Store, world: World, token: string) => Promise<unknown>): Step => {
    return (world) =>
      work(world.nodes[node % world.nodes.length] as Store, world, world.tokens.get(name) ?? '');
  };
  const timezone = chance.of(['UTC', 'America/New_York', 'Asia/Tokyo']);
  const errorNotices = chance.is(0.5);
  const acts: (() => Step)[] = [
    () => on((store, { caseId }, token) => store.updateSnitch(caseId, token, fields, now)),
    () => on((store, { caseId }, token) => store.pauseSnitch(caseId, token, { kind: 'unpaused' }, now)),
    () => on((store, { caseId }, token) => store.pauseSnitch(caseId, token, { kind: 'healthy' }, now)),
    () => on((store, { caseId }, token) => store.unpauseSnitch(caseId, token, now)),
    () => on((store, { caseId }) => store.updateCase(caseId, { timezone, errorNotices }, now)),
    () =>
      on((store, { caseId }) => {
        const time = { kind: 'once', from: now, to: now + 10 * MINUTE } as const;
        return store.createSilence(caseId, { scope: { kind: 'all' }, time, note: '', by: 'ops' }, now);
      }),
    () => {
      const next = made();
      names[names.indexOf(name)] = next;
      return on(async (store, { caseId, tokens }, token) => {
        await store.deleteSnitch(caseId, token);
        const snitch = await newSnitch(store, { id: caseId }, { ...fields, name: next }, now);
        tokens.delete(name);
        tokens.set(next, snitch.token);
      });
    },
  ];
  return chance.of(acts)();
}

const tidy: Step = async ({ nodes: [first] }) => {
  if (!first) return;
  while ((await first.endSilencesSlice(clock.now)).more);
  await sweep(first, clock.now);
};

/** All that can be asked of it, without what differs by chance. */
async function outcomeOf({ nodes: [store], caseId, tokens }: World): Promise<unknown[]> {
  const told: unknown[] = [];
  for (const [name, token] of tokens) {
    const snitch = await store?.getSnitch(caseId, token);
    const log = await store?.listCheckIns(caseId, token, { limit: 1_000, before: null });
    const alerts = await store?.listAlerts(caseId, token, { limit: 1_000, before: null });
    const learned = await store?.findLearned(token);
    told.push({
      name,
      state: snitch?.state,
      last: snitch?.lastReport,
      learned,
      log: log?.map(({ id: _, ...one }) => one),
      alerts: alerts?.map(({ alert }) => [alert.type, alert.at, alert.snitch?.previous_status]).sort(),
    });
  }
  return told;
}

function shareOfKnown(): { found: number; asked: number } & Disposable {
  const { note } = RecalledStates.prototype;
  const count = {
    found: 0,
    asked: 0,
    [Symbol.dispose]: () => {
      RecalledStates.prototype.note = note;
    },
  };
  RecalledStates.prototype.note = function (found, asked) {
    count.found += found;
    count.asked += asked;
    // What is no longer remembered is read again.
    note.call(this, asked, asked);
  };
  return count;
}

const STEPS = 150;
const SNITCHES = 8;

async function compare(seed: number): Promise<{ found: number; asked: number }> {
  const chance = new Chance(seed);
  clock.now = NOW;
  const dataDir = temporaryDirectory();
  const now = () => clock.now;
  using count = shareOfKnown();
  await using pair = await openPair({ clock: now });
  const alone = acting(openStore({ dataDir, clock: now }), now);
  try {
    const worlds: World[] = [];
    const names = Array.from({ length: SNITCHES }, (_, index) => `job ${index}`);
    for (const nodes of [pair.both, [alone as Store]]) {
      const owner = await newCase(nodes[0] as Store, { members: ['ops@example.com'] });
      const tokens = new Map<string, string>();
      for (const [index, name] of names.entries()) {
        const fields = { ...FIELDS[index % FIELDS.length], name };
        tokens.set(name, (await newSnitch(nodes[0] as Store, owner, fields)).token);
      }
      worlds.push({ nodes, caseId: owner.id, tokens });
    }
    let made = 0;
    for (let step = 0; step < STEPS; step += 1) {
      clock.now += chance.is(0.05) ? chance.below(3 * HOUR) : chance.below(100 * SECOND);
      const later = chance.is(0.15)
        ? act(chance, names, () => {
            made += 1;
            return `made ${made}`;
          })
        : checkIns(chance, names);
      for (const world of worlds) {
        await tidy(world);
        await later(world);
      }
    }
    const [told, expected] = await Promise.all(worlds.map(outcomeOf));
    assert.equal(told, expected, `seed ${seed}`);
    return { found: count.found, asked: count.asked };
  } finally {
    await alone.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

for (const seed of [1, 2, 3]) {
  test(`check-ins of all kinds between what people and sweeps do (${seed})`, async () => {
    const { found, asked } = await compare(seed);
    assert.ok(found > STEPS && asked > found, `${found} of ${asked} were as they were known`);
  });
}

test.run();
