/** The other nodes hear what one node commits, or that they missed something. Time limit: 240 s. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Change } from '../../../../src/store/change.ts';
import { ChangeHearer } from '../../../../src/store/postgres/changes/hearer.ts';
import type { Heard } from '../../../../src/store/postgres/changes/messages.ts';
import { ChangeTeller } from '../../../../src/store/postgres/changes/teller.ts';
import { SessionPool } from '../../../../src/store/postgres/hosts/pool.ts';
import { ending } from '../../../closing.ts';
import { runUnless } from '../../../skipped.ts';
import { until } from '../../../until.ts';
import { type Cluster, startCluster } from '../clusters/cluster.ts';
import { openLink } from '../clusters/link.ts';
import { WITHOUT_POSTGRES } from '../clusters/programs.ts';
import { primaryAmong } from '../hosts/fixture.ts';

interface Context {
  cluster: Cluster;
}

const test = suite<Context>('changes between nodes');

test.before(async (context) => {
  context.cluster = await startCluster();
});
test.after(({ cluster }) => cluster[Symbol.asyncDispose]());

const snitch = (token: string): Change => ({ kind: 'snitch', caseId: 'case_a', token });

/** A node that announces and hears changes through one port. */
async function nodeAt(port: number, node: string, { schema = 'public', waitMs = 20_000 } = {}) {
  const primary = primaryAmong([port]);
  const pool = new SessionPool({ primary, size: 2, waitMs });
  const teller = new ChangeTeller({ pool, node, schema, gatherFor: 10 });
  const heard: Heard[] = [];
  const hearer = new ChangeHearer({ primary, node, schema, every: 50, onHeard: (one) => heard.push(one) });
  const opened = ending({ teller, hearer, heard }, async () => {
    await teller.stop();
    await hearer.stop();
    await pool.end();
  });
  await hearer.start();
  return opened;
}

/** The tokens that were heard of, and `reset` where that was said. */
const tokens = (heard: readonly Heard[]) =>
  heard.flatMap((one) =>
    one === 'reset'
      ? [one]
      : one.changes.map((change) => (change.kind === 'snitch' ? change.token : change.kind)),
  );

test('all others hear of it, in order, and the teller does not', async ({ cluster }) => {
  await using a = await nodeAt(cluster.port, 'a');
  await using b = await nodeAt(cluster.port, 'b');
  await using c = await nodeAt(cluster.port, 'c');
  await using other = await nodeAt(cluster.port, 'd', { schema: 'of another store' });
  const sent = Array.from({ length: 500 }, (_, index) => `t${index}-'\\"ä`);
  for (const token of sent) a.teller.tell([snitch(token)]);
  b.teller.tell([snitch('of b')]);
  const ofA = (heard: readonly Heard[]) => tokens(heard).filter((token) => token !== 'of b');
  const all = [
    [a, 1],
    [b, 500],
    [c, 501],
  ] as const;
  await until(() => all.every(([{ heard }, count]) => tokens(heard).length >= count), 'all is heard');
  assert.equal(ofA(b.heard), sent);
  assert.equal(ofA(c.heard), sent);
  assert.equal(tokens(a.heard), ['of b']);
  assert.equal(other.heard, []);
});

test('a message sent just before the end is heard', async ({ cluster }) => {
  await using b = await nodeAt(cluster.port, 'b');
  {
    await using a = await nodeAt(cluster.port, 'a');
    a.teller.tell([snitch('last')]);
  }
  await until(() => tokens(b.heard).length > 0, 'it is heard');
  assert.equal(tokens(b.heard), ['last']);
});

test('a node that was cut off learns that it missed something, and hears later messages', async ({
  cluster,
}) => {
  await using link = await openLink(cluster.port);
  await using a = await nodeAt(cluster.port, 'a');
  await using b = await nodeAt(link.port, 'b');
  link.cut();
  await until(() => !b.hearer.isListening, 'the cut is noticed');
  a.teller.tell([snitch('missed')]);
  link.restore();
  // Messages from in between may arrive so late that they are heard as well.
  await until(() => tokens(b.heard).includes('reset'), 'it listens again');
  a.teller.tell([snitch('heard')]);
  await until(() => tokens(b.heard).includes('heard'), 'it hears again');
  assert.is(tokens(b.heard).at(-1), 'heard');
});

test('a silent partition is noticed too', async ({ cluster }) => {
  await using link = await openLink(cluster.port);
  await using b = await nodeAt(link.port, 'b');
  link.hang();
  await until(() => !b.hearer.isListening, 'the silence is noticed');
  link.restore();
  await until(() => tokens(b.heard).includes('reset'), 'it listens again');
});

test('if a message cannot be sent, the others learn later that they missed something', async ({
  cluster,
}) => {
  await using link = await openLink(cluster.port);
  await using a = await nodeAt(link.port, 'a', { waitMs: 100 });
  await using b = await nodeAt(cluster.port, 'b');
  link.cut();
  await until(() => !a.hearer.isListening, 'the cut is noticed');
  a.teller.tell([snitch('t')]);
  await cluster.query('SELECT pg_sleep(0.6)');
  link.restore();
  await until(() => b.heard.length > 0, 'it is heard of');
  assert.ok(['reset', 't'].includes(tokens(b.heard)[0] ?? ''));
});

runUnless(WITHOUT_POSTGRES, test, 'changes between nodes');
