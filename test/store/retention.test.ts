import * as assert from 'uvu/assert';
import type { Case } from '../../src/core/case.ts';
import { type ChannelEvent, DEFAULT_EVENTS } from '../../src/core/channel.ts';
import type { Store } from './acting.ts';
import {
  checkIn,
  contract,
  DAY,
  HOUR,
  healthySnitch,
  MINUTE,
  NOW,
  newCase,
  newSnitch,
  type Opened,
  openSqlite,
  snitchOf,
  sweep,
} from './fixture.ts';
import { ON_POSTGRES } from './postgres/open.ts';

const PAGE = { limit: 1_000, before: null };

/** Check-ins of a log that keeps fifty and is cut every twenty-five. */
const WRITTEN = ON_POSTGRES ? 200 : 500;

/** A whole pass at NOW; answers the number of slices. */
async function prune(store: Store, limits: { checkIns?: number; olderThan?: number }): Promise<number> {
  let slices = 1;
  while (await store.prune({ checkIns: 100, olderThan: 0, now: NOW, ...limits })) slices += 1;
  return slices;
}

async function minutesKept(store: Store, { id }: Case, token: string): Promise<number[]> {
  const records = await store.listCheckIns(id, token, PAGE);
  return (records ?? []).map(({ at }) => (at - NOW) / MINUTE);
}

async function rowsIn({ query }: Opened, table: string): Promise<number> {
  const [row] = await query<{ count: number }>(`SELECT COUNT(*) AS count FROM ${table}`);
  return row?.count ?? 0;
}

/** Settles all deliveries by Slack that are due, as delivered under this reference. */
async function tell(store: Store, now: number, reference: string): Promise<void> {
  const request = { now, leaseUntil: now + HOUR, perTarget: 9, limit: 9, busy: [], after: '' };
  for (const { id, fence } of await store.claimDeliveries({ ...request, channel: 'slack' }))
    await store.settleDelivery(id, fence, { kind: 'delivered', at: now, told: { reference } });
}

/** A channel that gets only these events besides recoveries. @returns its id */
async function newSlack(store: Store, { id }: Case, ...events: readonly ChannelEvent[]): Promise<string> {
  const fields = {
    settings: { url: 'http://127.0.0.1:9' },
    events: [...events, 'reporting' as const],
    tags: [],
  };
  return (await store.createChannel(id, { kind: 'slack', name: null, fields }, NOW)).id;
}

contract('retention', (test) => {
  test('the newest check-ins of each snitch are kept, with their output', async (opened) => {
    const { store } = opened;
    const owner = await newCase(store);
    const busy = await newSnitch(store, owner);
    const quiet = await newSnitch(store, owner);
    await checkIn(store, quiet.token, NOW, { output: 'quiet' });
    for (let minute = 0; minute < 10; minute += 1) {
      await checkIn(store, busy.token, NOW + minute * MINUTE, { output: `run ${minute}` });
    }
    await prune(store, { checkIns: 3 });
    assert.equal(await minutesKept(store, owner, busy.token), [9, 8, 7]);
    assert.equal(await minutesKept(store, owner, quiet.token), [0]);
    assert.is(await rowsIn(opened, 'check_ins'), 4);
    assert.is(await rowsIn(opened, 'check_in_outputs'), 4);
    const [newest] = (await store.listCheckIns(owner.id, busy.token, PAGE)) ?? [];
    assert.is(newest?.output, 'run 9');
  });

  test('the log keeps its limit while it is written, without any pruning', async () => {
    const opened = await openSqlite({ checkInsKept: () => 50 });
    try {
      const { store } = opened;
      const owner = await newCase(store);
      const { token } = await newSnitch(store, owner);
      const quiet = await healthySnitch(store, owner);
      for (let minute = 0; minute < WRITTEN; minute += 1) {
        const at = NOW + minute * MINUTE;
        await checkIn(store, token, at, {
          output: `run ${minute}`,
          outcome: minute % 3 === 0 ? 'log' : 'healthy',
        });
        const listed = await minutesKept(store, owner, token);
        assert.equal([listed.length, listed[0]], [Math.min(minute + 1, 50), minute]);
        if (minute % 20 < 10) continue;
        assert.ok((await rowsIn(opened, 'check_ins')) <= 50 + 25 + 1);
        assert.ok((await rowsIn(opened, 'check_in_outputs')) <= 50 + 25);
      }
      assert.equal(await minutesKept(store, owner, quiet.token), [0]);
    } finally {
      await opened.dispose();
    }
  });

  test('also where only one or three are kept', async () => {
    for (const [kept, most] of [
      [1, 1],
      [3, 4],
    ] as const) {
      const opened = await openSqlite({ checkInsKept: () => kept });
      try {
        const { store } = opened;
        const owner = await newCase(store);
        const { token } = await newSnitch(store, owner);
        for (let minute = 0; minute < 12; minute += 1) {
          await checkIn(store, token, NOW + minute * MINUTE, { output: `run ${minute}` });
          assert.is((await minutesKept(store, owner, token))[0], minute);
          assert.ok((await rowsIn(opened, 'check_ins')) <= most, `${kept} kept at ${minute}`);
        }
      } finally {
        await opened.dispose();
      }
    }
  });

  test('a pass takes all alerts that are too old, however many there are', async (opened) => {
    const { store } = opened;
    const owner = await newCase(store);
    // Each has two alerts and one check-in, so the alerts alone are more than one call examines.
    await Promise.all(Array.from({ length: 300 }, () => healthySnitch(store, owner)));
    await sweep(store, NOW + 2 * HOUR);
    assert.is(await rowsIn(opened, 'alerts'), 600);
    await prune(store, { olderThan: NOW + DAY });
    assert.is(await rowsIn(opened, 'alerts'), 300, 'those that opened what still lasts');
    const { snitches } = await store.listSnitches(owner.id, { after: 0, limit: 300, tags: [] });
    for (const { token } of snitches) await store.deleteSnitch(owner.id, token);
    await prune(store, { olderThan: NOW + DAY });
    assert.is(await rowsIn(opened, 'alerts'), 0);
  });

  test('entries past their days are deleted, and the newest of each snitch stays', async (opened) => {
    const { store } = opened;
    const owner = await newCase(store);
    const { token } = await newSnitch(store, owner);
    const silent = await newSnitch(store, owner);
    for (const minute of [0, 1]) await checkIn(store, silent.token, NOW + minute * MINUTE);
    for (let minute = 0; minute < 6; minute += 1) await checkIn(store, token, NOW + minute * MINUTE);
    await prune(store, { olderThan: NOW + 4 * MINUTE });
    assert.equal(await minutesKept(store, owner, token), [5, 4]);
    assert.equal(await minutesKept(store, owner, silent.token), [1]);
    await checkIn(store, token, NOW + 6 * MINUTE);
    assert.equal(await minutesKept(store, owner, token), [6, 5, 4]);
  });

  test('the check-ins of a deleted snitch go', async (opened) => {
    const { store } = opened;
    const owner = await newCase(store);
    const { token } = await newSnitch(store, owner);
    await checkIn(store, token, NOW, { output: 'x' });
    const kept = await healthySnitch(store, owner);
    await store.deleteSnitch(owner.id, token);
    await prune(store, {});
    assert.is(await rowsIn(opened, 'check_ins'), 1);
    assert.is(await rowsIn(opened, 'check_in_outputs'), 0);
    assert.equal(await minutesKept(store, owner, kept.token), [0]);
  });

  test('a long log is pruned in slices, also across a restart', async (opened) => {
    const owner = await newCase(opened.store);
    const { token } = await newSnitch(opened.store, owner);
    await Promise.all(Array.from({ length: 1_300 }, (_, at) => checkIn(opened.store, token, NOW + at)));
    const limits = { checkIns: 5, olderThan: 0, now: NOW };
    assert.is(await opened.store.prune(limits), true);
    const store = await opened.reopen();
    assert.ok((await prune(store, limits)) > 1);
    assert.is(await rowsIn(opened, 'check_ins'), 5);
    assert.is((await store.listCheckIns(owner.id, token, PAGE))?.length, 5);
  });

  test('check-ins that arrive during a pass are kept, and the next pass begins at the front', async (opened) => {
    const { store } = opened;
    const owner = await newCase(store);
    const { token } = await newSnitch(store, owner);
    await Promise.all(Array.from({ length: 600 }, (_, at) => checkIn(store, token, NOW + at)));
    await store.prune({ checkIns: 600, olderThan: 0, now: NOW });
    await checkIn(store, token, NOW + HOUR);
    await prune(store, { checkIns: 600 });
    assert.is(await rowsIn(opened, 'check_ins'), 601);
    await prune(store, { checkIns: 600 });
    assert.is(await rowsIn(opened, 'check_ins'), 600);
  });

  test('old alerts go with their deliveries, and none whose delivery is pending', async (opened) => {
    const { store } = opened;
    const owner = await newCase(store, { members: ['ann@example.com', 'bob@example.com'] });
    await healthySnitch(store, owner);
    await healthySnitch(store, owner);
    await healthySnitch(store, owner, {}, NOW + DAY);
    const request = { now: NOW, leaseUntil: NOW, perTarget: 2, limit: 3, busy: [], after: '' };
    const claimed = await store.claimDeliveries({ ...request, channel: 'email' });
    for (const { id, fence } of claimed) {
      await store.settleDelivery(id, fence, { kind: 'delivered', at: NOW });
    }
    await prune(store, { olderThan: NOW + HOUR });
    const listed = await store.listAlerts(owner.id, null, PAGE);
    assert.equal(
      listed.map(({ alert, deliveries }) => [alert.at - NOW, deliveries.map(({ state }) => state)]),
      [
        [DAY, ['pending', 'pending']],
        [0, ['delivered', 'pending']],
      ],
    );
    assert.is(await rowsIn(opened, 'deliveries'), 4);
  });

  test('alerts that were sent to nobody go by their age', async ({ store }) => {
    const owner = await newCase(store);
    await healthySnitch(store, owner);
    await prune(store, { olderThan: NOW });
    assert.is((await store.listAlerts(owner.id, null, PAGE)).length, 1);
    await prune(store, { olderThan: NOW + 1 });
    assert.equal(await store.listAlerts(owner.id, null, PAGE), []);
  });

  test('what opened an outage stays until that is over, with its deliveries', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await healthySnitch(store, owner);
    await sweep(store, NOW + 3 * HOUR);
    await prune(store, { olderThan: NOW + 4 * HOUR });
    assert.equal(
      (await store.listAlerts(owner.id, token, PAGE)).map(({ alert }) => alert.type),
      ['snitch.missing'],
    );
    await checkIn(store, token, NOW + 5 * HOUR);
    const [listed] = await store.listAlerts(owner.id, token, PAGE);
    assert.is(listed?.alert.snitch?.previous_status, 'missing');
    await prune(store, { olderThan: NOW + 6 * HOUR });
    assert.equal(await store.listAlerts(owner.id, token, PAGE), []);
  });

  test('whoever was told of a long outage is told that it is over', async ({ store }) => {
    const owner = await newCase(store, { reminders: 'daily' });
    const errors = await newSlack(store, owner, 'errored');
    const absences = await newSlack(store, owner, 'missing');
    const { token } = await newSnitch(store, owner);
    await checkIn(store, token, NOW, { outcome: 'error' });
    await tell(store, NOW, 'the error');
    await sweep(store, NOW + 3 * HOUR);
    await tell(store, NOW + 3 * HOUR, 'the absence');
    const later = await newSlack(store, owner, 'missing');
    for (let day = 1; day <= 40; day += 1) {
      await sweep(store, NOW + day * DAY + 4 * HOUR);
      await tell(store, NOW + day * DAY + 4 * HOUR, `reminder ${day}`);
    }
    const before = await snitchOf(store, owner, token);
    await prune(store, { olderThan: NOW + 41 * DAY });
    assert.is((await store.listAlerts(owner.id, token, PAGE)).length, 4);
    assert.is((await snitchOf(store, owner, token)).missingSince, before.missingSince);
    await checkIn(store, token, NOW + 42 * DAY);
    const [listed] = await store.listAlerts(owner.id, token, PAGE);
    assert.is(listed?.alert.type, 'snitch.reporting');
    assert.equal(listed?.deliveries.map(({ target }) => target).sort(), [errors, absences, later].sort());
  });

  test('of an outage that nobody was told of stays since when it lasts, also after a pause', async ({
    store,
  }) => {
    const owner = await newCase(store, { reminders: 'daily' });
    const { token } = await newSnitch(store, owner);
    for (const day of [0, 1]) {
      await checkIn(store, token, NOW + day * DAY, { outcome: 'error' });
      await sweep(store, NOW + day * DAY + 3 * HOUR);
    }
    await sweep(store, NOW + 2 * DAY + 4 * HOUR);
    await store.pauseSnitch(owner.id, token, { kind: 'unpaused' }, NOW + 3 * DAY);
    await store.unpauseSnitch(owner.id, token, NOW + 3 * DAY + 1);
    const { missingSince } = await snitchOf(store, owner, token);
    assert.ok(missingSince !== null && missingSince > NOW + DAY);
    await prune(store, { olderThan: NOW + 4 * DAY });
    assert.is((await snitchOf(store, owner, token)).missingSince, missingSince);
    const kept = await store.listAlerts(owner.id, token, PAGE);
    assert.equal(
      kept.map(({ alert }) => alert.type.slice('snitch.'.length)),
      ['paused', 'missing', 'errored', 'missing', 'errored'],
    );
  });

  test('an outage that began in a pause keeps its first alarm', async ({ store }) => {
    const owner = await newCase(store, { reminders: 'daily' });
    const { token } = await healthySnitch(store, owner);
    await store.pauseSnitch(owner.id, token, { kind: 'unpaused' }, NOW + MINUTE);
    await checkIn(store, token, NOW + 2 * MINUTE, { outcome: 'error' });
    await store.unpauseSnitch(owner.id, token, NOW + 3 * MINUTE);
    for (const day of [1, 2, 3, 4]) await sweep(store, NOW + day * DAY);
    await prune(store, { olderThan: NOW + 5 * DAY });
    const kept = await store.listAlerts(owner.id, token, PAGE);
    assert.equal(
      kept.map(({ alert }) => [alert.type, alert.at]),
      [
        ['snitch.missing', NOW + 4 * DAY],
        ['snitch.missing', NOW + DAY],
        ['snitch.paused', NOW + MINUTE],
      ],
    );
  });

  test('reminders whose deliveries are pending stay, all of them', async ({ store }) => {
    const owner = await newCase(store, { reminders: 'daily', members: ['ann@example.com'] });
    const { token } = await healthySnitch(store, owner);
    for (const day of [1, 2, 3, 4]) await sweep(store, NOW + day * DAY);
    const before = await store.listAlerts(owner.id, token, PAGE);
    assert.is(before.length, 5);
    await prune(store, { olderThan: NOW + 5 * DAY });
    assert.equal(await store.listAlerts(owner.id, token, PAGE), before);
  });

  test('what opened an outage stays until all are told that it is over', async ({ store }) => {
    const owner = await newCase(store);
    await newSlack(store, owner, 'errored');
    const { token } = await newSnitch(store, owner);
    await checkIn(store, token, NOW, { outcome: 'error' });
    await tell(store, NOW, 'the error');
    await checkIn(store, token, NOW + DAY);
    await prune(store, { olderThan: NOW + DAY });
    const request = { leaseUntil: NOW + DAY + HOUR, perTarget: 9, limit: 9, busy: [], after: '' };
    const [claimed] = await store.claimDeliveries({
      ...request,
      now: NOW + DAY,
      channel: 'slack',
    });
    assert.is(claimed?.recipient?.incident.reference, 'the error');
    await store.settleDelivery(claimed?.id ?? 0, claimed?.fence ?? 0, {
      kind: 'delivered',
      at: NOW + DAY,
      told: { reference: null },
    });
    await prune(store, { olderThan: NOW + DAY });
    assert.is((await store.listAlerts(owner.id, token, PAGE)).length, 1);
  });

  test('an alarm that is told again and again stays as long as it lasts, under the name of then', async ({
    store,
  }) => {
    const owner = await newCase(store);
    const fields = { settings: { url: 'http://127.0.0.1:9' }, events: DEFAULT_EVENTS, tags: [] };
    const { id: channel } = await store.createChannel(
      owner.id,
      { kind: 'alertmanager', name: null, fields },
      NOW,
    );
    const { token, name } = await newSnitch(store, owner);
    const tell = async (now: number) => {
      const request = { now, leaseUntil: now + HOUR, perTarget: 9, limit: 9, busy: [], after: '' };
      for (const { id, fence } of await store.claimDeliveries({ ...request, channel: 'alertmanager' }))
        await store.settleDelivery(id, fence, { kind: 'delivered', at: now, told: { reference: null } });
    };
    await checkIn(store, token, NOW, { outcome: 'error' });
    await tell(NOW);
    await sweep(store, NOW + 3 * HOUR);
    await tell(NOW + 3 * HOUR);
    await store.updateSnitch(owner.id, token, { name: 'another' }, NOW + 4 * HOUR);
    const later = NOW + 100 * DAY;
    await prune(store, { olderThan: later - DAY });
    const [repeat] = await store.takeRepeats(later, 9);
    assert.equal(
      [
        repeat?.channelId,
        repeat?.alert.at,
        repeat?.recipient.incident.name,
        repeat?.recipient.incident.since,
      ],
      [channel, NOW + 3 * HOUR, name, NOW],
    );
    const untold = await newSnitch(store, owner);
    await checkIn(store, untold.token, later, { outcome: 'error' });
    const lasts = (of: string) => store.lasts({ channelId: channel, token: of });
    assert.equal([await lasts(token), await lasts(untold.token)], [true, false]);
    await checkIn(store, token, later);
    assert.is(await lasts(token), false);
    await store.deleteSnitch(owner.id, untold.token);
    await tell(later);
    await prune(store, { olderThan: later });
    assert.equal(
      (await store.listAlerts(owner.id, token, PAGE)).map(({ alert }) => alert.at),
      [later],
    );
    assert.equal(await store.takeRepeats(later + HOUR, 9), []);
  });

  test('blind windows go by their age, unless they are not finished', async (opened) => {
    const { store } = opened;
    const owner = await newCase(store);
    await healthySnitch(store, owner);
    await store.openBlindWindow({ start: NOW + HOUR, end: NOW + HOUR + MINUTE });
    while (await store.postponeSlice(NOW + 2 * HOUR));
    assert.is(await rowsIn(opened, 'postponements'), 1);
    await store.openBlindWindow({ start: NOW + HOUR, end: NOW + HOUR + MINUTE });
    await prune(store, { olderThan: NOW + DAY });
    assert.is(await rowsIn(opened, 'blind_windows'), 1);
    assert.is(await rowsIn(opened, 'postponements'), 0);
  });
});
