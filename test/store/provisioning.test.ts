import * as assert from 'uvu/assert';
import type { CheckIn } from '../../src/core/check-in.ts';
import { PlanLimitReached } from '../../src/core/errors.ts';
import type { SnitchFields } from '../../src/core/snitch.ts';
import {
  alertsOf,
  checkIn,
  contract,
  HOUR,
  MINUTE,
  NOW,
  newCase,
  newSnitch,
  rejection,
  snitchOf,
} from './fixture.ts';

const PAGE = { limit: 100, before: null };

const FIELDS: SnitchFields = {
  name: 'nightly-backup',
  notes: '',
  tags: ['web1'],
  alertEmail: [],
  interval: 'daily',
  alertType: 'basic',
  schedule: { cron: '0 3 * * *' },
};

const first = (details: Partial<CheckIn> = {}): Omit<CheckIn, 'token'> => {
  const nothing = { exitStatus: null, message: null, source: null, runId: null, output: null };
  return { now: NOW, at: NOW, outcome: 'healthy', ...nothing, ...details };
};

contract('check-ins by name', (test) => {
  test('a name is found in its own case, exactly as it is spelled', async ({ store }) => {
    const owner = await newCase(store);
    const rival = await newCase(store);
    for (const name of ['backup', 'Größe 100 %', 'a/b', "'; DROP TABLE snitches; --", '🌙'.repeat(255)]) {
      const { token } = await newSnitch(store, owner, { name });
      await newSnitch(store, rival, { name });
      assert.is(await store.findTokenByName(owner.id, name), token, name);
    }
    for (const name of ['Backup', 'backup ', ' backup', 'back', 'Gro\u0308ße 100 %', '', '%']) {
      assert.is(await store.findTokenByName(owner.id, name), null, name);
    }
  });

  test('of several with one name, the one that was made first is meant', async ({ store }) => {
    const owner = await newCase(store);
    const made = [];
    for (let count = 0; count < 3; count += 1) made.push(await newSnitch(store, owner, { name: 'twin' }));
    assert.is(await store.findTokenByName(owner.id, 'twin'), made[0]!.token);
    await store.deleteSnitch(owner.id, made[0]!.token);
    assert.is(await store.findTokenByName(owner.id, 'twin'), made[1]!.token);
    await store.updateSnitch(owner.id, made[1]!.token, { name: 'other' }, NOW);
    assert.is(await store.findTokenByName(owner.id, 'twin'), made[2]!.token);
  });

  test('the first check-in makes its snitch, and is its first check-in', async ({ store }) => {
    const owner = await newCase(store);
    assert.is(await store.applyFirstCheckIn(owner.id, FIELDS, first()), true);
    const token = (await store.findTokenByName(owner.id, FIELDS.name))!;
    const { state, tags, createdAt } = await snitchOf(store, owner, token);
    assert.equal(
      [state.status, state.schedule, tags, createdAt],
      ['healthy', FIELDS.schedule, ['web1'], NOW],
    );
    assert.is(state.checkedInAt, NOW);
    assert.is((await store.listCheckIns(owner.id, token, PAGE))?.length, 1);
    assert.equal(await alertsOf(store, owner), ['snitch.reporting from pending']);
  });

  test('one that there is by then takes the check-in, and stays as it is', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await newSnitch(store, owner, { name: FIELDS.name, interval: 'hourly' });
    await checkIn(store, token, NOW - HOUR);
    const made = await store.applyFirstCheckIn(owner.id, FIELDS, first({ outcome: 'error', exitStatus: 3 }));
    assert.is(made, false);
    const { state, tags } = await snitchOf(store, owner, token);
    assert.equal([state.status, state.interval, state.schedule, tags], ['errored', 'hourly', null, []]);
    assert.is((await store.listSnitches(owner.id, { after: 0, limit: 10, tags: [] })).snitches.length, 1);
  });

  test('of many first check-ins at the same moment exactly one makes the snitch, and all count', async ({
    store,
  }) => {
    const owner = await newCase(store);
    const all = Array.from({ length: 50 }, (_, index) =>
      store.applyFirstCheckIn(owner.id, FIELDS, first({ at: NOW - index * MINUTE })),
    );
    assert.is((await Promise.all(all)).filter(Boolean).length, 1);
    const { snitches } = await store.listSnitches(owner.id, { after: 0, limit: 100, tags: [] });
    assert.is(snitches.length, 1);
    assert.is((await store.listCheckIns(owner.id, snitches[0]!.token, PAGE))?.length, 50);
  });

  test('a case that is full makes none, and takes check-ins of those that it has', async ({ store }) => {
    const owner = await newCase(store, { maxSnitches: 1 });
    assert.is(await store.applyFirstCheckIn(owner.id, FIELDS, first()), true);
    const refused = store.applyFirstCheckIn(owner.id, { ...FIELDS, name: 'other' }, first());
    assert.instance(await rejection(refused), PlanLimitReached);
    assert.is(await store.findTokenByName(owner.id, 'other'), null);
    assert.is(await store.applyFirstCheckIn(owner.id, FIELDS, first({ now: NOW + 1, at: NOW + 1 })), false);
  });

  test('a snitch whose creation was answered survives a restart', async (context) => {
    const owner = await newCase(context.store);
    await context.store.applyFirstCheckIn(owner.id, FIELDS, first());
    const token = (await context.store.findTokenByName(owner.id, FIELDS.name))!;
    const store = await context.reopen();
    assert.is((await snitchOf(store, owner, token)).state.status, 'healthy');
    assert.is(await store.applyFirstCheckIn(owner.id, FIELDS, first()), false);
  });
});
