import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openingTeller } from '../../src/daemon/opening.ts';
import type { Opening } from '../../src/store/sqlite/connection.ts';

const test = suite('what takes long before the daemon listens');

function recorded() {
  const told = { status: [] as string[], extended: [] as number[], log: [] as string[] };
  const world = { elapsed: 0 };
  const manager = {
    status: (text: string) => void told.status.push(text),
    extend: (within: number) => void told.extended.push(within),
  };
  const logger = { info: (text: string) => void told.log.push(text) };
  const tell = openingTeller({ manager, logger: logger as never }, () => world.elapsed);
  return { ...told, world, tell };
}

test('opening a small database is not reported', () => {
  const { status, extended, log, tell } = recorded();
  for (const doing of ['checking', 'copying'] as const) tell({ doing, bytes: 1_000_000 });
  assert.equal([status, extended, log], [[], [], []]);
});

test('the manager gives more time before each long step, the more the larger the database is', () => {
  const { status, extended, log, tell } = recorded();
  const sizes = [50_000_000, 1_700_000_000];
  for (const bytes of sizes) for (const doing of ['checking', 'copying'] as const) tell({ doing, bytes });
  assert.equal(status, [
    'Checking the database (50 MB) before it is used',
    'Copying the database (50 MB) before its upgrade',
    'Checking the database (1.7 GB) before it is used',
    'Copying the database (1.7 GB) before its upgrade',
  ]);
  assert.equal(log, status);
  const [small = 0, , large = 0] = extended;
  assert.is(extended.length, 4);
  // A disk with a throughput of one megabyte a second.
  assert.ok(large - small >= (1_700 - 50) * 1_000);
});

test('all steps of an upgrade are in the status, and some in the log', () => {
  const { status, extended, log, world, tell } = recorded();
  const steps: Opening[] = Array.from({ length: 10 }, (_, index) => ({
    doing: 'upgrading',
    table: 'snitches',
    done: (index + 1) * 100_000,
    total: 1_000_000,
  }));
  for (const step of steps) {
    tell(step);
    world.elapsed += 3_000;
  }
  assert.is(status.length, 10);
  assert.is(extended.length, 10);
  assert.is(status.at(-1), 'Upgrading the database: 1,000,000 of 1,000,000 in snitches');
  assert.equal(log, [status[0], status[4], status[8]]);
});

test.run();
