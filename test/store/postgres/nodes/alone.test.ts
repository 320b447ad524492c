/** What one node does at a time. Time limit: 120 s. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { linkKey } from '../../../../src/daemon/alarm-links.ts';
import { alone, holderOf, untilMine } from '../../../../src/store/postgres/alone.ts';
import { LOCKS } from '../../../../src/store/postgres/postgres-transaction.ts';
import { ending } from '../../../closing.ts';
import { newDataDir, removeDataDir } from '../../../data-directory.ts';
import { runUnless } from '../../../skipped.ts';
import { until } from '../../../until.ts';
import { rejection } from '../../fixture.ts';
import { type Cluster, startCluster } from '../clusters/cluster.ts';
import { WITHOUT_POSTGRES } from '../clusters/programs.ts';
import { addressOf, primaryAmong } from '../hosts/fixture.ts';
import { openNode } from './opened.ts';

const test = suite<{ cluster: Cluster }>('alone');

test.before(async (context) => {
  context.cluster = await startCluster();
});
test.after(({ cluster }) => cluster[Symbol.asyncDispose]());

const NAME = 'first start';

/** A process that is at it, and never ends. */
async function holding({ port }: Cluster, database: string) {
  const dataDir = newDataDir();
  const program = join(import.meta.dirname, 'alone-holder.ts');
  const held = spawn(process.execPath, [program, String(port), database, NAME], {
    env: { ...process.env, DATA_DIR: dataDir },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(held.stdout, 'data');
  return ending(held, () => {
    held.kill('SIGKILL');
    removeDataDir(dataDir);
  });
}

test('who is waited for is told, and one that lives keeps its turn', async ({ cluster }) => {
  const database = await cluster.newDatabase();
  await using held = await holding(cluster, database);
  const waits: string[] = [];
  const onWait = (what: string, holder: string | null) => waits.push(`${what}: ${holder}`);
  await using node = await openNode(cluster.port, database, { onWait });
  let isDone = false;
  const done = node.store.node?.alone(NAME, async () => {
    isDone = true;
  });
  await until(() => waits.length > 0, 'it waits');
  assert.match(
    waits[0] ?? '',
    /^first start: "snitch first start" from 127\.0\.0\.1, process \d+ of the database$/,
  );
  assert.not(isDone);
  held.kill('SIGKILL');
  await done;
  assert.is(waits.length, 1);
});

test('a node that waits a long time says so repeatedly', async () => {
  const told: number[] = [];
  let attempts = 0;
  const tell = async () => void told.push(attempts);
  const fourth = async () => {
    attempts += 1;
    return attempts % 4 === 0;
  };
  await untilMine(fourth, tell);
  assert.equal(told, [1], 'at once');
  await untilMine(fourth, tell, 0);
  assert.equal(told, [1, 5, 6, 7]);
});

test('one that stands still loses its turn', async ({ cluster }) => {
  const database = await cluster.newDatabase();
  await using held = await holding(cluster, database);
  await using node = await openNode(cluster.port, database);
  held.kill('SIGSTOP');
  assert.is(await node.store.node?.alone(NAME, async () => 'done'), 'done');
});

const loseTurn = (cluster: Cluster) =>
  cluster.query(
    `SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name = 'snitch ${NAME}'`,
  );

test('who lost its turn meanwhile is told before it does the next step', async ({ cluster }) => {
  const database = await cluster.newDatabase();
  await using node = await openNode(cluster.port, database);
  const steps: string[] = [];
  const lost = node.store.node?.alone(NAME, async (confirm) => {
    await confirm();
    steps.push('the first');
    await loseTurn(cluster);
    await confirm();
    steps.push('the second');
  });
  assert.instance(await rejection(Promise.resolve(lost)), Error);
  assert.equal(steps, ['the first']);
});

test('an answer that came before it stood still is not believed behind that', async ({ cluster }) => {
  const primary = primaryAmong([cluster.port], { address: addressOf([cluster.port]) });
  const standsStillAfter = 2_000;
  const steps: string[] = [];
  const lost = alone({ primary, onWait: () => undefined, standsStillAfter }, NAME, async (confirm) => {
    await confirm();
    steps.push('the first');
    const confirmed = confirm();
    // By then the question has left, and nothing that is answered is read before it goes on.
    setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2 * standsStillAfter));
    await confirmed;
    steps.push('the second');
  });
  assert.instance(await rejection(lost), Error);
  assert.equal(steps, ['the first']);
});

test('a node that lost its turn writes no link key, which another may have written', async ({ cluster }) => {
  const database = await cluster.newDatabase();
  await using node = await openNode(cluster.port, database);
  const { store } = node;
  const lost = store.node?.alone(NAME, async (confirm) => {
    await loseTurn(cluster);
    await linkKey(store, confirm);
  });
  assert.instance(await rejection(Promise.resolve(lost)), Error);
  assert.is(await store.getSetting('links.key'), null);
});

test('a holder whose address this user cannot see is reported without a host', async ({ cluster }) => {
  const database = await cluster.newDatabase();
  await cluster.query('CREATE ROLE stranger LOGIN');
  await using holder = await cluster.connected(database);
  await holder.query('SELECT pg_advisory_lock($1, hashtext($2))', [LOCKS, NAME]);
  await using stranger = await cluster.connected(database);
  await stranger.query('SET ROLE stranger');
  assert.match(
    (await holderOf(stranger, NAME)) ?? '',
    /^"" from a host that this user is not shown, process \d+ /,
  );
});

runUnless(WITHOUT_POSTGRES, test, 'alone');
