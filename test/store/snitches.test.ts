import * as assert from 'uvu/assert';
import { Invalid, PlanLimitReached } from '../../src/core/errors.ts';
import type { SnitchFields } from '../../src/core/snitch.ts';
import {
  checkIn,
  contract,
  HOUR,
  healthySnitch,
  NOW,
  newCase,
  newSnitch,
  rejection,
  snitchOf,
  utc,
} from './fixture.ts';

const fields: SnitchFields = {
  name: 'nightly "backup" 🌙',
  notes: 'line one\nline two',
  tags: ['Prod', 'prod', 'a b'],
  alertEmail: ['ops@example.com', 'Ops@example.com'],
  interval: 'daily',
  alertType: 'smart',
};

contract('snitches', (test) => {
  test('a snitch is read as it was made, and is pending', async ({ store }) => {
    const owner = await newCase(store);
    const created = await store.createSnitch(owner.id, fields, NOW);
    const { interval, alertType, ...described } = fields;
    assert.match(created.token, /^[a-z2-7]{26}$/);
    assert.equal(created, {
      ...described,
      token: created.token,
      caseId: owner.id,
      createdAt: NOW,
      state: {
        interval,
        alertType,
        status: 'pending',
        checkedInAt: null,
        lastCheckInAt: null,
        dueAt: null,
        pause: null,
        postponed: 0,
        movedFrom: null,
        reason: null,
        maxRuntime: null,
        runs: null,
        acknowledged: null,
        schedule: null,
        timezone: null,
        grace: null,
        minRuntime: null,
        failuresBeforeAlert: 1,
        expect: null,
        errorsInRow: 0,
        held: null,
      },
      lastReport: null,
      missingSince: null,
      needs: [],
      publicName: null,
      hold: null,
    });
    assert.equal(await store.getSnitch(owner.id, created.token), created);
  });

  test('there is no snitch of an unknown token', async ({ store }) => {
    const { id } = await newCase(store);
    assert.is(await store.getSnitch(id, 'none'), null);
    assert.is(await store.updateSnitch(id, 'none', { name: 'x' }, NOW), null);
    assert.is(await store.deleteSnitch(id, 'none'), false);
    assert.is(await store.pauseSnitch(id, 'none', { kind: 'healthy' }, NOW), false);
    assert.is(await store.unpauseSnitch(id, 'none', NOW), false);
    assert.is(await store.addTags(id, 'none', ['x']), null);
    assert.is(await store.removeTag(id, 'none', ['x']), null);
    assert.is(await store.listCheckIns(id, 'none', { limit: 5, before: null }), null);
    assert.is(await checkIn(store, 'none', NOW), false);
  });

  test('a case has at most as many snitches as its plan allows', async ({ store }) => {
    const owner = await newCase(store, { maxSnitches: 2 });
    const { token } = await newSnitch(store, owner);
    assert.is(await store.hasRoomForSnitch(owner.id), true);
    await newSnitch(store, owner);
    assert.is(await store.hasRoomForSnitch(owner.id), false);
    assert.instance(await rejection(newSnitch(store, owner)), PlanLimitReached);
    await store.deleteSnitch(owner.id, token);
    assert.is(await store.hasRoomForSnitch(owner.id), true);
    await newSnitch(store, owner);
  });

  test('callers at the same time cannot exceed the plan together', async ({ store }) => {
    const owner = await newCase(store, { maxSnitches: 2 });
    const results = await Promise.allSettled(Array.from({ length: 5 }, () => newSnitch(store, owner)));
    assert.equal(
      results.map(({ status }) => status),
      ['fulfilled', 'fulfilled', 'rejected', 'rejected', 'rejected'],
    );
  });

  test('the plan counts the snitches of its own case', async ({ store }) => {
    const owner = await newCase(store, { maxSnitches: 1 });
    const other = await newCase(store);
    await newSnitch(store, other);
    await newSnitch(store, other);
    assert.is(await store.hasRoomForSnitch(owner.id), true);
    assert.is(await store.hasRoomForSnitch(other.id), true);
    assert.is(await store.hasRoomForSnitch((await newCase(store, { maxSnitches: 0 })).id), false);
  });

  test('an update changes what it names and nothing else', async ({ store }) => {
    const owner = await newCase(store);
    const created = await store.createSnitch(owner.id, fields, NOW);
    const changes = { name: 'other', notes: '', tags: [], alertEmail: [] };
    assert.equal(await store.updateSnitch(owner.id, created.token, { name: 'other' }, NOW), {
      ...created,
      name: 'other',
    });
    assert.equal(await store.updateSnitch(owner.id, created.token, changes, NOW), { ...created, ...changes });
    assert.equal(await snitchOf(store, owner, created.token), { ...created, ...changes });
  });

  test('a new description moves no deadline', async ({ store }) => {
    const owner = await newCase(store);
    const before = await healthySnitch(store, owner);
    const changes = { name: 'other', interval: 'hourly', alertType: 'basic' } as const;
    const after = await store.updateSnitch(owner.id, before.token, changes, NOW + HOUR);
    assert.equal(after?.state, before.state);
  });

  test('a new interval restarts the deadline from now', async ({ store }) => {
    const owner = await newCase(store);
    const { token, state } = await healthySnitch(store, owner, { interval: 'hourly' });
    assert.is(state.dueAt, utc('2025-07-09T12:00:00'));
    const later = utc('2025-07-10T08:00:00');
    const updated = await store.updateSnitch(owner.id, token, { interval: 'daily' }, later);
    assert.equal(updated?.state, { ...state, interval: 'daily', dueAt: utc('2025-07-12T00:00:00') });
    assert.equal(await snitchOf(store, owner, token), updated);
  });

  test('a new interval sets no deadline for a pending or a paused snitch', async ({ store }) => {
    const owner = await newCase(store);
    const pending = await newSnitch(store, owner);
    const paused = await healthySnitch(store, owner);
    await store.pauseSnitch(owner.id, paused.token, { kind: 'unpaused' }, NOW);
    for (const { token } of [pending, paused]) {
      const updated = await store.updateSnitch(owner.id, token, { interval: 'daily' }, NOW + HOUR);
      assert.is(updated?.state.dueAt, null);
      assert.is(updated?.state.interval, 'daily');
    }
  });

  test('a smart snitch keeps to intervals that smart allows', async ({ store }) => {
    const owner = await newCase(store);
    const smart = await newSnitch(store, owner, { alertType: 'smart' });
    const minutes = await newSnitch(store, owner, { interval: '5_minute' });
    for (const [token, changes] of [
      [smart.token, { name: 'kept out', interval: '5_minute' }],
      [minutes.token, { name: 'kept out', alertType: 'smart' }],
    ] as const) {
      const error = await rejection(store.updateSnitch(owner.id, token, changes, NOW));
      assert.instance(error, Invalid);
      assert.equal(
        (error as Invalid).validations.map(({ attribute }) => attribute),
        ['alert_type'],
      );
    }
    assert.equal(await snitchOf(store, owner, smart.token), smart);
    assert.equal(await snitchOf(store, owner, minutes.token), minutes);
  });

  test('a deleted snitch is gone, and its check-in address with it', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await healthySnitch(store, owner);
    const other = await healthySnitch(store, owner);
    assert.is(await store.deleteSnitch(owner.id, token), true);
    assert.is(await store.getSnitch(owner.id, token), null);
    assert.is(await store.listCheckIns(owner.id, token, { limit: 5, before: null }), null);
    assert.is(await checkIn(store, token, NOW + HOUR), false);
    assert.is(await store.deleteSnitch(owner.id, token), false);
    assert.equal(await snitchOf(store, owner, other.token), other);
  });

  test('what was decided before a snitch was deleted stays listed and is still sent', async ({ store }) => {
    const owner = await newCase(store, { members: ['ann@example.com'] });
    const { token } = await healthySnitch(store, owner);
    await store.deleteSnitch(owner.id, token);
    const [listed] = await store.listAlerts(owner.id, null, { limit: 5, before: null });
    assert.is(listed?.alert.token, token);
    const claim = { now: NOW, leaseUntil: NOW + 1, perTarget: 5, limit: 5, busy: [], after: '' };
    const [claimed] = await store.claimDeliveries({ ...claim, channel: 'email' });
    assert.is(claimed?.alert.snitch?.name, 'nightly-backup');
  });
});
