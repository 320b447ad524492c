import * as assert from 'uvu/assert';
import type { Actor } from '../../src/core/activity/activity.ts';
import type { Case, CaseSettings } from '../../src/core/case.ts';
import type { SnitchError } from '../../src/core/errors.ts';
import type { ImportedSnitch } from '../../src/store/ownership.ts';
import {
  alertsOf,
  checkIn,
  contract,
  DAY,
  HOUR,
  healthySnitch,
  MINUTE,
  NOW,
  newCase,
  newSnitch,
  rejection,
} from './fixture.ts';

const settings: CaseSettings = {
  name: 'Nachtschicht 🌙',
  timezone: 'Europe/Berlin',
  members: ['ann@example.com', 'bob@example.com'],
  reminders: 'daily',
  errorNotices: false,
  maxSnitches: 3,
  onHold: true,
};

const ANN: Actor = { keyId: null, name: 'Ann' };

contract('cases', (test) => {
  test('a case is read as it was made', async ({ store }) => {
    const created = await store.createCase(settings, NOW);
    assert.match(created.id, /^case_[a-z2-7]{16}$/);
    assert.equal(created, { ...settings, id: created.id, createdAt: NOW });
    assert.equal(await store.getCase(created.id), created);
  });

  test('what a request still asks about a case that was deleted meanwhile is answered', async ({ store }) => {
    const created = await newCase(store);
    const { token, tags } = await healthySnitch(store, created);
    await store.createSilence(
      created.id,
      { scope: { kind: 'all' }, time: { kind: 'once', from: NOW, to: NOW + HOUR }, note: '', by: 'ops' },
      NOW,
    );
    assert.ok(await store.silencedAmong(created.id, [{ token, tags, dueAt: null }], NOW));
    assert.ok(await store.silenceOver(created.id, token, NOW));
    await store.deleteCase(created.id);
    assert.is(await store.silencedAmong(created.id, [{ token, tags, dueAt: null }], NOW), null);
    assert.is(await store.silenceOver(created.id, token, NOW), null);
    assert.is(await store.findProspect(created.id, token, NOW), null);
    assert.equal((await store.quietTimes(created.id, NOW - HOUR, NOW)).silences, []);
  });

  test('no limit of snitches is kept as null', async ({ store }) => {
    const created = await store.createCase({ ...settings, maxSnitches: null }, NOW);
    assert.is((await store.getCase(created.id))?.maxSnitches, null);
  });

  test('cases are listed newest first', async ({ store }) => {
    const older = await newCase(store, { name: 'older' }, NOW);
    const newer = await newCase(store, { name: 'newer' }, NOW + MINUTE);
    assert.equal(await store.listCases(), [newer, older]);
  });

  test('new rules hold for check-ins of the same moment that come after them', async ({ store }) => {
    const owner = await newCase(store, { errorNotices: true });
    const erroredOf = async (token: string) =>
      (await alertsOf(store, owner, token)).filter((alert) => alert.startsWith('snitch.errored'));
    // The first rounds may be slow, and then the three are not written in one transaction.
    for (let round = 0; round < 10; round += 1) {
      await store.updateCase(owner.id, { errorNotices: true }, NOW);
      const [before, after] = [await healthySnitch(store, owner), await healthySnitch(store, owner)];
      await Promise.all([
        checkIn(store, before.token, NOW + MINUTE, { outcome: 'error' }),
        store.updateCase(owner.id, { errorNotices: false }, NOW + MINUTE),
        checkIn(store, after.token, NOW + MINUTE, { outcome: 'error' }),
      ]);
      assert.equal(await erroredOf(before.token), ['snitch.errored from healthy']);
      assert.equal(await erroredOf(after.token), [], `round ${round}`);
    }
  });

  test('each case has its own rules', async ({ store }) => {
    const ahead = { UTC: 0, 'Pacific/Auckland': 12 * HOUR, 'America/New_York': -4 * HOUR };
    for (const [timezone, offset] of Object.entries(ahead)) {
      const owner = await newCase(store, { timezone });
      const { token } = await healthySnitch(store, owner, { interval: 'daily' });
      const dueAt = (await store.getSnitch(owner.id, token))?.state.dueAt ?? 0;
      assert.is((dueAt + offset) % DAY, 0, timezone);
    }
  });

  test('an update changes what it names and nothing else', async ({ store }) => {
    const created = await store.createCase(settings, NOW);
    const updated = await store.updateCase(created.id, { name: 'Days', members: [], onHold: false }, NOW);
    assert.equal(updated, { ...created, name: 'Days', members: [], onHold: false });
    assert.equal(await store.getCase(created.id), updated);
  });

  test('an update of one case leaves the others', async ({ store }) => {
    const created = await newCase(store);
    const other = await newCase(store, { name: 'other' });
    await store.updateCase(created.id, { ...settings }, NOW);
    assert.equal(await store.getCase(other.id), other);
  });

  test('there is no case of an unknown id', async ({ store }) => {
    assert.is(await store.getCase('case_none'), null);
    assert.is(await store.updateCase('case_none', { name: 'x' }, NOW), null);
    assert.is(await store.deleteCase('case_none'), false);
  });

  test('a deleted case takes its snitches, keys and webhooks with it', async ({ store, query }) => {
    const created = await newCase(store);
    const { token } = await newSnitch(store, created);
    const { key } = await store.createApiKey({ caseId: created.id, name: 'ci', scope: 'write' }, NOW);
    const webhook = await store.createWebhook(created.id, 'http://localhost/hook', NOW);
    assert.is(await store.deleteCase(created.id), true);
    for (const table of [
      'snitches',
      'snitch_states',
      'snitch_tags',
      'status_counts',
      'api_keys',
      'webhooks',
    ]) {
      assert.equal(await query(`SELECT count(*) AS rows FROM ${table}`), [{ rows: 0 }], table);
    }
    assert.is(await store.getCase(created.id), null);
    assert.equal(await store.listCases(), []);
    assert.is(await store.getSnitch(created.id, token), null);
    assert.is(await store.findApiKey(key), null);
    assert.is(await store.getWebhook(created.id, webhook.id), null);
    assert.is(await store.deleteCase(created.id), false);
  });

  test('a token that is used again after its case was deleted starts from scratch', async ({ store }) => {
    const created = await newCase(store);
    const { token } = await newSnitch(store, created);
    for (let count = 0; count < 20; count += 1) {
      await checkIn(store, token, NOW + count, { outcome: count % 2 === 0 ? 'error' : 'healthy' });
    }
    await store.deleteCase(created.id);
    const other = await newCase(store);
    const fields = { name: 'again', notes: '', tags: [], alertEmail: [] };
    const again = { ...fields, token, interval: 'hourly', alertType: 'smart' } as const;
    await store.importSnitches(other.id, { imported: [again], owner: null }, NOW + MINUTE);
    assert.is((await store.getSnitch(other.id, token))?.state.status, 'pending');
    assert.equal((await store.findLearned(token)).firstCheckIns, []);
    await checkIn(store, token, NOW + MINUTE, { outcome: 'error' });
    assert.equal(await alertsOf(store, other, token), ['snitch.errored from pending']);
    assert.is((await store.listCheckIns(other.id, token, { limit: 100, before: null }))?.length, 1);
  });

  test('a deleted case takes with it all that people made in it, and nothing of another case', async ({
    store,
    query,
  }) => {
    const [gone, kept] = [await newCase(store, { members: ['ann@example.com'] }), await newCase(store)];
    for (const { id } of [gone, kept]) {
      const { token } = await newSnitch(store, { id }, { tags: ['db'], maxRuntime: 60, needs: ['tag:host'] });
      await checkIn(store, token, NOW, { reported: { values: { bytes: 5 }, dropped: [] } });
      const time = { kind: 'once', from: NOW, to: NOW + MINUTE } as const;
      await store.createSilence(id, { scope: { kind: 'all' }, time, note: '', by: 'ops' }, NOW);
      await checkIn(store, token, NOW, { outcome: 'error' });
      await store.createBadge(id, { subject: { kind: 'tag', tag: 'db' }, label: null }, NOW);
      await store.putStatusPage(id, { slug: id.replaceAll('_', '-'), tags: ['*'] }, NOW);
      await store.createApiKey({ caseId: id, name: 'ci', scope: 'read' }, NOW);
      const webhook = await store.createWebhook(id, 'http://localhost/hook', NOW);
      await store.updateRoute(id, { channel: 'webhook', target: webhook.id }, { after: 60 });
      const fields = { settings: { topic: 'ops' }, events: [], tags: [] };
      await store.createChannel(id, { kind: 'ntfy', name: null, fields }, NOW);
      await store.updateCase(id, { timezone: 'Asia/Tokyo' }, NOW);
      const relief = `('${id}', 0, '[]', 0, 0)`;
      await query(`INSERT INTO reliefs (case_id, needed_id, tags, gone, cursor) VALUES ${relief}`);
      await query(
        `INSERT INTO repeats (channel_id, token, case_id, alert_id, next_at)
         SELECT 'chan_x', token, case_id, id, 0 FROM alerts WHERE case_id = '${id}' LIMIT 1`,
      );
    }
    const ofKept = `= '${kept.id}'`;
    const inKept = `IN (SELECT id FROM snitches WHERE case_id ${ofKept})`;
    const tables = {
      ...Object.fromEntries(
        ['snitches', 'snitch_tags', 'status_counts', 'silences', 'badges', 'api_keys', 'webhooks']
          .concat(['channels', 'routes', 'status_pages', 'needs', 'reliefs', 'reschedules', 'repeats'])
          .map((table) => [table, `case_id ${ofKept}`]),
      ),
      snitch_states: `id ${inKept}`,
      snitch_values: `snitch_id ${inKept}`,
      silenced_alarms: `snitch_id ${inKept}`,
    };
    const count = (table: string, where: string) =>
      query<{ rows: number }>(`SELECT count(*) AS rows FROM ${table} WHERE ${where}`).then(([row]) =>
        Number(row?.rows),
      );
    const before = new Map<string, number>();
    for (const [table, where] of Object.entries(tables)) before.set(table, await count(table, where));
    // That of all cases says that one was made and deleted.
    const entriesOf = ({ id }: Case) => count('activity', `case_id = '${id}'`);
    const entries = await entriesOf(kept);
    assert.ok(entries > 0 && (await entriesOf(gone)) > 0);
    await store.deleteCase(gone.id);
    assert.equal([await entriesOf(kept), await entriesOf(gone)], [entries, 0]);
    for (const [table, where] of Object.entries(tables)) {
      assert.ok((before.get(table) ?? 0) > 0, `${table}: a row that could get lost`);
      assert.is(await count(table, where), before.get(table), `${table} of the other case`);
      assert.is(await count(table, `NOT (${where})`), 0, `${table} of the deleted case`);
    }
  });

  test('a large case is emptied in slices, its counts with it, and no other case', async ({
    store,
    query,
  }) => {
    const [gone, kept] = [await newCase(store), await newCase(store)];
    for (const { id } of [gone, kept, gone]) {
      const imported = Array.from(
        { length: 225 },
        (_, index): ImportedSnitch => ({
          ...{ name: `job ${index}`, notes: '', tags: ['db', 'web'], alertEmail: [] },
          ...{ interval: 'daily', alertType: 'basic', token: null },
        }),
      );
      await store.importSnitches(id, { imported, owner: null }, NOW);
    }
    const rowsOf = async (table: string, id: string) => {
      const [row] = await query<{ rows: number }>(
        `SELECT count(*) AS rows FROM ${table} WHERE case_id = '${id}'`,
      );
      return Number(row?.rows);
    };
    const counted = async (id: string) => {
      const [row] = await query<{ rows: number }>(
        `SELECT sum(count) AS rows FROM status_counts WHERE case_id = '${id}'`,
      );
      return Number(row?.rows);
    };
    const left = [];
    while (await store.emptyCaseSlice(gone.id)) {
      const snitches = await rowsOf('snitches', gone.id);
      assert.is(await rowsOf('snitch_states', gone.id), snitches);
      assert.is(await rowsOf('snitch_tags', gone.id), 2 * snitches);
      assert.is(await counted(gone.id), snitches);
      left.push(snitches);
    }
    assert.equal(left, [250, 50]);
    assert.is(await store.deleteCase(gone.id), true);
    for (const table of ['snitches', 'snitch_states']) assert.is(await rowsOf(table, kept.id), 225);
    assert.is(await rowsOf('snitch_tags', kept.id), 450);
  });

  test('a deletion that was begun is ended after a restart, once and in the name of who began it', async ({
    store,
    reopen,
    query,
  }) => {
    const [gone, kept] = [await newCase(store), await newCase(store)];
    for (const { id } of [gone, kept]) {
      const imported = Array.from(
        { length: 225 },
        (_, index): ImportedSnitch => ({
          ...{ name: `job ${index}`, notes: '', tags: [], alertEmail: [] },
          ...{ interval: 'daily', alertType: 'basic', token: null },
        }),
      );
      await store.importSnitches(id, { imported, owner: null }, NOW);
    }
    assert.is(await store.deletionSlice(NOW), false);
    assert.is(await store.planDeletion('case_none', ANN), false);
    assert.is(await store.planDeletion(gone.id, ANN), true);
    assert.is(await store.planDeletion(gone.id, { keyId: null, name: 'Bob' }), true);
    assert.is(await store.deletionSlice(NOW), true);
    assert.ok(await store.getCase(gone.id));
    const reopened = await reopen();
    while (await reopened.deletionSlice(NOW));
    assert.is(await reopened.getCase(gone.id), null);
    assert.equal(
      (await reopened.listCases()).map(({ id }) => id),
      [kept.id],
    );
    const names = await query<{ name: string }>(
      `SELECT key_name AS name FROM activity WHERE action = 'case.deleted'`,
    );
    assert.equal(
      names.map(({ name }) => name),
      [ANN.name],
    );
    assert.is(await reopened.deletionSlice(NOW), false);
  });

  test('a deleted case leaves every other case whole', async ({ store }) => {
    const created = await newCase(store);
    const other = await newCase(store, { name: 'other' });
    await newSnitch(store, created);
    const snitch = await newSnitch(store, other);
    const { key } = await store.createApiKey({ caseId: other.id, name: 'ci', scope: 'read' }, NOW);
    await store.createWebhook(other.id, 'http://localhost/hook', NOW);
    await store.deleteCase(created.id);
    assert.equal(await store.getSnitch(other.id, snitch.token), snitch);
    assert.equal((await store.findApiKey(key))?.case, other);
    assert.is((await store.listWebhooks(other.id)).length, 1);
  });

  test('an email that was decided before its case was deleted is still sent', async ({ store }) => {
    const created = await newCase(store, { members: ['ann@example.com'] });
    await healthySnitch(store, created);
    await store.deleteCase(created.id);
    const claim = { now: NOW, leaseUntil: NOW + MINUTE, perTarget: 5, limit: 5, busy: [], after: '' };
    const claimed = await store.claimDeliveries({ ...claim, channel: 'email' });
    assert.equal(
      claimed.map(({ target, alert }) => [target, alert.type]),
      [['ann@example.com', 'snitch.reporting']],
    );
  });

  test('nothing can be made in a case that was deleted', async ({ store }) => {
    const { id } = await newCase(store);
    await store.deleteCase(id);
    const refused = async (promise: Promise<unknown>) =>
      assert.is(((await rejection(promise)) as SnitchError).type, 'resource_not_found');
    await refused(newSnitch(store, { id }));
    await refused(store.createApiKey({ caseId: id, name: 'ci', scope: 'write' }, NOW));
    await refused(store.createWebhook(id, 'http://localhost/hook', NOW));
  });
});
