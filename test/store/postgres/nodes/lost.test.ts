/** What a node says while it cannot work with its database, and that it answers nobody with a bare error. Time limit: 120 s. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { StoreUnavailable } from '../../../../src/core/errors.ts';
import type { Seen } from '../../../../src/store/postgres/hosts/facts.ts';
import { reasonFor } from '../../../../src/store/postgres/passing.ts';
import { runUnless } from '../../../skipped.ts';
import { until } from '../../../until.ts';
import { rejection } from '../../fixture.ts';
import { type Cluster, startCluster } from '../clusters/cluster.ts';
import { WITHOUT_POSTGRES } from '../clusters/programs.ts';
import { addressOf, primaryAmong } from '../hosts/fixture.ts';
import { type OpenedNode, openNode } from './opened.ts';

interface Context {
  cluster: Cluster;
  database: string;
}

const test = suite<Context>('a lost database');

test.before(async (context) => {
  context.cluster = await startCluster({ access: ['host all rotating 127.0.0.1/32 scram-sha-256'] });
  await context.cluster.query(`CREATE ROLE rotating LOGIN PASSWORD 'first'`);
});
test.before.each(async (context) => {
  context.database = await context.cluster.newDatabase();
});
test.after(({ cluster }) => cluster[Symbol.asyncDispose]());

function endSessions({ cluster, database }: Context): Promise<unknown> {
  return cluster.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1`, [
    database,
  ]);
}

async function says({ store }: OpenedNode, words: RegExp): Promise<void> {
  await until(() => words.test(store.node?.problem() ?? ''), `the node says ${words.source}`);
}

test('what is asked of the node itself outlives the loss of its connections', async (context) => {
  await using node = await openNode(context.cluster.port, context.database);
  for (let times = 0; times < 5; times += 1) {
    const asked = Promise.all([
      node.store.node?.list(),
      node.store.node?.now(),
      node.store.node?.databaseSize(),
    ]);
    await endSessions(context);
    const [nodes] = await asked;
    assert.is(nodes?.length, 1);
  }
});

test('where the database stays away, that is told as such, and not as an error of the program', async (context) => {
  const { cluster, database } = context;
  await using node = await openNode(cluster.port, database, { deadline: 1_000 });
  await node.store.node?.list();
  await cluster.server.stop('SIGQUIT');
  try {
    for (const ask of ['list', 'now', 'databaseSize'] as const)
      assert.instance(await rejection(node.store.node?.[ask]() as Promise<unknown>), StoreUnavailable, ask);
    await says(node, /does not answer, or takes no writes/);
  } finally {
    await cluster.server.start();
  }
});

test('a password that was changed and a database that was dropped are named, and nothing else is', async (context) => {
  const { cluster, database } = context;
  await cluster.query(`ALTER DATABASE ${database} OWNER TO rotating`);
  const { hosts, ...others } = addressOf([cluster.port], { database, options: 'connect_timeout=3' });
  const address = { ...others, hosts, user: 'rotating', password: 'first' };
  await using node = await openNode(cluster.port, database, { address, deadline: 1_000 });
  await cluster.query(`ALTER ROLE rotating PASSWORD 'second'`);
  await endSessions(context);
  await says(node, /^the database refuses the user or the password of this node$/);
  await cluster.query(`ALTER ROLE rotating PASSWORD 'first'`);
  await until(() => node.store.node?.problem() === null, 'it lives again');
  await cluster.query(`DROP DATABASE ${database} WITH (FORCE)`);
  await says(node, /^the server has no database of the name that this node was given$/);
});

test('the reasons are those that the server gives', () => {
  const of = (code: string) => reasonFor(Object.assign(new Error('secret'), { code }), 'away');
  assert.is(of('53300'), 'the database has no connection free for this node');
  assert.is(of('53100'), 'the disk of the database is full');
  assert.is(of('42501'), 'the database does not give this node the rights that it needs');
  // The time limit of a statement does not tell why it took so long.
  assert.match(of('57014'), /another session holds locks that it needs, or the server or its disk is slow$/);
  assert.is(of('57P01'), 'away');
  assert.is(
    reasonFor(new Error('outer', { cause: Object.assign(new Error(), { code: '53300' }) }), ''),
    of('53300'),
  );
  assert.is(reasonFor(null, 'away'), 'away');
});

test('a certificate that ran out, and a server that is not the right one, are told as what they are', async ({
  cluster,
}) => {
  const of = (code: string) => reasonFor(Object.assign(new Error('secret'), { code }), 'away');
  assert.match(of('CERT_HAS_EXPIRED'), /certificate of the database has expired/);
  assert.match(of('UNABLE_TO_GET_ISSUER_CERT_LOCALLY'), /does not trust the certificate/);
  const seen = async (memory: Seen) => {
    const primary = primaryAmong([cluster.port], {
      memory: { file: null, get: () => memory, keep: async () => {} },
    });
    return reasonFor(await rejection(primary.connect()), 'away');
  };
  assert.match(await seen({ cluster: '1', timeline: 1 }), /^the server belongs to another cluster/);
  assert.match(await seen({ cluster: null, timeline: 9 }), /^only an old primary/);
  await cluster.set('default_transaction_read_only', 'on');
  assert.match(await seen({ cluster: null, timeline: 1 }), /default_transaction_read_only/);
});

runUnless(WITHOUT_POSTGRES, test, 'a lost database');
