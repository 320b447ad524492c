// Time limit: 180 s.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { histories } from '../../bench/histories.ts';
import { percentile, type Replay, replay, sum } from '../../bench/replay.ts';

const target = suite('smart deadline: target');

/** A missed run counts as found late or not at all, a false alarm in full. */
function replays(perKind: number, count: number): { regular: Replay[]; kinds: Map<string, Replay[]> } {
  const kinds = new Map<string, Replay[]>();
  const regular: Replay[] = [];
  for (const history of histories(1, perKind, count)) {
    const result = replay(history);
    kinds.set(history.kind, [...(kinds.get(history.kind) ?? []), result]);
    if (history.regular) regular.push(result);
  }
  return { regular, kinds };
}

target('at least 80 % less delay, and on no kind of history over 5 more false alarms in 10,000', () => {
  const { regular, kinds } = replays(8, 1_200);
  const { basic, smart } = sum(regular);
  assert.ok(basic.delays.length > 150, 'enough runs were missed to have a median');
  assert.ok(percentile(smart.delays, 0.5) <= 0.2 * percentile(basic.delays, 0.5));
  assert.ok(kinds.size >= 13);
  for (const [kind, results] of kinds) {
    const total = sum(results);
    const more = (10_000 * (total.smart.falseAlarms - total.basic.falseAlarms)) / total.checkIns;
    assert.ok(more <= 5, `${kind}: ${more.toFixed(1)} more false alarms in 10,000 than basic`);
    assert.ok(total.smart.unnoticed <= total.basic.unnoticed, `${kind}: a missed run goes unnoticed for it`);
  }
});

target.run();
