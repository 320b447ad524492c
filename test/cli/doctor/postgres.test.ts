/** What `snitch doctor` says about a PostgreSQL database and its nodes. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { findingsOf } from '../../../src/cli/doctor/postgres.ts';
import type { ListedNode } from '../../../src/store/node.ts';
import type { Inspected } from '../../../src/store/postgres/inspect.ts';

const NOW = 1_800_000_000_000;

const node = (name: string, changed: Partial<ListedNode> = {}): ListedNode => ({
  id: name,
  name,
  version: '1.0.0',
  startedAt: NOW - 60_000,
  aliveAt: NOW - 500,
  stoppedAt: null,
  clockAheadMs: 2,
  schemaVersion: 19,
  waits: false,
  ...changed,
});

function found(changed: Partial<Inspected>): Map<string, [state: string, message: string]> {
  const inspected: Inspected = {
    version: '15.18',
    content: { snitches: 3, cases: 1 },
    nodes: [node('a'), node('b')],
    now: NOW,
    standbys: [{ name: 'second', state: 'sync' }],
    isSynchronous: true,
    size: 12_345_678,
    seesStandbys: true,
    holders: [],
    prepared: [],
    waitsFor: 'on',
    ...changed,
  };
  const findings = findingsOf(inspected, 'postgres://db:5432/snitch');
  return new Map(findings.map(({ check, state, message }) => [check, [state, message]]));
}

test('where all is well, it names the nodes and the standby', () => {
  const findings = found({});
  assert.equal([...findings.keys()], ['store', 'nodes', 'replication']);
  assert.ok([...findings.values()].every(([state]) => state === 'ok'));
  assert.match(findings.get('nodes')?.[1] ?? '', '2 nodes: a (1.0.0), b (1.0.0)');
  assert.match(findings.get('store')?.[1] ?? '', '3 snitches in 1 case; 13 MB');
});

test('a transaction that was prepared and left is named, with what ends it', () => {
  const [state, message] =
    found({ prepared: [{ name: 'left', user: 'ann', heldMs: 7_200_000 }] }).get('locks') ?? [];
  assert.is(state, 'failure');
  assert.match(message ?? '', 'the transaction left, which the user ann prepared 2 h ago and did not end');
});

test('a clock that is more than a second off is a warning, and a smaller difference is none', () => {
  const [state, message] = found({ nodes: [node('a', { clockAheadMs: -1_600 })] }).get('clocks') ?? [];
  assert.is(state, 'warning');
  assert.match(message ?? '', 'the clock of a is 1.6 s behind');
  assert.not(found({ nodes: [node('a', { clockAheadMs: 1_000 })] }).has('clocks'));
});

test('where all nodes differ from the database alike, its own clock is called wrong', () => {
  const alike = [node('a', { clockAheadMs: 7_200_300 }), node('b', { clockAheadMs: 7_200_000 })];
  const [state, message] = found({ nodes: alike }).get('clocks') ?? [];
  assert.is(state, 'failure');
  assert.match(message ?? '', 'the clock of the database is 2 h behind those of all nodes');
  const apart = found({
    nodes: [node('a', { clockAheadMs: 7_200_300 }), node('b', { clockAheadMs: 4_000 })],
  });
  assert.is(apart.get('clocks')?.[0], 'warning', 'only a node can be blamed');
  const one = found({ nodes: [node('a', { clockAheadMs: 7_200_300 }), node('b')] }).get('clocks');
  assert.match(one?.[1] ?? '', 'the clock of a is 2 h ahead of');
});

test('nodes with the same name are reported, and one that was just replaced on its host is not', () => {
  const [state, message] = found({ nodes: [node('a'), node('a', { id: '2' })] }).get('names') ?? [];
  assert.is(state, 'warning');
  assert.match(message ?? '', 'more than one node is called a');
  assert.not(found({ nodes: [node('a'), node('a', { id: '2', aliveAt: NOW - 5_000 })] }).has('names'));
});

test('nodes that ended, or that are silent, do not count', () => {
  const nodes = [node('a', { stoppedAt: NOW }), node('b', { aliveAt: NOW - 60_000 })];
  assert.is(found({ nodes }).get('nodes')?.[0], 'failure');
});

test('a node that ended without stopping in order is reported, unless its host has another one now', () => {
  const gone = node('c', { aliveAt: NOW - 180_000 });
  const [state, message] = found({ nodes: [node('a'), gone] }).get('nodes') ?? [];
  assert.is(state, 'warning');
  assert.match(message ?? '', 'c gave its last sign of life 3 min ago, and was not shut down properly');
  for (const nodes of [
    [node('c'), gone],
    [node('a'), { ...gone, stoppedAt: NOW - 180_000 }],
    [node('a'), { ...gone, aliveAt: NOW - 3 * 86_400_000 }],
  ])
    assert.is(found({ nodes }).get('nodes')?.[0], 'ok');
});

test('a user who may not see the standbys is not told that there are none', () => {
  const unseen = (isSynchronous: boolean) =>
    found({ standbys: [], isSynchronous, seesStandbys: false }).get('replication') ?? [];
  for (const [state, message] of [unseen(true), unseen(false)]) {
    assert.is(state, 'warning');
    assert.match(message ?? '', 'has no right to see whether one is connected');
  }
});

test('who holds what the nodes wait for is named, with what ends that', () => {
  const holder = { process: 4711, user: 'ann', program: 'psql', from: '10.0.0.9', heldMs: 60_000 };
  const [state, message] = found({ holders: [holder] }).get('locks') ?? [];
  assert.is(state, 'failure');
  assert.match(
    message ?? '',
    'psql of the user ann from 10.0.0.9, in a transaction for 1 min, holds locks that the nodes wait for',
  );
});

test('the server itself may hold it, as while it vacuums, and counts that wait for that are left out', () => {
  const holder = { process: 4711, user: null, program: 'autovacuum worker', from: null, heldMs: 60_000 };
  const findings = found({ holders: [holder], content: 'held' });
  assert.match(
    findings.get('locks')?.[1] ?? '',
    /^autovacuum worker, in a transaction for 1 min, holds locks/,
  );
  assert.match(findings.get('store')?.[1] ?? '', 'cannot be counted right now; 13 MB');
});

test('commits that wait only for the local disk are reported', () => {
  const [state, message] = found({ waitsFor: 'local', isSynchronous: false }).get('replication') ?? [];
  assert.is(state, 'warning');
  assert.match(message ?? '', 'synchronous_commit is local');
});

test('different versions, and nothing in the database yet, are told', () => {
  const nodes = [node('a'), node('b', { version: '1.1.0' })];
  assert.is(found({ nodes }).get('nodes')?.[0], 'warning');
  assert.is(found({ content: null }).get('store')?.[0], 'warning');
});

test('an asynchronous standby can lose check-ins, and a missing synchronous one refuses them', () => {
  const standbys = [{ name: 'second', state: 'async' }];
  const [state, message] = found({ standbys, isSynchronous: false }).get('replication') ?? [];
  assert.is(state, 'warning');
  assert.match(message ?? '', 'can be lost in a failover');
  assert.is(found({ standbys: [], isSynchronous: true }).get('replication')?.[0], 'failure');
  assert.is(found({ standbys: [], isSynchronous: false }).get('replication')?.[0], 'warning');
});

test('it names a node that waits for older ones, and does not count it', () => {
  const waits = node('newer', { version: '2.0.0', schemaVersion: 21, waits: true });
  const findings = found({ nodes: [node('a'), waits] });
  assert.equal(findings.get('nodes'), ['ok', '1 node: a (1.0.0)']);
  assert.is(findings.get('upgrade')?.[0], 'warning');
  assert.match(findings.get('upgrade')?.[1] ?? '', /^newer \(2\.0\.0\) waits: .* version 21 /);
});

test.run();
