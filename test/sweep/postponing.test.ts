import { pino } from 'pino';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { POSTPONED_AT_ONCE } from '../../src/store/blindness.ts';
import { Postponing } from '../../src/sweep/postponing.ts';

const test = suite('postponing many deadlines');

const LOOKED = /^postponing deadlines after a blind window: ([\d,]+) of at most ([\d,]+) snitches looked at/;

/** This many slices, each of which takes a tenth of a second. */
function recorded(slices: number) {
  const log: string[] = [];
  const world = { left: slices, elapsed: 0, relieved: 0 };
  const postponing = new Postponing({
    store: {
      postponeSlice: async () => {
        world.elapsed += 100;
        world.left -= 1;
        return world.left >= 0;
      },
      census: async () => ({
        snitches: { healthy: 90_000, pending: 10_000 },
        outbox: { pending: 0, waiting: 0, oldestAlertAt: null },
        firstDueAt: null,
        blindMs: 0,
        lastValues: [],
      }),
    },
    monotonic: () => world.elapsed,
    afterLongWork: () => {
      world.relieved += 1;
    },
    logger: pino({}, { write: (line) => void log.push((JSON.parse(line) as { msg: string }).msg) }),
  });
  return { world, log, postponing };
}

test('quick work is not reported', async () => {
  const { world, log, postponing } = recorded(3);
  assert.not(await postponing.next(0));
  assert.is(world.relieved, 0);
  assert.is(postponing.progress(), null);
  assert.equal(log, []);
});

test('a second window is processed from the beginning, and its progress does not stay at the end', async () => {
  const { world, postponing } = recorded(1_500);
  const seen = new Set<string>();
  let calls = 0;
  for (; await postponing.next(0); calls += 1) seen.add(postponing.progress() ?? '');
  assert.ok(world.left < 0);
  assert.is(seen.size, calls);
});

test('long work is reported: its progress now and again, and its end', async () => {
  const { world, log, postponing } = recorded(410);
  const seen: number[] = [];
  while (await postponing.next(0)) {
    const [, looked = '', all] = LOOKED.exec(postponing.progress() ?? '') ?? [];
    seen.push(Number(looked.replaceAll(',', '')));
    assert.is(all, '100,000');
  }
  assert.is(seen.length, 51);
  assert.is(world.relieved, 1);
  assert.equal([seen[0], seen.at(-1)], [8 * POSTPONED_AT_ONCE, 408 * POSTPONED_AT_ONCE]);
  assert.is(postponing.progress(), null);
  assert.is(log.length, 4);
  for (const line of log.slice(0, 3)) assert.match(line, LOOKED);
  assert.is(log[3], 'the deadlines are postponed; alarms are raised again');
});

test('the next window starts from the beginning', async () => {
  const { world, log, postponing } = recorded(410);
  while (await postponing.next(0));
  log.length = 0;
  world.left = 20;
  assert.ok(await postponing.next(0));
  assert.match(postponing.progress() ?? '', `: ${8 * POSTPONED_AT_ONCE} of at most`);
  while (await postponing.next(0));
  assert.equal(log, []);
});

test('several windows never count more snitches than there are', async () => {
  const { postponing } = recorded(8_000);
  let last = '';
  while (await postponing.next(0)) last = postponing.progress() ?? '';
  assert.match(last, ': 100,000 of at most 100,000 snitches');
});

test.run();
