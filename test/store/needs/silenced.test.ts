/** How silencing a snitch that others need affects the alerts of those others. */
import * as assert from 'uvu/assert';
import type { Case } from '../../../src/core/case.ts';
import type { SilenceScope, SilenceTime } from '../../../src/core/silences/silence.ts';
import type { SnitchFields } from '../../../src/core/snitch.ts';
import type { Store } from '../acting.ts';
import {
  alertsOf,
  checkIn,
  contract,
  HOUR,
  healthySnitch,
  MINUTE,
  NOW,
  newCase,
  snitchOf,
  sweep,
} from '../fixture.ts';

const SAID = { note: null, by: 'Ann' };

/** One pass of the sweeper. */
async function pass(store: Store, now: number): Promise<void> {
  while (await store.relieveSlice(now));
  while ((await store.endSilencesSlice(now)).more);
  while (await store.relieveSlice(now));
  await sweep(store, now);
}

const every = (minutes: number, fields: Partial<SnitchFields> = {}): Partial<SnitchFields> => ({
  schedule: { every: minutes * 60 },
  grace: 0,
  ...fields,
});

const HOST: SilenceScope = { kind: 'tags', tags: ['host'] };
const JOB_FAILS = NOW + 10 * MINUTE;
const END = NOW + 30 * MINUTE;

function silence(store: Store, { id }: Case, to: number, scope = HOST, from = NOW, time?: SilenceTime) {
  const once = { kind: 'once', from, to } as const;
  return store.createSilence(id, { scope, time: time ?? once, note: 'kernel', by: 'ops' }, from);
}

/** A host that is awaited in an hour, and a job on it that checks in every 10 minutes: both did at `NOW`. */
async function hostAndJob(store: Store, fields: Partial<SnitchFields> = {}) {
  const owner = await newCase(store);
  const host = await healthySnitch(store, owner, every(60, { name: 'db1', tags: ['host'] }));
  const job = await healthySnitch(
    store,
    owner,
    every(10, { name: 'backup', needs: [host.token], ...fields }),
  );
  return { owner, host, job };
}

/** The alerts of the job after its first check-in. */
async function told(store: Store, owner: Case, token: string): Promise<string[]> {
  return (await alertsOf(store, owner, token)).slice(1);
}

const MISSING = 'snitch.missing from healthy';

contract('a silence over what is needed', (test) => {
  test('holds the alert, and its end restarts the deadline', async (context) => {
    const { owner, host, job } = await hostAndJob(context.store);
    await silence(context.store, owner, END);
    await pass(context.store, JOB_FAILS);
    const held = await snitchOf(context.store, owner, job.token);
    assert.is(held.state.status, 'failed');
    assert.equal(held.hold?.by, { token: host.token, name: 'db1' });
    for (let now = JOB_FAILS; now < END; now += MINUTE) await pass(context.store, now);
    const store = await context.reopen();
    await pass(store, END);
    assert.is((await snitchOf(store, owner, job.token)).hold?.until, END + 10 * MINUTE);
    await pass(store, END + 10 * MINUTE - 1);
    assert.equal(await told(store, owner, job.token), []);
    await pass(store, END + 10 * MINUTE);
    await pass(store, END + 11 * MINUTE);
    assert.equal(await told(store, owner, job.token), [MISSING]);
    const [last] = await store.listAlerts(owner.id, job.token, { limit: 1, before: null });
    assert.equal(last?.alert.details?.reason, {
      kind: 'noCheckIn',
      by: JOB_FAILS,
      held: { by: 'db1', since: JOB_FAILS, until: END, isSilenced: true },
    });
  });

  test('holds the alert beside others, whether few or very many of those that are needed are covered', async ({
    store,
  }) => {
    const owner = await newCase(store);
    const tags = ['host'];
    const hosts: string[] = [];
    for (let count = 0; count < 120; count += 1) {
      const { token } = await healthySnitch(store, owner, every(60, { name: `db${count}`, tags }));
      hosts.push(token);
    }
    const job = await healthySnitch(store, owner, every(10, { name: 'backup', needs: ['tag:host'] }));
    const tokens = (...of: number[]): SilenceScope => ({
      kind: 'tokens',
      tokens: of.map((index) => hosts[index] ?? ''),
    });
    await silence(store, owner, JOB_FAILS + 5 * MINUTE, tokens(7));
    await silence(store, owner, END, tokens(3, 9));
    await silence(store, owner, JOB_FAILS + 7 * MINUTE, { kind: 'tags', tags: ['nobody'] });
    await pass(store, JOB_FAILS);
    const held = (await snitchOf(store, owner, job.token)).hold;
    assert.ok(held?.by?.name === 'db7' || held?.by?.name === 'db3');
    await silence(store, owner, JOB_FAILS + 6 * MINUTE, HOST, JOB_FAILS);
    for (let now = JOB_FAILS; now <= END; now += MINUTE) await pass(store, now);
    assert.is((await snitchOf(store, owner, job.token)).hold?.until, END + 10 * MINUTE);
    assert.equal(await told(store, owner, job.token), []);
  });

  test('a daemon that was down when it ended decides the same at its next start', async ({ store }) => {
    const { owner, job } = await hostAndJob(store);
    await silence(store, owner, END);
    await pass(store, JOB_FAILS);
    await pass(store, END + 5 * MINUTE);
    assert.is((await snitchOf(store, owner, job.token)).state.dueAt, END + 10 * MINUTE);
    await pass(store, END + 20 * MINUTE);
    assert.equal(await told(store, owner, job.token), [MISSING]);
  });

  test('its end restarts no deadline of another case', async ({ store }) => {
    const { owner, job } = await hostAndJob(store, { needs: ['tag:host'] });
    const others = await hostAndJob(store, { needs: ['tag:host'] });
    await silence(store, others.owner, NOW + 9 * MINUTE);
    await silence(store, owner, NOW + 8 * MINUTE);
    await pass(store, NOW + 8 * MINUTE);
    assert.is((await snitchOf(store, owner, job.token)).state.dueAt, NOW + 18 * MINUTE);
    assert.is((await snitchOf(store, others.owner, others.job.token)).state.dueAt, JOB_FAILS);
  });

  test('the deadline of one that has not failed restarts as well, by a tag too', async ({ store }) => {
    for (const by of ['token', 'tag', 'all']) {
      const { owner, job } = await hostAndJob(store, by === 'tag' ? { needs: ['tag:host'] } : {});
      await silence(store, owner, NOW + 8 * MINUTE, by === 'all' ? { kind: 'all' } : HOST);
      await pass(store, NOW + 8 * MINUTE);
      await pass(store, NOW + 9 * MINUTE);
      const { dueAt } = (await snitchOf(store, owner, job.token)).state;
      if (by !== 'all') assert.is(dueAt, NOW + 18 * MINUTE, by);
      await pass(store, JOB_FAILS);
      assert.equal(await told(store, owner, job.token), [], by);
      await pass(store, NOW + 21 * MINUTE);
      assert.equal(await told(store, owner, job.token), [MISSING], by);
    }
  });

  test('that somebody ends early counts from then', async ({ store }) => {
    const { owner, job } = await hostAndJob(store);
    const { id } = await silence(store, owner, NOW + 20 * HOUR);
    await pass(store, JOB_FAILS);
    await store.deleteSilence(owner.id, id, NOW + 12 * MINUTE);
    await pass(store, NOW + 12 * MINUTE);
    assert.is((await snitchOf(store, owner, job.token)).state.dueAt, NOW + 22 * MINUTE);
    await pass(store, NOW + 22 * MINUTE);
    assert.equal(await told(store, owner, job.token), [MISSING]);
  });

  test('that recurs holds each time, and counts from the last end', async ({ store }) => {
    const { owner, job } = await hostAndJob(store);
    // NOW is twenty past ten: it holds from 25 to 45 minutes past each hour.
    const time = { kind: 'recurring', schedule: { cron: '25 * * * *' }, duration: 20 * MINUTE } as const;
    await silence(store, owner, 0, HOST, NOW, { ...time, timezone: null });
    await pass(store, JOB_FAILS);
    await pass(store, NOW + 25 * MINUTE);
    assert.is((await snitchOf(store, owner, job.token)).state.dueAt, NOW + 35 * MINUTE);
    await pass(store, NOW + 35 * MINUTE);
    assert.equal(await told(store, owner, job.token), [MISSING]);
  });

  test('ends while another one holds, or while the host has failed: it stays held', async ({ store }) => {
    const { owner, host, job } = await hostAndJob(store);
    await silence(store, owner, END);
    await silence(store, owner, END + 20 * MINUTE, { kind: 'tokens', tokens: [host.token] });
    for (let now = JOB_FAILS; now < END + 20 * MINUTE; now += MINUTE) await pass(store, now);
    assert.equal(await told(store, owner, job.token), []);
    await pass(store, END + 20 * MINUTE);
    assert.is((await snitchOf(store, owner, job.token)).state.dueAt, END + HOUR / 2);
    await checkIn(store, job.token, END + 21 * MINUTE);
    assert.equal(await told(store, owner, job.token), [], 'neither the failure nor its end');
  });

  test('of another host holds nothing, and neither does one that is to come', async ({ store }) => {
    const { owner, job } = await hostAndJob(store);
    await silence(store, owner, END, { kind: 'tags', tags: ['other'] });
    await store.createSilence(
      owner.id,
      { scope: HOST, time: { kind: 'once', from: NOW + HOUR, to: NOW + 2 * HOUR }, note: '', by: 'ops' },
      NOW,
    );
    await pass(store, JOB_FAILS);
    assert.equal(await told(store, owner, job.token), [MISSING]);
  });

  test('the end of a silence moves no deadline of what needs nothing of it', async ({ store }) => {
    const { owner, job } = await hostAndJob(store);
    await silence(store, owner, NOW + 5 * MINUTE, { kind: 'tags', tags: ['other'] });
    await pass(store, NOW + 5 * MINUTE);
    await pass(store, NOW + 6 * MINUTE);
    assert.is((await snitchOf(store, owner, job.token)).state.dueAt, JOB_FAILS);
  });
});

contract('a held alert', (test) => {
  test('in a silence of its own alerts once, after both have ended', async ({ store }) => {
    const { owner, host, job } = await hostAndJob(store);
    await silence(store, owner, END);
    await pass(store, JOB_FAILS);
    const own = { kind: 'tokens', tokens: [job.token] } as const;
    await silence(store, owner, END + HOUR, own, JOB_FAILS + MINUTE);
    for (let now = JOB_FAILS; now < END + HOUR; now += MINUTE) {
      await checkIn(store, host.token, now);
      await pass(store, now);
    }
    assert.equal(await told(store, owner, job.token), []);
    await pass(store, END + HOUR);
    assert.equal(await told(store, owner, job.token), [MISSING]);
    await pass(store, END + HOUR + MINUTE);
    assert.equal(await told(store, owner, job.token), [MISSING]);
  });

  test('that somebody acknowledged is not told, and neither is its end', async ({ store }) => {
    const { owner, job } = await hostAndJob(store);
    const { id } = await silence(store, owner, END);
    await pass(store, JOB_FAILS);
    await store.acknowledgeSnitch(owner.id, job.token, SAID, JOB_FAILS + MINUTE);
    await store.deleteSilence(owner.id, id, JOB_FAILS + 2 * MINUTE);
    for (let now = JOB_FAILS; now < END; now += MINUTE) await pass(store, now);
    await store.updateSnitch(owner.id, job.token, { needs: [] }, END);
    await pass(store, END + HOUR);
    assert.equal(await told(store, owner, job.token), []);
    await checkIn(store, job.token, END + HOUR);
    assert.equal(await told(store, owner, job.token), []);
  });

  test('whose acknowledgement is taken back is told after one more period', async ({ store }) => {
    const { owner, job } = await hostAndJob(store);
    await silence(store, owner, END);
    await pass(store, JOB_FAILS);
    await store.acknowledgeSnitch(owner.id, job.token, SAID, JOB_FAILS + MINUTE);
    await pass(store, END + MINUTE);
    await store.unacknowledgeSnitch(owner.id, job.token, END + 2 * MINUTE);
    await pass(store, END + 12 * MINUTE - 1);
    assert.equal(await told(store, owner, job.token), []);
    await pass(store, END + 12 * MINUTE);
    assert.equal(await told(store, owner, job.token), [MISSING]);
  });
});

contract('an alarm that a silence kept back', (test) => {
  async function keptBack(store: Store) {
    const owner = await newCase(store);
    const { token } = await healthySnitch(store, owner);
    await silence(store, owner, END, { kind: 'all' });
    await checkIn(store, token, NOW + MINUTE, { outcome: 'error' });
    await store.acknowledgeSnitch(owner.id, token, SAID, NOW + 2 * MINUTE);
    return { owner, token };
  }

  test('is not told where somebody acknowledged it, and neither is its end', async ({ store }) => {
    const { owner, token } = await keptBack(store);
    await pass(store, END);
    assert.equal(await told(store, owner, token), []);
    await checkIn(store, token, END + MINUTE);
    assert.equal(await told(store, owner, token), []);
  });

  test('is told where that is taken back: in the silence at its end, behind it at once', async ({
    store,
  }) => {
    for (const takenBack of [END - MINUTE, END + MINUTE]) {
      const { owner, token } = await keptBack(store);
      if (takenBack > END) await pass(store, END);
      await store.unacknowledgeSnitch(owner.id, token, takenBack);
      await pass(store, Math.max(END, takenBack));
      assert.equal(await told(store, owner, token), ['snitch.errored from healthy']);
    }
  });

  test('is not told of a snitch that is held meanwhile, but as soon as it reports its error again', async ({
    store,
  }) => {
    const { owner, host, job } = await hostAndJob(store);
    const own = { kind: 'tokens', tokens: [job.token] } as const;
    await silence(store, owner, NOW + 5 * MINUTE, own);
    await checkIn(store, job.token, NOW + MINUTE, { outcome: 'error' });
    await store.acknowledgeSnitch(owner.id, job.token, SAID, NOW + 2 * MINUTE);
    await silence(store, owner, END, { kind: 'tokens', tokens: [host.token] }, NOW + 5 * MINUTE);
    for (let now = NOW; now < END; now += MINUTE) await pass(store, now);
    const { state } = await snitchOf(store, owner, job.token);
    assert.equal([state.status, state.acknowledged, state.held === null], ['failed', null, false]);
    assert.equal(await told(store, owner, job.token), []);
    await checkIn(store, job.token, END - 1, { outcome: 'error' });
    await pass(store, END);
    assert.equal(await told(store, owner, job.token), ['snitch.errored from healthy']);
  });
});
