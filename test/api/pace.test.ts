/** How a client keeps below the rate limit that the server tells it. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Pace } from '../../src/api/pace.ts';

const test = suite('pace of calls');

const told = (left: number, burst = 100, window = 10) => ({
  'ratelimit-policy': `"key";q=${burst};w=${window}`,
  ratelimit: `"key";r=${left};t=${window}`,
});

test('without a limit nothing waits', () => {
  const pace = new Pace();
  for (let call = 0; call < 1_000; call += 1) {
    assert.is(pace.waitMs(0), 0);
    pace.started(0);
    pace.ended({}, 0);
  }
  assert.is(pace.perMinute, null);
});

test('a tenth of the burst is left to others, and then calls go as fast as the bucket fills', () => {
  const pace = new Pace();
  pace.started(0);
  pace.ended(told(12), 0);
  assert.is(pace.perMinute, 600);
  assert.is(pace.waitMs(0), 0);
  pace.started(0);
  pace.ended(told(11), 0);
  assert.is(pace.waitMs(0), 0);
  pace.started(0);
  pace.ended(told(10), 0);
  assert.is(pace.waitMs(0), 100);
  assert.is(pace.waitMs(60), 40);
  assert.is(pace.waitMs(100), 0);
});

test('calls under way count before their answers are there', () => {
  const pace = new Pace();
  pace.started(0);
  pace.ended(told(13), 0);
  for (let call = 0; call < 3; call += 1) {
    assert.is(pace.waitMs(0), 0, `call ${call}`);
    pace.started(0);
  }
  assert.is(pace.waitMs(0), 100);
  pace.ended(told(12), 0);
  assert.is(pace.waitMs(0), 100, 'two of them are still under way');
});

test('what others take from the same key is seen with the next answer', () => {
  const pace = new Pace();
  pace.started(0);
  pace.ended(told(90), 0);
  pace.started(0);
  pace.ended(told(5), 0);
  assert.is(pace.waitMs(0), 600);
});

test('a bucket of one is emptied and waited for', () => {
  const pace = new Pace();
  pace.started(0);
  pace.ended(told(0, 1, 60), 0);
  assert.is(pace.waitMs(0), 60_000);
  assert.is(pace.waitMs(60_000), 0);
});

test('a block holds every call, and is news once', () => {
  const pace = new Pace();
  assert.is(pace.block(5_000, 0), true);
  assert.is(pace.block(5_010, 10), false);
  assert.is(pace.waitMs(10), 5_000);
  assert.is(pace.waitMs(5_010), 0);
  assert.is(pace.block(9_000, 6_000), true);
});

test('headers that make no sense limit nothing', () => {
  for (const policy of ['', 'x', '"key";q=0;w=1', '"key";q=1;w=0', '"key";q=-5;w=1', '"key";q=1e9;w=1']) {
    const pace = new Pace();
    pace.started(0);
    pace.ended({ 'ratelimit-policy': policy, ratelimit: '"key";r=0;t=1' }, 0);
    assert.is(pace.waitMs(0), 0, policy);
  }
});

test.run();
