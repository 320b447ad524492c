/** Deliveries still waiting when a silence begins: nobody is disturbed while somebody works on the problem. */
import * as assert from 'uvu/assert';
import type { Case } from '../../../src/core/case.ts';
import { type ChannelFields, EVERYTHING } from '../../../src/core/channel.ts';
import type { SilenceScope } from '../../../src/core/silences/silence.ts';
import type { Store } from '../acting.ts';
import { checkIn, contract, HOUR, healthySnitch, MINUTE, NOW, newCase, sweep } from '../fixture.ts';

/** When an hourly snitch that checked in at NOW is missing. */
const DUE = NOW + 100 * MINUTE;
const PAGED = DUE + 30 * MINUTE;
const END = DUE + 3 * HOUR;

const ALL: SilenceScope = { kind: 'all' };
const SAID = { note: null, by: 'Ann' };

function silence(store: Store, { id }: Case, from: number, to: number, scope = ALL) {
  const time = { kind: 'once', from, to } as const;
  return store.createSilence(id, { scope, time, note: 'kernel', by: 'ops' }, from);
}

async function pass(store: Store, now: number): Promise<void> {
  while ((await store.endSilencesSlice(now)).more);
  await sweep(store, now);
}

/** What is sent by the pager at `now`; all of it arrives. */
async function sent(store: Store, now: number): Promise<string[]> {
  const request = { now, leaseUntil: now + MINUTE, perTarget: 100, limit: 100, busy: [], after: '' };
  const claimed = await store.claimDeliveries({ ...request, channel: 'gotify' });
  for (const { id, fence } of claimed) await store.settleDelivery(id, fence, { kind: 'delivered', at: now });
  return claimed.map(({ alert }) => alert.type.replace('snitch.', ''));
}

/** A case with a pager, and a snitch that is missing since DUE. */
async function missing(store: Store, fields: Partial<ChannelFields> = { after: 1_800 }) {
  const owner = await newCase(store);
  const { token } = await healthySnitch(store, owner, { tags: ['web1'] });
  const settings = { server: 'https://push.example.com', token: 'x' };
  await store.createChannel(
    owner.id,
    { kind: 'gotify', name: null, fields: { settings, ...EVERYTHING, ...fields } },
    NOW,
  );
  await pass(store, DUE);
  return { owner, token };
}

async function outbox(store: Store, { id }: Case) {
  const all = await store.listDeliveries(id, { state: null, limit: 100, before: null });
  return all.reverse().map(({ about, state, lastError, nextAttemptAt }) => {
    const why = lastError === null ? '' : `: ${lastError}`;
    return [`${about.type.replace('snitch.', '')} ${state}${why}`, nextAttemptAt];
  });
}

contract('what waits when a silence begins', (test) => {
  test('is not sent while that holds, and is judged at its end', async (context) => {
    const { owner } = await missing(context.store);
    await silence(context.store, owner, DUE + MINUTE, END);
    assert.equal(await sent(context.store, PAGED), []);
    assert.equal(await outbox(context.store, owner), [['missing pending', END]], 'it says until when');
    const store = await context.reopen();
    await store.releaseLeases(END - 1);
    await pass(store, END - 1);
    assert.equal(await sent(store, END - 1), []);
    await pass(store, END);
    assert.equal(await sent(store, END), ['missing']);
  });

  test('is not sent either where the silence covers only its tag, and others are', async ({ store }) => {
    const { owner } = await missing(store);
    await healthySnitch(store, owner, {}, DUE - 70 * MINUTE);
    await pass(store, DUE + MINUTE);
    await silence(store, owner, DUE + 2 * MINUTE, END, { kind: 'tags', tags: ['web1'] });
    assert.equal(await sent(store, PAGED + HOUR), ['missing']);
    assert.equal((await outbox(store, owner)).slice(0, 1), [['missing pending', END]]);
  });

  test('is sent at once where somebody ends the silence, or shortens it', async ({ store }) => {
    const { owner } = await missing(store);
    const { id } = await silence(store, owner, DUE + MINUTE, END);
    assert.equal(await sent(store, PAGED), []);
    await store.updateSilence(owner.id, id, { to: PAGED + HOUR }, PAGED + MINUTE);
    assert.equal(await sent(store, PAGED + HOUR - 1), []);
    await store.deleteSilence(owner.id, id, PAGED + 20 * MINUTE);
    assert.equal(await sent(store, PAGED + 20 * MINUTE), ['missing']);
  });

  test('is sent in time where the snitch loses the tag that is silenced', async ({ store }) => {
    const { owner, token } = await missing(store);
    await silence(store, owner, DUE + MINUTE, END, { kind: 'tags', tags: ['web1'] });
    assert.equal(await sent(store, DUE + 2 * MINUTE), []);
    await store.removeTag(owner.id, token, ['web1']);
    assert.equal(await sent(store, PAGED - 1), []);
    assert.equal(await sent(store, PAGED), ['missing']);
  });

  test('is sent in time where the silence moves with the time zone of its case', async ({ store }) => {
    const { owner } = await missing(store);
    const schedule = { cron: '5 12 * * *' };
    const time = { kind: 'recurring', schedule, duration: 4 * HOUR, timezone: null } as const;
    await store.createSilence(owner.id, { scope: ALL, time, note: '', by: 'ops' }, DUE + MINUTE);
    assert.equal(await sent(store, DUE + 10 * MINUTE), []);
    assert.is((await outbox(store, owner))[0]?.[1], DUE + 5 * MINUTE + 4 * HOUR);
    await store.updateCase(owner.id, { timezone: 'Asia/Tokyo' }, DUE + 11 * MINUTE);
    while (await store.rescheduleSlice(DUE + 11 * MINUTE));
    assert.equal(await sent(store, DUE + 12 * MINUTE), []);
    assert.equal(await sent(store, PAGED), ['missing']);
  });

  test('waits on where the silence is made longer, or another follows', async ({ store }) => {
    const { owner } = await missing(store);
    const { id } = await silence(store, owner, DUE + MINUTE, END);
    assert.equal(await sent(store, PAGED), []);
    await store.updateSilence(owner.id, id, { to: END + HOUR }, PAGED);
    await silence(store, owner, END + 30 * MINUTE, END + 2 * HOUR);
    for (const now of [END, END + HOUR, END + 2 * HOUR - 1]) assert.equal(await sent(store, now), []);
    assert.equal(await sent(store, END + 2 * HOUR), ['missing']);
  });

  test('is dropped where it recovers, is paused or acknowledged in the silence', async ({ store }) => {
    const ends: Record<string, (token: string, caseId: string) => Promise<unknown>> = {
      'it recovered before': (token) => checkIn(store, token, PAGED + MINUTE),
      'it was paused before': (token, caseId) =>
        store.pauseSnitch(caseId, token, { kind: 'unpaused' }, PAGED + MINUTE),
      'it was acknowledged before': (token, caseId) =>
        store.acknowledgeSnitch(caseId, token, SAID, PAGED + MINUTE),
    };
    for (const [why, end] of Object.entries(ends)) {
      const { owner, token } = await missing(store);
      const { id } = await silence(store, owner, DUE + MINUTE, END);
      assert.equal(await sent(store, PAGED), []);
      await end(token, owner.id);
      assert.equal((await outbox(store, owner))[0], [`missing dropped: ${why}`, null]);
      await store.deleteSilence(owner.id, id, END - 1);
      await store.deleteSnitch(owner.id, token);
      assert.equal(await sent(store, END + 48 * HOUR), []);
    }
  });

  test('at night waits for the hours, and then for the silence that holds when they begin', async ({
    store,
  }) => {
    const hours = {
      timezone: 'UTC',
      days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'],
      from: '13:00',
      to: '18:00',
    } as const;
    const { owner } = await missing(store, { hours });
    const opening = NOW + 160 * MINUTE;
    assert.equal(await outbox(store, owner), [['missing pending', opening]]);
    await silence(store, owner, opening - MINUTE, opening + HOUR);
    assert.equal(await sent(store, opening), []);
    assert.equal(await sent(store, opening + HOUR), ['missing']);
  });

  test('is what the snitch is at the end: nothing that became another alarm in the silence', async ({
    store,
  }) => {
    const { owner, token } = await missing(store);
    await silence(store, owner, DUE + MINUTE, END);
    assert.equal(await sent(store, PAGED), []);
    await checkIn(store, token, END - 10 * MINUTE, { outcome: 'error' });
    assert.equal((await outbox(store, owner))[0], ['missing dropped: it reported an error before', null]);
    await pass(store, END);
    // By then the outage is much older than half an hour.
    assert.equal(await sent(store, END), ['errored']);
  });

  test('an alarm that was kept back is told at the end, and its escalation counts from then', async ({
    store,
  }) => {
    const { owner, token } = await missing(store);
    await checkIn(store, token, DUE + MINUTE);
    await silence(store, owner, DUE + 2 * MINUTE, END);
    await checkIn(store, token, DUE + 3 * MINUTE, { outcome: 'error' });
    await pass(store, END);
    assert.equal((await outbox(store, owner)).at(-1), ['errored pending', END + 30 * MINUTE]);
    assert.equal(await sent(store, END + 30 * MINUTE - 1), []);
    assert.equal(await sent(store, END + 30 * MINUTE), ['errored']);
  });

  test('is not sent beside what waits for hours that begin days after the silence', async ({ store }) => {
    const hours = { timezone: 'UTC', days: ['sat' as const], from: '08:00', to: '18:00' };
    const { owner, token } = await missing(store, { hours });
    const pager = { settings: { topic: 'ops' }, ...EVERYTHING, after: 600 };
    await store.createChannel(owner.id, { kind: 'ntfy', name: null, fields: pager }, NOW);
    await checkIn(store, token, DUE + 1, { outcome: 'error' });
    await silence(store, owner, DUE + MINUTE, END);
    const at = DUE + 11 * MINUTE;
    const request = { now: at, leaseUntil: at + MINUTE, perTarget: 9, limit: 9, busy: [], after: '' };
    // Calls that come together share a transaction.
    const claimed = await Promise.all([
      store.claimDeliveries({ ...request, channel: 'gotify' }),
      store.claimDeliveries({ ...request, channel: 'ntfy' }),
    ]);
    assert.equal(claimed, [[], []]);
    const seen = { token, tags: ['web1'], dueAt: null };
    assert.is((await store.silencedAmong(owner.id, [seen], at))?.get(token)?.until, END);
  });
});
