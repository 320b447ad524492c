/** Whose turn it is among the writes that wait for a transaction. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { WaitingWrites } from '../../../src/store/sqlite/waiting-writes.ts';

const test = suite('waiting writes');

const URGENT_RUN = 64;

function opened() {
  const clock = { now: 10_000 };
  return { clock, waiting: new WaitingWrites<string>(() => clock.now) };
}

function filled(urgent: number, own: number) {
  const { clock, waiting } = opened();
  for (let index = 0; index < urgent; index += 1) waiting.addUrgent(`u${index}`);
  for (let index = 0; index < own; index += 1) waiting.addOwn(`o${index}`);
  return { clock, waiting };
}

test('urgent ones go first, but for one of the others behind each long run of them', () => {
  const { waiting } = filled(URGENT_RUN + 2, 2);
  waiting.addUrgent('late');
  const { writes, own } = waiting.turn();
  assert.is(own, 2);
  assert.equal(writes.slice(URGENT_RUN - 1), ['u63', 'o0', 'u64', 'u65', 'late', 'o1']);
});

test('whatever part of a turn is taken out, the rest stays in its order, before what came since', () => {
  for (const urgent of [0, 1, URGENT_RUN - 1, URGENT_RUN, URGENT_RUN + 3]) {
    for (const own of [0, 1, 3]) {
      for (let count = 0; count <= urgent + own; count += 1) {
        const { waiting } = filled(urgent, own);
        const turn = waiting.turn();
        waiting.addUrgent('new urgent');
        waiting.addOwn('new own');
        waiting.takeOut(count, turn, 0);
        const left = new Set(turn.writes.slice(count));
        const expected = [
          ...Array.from({ length: urgent }, (_, index) => `u${index}`).filter((one) => left.has(one)),
          'new urgent',
          ...Array.from({ length: own }, (_, index) => `o${index}`).filter((one) => left.has(one)),
          'new own',
        ];
        assert.equal(waiting.takeAll(), expected, `${urgent} urgent, ${own} own, ${count} taken`);
        assert.is(waiting.size, 0);
      }
    }
  }
});

test('own work rests as long as it took, where somebody has called lately', () => {
  const { clock, waiting } = filled(1, 2);
  const turn = waiting.turn();
  clock.now += 7;
  waiting.takeOut(2, turn, 7);
  assert.is(waiting.restsFor, 7);
  assert.not(waiting.hasTurn);
  const { writes, own } = waiting.turn();
  assert.equal({ writes, own }, { writes: [], own: 0 });
  waiting.addUrgent('u');
  assert.ok(waiting.hasTurn, 'nobody who calls has to rest');
  assert.equal(waiting.turn().writes, ['u']);
  waiting.takeOut(1, waiting.turn(), 3);
  assert.is(waiting.restsFor, 7, 'urgent work is no reason for a rest');
  clock.now += 6.4;
  assert.not(waiting.hasTurn);
  clock.now += 0.1;
  assert.ok(waiting.hasTurn, 'what is left is shorter than any timer');
  const after = waiting.turn();
  assert.equal([after.writes, after.own], [['o1'], 1]);
});

test('all but the first piece of own work is limited, where somebody has called lately', () => {
  for (const urgent of [1, URGENT_RUN, URGENT_RUN + 3]) {
    const { clock, waiting } = filled(urgent, 3);
    const { writes, limitedFrom } = waiting.turn();
    assert.equal(writes.slice(limitedFrom), ['o1', 'o2'], `${urgent} urgent`);
    clock.now += 251;
    assert.is(waiting.turn().limitedFrom, Number.POSITIVE_INFINITY, 'nobody has called lately');
  }
});

test('own work goes on until a moment after the last piece of it', () => {
  const { clock, waiting } = opened();
  assert.not(waiting.isWorking);
  waiting.addUrgent('u');
  waiting.takeOut(1, waiting.turn(), 5);
  assert.not(waiting.isWorking, 'those who call are no own work');
  waiting.addOwn('o');
  assert.ok(waiting.isWorking);
  waiting.takeOut(1, waiting.turn(), 0.5);
  assert.ok(waiting.isWorking, 'the next piece is to be expected');
  clock.now += 21;
  assert.not(waiting.isWorking);
});

test('it does not rest where nobody calls, where it was short, and at the end', () => {
  const { clock, waiting } = filled(0, 3);
  waiting.takeOut(1, waiting.turn(), 50);
  assert.ok(waiting.hasTurn, 'nobody calls');
  waiting.addUrgent('u');
  clock.now += 251;
  waiting.takeOut(2, waiting.turn(), 50);
  assert.ok(waiting.hasTurn, 'somebody called long ago');
  waiting.addUrgent('u');
  waiting.takeOut(2, waiting.turn(), 0.5);
  assert.is(waiting.size, 0);
  waiting.addOwn('o');
  assert.ok(waiting.hasTurn, 'it was short');
  waiting.addUrgent('u');
  waiting.takeOut(2, waiting.turn(), 1);
  waiting.addOwn('o');
  assert.not(waiting.hasTurn, 'it was just long enough');
  waiting.endRest();
  waiting.takeOut(1, waiting.turn(), 50);
  waiting.addOwn('o');
  assert.not(waiting.hasTurn);
  waiting.endRest();
  assert.ok(waiting.hasTurn);
});

test.run();
