import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { migrations } from '../../../src/store/migrations/index.ts';
import type { Store } from '../acting.ts';
import { checkIn, MINUTE, NOW, openIn, queryDirectory, temporaryDirectory } from '../fixture.ts';
import { BACKUP, CASE, CHECK, FORMS, WEBHOOK, writeVersion1 } from './version-1.ts';

const digest = (text: string) => createHash('sha256').update(text).digest('hex');

const landed = suite('migrations that have landed');

/**
 * A migration is added here when it lands. One that is edited later leaves databases behind that no program can open:
 * write another migration instead.
 */
const LANDED = [
  '4a9fbc4ce5f70f60e800a97ff0bae68969fe050c2f6c48771dc9f6016758d37a',
  '43500f49c82c729db579a07d14c480c3feb31c7fb131909680abe3ad99351b9a',
  'ef5bc41b403360460a0489e61e682d70885de6701bbc5c71a48abe880e2e0e86',
  'bfe122e228a61b957969c76db3bdf2dd8505642fee26fdb46e79de46e4871b0d',
  '9f7745fca5be0a28c2023390474ba44db9119ef5ad2f69b76d6da1060c993e2c',
  '632f04f35f7ab55ba89ca3d355817016ad6f393afe38b2d76eac8a2802ad8cfa',
  '498aedea45f9b695bfad2def8e9b8a92508146dd80bf73f2e464b0a77bdacf9f',
  '8fd0f731ef42a73842769a6f2e9d29db4ae48208ab175d7d4bf5360f95d689e6',
  '33cf0ce838c455883a5c3c88af56687583e2ff0e03702b8719e840983e45681d',
  '63a46c8d15d7231b64d0647a15d3703661995cbfaaec265f6b7b5fd919c09041',
  'f3566e6445f93d0660da628a5c6874d3994ad2fde2ec59feeaa970485cd0e5cc',
  'a4e452a3cccc026be04fa26d04253d01b3aedbce0489238f05b59d8a760e56f9',
  'c14c429f520abe22dbd392a6866d301a3cead7e32e9d6afd3319821d3f975c42',
  '278f1a435e4e37f019b04bfca1f3fd712b2e75689d28b58b887626046ccf3350',
  '3661aa1511504417e136aca7df2ed6f28ba6776b6539cf5c11cd53b28e6b0545',
  'b4651815559ba30496a5a346e98d3646623938116f070d2e16eab00df04cfcd6',
  'e8b96c868b6844b64e777381ca376e38dfe9be8162247b9bac2b04239f3ba7a7',
  'a9c12f588c5c221adb3f731efccd8d2149a4099fd71ca6df5e6b6e524786d89b',
  '0d3bdb48852636a2560c0bc79ee2154167e59196c137d9185278d4e4452f927d',
];

landed('never change', () => {
  const texts = migrations.map((migration) => {
    if (typeof migration === 'string') return migration;
    if (typeof migration === 'function') return [true, false].map((has) => migration(() => has)).join();
    return JSON.stringify(migration);
  });
  assert.equal(texts.map(digest), LANDED, 'one that is new adds its digest');
});

landed('the forms that the first one had before it was settled are those of then', () => {
  assert.equal(Object.values(FORMS).map(digest), [
    '4a9fbc4ce5f70f60e800a97ff0bae68969fe050c2f6c48771dc9f6016758d37a',
    '4789693c6a7c9b798b3d08b35c25825360210429172442099e95b4634760066b',
    '284a68c96303cff34602c5e44d0ad420b46e7bf803f41e578bae4a285773fa74',
  ]);
});

landed.run();

interface World {
  dataDir: string;
}

const forms = suite<World>('databases of every form of the first schema');

forms.before.each((world) => {
  world.dataDir = temporaryDirectory();
});

forms.after.each(({ dataDir }) => rmSync(dataDir, { recursive: true, force: true }));

const ALL = { limit: 1_000, before: null };

/** Columns by table, and indexes: what the statements see of a schema. */
function schemaOf(dataDir: string): unknown {
  const columns = queryDirectory<{ name: string }>(
    dataDir,
    `SELECT m.name || '.' || c.name AS name FROM sqlite_schema AS m, pragma_table_info(m.name) AS c
     WHERE m.type = 'table' ORDER BY 1`,
  );
  return [
    columns,
    queryDirectory(dataDir, `SELECT sql FROM sqlite_schema WHERE type = 'index' ORDER BY name`),
  ];
}

/** What a daemon does with the tables that had other forms. */
async function work(store: Store): Promise<void> {
  await store.releaseLeases(NOW);
  const request = { leaseUntil: NOW + MINUTE, perTarget: 5, limit: 5, after: '', busy: [] };
  const [email] = await store.claimDeliveries({ ...request, now: NOW + MINUTE, channel: 'email' });
  assert.equal([email?.target, email?.attempt], ['carol@example.com', 2]);
  const [webhook] = await store.claimDeliveries({ ...request, now: NOW + MINUTE, channel: 'webhook' });
  assert.is(webhook?.webhook?.id, WEBHOOK);
  const settlement = { kind: 'delivered', at: NOW + MINUTE } as const;
  assert.ok(await store.settleDelivery(webhook?.id as number, webhook?.fence as number, settlement));
  assert.is((await store.createWebhook(CASE, 'https://hooks.example.com/', NOW)).caseId, CASE);
  assert.is((await store.listWebhooks(CASE)).length, 2);
  assert.is(await checkIn(store, BACKUP, NOW), true);
  assert.is(await checkIn(store, CHECK, NOW), true);
  const [reporting] = await store.listAlerts(CASE, CHECK, ALL);
  assert.is(reporting?.deliveries.length, 3);
  assert.ok(reporting?.deliveries.every(({ id }) => id > 20));
}

for (const [name, form] of Object.entries(FORMS)) {
  for (const version of [1, 2]) {
    forms(`one ${name} at version ${version} opens and works`, async ({ dataDir }) => {
      writeVersion1(dataDir, '', form);
      if (version === 2) queryDirectory(dataDir, String(migrations[1]));
      queryDirectory(dataDir, `PRAGMA user_version = ${version}`);
      await using store = openIn(dataDir);
      await work(store);
      await store.close();
      const fresh = join(dataDir, 'fresh');
      await openIn(fresh).close();
      assert.equal(schemaOf(dataDir), schemaOf(fresh));
      assert.equal(queryDirectory(dataDir, 'PRAGMA integrity_check'), [{ integrity_check: 'ok' }]);
      await using again = openIn(dataDir);
      assert.is((await again.listDeliveries(CASE, { state: null, ...ALL })).length, 7);
    });
  }
}

forms.run();
