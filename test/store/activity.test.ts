/** Who did what: kept with the change itself, for 90 days, within bounds. Time limit: 120 s. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Actor, type Entry, KEPT_FOR, MOST_ENTRIES } from '../../src/core/activity/activity.ts';
import type { Acts } from '../../src/store/activity.ts';
import { type Store, TESTER } from './acting.ts';
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
  openIn,
  rejection,
  temporaryDirectory,
} from './fixture.ts';
import { ON_POSTGRES } from './postgres/open.ts';
import { CASE, writeVersion1 } from './sqlite/version-1.ts';

const ANY = { subjectId: null, action: null, limit: 100_000, before: null };
const OPS: Actor = { keyId: 'key_ops', name: 'ops-key' };

const logOf = (store: Store, caseId: string | null, subjectId: string | null = null): Promise<Entry[]> =>
  store.listActivity(caseId, { ...ANY, subjectId });

const textOf = async (store: Store, caseId: string) => JSON.stringify(await logOf(store, caseId));

contract('activity', (test) => {
  test('an entry says who, when and what, of the case alone', async ({ store }) => {
    const owner = await newCase(store);
    const other = await newCase(store);
    const { token } = await healthySnitch(store, owner);
    const until = { kind: 'time', at: NOW + HOUR } as const;
    await store.by(OPS, NOW + MINUTE).pauseSnitch(owner.id, token, until, NOW + MINUTE);
    const [entry] = await logOf(store, owner.id);
    assert.equal(
      { ...entry, id: 0 },
      {
        id: 0,
        at: NOW + MINUTE,
        by: OPS,
        action: 'snitch.paused',
        subject: { id: token, name: 'nightly-backup' },
        details: { until: NOW + HOUR },
      },
    );
    assert.equal(
      (await logOf(store, other.id)).map(({ action }) => action),
      ['case.created'],
    );
  });

  test('a change gives old and new values, lists additions and removals, and for notes only that they changed', async ({
    store,
  }) => {
    const owner = await newCase(store);
    const { token } = await newSnitch(store, owner, { tags: ['a', 'b'] });
    const changes = { tags: ['b', 'c'], notes: 'secret', grace: 60, interval: 'daily' } as const;
    await store.updateSnitch(owner.id, token, { ...changes, tags: [...changes.tags] }, NOW);
    const [entry] = await logOf(store, owner.id);
    assert.equal(entry?.details.changes, {
      notes: {},
      tags: { added: ['c'], removed: ['a'] },
      interval: { from: 'hourly', to: 'daily' },
      grace: { from: null, to: 60 },
    });
  });

  test('what a snitch needs is named, and nothing else of it has changed', async ({ store }) => {
    const owner = await newCase(store);
    const [host, disk] = [
      await newSnitch(store, owner, { name: 'host' }),
      await newSnitch(store, owner, { name: 'disk' }),
    ];
    const { token } = await newSnitch(store, owner, { needs: [host.token, 'tag:net'], notes: 'as before' });
    await store.updateSnitch(owner.id, token, { needs: ['tag:net', disk.token] }, NOW);
    const [entry] = await logOf(store, owner.id);
    assert.equal(entry?.details.changes, { needs: { added: ['disk'], removed: ['host'] } });
  });

  test('it outlives its snitch, and is deleted with its case', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await newSnitch(store, owner);
    await store.deleteSnitch(owner.id, token);
    assert.is((await logOf(store, owner.id, token)).length, 2);
    await store.deleteCase(owner.id);
    assert.equal(await logOf(store, owner.id), []);
    assert.is((await logOf(store, null))[0]?.action, 'case.deleted');
  });

  test('90 days are kept, whatever is kept of check-ins, and are deleted in slices', async (opened) => {
    const { store, clock } = opened;
    const owner = await newCase(store);
    const { token } = await newSnitch(store, owner);
    for (let edit = 0; edit < 1_200; edit += 1) {
      clock.now = NOW + edit;
      await store.updateSnitch(owner.id, token, { name: `edit ${edit}` }, NOW);
    }
    const prune = async (now: number) => {
      let slices = 1;
      while (await store.prune({ checkIns: 1, olderThan: now - DAY, now })) slices += 1;
      return slices;
    };
    assert.is(KEPT_FOR, 90 * DAY);
    await prune(NOW + 90 * DAY);
    assert.is((await logOf(store, owner.id)).length, 1_202);
    assert.ok((await prune(NOW + 1_100 + 90 * DAY)) >= 3);
    const left = await logOf(store, owner.id);
    assert.is(left.length, 100);
    assert.ok(left.every(({ at }) => at >= NOW + 1_100));
    await prune(NOW + 91 * DAY);
    assert.equal(await logOf(store, owner.id), []);
    await store.updateSnitch(owner.id, token, { name: 'after all' }, NOW);
    assert.is((await logOf(store, owner.id)).length, 1);
  });

  test('a case keeps only so many entries, and takes none of another', async ({ store, query }) => {
    const owner = await newCase(store);
    const quiet = await newCase(store);
    const { token } = await newSnitch(store, owner);
    const [{ count: own = 0 } = {}] = await query<{ count: number }>(
      'SELECT COUNT(*) AS count FROM activity WHERE case_id = ?',
      owner.id,
    );
    await query(
      `INSERT INTO activity (case_id, number, at, key_name, action, subject_name, details)
       WITH RECURSIVE counted (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counted WHERE n < ${MOST_ENTRIES + 5 - own})
       SELECT '${owner.id}', n + ${own}, ${NOW}, 'script', 'snitch.changed', 'x', '{}' FROM counted`,
    );
    for (let edit = 0; edit < 30; edit += 1) {
      await store.updateSnitch(owner.id, token, { name: `edit ${edit}` }, NOW);
    }
    const kept = await logOf(store, owner.id);
    assert.is(kept.length, MOST_ENTRIES);
    assert.equal(kept[0]?.details.changes, { name: { from: 'edit 28', to: 'edit 29' } });
    assert.is((await logOf(store, quiet.id)).length, 1);
  });

  test('names of any length and content are kept within bounds', async ({ store, query }) => {
    const owner = await newCase(store);
    const nasty = `\u001b[2J\u0007@everyone <b>\u202e👩‍👩‍👧${'ü'.repeat(10_000)}`;
    const { token } = await newSnitch(store, owner, { name: nasty });
    const by = { keyId: 'key_x', name: nasty };
    await store.by(by, NOW).updateSnitch(owner.id, token, { name: `${nasty}2`, tags: [nasty] }, NOW);
    await store
      .by(by, NOW)
      .updateCase(owner.id, { members: Array.from({ length: 200 }, (_, one) => `${one}@example.com`) }, NOW);
    const [members, edit] = await logOf(store, owner.id);
    assert.is(members?.details.changes?.members?.added?.length, 10);
    assert.is(members?.details.changes?.members?.more, 190);
    assert.ok((edit?.by.name.length ?? 0) <= 255 && edit?.by.name.startsWith('\u001b[2J'));
    assert.ok(edit?.by.name.isWellFormed() && edit.subject.name.isWellFormed());
    const [{ longest = 0 } = {}] = await query<{ longest: number }>(
      'SELECT max(length(details) + length(key_name) + length(subject_name)) AS longest FROM activity',
    );
    assert.ok(longest < 5_000, `${longest}`);
  });

  test('what is not kept with its change changes nothing: every act, refused while its entry is written', async ({
    store,
    query,
    content,
  }) => {
    const owner = await newCase(store);
    const deeds = await everyAct(store, owner.id);
    const acts = Object.keys(store.by(TESTER, NOW)).toSorted();
    assert.equal(Object.keys(deeds).toSorted(), acts, 'every act is tried');
    for (const sql of CUT) await query(sql);
    const before = await content();
    for (const [name, deed] of Object.entries(deeds)) {
      assert.match(String(await rejection(deed())), 'cut', name);
      assert.is(await content(), before, `${name} left something behind`);
    }
    await query(UNCUT);
    for (const name of ['pauseSnitch', 'updateSnitch', 'deleteApiKey'] as const) {
      const count = (await logOf(store, owner.id)).length;
      await deeds[name]();
      assert.is((await logOf(store, owner.id)).length, count + 1, name);
    }
  });

  test('a webhook is told by its host alone, and a channel by the names of its settings', async ({
    store,
  }) => {
    const { id } = await newCase(store);
    const webhook = await store.createWebhook(
      id,
      'https://u:p4ss@hooks.example.com:8443/T0/s3cret?k=v4lue',
      NOW,
    );
    await store.rotateWebhookSecret(id, webhook.id, NOW);
    await store.deleteWebhook(id, webhook.id);
    const fields = { settings: { topic: 'ops', token: 'tk_f1rst' }, events: [], tags: [] };
    const channel = await store.createChannel(id, { kind: 'ntfy', name: null, fields }, NOW);
    await store.updateChannel(id, channel.id, {
      settings: { topic: 'n3w', token: 'tk_s3cond' },
      tags: ['db'],
    });
    const told = await textOf(store, id);
    assert.match(told, 'hooks.example.com:8443');
    for (const secret of [/p4ss/, /s3cret/, /v4lue/, /tk_/, /n3w/, /whsec/]) assert.not.match(told, secret);
    const [edit] = await logOf(store, id);
    assert.equal(edit?.details.changes, {
      tags: { added: ['db'] },
      'settings.topic': {},
      'settings.token': {},
    });
  });
});

/** A call of each act that changes something. */
/** A trigger that refuses every entry. */
const CUT = ON_POSTGRES
  ? [
      `CREATE FUNCTION cut() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''cut''; END'`,
      'CREATE TRIGGER cut BEFORE INSERT ON activity FOR EACH ROW EXECUTE FUNCTION cut()',
    ]
  : [`CREATE TRIGGER cut BEFORE INSERT ON activity BEGIN SELECT RAISE(ABORT, 'cut'); END`];
const UNCUT = ON_POSTGRES ? 'DROP TRIGGER cut ON activity' : 'DROP TRIGGER cut';

async function everyAct(store: Store, caseId: string): Promise<Record<keyof Acts, () => Promise<unknown>>> {
  const healthy = async () => (await healthySnitch(store, { id: caseId })).token;
  const [changed, tagged, deleted, paused, bulk, gone, owned] = await Promise.all(
    Array.from({ length: 7 }, healthy),
  );
  const unpaused = await healthy();
  await store.pauseSnitch(caseId, unpaused, { kind: 'unpaused' }, NOW);
  const untagged = (await newSnitch(store, { id: caseId }, { tags: ['a'] })).token;
  const webhook = (await store.createWebhook(caseId, 'https://hooks.example.com/', NOW)).id;
  const fields = { settings: { topic: 'ops' }, events: [], tags: [] };
  const channel = (await store.createChannel(caseId, { kind: 'ntfy', name: null, fields }, NOW)).id;
  const route = { channel: 'webhook', target: webhook } as const;
  const delivery = (await store.createTestDelivery(caseId, route, NOW))?.id ?? 0;
  const key = (await store.createApiKey({ caseId, name: 'k', scope: 'read' }, NOW)).apiKey.id;
  const settings = { name: 'c', timezone: 'UTC', members: [], reminders: 'period' as const };
  const whole = { ...settings, errorNotices: true, maxSnitches: null, onHold: false };
  const doomed = (await store.createCase(whole, NOW)).id;
  const snitch = {
    name: 'n',
    notes: '',
    tags: [],
    alertEmail: [],
    interval: 'daily',
    alertType: 'basic',
  } as const;
  const made = { ...snitch, tags: [], alertEmail: [] };
  const nothing = { exitStatus: null, message: null, source: null, runId: null, output: null };
  const said = { now: NOW, at: NOW, outcome: 'healthy', ...nothing } as const;
  const errored = async () => {
    const { token } = await newSnitch(store, { id: caseId });
    await checkIn(store, token, NOW, { outcome: 'error' });
    return token;
  };
  const [seen, unseen, linked] = [await errored(), await errored(), await errored()];
  await store.acknowledgeSnitch(caseId, unseen, { note: null, by: 'x' }, NOW);
  const [alarm] = await store.listAlerts(caseId, linked, { limit: 1, before: null });
  const all = { kind: 'all' } as const;
  const time = { kind: 'once', from: NOW, to: NOW + HOUR } as const;
  const silence = { scope: all, time, note: '', by: 'x' };
  const [longer, ended] = [
    await store.createSilence(caseId, silence, NOW),
    await store.createSilence(caseId, silence, NOW),
  ];
  const badge = { subject: { kind: 'tag', tag: 'web' }, label: null } as const;
  const { id: taken } = await store.createBadge(caseId, badge, NOW);
  const member = { channel: 'email', target: 'ann@example.com' } as const;
  const pageOf = { slug: 'a-page', tags: ['*'] };
  const page = (await store.createCase(whole, NOW)).id;
  await store.putStatusPage(page, { ...pageOf, slug: 'doomed' }, NOW);
  const seenBy = { note: null, by: 'x' };
  return {
    acknowledgeSnitch: () => store.acknowledgeSnitch(caseId, seen, seenBy, NOW),
    unacknowledgeSnitch: () => store.unacknowledgeSnitch(caseId, unseen, NOW),
    acknowledgeAlarm: () => store.acknowledgeAlarm(alarm?.alert.id ?? '', seenBy, NOW),
    createSilence: () => store.createSilence(caseId, silence, NOW),
    updateSilence: () => store.updateSilence(caseId, longer.id, { to: NOW + 2 * HOUR }, NOW),
    deleteSilence: () => store.deleteSilence(caseId, ended.id, NOW),
    createBadge: () => store.createBadge(caseId, badge, NOW),
    deleteBadge: () => store.deleteBadge(caseId, taken),
    putStatusPage: () => store.putStatusPage(caseId, pageOf, NOW),
    deleteStatusPage: () => store.deleteStatusPage(page),
    updateRoute: () => store.updateRoute(caseId, member, { after: 60 }),
    createCase: () => store.createCase(whole, NOW),
    updateCase: () => store.updateCase(caseId, { reminders: 'off' }, NOW),
    deleteCase: () => store.deleteCase(doomed),
    createApiKey: () => store.createApiKey({ caseId, name: 'n', scope: 'read' }, NOW),
    deleteApiKey: () => store.deleteApiKey(caseId, key),
    createSnitch: () => store.createSnitch(caseId, made, NOW),
    updateSnitch: () => store.updateSnitch(caseId, changed ?? '', { interval: 'weekly', tags: ['x'] }, NOW),
    addTags: () => store.addTags(caseId, tagged ?? '', ['a']),
    removeTag: () => store.removeTag(caseId, untagged, ['a']),
    deleteSnitch: () => store.deleteSnitch(caseId, deleted ?? ''),
    pauseSnitch: () => store.pauseSnitch(caseId, paused ?? '', { kind: 'unpaused' }, NOW),
    unpauseSnitch: () => store.unpauseSnitch(caseId, unpaused, NOW),
    importSnitches: () =>
      store.importSnitches(caseId, { imported: [{ ...made, token: 'imported' }], owner: 'f' }, NOW),
    updateSnitches: () => store.updateSnitches(caseId, [{ token: bulk ?? '', changes: { name: 'b' } }], NOW),
    deleteSnitches: () => store.deleteSnitches(caseId, [gone ?? '']),
    setOwnership: () => store.setOwnership(caseId, [owned ?? ''], 'f'),
    applyFirstCheckIn: () => store.applyFirstCheckIn(caseId, { ...made, name: 'first' }, said),
    createTestDelivery: () => store.createTestDelivery(caseId, route, NOW),
    retryDelivery: () => store.retryDelivery(caseId, delivery, NOW + HOUR),
    createWebhook: () => store.createWebhook(caseId, 'https://a.example.com/', NOW),
    deleteWebhook: () => store.deleteWebhook(caseId, webhook),
    rotateWebhookSecret: () => store.rotateWebhookSecret(caseId, webhook, NOW),
    createChannel: () => store.createChannel(caseId, { kind: 'ntfy', name: null, fields }, NOW),
    updateChannel: () => store.updateChannel(caseId, channel, { settings: { topic: 'other' } }),
    deleteChannel: () => store.deleteChannel(caseId, channel),
    setMaintenance: () => store.setMaintenance(true),
  };
}

interface World {
  dataDir: string;
}

const files = suite<World>('activity on the disk');
files.before.each((world) => {
  world.dataDir = temporaryDirectory();
});
files.after.each(({ dataDir }) => rmSync(dataDir, { recursive: true, force: true }));

files('a process that is killed leaves both, the change and who made it, or neither', async ({ dataDir }) => {
  await using first = openIn(dataDir);
  const owner = await newCase(first);
  const tokens: string[] = [];
  for (let each = 0; each < 8; each += 1) tokens.push((await newSnitch(first, owner)).token);
  await first.close();
  const program = ['--import', 'tsx', join(import.meta.dirname, 'editor.ts'), dataDir, owner.id, ...tokens];
  for (const patience of [30, 90, 210]) {
    const child = spawn(process.execPath, program, { stdio: ['ignore', 'pipe', 'inherit'] });
    try {
      await once(child.stdout, 'data');
      await sleep(patience);
    } finally {
      child.kill('SIGKILL');
      if (child.signalCode === null) await once(child, 'exit');
    }
    await using store = openIn(dataDir);
    for (const token of tokens) {
      const [entry, before] = await logOf(store, owner.id, token);
      const snitch = await store.getSnitch(owner.id, token);
      const said = entry?.details.changes?.name?.to ?? 'nightly-backup';
      assert.is(snitch?.name, said);
      if (before?.details.changes?.name) {
        assert.is(entry?.details.changes?.name?.from, before.details.changes.name.to);
      }
    }
    assert.ok((await logOf(store, owner.id)).length > tokens.length + 1, 'something was changed');
  }
});

files('a database from before begins with an empty log, and takes entries', async ({ dataDir }) => {
  writeVersion1(dataDir);
  await using store = openIn(dataDir);
  assert.equal(await logOf(store, CASE), []);
  const { snitches } = await store.listSnitches(CASE, { after: 0, limit: 10, tags: [] });
  const report = snitches.find(({ state }) => state.status === 'paused');
  await store.by(OPS, NOW).unpauseSnitch(CASE, report?.token ?? '', NOW);
  const [entry, ...others] = await logOf(store, CASE);
  assert.equal([entry?.by, entry?.action, entry?.subject.name], [OPS, 'snitch.unpaused', report?.name]);
  assert.equal(others, []);
});

if (!ON_POSTGRES) files.run();
