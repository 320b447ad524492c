import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { RepeatedFailure } from '../../src/text/repeated-failure.ts';

const test = suite('what fails again and again');

function recorded(first?: number) {
  const lines: string[] = [];
  const world = { now: 0 };
  const write = (level: string) => (fields: object, message?: string) =>
    void lines.push(`${level} ${JSON.stringify(fields)} ${message ?? ''}`);
  const logger = { warn: write('warn'), error: write('error'), info: write('info') };
  const failure = new RepeatedFailure({
    logger: logger as never,
    message: 'it failed',
    over: 'it works',
    monotonic: () => world.now,
    ...(first !== undefined && { first }),
  });
  return { lines, world, failure };
}

test('it is told at once, then once a minute with the number, and when it is over', () => {
  const { lines, world, failure } = recorded();
  for (world.now = 0; world.now < 90_000; world.now += 1_000) failure.failed({});
  failure.works();
  failure.works();
  assert.equal(lines, [
    'error {} it failed',
    'error {"since_last_line":59} it failed',
    'info {"since_last_line":29} it works',
  ]);
  failure.failed({}, 'warn');
  assert.is(lines.at(-1), 'warn {} it failed', 'the next one is told at once');
});

test('a few are told each', () => {
  const { lines, world, failure } = recorded(3);
  for (let times = 0; times < 1_000; times += 1) failure.failed({ times });
  assert.is(lines.length, 3);
  world.now = 60_000;
  failure.failed({});
  assert.is(lines.at(-1), 'error {"since_last_line":997} it failed');
});

test.run();
