/** A snitch that alerts too often: one alert says so, the next ones are only counted, and its final status is sent. */
import * as assert from 'uvu/assert';
import type { Case } from '../../src/core/case.ts';
import type { Store } from './acting.ts';
import {
  checkIn,
  contract,
  DAY,
  HOUR,
  MINUTE,
  NOW,
  newCase,
  newSnitch,
  type Opened,
  SECOND,
  snitchOf,
  sweep,
} from './fixture.ts';

const PAGE = { limit: 1_000, before: null };

/** Turns the snitch `times` times, a second each, beginning with an error; answers with the time after. */
async function flip(store: Store, token: string, times: number, from = NOW): Promise<number> {
  for (let index = 0; index < times; index += 1) {
    const outcome = index % 2 === 0 ? 'error' : 'healthy';
    await checkIn(store, token, from + index * SECOND, { outcome, message: `turn ${index}` });
  }
  return from + times * SECOND;
}

/** Newest first: type and phase. */
async function told(store: Store, { id }: Case, token: string): Promise<string[]> {
  const listed = await store.listAlerts(id, token, PAGE);
  return listed.map(({ alert }) => {
    const { flapping } = alert.details ?? {};
    return `${alert.type}${flapping ? ` ${flapping.phase} ${flapping.changes}` : ''}`;
  });
}

async function count({ query }: Opened, table: string): Promise<number> {
  return (await query<{ count: number }>(`SELECT COUNT(*) AS count FROM ${table}`))[0]?.count ?? 0;
}

contract('flapping', (test) => {
  test('12 alerts within an hour are sent, the 13th says that there are too many, the rest are counted', async (opened) => {
    const { store } = opened;
    const owner = await newCase(store, { members: ['ann@example.com'] });
    const { token } = await newSnitch(store, owner);
    const then = await flip(store, token, 12);
    const first = await told(store, owner, token);
    assert.is(first.length, 12);
    assert.ok(first.every((one) => !one.includes('begun')));
    await flip(store, token, 500, then);
    assert.is(await count(opened, 'alerts'), 13);
    assert.is(await count(opened, 'deliveries'), 13);
    assert.is((await told(store, owner, token))[0], 'snitch.errored begun 13');
    assert.is((await snitchOf(store, owner, token)).state.status, 'healthy', 'the state goes on');
  });

  test('a missed deadline can be the one too many, for each due snitch on its own', async ({ store }) => {
    const owner = await newCase(store);
    const [often, seldom] = [
      await newSnitch(store, owner, { interval: '15_minute' }),
      await newSnitch(store, owner, { interval: '15_minute' }),
    ];
    await flip(store, often.token, 12);
    await flip(store, seldom.token, 2);
    assert.is(await sweep(store, NOW + 50 * MINUTE), 2);
    assert.is((await told(store, owner, often.token))[0], 'snitch.missing begun 13');
    assert.is((await told(store, owner, seldom.token))[0], 'snitch.missing');
  });

  test('12 an hour for a day are no flapping', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await newSnitch(store, owner);
    for (let index = 0; index < 48; index += 1) {
      await checkIn(store, token, NOW + index * 5 * MINUTE, {
        outcome: index % 2 === 0 ? 'error' : 'healthy',
      });
      await sweep(store, NOW + index * 5 * MINUTE + SECOND);
    }
    const alerts = await told(store, owner, token);
    assert.is(alerts.length, 48);
    assert.not.ok(alerts.some((one) => one.includes(' ')));
  });

  test('once it is quiet its final status is sent: a real outage after flapping', async ({ store }) => {
    const owner = await newCase(store, { members: ['ann@example.com'] });
    const { token } = await newSnitch(store, owner);
    const then = await flip(store, token, 31);
    await sweep(store, then + 9 * MINUTE);
    assert.is((await told(store, owner, token)).length, 13, 'it may not be over yet');
    await sweep(store, then + 10 * MINUTE);
    const [{ alert, deliveries } = { alert: null, deliveries: [] }] = await store.listAlerts(
      owner.id,
      token,
      PAGE,
    );
    assert.equal(
      [alert?.type, alert?.snitch?.status, alert?.snitch?.previous_status],
      ['snitch.errored', 'errored', 'healthy'],
    );
    assert.equal([alert?.details?.flapping?.phase, alert?.details?.flapping?.changes], ['over', 18]);
    assert.is(alert?.details?.message, 'turn 30');
    assert.is(deliveries.length, 1);
    await sweep(store, then + 3 * HOUR);
    assert.is((await told(store, owner, token))[0], 'snitch.missing', 'from now on all is told again');
    await checkIn(store, token, then + 3 * HOUR + MINUTE);
    assert.is((await told(store, owner, token))[0], 'snitch.reporting');
  });

  test('the final alert belongs to the incident that it is about', async ({ store }) => {
    const owner = await newCase(store);
    const incidentOf = async (times: number) => {
      const { token } = await newSnitch(store, owner);
      const then = await flip(store, token, times);
      await sweep(store, then + 10 * MINUTE);
      const listed = (await store.listAlerts(owner.id, token, PAGE)).reverse().map(({ alert }) => alert);
      const place = listed.findIndex(({ id }) => id === listed.at(-1)?.details?.threadId);
      return [listed.length, listed.at(-1)?.type, place];
    };
    // The 13th alert is the error that reported too many changes; it opened another incident.
    assert.equal(await incidentOf(14), [14, 'snitch.reporting', 12]);
    // The error that is sent in the end began while changes were only counted, so it follows the flapping alert.
    assert.equal(await incidentOf(15), [14, 'snitch.errored', 12]);
  });

  test('what a silence kept back and is counted at its end belongs to one incident with its recovery', async ({
    store,
  }) => {
    const owner = await newCase(store);
    const { token } = await newSnitch(store, owner, { interval: 'daily' });
    const then = await flip(store, token, 14);
    const time = { kind: 'once', from: then, to: then + MINUTE } as const;
    await store.createSilence(owner.id, { scope: { kind: 'all' }, time, note: '', by: 'ops' }, then);
    await checkIn(store, token, then + SECOND, { outcome: 'error' });
    while ((await store.endSilencesSlice(then + MINUTE)).more);
    await sweep(store, then + 11 * MINUTE);
    assert.is((await told(store, owner, token))[0], 'snitch.errored over 2');
    await checkIn(store, token, then + 2 * HOUR);
    const [recovery, alarm] = await store.listAlerts(owner.id, token, PAGE);
    assert.is(recovery?.alert.type, 'snitch.reporting');
    assert.ok(alarm?.alert.details?.threadId);
    assert.is(recovery?.alert.details?.threadId, alarm?.alert.details?.threadId);
  });

  test('a deadline that passes while it flaps is reported in the end', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await newSnitch(store, owner, { interval: '1_minute' });
    const then = await flip(store, token, 20);
    await sweep(store, then + 3 * MINUTE);
    assert.is((await snitchOf(store, owner, token)).state.status, 'failed');
    assert.is((await told(store, owner, token)).length, 13);
    await sweep(store, then + 14 * MINUTE);
    assert.match((await told(store, owner, token))[0] ?? '', 'snitch.missing over 8');
  });

  test('flapping that goes on is reported once an hour', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await newSnitch(store, owner);
    for (let index = 0; index < 5 * 60; index += 1) {
      const at = NOW + index * MINUTE;
      await checkIn(store, token, at, { outcome: index % 2 === 0 ? 'error' : 'healthy' });
      await sweep(store, at + SECOND);
    }
    const alerts = await told(store, owner, token);
    assert.is(alerts.length, 12 + 1 + 4);
    assert.is(alerts.filter((one) => one.includes('goes on 60')).length, 4);
  });

  test('each snitch flaps on its own: one does not affect another', async ({ store }) => {
    const owner = await newCase(store);
    const [one, other] = [await newSnitch(store, owner), await newSnitch(store, owner)];
    const phases = async (token: string) =>
      (await told(store, owner, token))
        .filter((alert) => alert.includes(' '))
        .map((alert) => alert.split('.')[1]);
    // The other begins half an hour later, and is quiet for a while before the first is reported again.
    for (let minute = 0; minute < 150; minute += 1) {
      const at = NOW + minute * MINUTE;
      const outcome = minute % 2 === 0 ? 'error' : 'healthy';
      await checkIn(store, one.token, at, { outcome });
      if (minute >= 30 && minute < 70) await checkIn(store, other.token, at, { outcome });
      await sweep(store, at + SECOND);
    }
    assert.equal(await phases(one.token), ['errored goes on 60', 'errored goes on 60', 'errored begun 13']);
    assert.equal(await phases(other.token), ['reporting over 27', 'errored begun 13']);
    const alerts = (await told(store, owner, one.token)).length;
    await checkIn(store, one.token, NOW + 150 * MINUTE, { outcome: 'error' });
    assert.is((await told(store, owner, one.token)).length, alerts, 'it still flaps when the other does not');
  });

  test('a pause that ended silently meanwhile is not told as a pause', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await newSnitch(store, owner);
    const then = await flip(store, token, 15);
    await store.pauseSnitch(owner.id, token, { kind: 'unpaused' }, then);
    await store.unpauseSnitch(owner.id, token, then + SECOND);
    await sweep(store, then + 11 * MINUTE);
    const [{ alert } = { alert: null }] = await store.listAlerts(owner.id, token, PAGE);
    assert.equal([alert?.type, alert?.snitch?.status], ['snitch.errored', 'errored']);
  });

  test('a clock that ran ahead silences nothing when it is back', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await newSnitch(store, owner);
    await flip(store, token, 14, NOW + 40 * DAY);
    const then = await flip(store, token, 2);
    await sweep(store, then + 11 * MINUTE);
    const alerts = await told(store, owner, token);
    assert.ok(alerts.includes('snitch.reporting over 3'), alerts.join());
    await checkIn(store, token, then + 12 * MINUTE, { outcome: 'error' });
    assert.is((await told(store, owner, token)).length, alerts.length + 1, 'and all is told again');
  });

  test('one that cannot be told is reported with its token, and told when it can be', async (opened) => {
    const { store, query } = opened;
    const owner = await newCase(store);
    const { token } = await newSnitch(store, owner);
    const then = await flip(store, token, 20);
    const before = (await told(store, owner, token)).length;
    await query(`UPDATE snitches SET alert_email = 'no list' WHERE token = ?`, token);
    const { failures } = await store.applyDue(then + HOUR, null, 10);
    assert.equal(
      failures.map((failure) => failure.token),
      [token],
    );
    assert.is((await told(store, owner, token)).length, before);
    await query(`UPDATE snitches SET alert_email = '[]' WHERE token = ?`, token);
    await sweep(store, then + 2 * HOUR);
    assert.ok((await told(store, owner, token)).length > before);
  });

  test('other snitches, and a new one with the same token after a deletion, alert as usual', async (opened) => {
    const { store } = opened;
    const owner = await newCase(store);
    const { token } = await newSnitch(store, owner);
    const other = await newSnitch(store, owner);
    const then = await flip(store, token, 20);
    await checkIn(store, other.token, then, { outcome: 'error' });
    assert.equal(await told(store, owner, other.token), ['snitch.errored']);
    await store.deleteSnitch(owner.id, token);
    assert.is(await count(opened, 'flapping'), 0);
    await sweep(store, then + HOUR);
    assert.is((await told(store, owner, token)).length, 13);
  });

  test('what was counted of a snitch is still told after another case is deleted', async ({ store }) => {
    const [owner, other] = [await newCase(store), await newCase(store)];
    const { token } = await newSnitch(store, owner);
    const then = await flip(store, token, 31);
    await store.deleteCase(other.id);
    await sweep(store, then + 10 * MINUTE);
    assert.is((await told(store, owner, token))[0], 'snitch.errored over 18');
  });

  test('notes are stored once for all alerts that show them, and deleted with the last of them', async (opened) => {
    const { store, query } = opened;
    const owner = await newCase(store);
    const notes = 'n'.repeat(10_000);
    const { token } = await newSnitch(store, owner, { notes, tags: ['a', 'b'] });
    await flip(store, token, 6);
    assert.is(await count(opened, 'alert_texts'), 1);
    const listed = await store.listAlerts(owner.id, token, PAGE);
    assert.ok(listed.length > 1);
    assert.ok(listed.every(({ alert }) => alert.snitch?.notes === notes));
    assert.equal(Object.keys(listed[0]?.alert.snitch ?? {}), [
      'token',
      'name',
      'notes',
      'tags',
      'status',
      'previous_status',
    ]);
    const [{ size } = { size: 0 }] = await query<{ size: number }>(
      'SELECT SUM(LENGTH(snitch)) AS size FROM alerts',
    );
    assert.ok(size < 2_000, String(size));
    const [newest] = listed;
    while (await store.prune({ checkIns: 100, olderThan: newest?.alert.at ?? 0, now: NOW + DAY }));
    const left = await store.listAlerts(owner.id, token, PAGE);
    assert.ok(left.length < listed.length, 'some of them are deleted');
    assert.is(left[0]?.alert.snitch?.notes, notes, 'what another alert shows stays');
    await store.updateSnitch(owner.id, token, { notes: 'm'.repeat(10_000) }, NOW + MINUTE);
    await checkIn(store, token, NOW + MINUTE, { outcome: 'error' });
    assert.is(await count(opened, 'alert_texts'), 2);
    assert.is(
      (await store.listAlerts(owner.id, token, PAGE)).at(-1)?.alert.snitch?.notes,
      notes,
      'as it was then',
    );
    while (await store.prune({ checkIns: 100, olderThan: NOW + MINUTE, now: NOW + DAY }));
    assert.is(await count(opened, 'alert_texts'), 1);
    assert.is(await count(opened, 'alerts'), 1);
  });

  test('an alert from before notes were kept apart is shown as it was', async ({ store, query }) => {
    const owner = await newCase(store);
    const { token } = await newSnitch(store, owner);
    const snitch = {
      token,
      name: 'n',
      notes: 'o'.repeat(500),
      tags: [],
      status: 'errored',
      previous_status: 'healthy',
    };
    await query(
      `INSERT INTO alerts (id, case_id, token, type, at, snitch, details) VALUES ('alert_old', ?, ?, 'snitch.errored', ?, ?, '{}')`,
      owner.id,
      token,
      NOW,
      JSON.stringify(snitch),
    );
    const [{ alert } = { alert: null }] = await store.listAlerts(owner.id, token, PAGE);
    assert.equal(alert?.snitch, snitch);
  });
});
