/** What the daemon reports about long work, at `/readyz` and to the service manager. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { problems, progress, type Workers } from '../../src/daemon/progress.ts';

const test = suite('progress');

function workers(postponing: string | null, checking: { done: number; of: number } | null): Workers {
  return {
    store: {
      health: () => ({ commits: 0, syncs: 0, failingSince: null }),
      misplaced: () => null,
      isContested: () => false,
      checking: () => checking,
      node: null,
    },
    sweeper: { problem: () => null, stall: () => null, progress: () => postponing },
    deliverer: { problem: () => null },
    start: { isOver: true },
  };
}

test('nothing is reported while nothing takes long', () => {
  assert.equal(progress(workers(null, null)), []);
});

test('everything that takes long is reported, and is not a problem', () => {
  const busy = workers('postponing 5 of 10', { done: 2, of: 30 });
  assert.equal(progress(busy), [
    'postponing 5 of 10',
    'checking the database in the background: 2 of 30 tables are done',
  ]);
  assert.equal(problems(busy), []);
});

test('a second daemon on the same directory is a problem', () => {
  const quiet = workers(null, null);
  const store = { ...quiet.store, isContested: () => true };
  assert.equal(problems({ ...quiet, store }), ['another process has locked the same data directory']);
});

test.run();
