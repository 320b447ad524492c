/** Nodes of two versions on one database, and migrations that some of them would not survive. Time limit: 180 s. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { migrations } from '../../../../src/store/migrations/index.ts';
import {
  isDeclared,
  type Kind,
  type Migration,
  oldestAfter,
} from '../../../../src/store/migrations/migration.ts';
import { ConnectionFault } from '../../../../src/store/postgres/hosts/faults.ts';
import { NewerSchema } from '../../../../src/store/postgres/migrate.ts';
import { OlderNodesLive } from '../../../../src/store/postgres/nodes/older.ts';
import { runUnless } from '../../../skipped.ts';
import { until } from '../../../until.ts';
import { checkIn, newCase, newSnitch, rejection } from '../../fixture.ts';
import { type Cluster, startCluster } from '../clusters/cluster.ts';
import { openLink } from '../clusters/link.ts';
import { WITHOUT_POSTGRES } from '../clusters/programs.ts';
import { type OpenedNode, openNode } from './opened.ts';

interface Context {
  cluster: Cluster;
  database: string;
}

const test = suite<Context>('rolling upgrades');

test.before(async (context) => {
  context.cluster = await startCluster();
});
test.before.each(async (context) => {
  context.database = await context.cluster.newDatabase();
});
test.after(({ cluster }) => cluster[Symbol.asyncDispose]());

const NOW_KNOWN = migrations.length;
const added = (name: string): Migration => ({
  kind: 'expands',
  change: `ALTER TABLE cases ADD COLUMN ${name} BIGINT`,
});
const takenAway = (name: string): Migration => ({
  kind: 'contracts',
  change: `ALTER TABLE cases DROP COLUMN ${name}`,
});
const V1 = [...migrations, added('one')];
const V2_EXPANDS = [...V1, added('two')];
const V2_CONTRACTS = [...V1, takenAway('one')];

function open({ cluster, database }: Context, known: readonly Migration[], port = cluster.port) {
  return openNode(port, database, { migrations: known, version: `${known.length}`, deadline: 2_000 });
}

async function versionOf({ cluster, database }: Context): Promise<number | undefined> {
  const sql = 'SELECT version FROM schema_version';
  return (await cluster.query<{ version: number }>(sql, [], database))[0]?.version;
}

async function worksWith({ store }: OpenedNode): Promise<boolean> {
  const owner = await newCase(store, {}, Date.now());
  const { token } = await newSnitch(store, owner, {}, Date.now());
  return checkIn(store, token, Date.now());
}

test('who may work on what follows from the kinds', () => {
  const kinds = (...all: Kind[]) => all.map((kind) => ({ kind, change: '' }));
  assert.is(oldestAfter(kinds('expands', 'expands'), 1), 1, 'the version before');
  assert.is(oldestAfter(kinds('expands', 'contracts'), 1), 2, 'none but its own');
  assert.is(oldestAfter(kinds('expands', 'contracts', 'expands'), 1), 2);
  assert.is(oldestAfter(['', ''], 1), 2, 'what is not declared may take anything away');
  assert.is(oldestAfter(kinds('expands'), 1), 0);
});

test('each migration from the twentieth on says what it means for the version before', () => {
  const later = migrations.slice(19);
  assert.equal(
    later.filter((migration) => !isDeclared(migration)),
    [],
  );
  const taking = /\b(DROP|RENAME|SET NOT NULL)\b|\bADD COLUMN [^,;]*NOT NULL(?![^,;]*DEFAULT)/i;
  const expanding = [...later, ...V2_EXPANDS.slice(19)]
    .filter(isDeclared)
    .filter(({ kind }) => kind === 'expands');
  for (const { change } of expanding) assert.not.match(JSON.stringify(change), taking);
  assert.match('ALTER TABLE cases ADD COLUMN one BIGINT NOT NULL', taking);
});

test('beside one that expands, the version before goes on and may even start; two versions before may not', async (context) => {
  await using older = await open(context, V1);
  await using newer = await open(context, V2_EXPANDS);
  assert.is(await versionOf(context), V2_EXPANDS.length);
  await using another = await open(context, V1);
  for (const node of [older, newer, another]) assert.ok(await worksWith(node));
  assert.is(await versionOf(context), V2_EXPANDS.length, 'no older one takes it back');
  const listed = (await newer.store.node?.list()) ?? [];
  assert.equal(listed.map(({ schemaVersion }) => schemaVersion).sort(), [
    V1.length,
    V1.length,
    V2_EXPANDS.length,
  ]);
  const refused = (await rejection(open(context, migrations))) as Error;
  assert.instance(refused, ConnectionFault);
  const words = `has schema version ${V2_EXPANDS.length}, and this program knows versions up to ${NOW_KNOWN}`;
  assert.ok(refused.message.includes(words), refused.message);
  assert.is(new NewerSchema(3, 2).name, 'NewerSchema');
});

test('one that contracts waits until the older nodes have ended, and they go on meanwhile', async (context) => {
  const older = await open(context, V1);
  try {
    const refused = (await rejection(open(context, V2_CONTRACTS))) as Error;
    assert.instance(refused, OlderNodesLive);
    assert.match(refused.message, new RegExp(`\\(${V1.length}, schema version ${V1.length}\\)`));
    assert.is(await versionOf(context), V1.length);
    assert.ok(await worksWith(older));
    const waiting = (await older.store.node?.list())?.filter(({ waits }) => waits);
    assert.equal(
      waiting?.map(({ version, schemaVersion }) => [version, schemaVersion]),
      [[`${V2_CONTRACTS.length}`, V2_CONTRACTS.length]],
    );
  } finally {
    await older[Symbol.asyncDispose]();
  }
  await using newer = await open(context, V2_CONTRACTS);
  assert.is(await versionOf(context), V2_CONTRACTS.length);
  assert.ok(await worksWith(newer));
  assert.instance(await rejection(open(context, V1)), ConnectionFault);
});

test('an older node that was cut off while one contracted writes nothing when it comes back', async (context) => {
  const { cluster, database } = context;
  await using link = await openLink(cluster.port);
  await using older = await open(context, V1, link.port);
  assert.ok(await worksWith(older));
  link.hang();
  const opened: OpenedNode[] = [];
  try {
    await until(async () => {
      const newer = await open(context, V2_CONTRACTS).catch((error: unknown) => error);
      if (newer instanceof Error) assert.instance(newer, OlderNodesLive);
      else opened.push(newer as OpenedNode);
      return opened.length === 1;
    }, 'it is known to be dead');
    assert.is(await versionOf(context), V2_CONTRACTS.length);
    link.restore();
    const count = () => cluster.query('SELECT count(*) FROM cases', [], database);
    const before = await count();
    for (let times = 0; times < 5; times += 1) {
      const refused = await rejection(newCase(older.store, {}, Date.now()));
      assert.is((refused as { type?: string }).type, 'service_unavailable');
    }
    assert.equal(await count(), before);
    const words = `schema version ${V2_CONTRACTS.length}, and this program knows versions up to ${V1.length}`;
    await until(() => older.store.node?.problem()?.includes(words) ?? false, 'it says why it is not ready');
    assert.ok(await worksWith(opened[0] as OpenedNode));
  } finally {
    for (const node of opened) await node[Symbol.asyncDispose]();
  }
});

runUnless(WITHOUT_POSTGRES, test, 'rolling upgrades');
