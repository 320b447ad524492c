/** What must be true of any store at any time: its lists, counts and cursors agree. */
import * as assert from 'uvu/assert';
import type { AlertWithDeliveries, ClaimedDelivery, Delivery } from '../../../src/core/delivery.ts';
import type { Page, Position } from '../../../src/store/page.ts';
import { TAGS } from './choices.ts';
import type { Team } from './team.ts';
import type { World } from './world.ts';

const ALL = { after: 0, limit: 1_000, tags: [] };

export async function checkSnitches(team: Team): Promise<void> {
  const { store } = team.world;
  const counts = new Map<string, number>();
  for (const caseId of team.cases) {
    const { snitches, next } = await store.listSnitches(caseId, ALL);
    assert.is(next, null);
    const tokens = snitches.map(({ token }) => token);
    assert.equal(tokens.toSorted(), team.tokensOf(caseId).toSorted());
    assert.equal(await inSlices((after) => store.listSnitches(caseId, { ...ALL, after, limit: 2 })), tokens);
    for (const tag of TAGS) {
      const tagged = snitches.filter(({ tags }) => tags.includes(tag));
      const slices = await inSlices((after) => store.listSnitches(caseId, { tags: [tag], after, limit: 2 }));
      assert.equal(
        slices,
        tagged.map(({ token }) => token),
      );
      const statuses = new Set(tagged.map(({ state }) => state.status));
      assert.equal((await store.tagStatuses(caseId, tag, 0)).statuses, statuses);
    }
    for (const { state } of snitches) counts.set(state.status, (counts.get(state.status) ?? 0) + 1);
  }
  const { snitches } = await store.census();
  assert.equal(snitches, Object.fromEntries([...counts].toSorted()));
}

/** @returns the tokens of all slices */
async function inSlices(
  read: (after: number) => Promise<{ snitches: { token: string }[]; next: number | null }>,
): Promise<string[]> {
  const tokens: string[] = [];
  for (let after: number | null = 0; after !== null; ) {
    const { snitches, next }: Awaited<ReturnType<typeof read>> = await read(after);
    tokens.push(...snitches.map(({ token }) => token));
    after = next;
  }
  return tokens;
}

/** What a snitch shows on its own is what it shows in the list. */
export async function checkEach({ world: { store }, cases }: Team): Promise<void> {
  for (const caseId of cases) {
    for (const { state, ...listed } of (await store.listSnitches(caseId, ALL)).snitches) {
      const alone = await store.getSnitch(caseId, listed.token);
      if (!alone) throw new Error(`${listed.token} is listed, and not there`);
      const { caseId: _, state: full, ...rest } = alone;
      assert.equal(rest, listed);
      for (const [name, value] of Object.entries(state)) {
        assert.equal(full[name as keyof typeof full], value, name);
      }
    }
  }
}

/** Lists of what happened, read in pages: each page continues where the one before ended. */
export async function checkHistories(team: Team): Promise<void> {
  const { store } = team.world;
  for (const caseId of team.cases) {
    await inPages((page) => store.listAlerts(caseId, null, page), positionOfAlert);
    await inPages(
      (page) => store.listActivity(caseId, { subjectId: null, action: null, ...page }),
      positionOf,
    );
    const all = await inPages((page) => store.listDeliveries(caseId, { state: null, ...page }), positionOf);
    for (const state of ['pending', 'delivered', 'dead', 'dropped'] as const) {
      const some = await store.listDeliveries(caseId, { state, limit: 1_000, before: null });
      const expected = all.filter((one) => one.state === state);
      assert.equal(
        some.map(({ id }) => id),
        expected.map(({ id }) => id),
      );
    }
  }
  for (const { caseId, token } of team.snitches) {
    await inPages(async (page) => (await store.listCheckIns(caseId, token, page)) ?? [], positionOf);
    await inPages((page) => store.listAlerts(caseId, token, page), positionOfAlert);
  }
}

const positionOf = ({ id }: { id: number }): Position => ({ id: String(id), at: null });

const positionOfAlert = ({ alert: { id, at } }: AlertWithDeliveries): Position => ({ id, at });

/** @returns the whole list, after comparing it with what its pages, and its slices, give together */
async function inPages<Item>(
  read: (page: Page) => Promise<Item[]>,
  positionIn: (item: Item) => Position,
): Promise<Item[]> {
  const whole = await read({ limit: 1_000, before: null });
  const ids = whole.map((item) => positionIn(item).id);
  for (const next of [
    ({ id }: Position): Page => ({ limit: 3, before: { id } }),
    (behind: Position): Page => ({ limit: 3, before: null, behind }),
  ]) {
    const found: string[] = [];
    for (let page: Page = { limit: 3, before: null }; ; ) {
      const items = await read(page);
      found.push(...items.map((item) => positionIn(item).id));
      const last = items.at(-1);
      if (!last || items.length < 3) break;
      page = next(positionIn(last));
    }
    assert.equal(found, ids);
  }
  return whole;
}

/** Rows of what is gone would come back with what gets its number or its id next. */
export async function checkNothingIsLeft({ world, cases, snitches }: Team): Promise<void> {
  const { tables } = world;
  const numbers = new Set((await tables.rows<{ id: number }>('snitches')).map(({ id }) => id));
  assert.is(numbers.size, snitches.length);
  assert.equal(await numbersIn(world, 'snitch_states', 'id'), numbers);
  for (const table of ['needs', 'snitch_tags', 'snitch_values', 'flapping', 'silenced_alarms']) {
    for (const number of await numbersIn(world, table, 'snitch_id')) {
      assert.ok(numbers.has(number), `${table} has rows of snitch ${number}, which is gone`);
    }
  }
  for (const table of OF_CASES) {
    for (const { case_id: owner } of await tables.rows<{ case_id: string }>(table)) {
      assert.ok(cases.includes(owner), `${table} has rows of a case that is gone`);
    }
  }
}

/** Not the alerts that were decided, which are still sent, and may yet begin to be repeated once. */
const OF_CASES = [
  ...['snitches', 'snitch_tags', 'needs', 'reliefs', 'reschedules', 'webhooks', 'channels', 'routes'],
  ...['silences', 'status_pages', 'badges', 'status_counts'],
];

async function numbersIn({ tables }: World, table: string, column: string): Promise<Set<number>> {
  return new Set((await tables.rows<Record<string, number>>(table)).map((row) => row[column] ?? 0));
}

/** What the outbox says about itself is what its rows say. */
export async function checkOutbox({ world: { store }, cases, formerCases }: Team): Promise<void> {
  const pending: Delivery[] = [];
  for (const caseId of [...cases, ...formerCases]) {
    pending.push(...(await store.listDeliveries(caseId, { state: 'pending', limit: 10_000, before: null })));
  }
  const { outbox } = await store.census();
  assert.is(outbox.pending, pending.length);
  assert.ok(outbox.waiting >= pending.filter(({ waits }) => waits !== undefined).length);
  assert.is((await store.nextDeliveryAt()) === null, pending.length === 0);
}

/** A claim comes with its target as that is now: null once it is deleted, so that the delivery can end. */
export async function checkClaimed(
  { world: { store } }: Team,
  { case: { id }, channel, target, webhook, recipient }: ClaimedDelivery,
): Promise<void> {
  if (channel === 'webhook') assert.equal(webhook, await store.getWebhook(id, target));
  else if (channel !== 'email') assert.equal(recipient?.channel, await store.getChannel(id, target));
}
