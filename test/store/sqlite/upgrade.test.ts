import { chmodSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { migrations } from '../../../src/store/migrations/index.ts';
import { databasePath } from '../../../src/store/sqlite/connection.ts';
import { restoreBackup } from '../../../src/store/sqlite/copy.ts';
import { closing } from '../../closing.ts';
import { checkIn, DAY, HOUR, MINUTE, NOW, openIn, queryDirectory, temporaryDirectory } from '../fixture.ts';
import { type Content, contentOf, contentOfFile, filesBeside, openUpgraded } from './content.ts';
import {
  ADMIN_KEY,
  BACKUP,
  BILLING,
  CASE,
  CHECK,
  INVOICES,
  inOneOrder,
  REPORT,
  rowsOfVersion1,
  WEBHOOK,
  WRITE_KEY,
  writeVersion1,
} from './version-1.ts';

interface World {
  dataDir: string;
  /** What was in the database before the upgrade. */
  before: Content;
  copy: string;
}

const LATEST = migrations.length;
const ALL = { limit: 1_000, before: null };

const upgrade = suite<World>('upgrade from the first version');

upgrade.before.each((world) => {
  const dataDir = temporaryDirectory();
  const copy = `${databasePath(dataDir)}.before-upgrade-from-1`;
  Object.assign(world, { dataDir, copy, before: writeVersion1(dataDir) });
});

upgrade.after.each(({ dataDir }) => rmSync(dataDir, { recursive: true, force: true }));

const withoutCanary = ({ settings = [], ...rows }: Content['rows']) => ({
  ...rows,
  settings: (settings as { name: string }[]).filter(({ name }) => name !== 'canary' && name !== 'commit'),
});

upgrade(
  'every row is there, and the copy beside it is what was before',
  async ({ dataDir, copy, before }) => {
    for (const [table, rows] of Object.entries(before.rows)) assert.ok(rows.length > 0, `${table} is empty`);
    await using store = openUpgraded(dataDir);
    await store.close();
    assert.equal(store.migrated, [{ from: 1, to: LATEST, copy }]);
    assert.equal(queryDirectory(dataDir, 'PRAGMA user_version'), [{ user_version: LATEST }]);
    assert.equal(withoutCanary(rowsOfVersion1(dataDir, before)), withoutCanary(inOneOrder(before.rows)));
    assert.equal(contentOfFile(copy), before);
    assert.is(statSync(copy).mode & 0o777, 0o600);
    assert.equal(filesBeside(dataDir), ['snitch.db.before-upgrade-from-1']);
  },
);

upgrade('cases, keys, snitches and webhooks can be read', async ({ dataDir }) => {
  await using store = openIn(dataDir);
  const rules = { timezone: 'Europe/Paris', reminders: 'hourly', errorNotices: true } as const;
  const members = ['ann@example.com', 'bob@example.com'];
  assert.equal(await store.getCase(CASE), {
    ...rules,
    members,
    id: CASE,
    name: 'Operations',
    maxSnitches: null,
    onHold: false,
    createdAt: NOW - 40 * DAY,
  });
  assert.equal(
    (await store.listCases()).map(({ name, maxSnitches, onHold }) => [name, maxSnitches, onHold]),
    [
      ['Billing', 5, true],
      ['Operations', null, false],
    ],
  );
  assert.is((await store.findApiKey(ADMIN_KEY))?.apiKey.scope, 'admin');
  assert.is((await store.findApiKey(WRITE_KEY))?.case?.id, CASE);
  const { snitches } = await store.listSnitches(CASE, { after: 0, limit: 10, tags: [] });
  assert.equal(
    snitches.map(({ name, state }) => [name, state.status]),
    [
      ['nightly-backup', 'healthy'],
      ['Größe prüfen', 'failed'],
      ['weekly report', 'paused'],
    ],
  );
  const [backup, , report] = snitches;
  assert.equal([backup?.tags, backup?.notes], [['backup', 'db'], 'Run by **cron** on db1']);
  assert.equal((await store.getSnitch(CASE, report?.token ?? ''))?.state.pause, {
    until: { kind: 'time', at: NOW + 2 * DAY },
    remembered: 'healthy',
    since: null,
  });
  const webhook = await store.getWebhook(CASE, WEBHOOK);
  assert.is(webhook?.url, 'https://user:password@hooks.example.com/snitch');
  assert.is(webhook?.previousSecretUntil, NOW + DAY);
  assert.is(await store.getSetting('maintenance'), 'on');
});

upgrade('check-ins, alerts and deliveries can be read', async ({ dataDir }) => {
  await using store = openIn(dataDir);
  const log = await store.listCheckIns(CASE, BACKUP, ALL);
  assert.equal(
    log?.map(({ outcome, durationMs, message, output }) => [outcome, durationMs, message, output]),
    [
      ['start', null, null, null],
      ['healthy', 3 * MINUTE, '1.2 GB', 'copied\ndone\n'],
      ['start', null, null, null],
    ],
  );
  assert.is((await store.listCheckIns(BILLING, INVOICES, ALL))?.[0]?.output?.length, 9_000);
  const alerts = await store.listAlerts(CASE, null, ALL);
  assert.equal(
    alerts.map(({ alert, deliveries }) => [alert.type, alert.snitch?.name, deliveries.length]),
    [
      ['snitch.missing', 'Größe prüfen', 2],
      ['service.blind', undefined, 2],
    ],
  );
  assert.is(alerts[1]?.alert.notice?.postponedCount, 1);
  const dead = await store.listDeliveries(CASE, { state: 'dead', ...ALL });
  assert.equal(
    dead.map(({ target, lastError }) => [target, lastError]),
    [['bob@example.com', '550 no such user']],
  );
  assert.equal(await store.census(), {
    snitches: { healthy: 1, failed: 1, paused: 1, errored: 1 },
    outbox: { pending: 2, waiting: 0, oldestAlertAt: NOW - HOUR },
    firstDueAt: NOW + 10 * MINUTE,
    blindMs: HOUR + 2 * MINUTE,
    lastValues: [],
  });
});

upgrade('the daemon goes on with what was begun', async ({ dataDir }) => {
  await using store = openIn(dataDir);
  assert.is(await store.rescheduleSlice(NOW), true);
  assert.is(await store.postponeSlice(NOW), true);
  await store.releaseLeases(NOW);
  const request = { now: NOW, leaseUntil: NOW + MINUTE, perTarget: 5, limit: 5, after: '', busy: [] };
  const [claimed] = await store.claimDeliveries({ ...request, channel: 'email' });
  assert.equal([claimed?.target, claimed?.alert.id], ['carol@example.com', 'alert_w5q4uz24cdhee7qm']);
  assert.is(await checkIn(store, BACKUP, NOW), true);
  assert.is((await store.listCheckIns(CASE, BACKUP, ALL))?.[0]?.durationMs, MINUTE);
  assert.is(await checkIn(store, CHECK, NOW), true);
  const [reporting] = await store.listAlerts(CASE, CHECK, ALL);
  assert.is(reporting?.alert.type, 'snitch.reporting');
  assert.is(reporting?.deliveries.length, 2);
  assert.ok(
    reporting?.deliveries.every(({ id }) => id > 20),
    'no number of a delivery is used again',
  );
  await store.setOwnership(CASE, [REPORT], 'jobs.yaml');
  const { owned } = await store.listOwnership(CASE, { after: 0, limit: 10 });
  assert.equal(owned, [{ token: REPORT, owner: 'jobs.yaml' }]);
});

upgrade('it is done once, and a new database needs none', async ({ dataDir, copy }) => {
  await openIn(dataDir).close();
  const made = statSync(copy);
  await using again = openUpgraded(dataDir);
  await again.close();
  assert.equal(again.migrated, []);
  assert.equal([statSync(copy).ino, statSync(copy).mtimeMs], [made.ino, made.mtimeMs]);
  const fresh = join(dataDir, 'fresh');
  await using store = openUpgraded(fresh);
  await store.close();
  assert.equal([store.migrated, filesBeside(fresh)], [[], []]);
});

upgrade('what an earlier attempt left is replaced, whole copies too', async ({ dataDir, copy, before }) => {
  writeFileSync(copy, 'the database as it was at an earlier attempt');
  writeFileSync(`${copy}.partial`, 'half a copy');
  writeFileSync(`${copy}.partial-journal`, 'the journal of half a copy');
  chmodSync(copy, 0o644);
  await openIn(dataDir).close();
  assert.equal(contentOfFile(copy), before);
  assert.is(statSync(copy).mode & 0o777, 0o600);
  assert.equal(filesBeside(dataDir), ['snitch.db.before-upgrade-from-1']);
});

upgrade('a reader may look on, and gets into nobody’s way', async ({ dataDir, copy, before }) => {
  using reader = closing(new Database(databasePath(dataDir), { readonly: true }));
  reader.exec('BEGIN');
  assert.equal(contentOf(reader), before);
  await using store = openIn(dataDir);
  assert.equal(contentOf(reader), before);
  reader.close();
  await store.close();
  assert.equal(contentOfFile(copy), before);
});

upgrade('going back: the copy can be restored, and upgraded again', async ({ dataDir, copy, before }) => {
  await using store = openIn(dataDir);
  await store.setSetting('maintenance', 'since the upgrade');
  await store.close();
  const restored = restoreBackup(copy, dataDir, 'then');
  assert.equal(restored.content, { schema: 1, snitches: 4, cases: 2 });
  assert.equal(contentOfFile(databasePath(dataDir)), before, 'what the older program finds');
  await using again = openUpgraded(dataDir);
  assert.equal(again.migrated, [{ from: 1, to: LATEST, copy }]);
  assert.is(await again.getSetting('maintenance'), 'on');
  assert.equal(contentOfFile(copy), before);
});

upgrade.run();
