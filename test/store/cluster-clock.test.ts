import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ClusterClock } from '../../src/store/cluster-clock.ts';

const HOUR = 3_600_000;
const NOW = 1_800_000_000_000;

/** A host and its database, with the time that really passes. */
class Host {
  passed = 5_000_000;
  off = 0;
  slept = 0;
  readonly clock = new ClusterClock({
    own: () => this.right + this.off,
    monotonic: () => this.passed - this.slept,
    sinceBoot: () => this.passed,
  });

  /** What the database shows. */
  get right(): number {
    return NOW + this.passed;
  }

  /** Asks the database, which looks at its clock somewhere on the way. */
  compare(there = 0, back = 0): void {
    const asked = this.passed - this.slept;
    this.passed += there;
    const told = this.right;
    this.passed += back;
    this.clock.compared(asked, told);
  }

  get error(): number {
    return this.clock.now() - this.right;
  }
}

const test = suite('the clock of a cluster');

test('a clock that is right is left as it is, however long the database takes to answer', () => {
  const host = new Host();
  assert.is(host.error, 0);
  for (const [there, back] of [
    [0, 0],
    [900, 0],
    [0, 900],
    [20, 3],
  ]) {
    host.compare(there, back);
    assert.is(host.error, 0);
    assert.ok(host.clock.aheadMs === 0);
  }
});

test('one that is wrong is set right, and the answer that came quickest counts', () => {
  for (const off of [-30 * HOUR, -90_000, 400, 2 * HOUR]) {
    const host = new Host();
    host.off = off;
    host.compare(10, 300);
    assert.ok(Math.abs(host.error) <= 311, `${off}`);
    host.compare(1, 1);
    assert.ok(Math.abs(host.error) <= 3, `${off}: ${host.error}`);
    host.compare(800, 2_000);
    assert.ok(Math.abs(host.error) <= 3, 'what is known better is not given up for a slow answer');
    assert.ok(Math.abs(host.clock.aheadMs - off) <= 3);
    host.passed += 10 * HOUR;
    assert.ok(Math.abs(host.error) <= 3, 'while the database is away');
  }
});

test('a jump counts for nothing, at once and for as long as the database does not answer', () => {
  const host = new Host();
  host.compare();
  for (const off of [HOUR, -2 * HOUR, 5_000, 26 * HOUR, 0]) {
    host.off = off;
    assert.is(host.error, 0, `${off}`);
    host.passed += 7 * 60_000;
    assert.is(host.error, 0, `${off}`);
    assert.ok(host.clock.aheadMs === off);
  }
});

test('a jump between question and answer counts for nothing either', () => {
  const host = new Host();
  host.compare();
  const asked = host.passed;
  const told = host.right;
  host.off = 3 * HOUR;
  host.clock.compared(asked, told);
  assert.is(host.error, 0);
});

test('a host that slept knows what time it is, though one of its clocks stood still', () => {
  const host = new Host();
  host.off = -HOUR;
  host.compare();
  host.passed += 8 * HOUR;
  host.slept += 8 * HOUR;
  assert.ok(Math.abs(host.error) <= 1);
  host.off = 0;
  host.passed += HOUR;
  host.slept += HOUR;
  assert.ok(Math.abs(host.error) <= 1, 'its clock was set while it slept');
});

test('a jump of less than a second is found out by the next comparison', () => {
  const host = new Host();
  host.compare();
  host.off = 900;
  assert.is(host.error, 900);
  host.compare();
  assert.ok(Math.abs(host.error) <= 1);
});

test('the clock of a new primary is followed', () => {
  const host = new Host();
  host.compare();
  host.clock.compared(host.passed, host.right + 2_500);
  assert.ok(Math.abs(host.error - 2_500) <= 1);
});

test.run();
