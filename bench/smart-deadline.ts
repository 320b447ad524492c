/**
 * How much sooner than a basic deadline a smart one reports a missed run, and what it costs in false alarms.
 *
 *     node bench/smart-deadline.ts [histories per kind] [runs per history] [seed]
 */
import { histories } from './histories.ts';
import { percentile, type Replay, replay, sum } from './replay.ts';

const [perKind = 36, count = 1_200, seed = 1] = process.argv.slice(2).map(Number);

const replays = new Map<string, Replay[]>();
const regular: Replay[] = [];
const regularKinds = new Set<string>();
for (const history of histories(seed, perKind, count)) {
  const result = replay(history);
  replays.set(history.kind, [...(replays.get(history.kind) ?? []), result]);
  if (!history.regular) continue;
  regular.push(result);
  regularKinds.add(history.kind);
}

const rows = [...replays].map(([kind, results]) => row(kind, sum(results)));
rows.push(row('regular histories', sum(regular)), row('all', sum([...replays.values()].flat())));
console.table(Object.fromEntries(rows));

const saved = rows.at(-2)?.[1]['less p50 %'] ?? Number.NaN;
const [worst, added] = rows
  .map(([kind, figures]) => [kind, figures['more false']] as const)
  .reduce((one, other) => (other[1] > one[1] ? other : one));
const met = saved >= 80 && added <= 5;
console.log(`Delay: from when the missed run would have checked in to the alert.
False: all alerts that no missed run came before, per 10,000 check-ins. More: those of smart less those of basic.
Regular histories: ${[...regularKinds].join(', ')}.
Target: at least 80 % less median delay on the regular histories (${saved} %), and on no kind of history more than
5 false alarms in 10,000 check-ins above those of basic (${added}: ${worst}): ${met ? 'met' : 'MISSED'}.`);
process.exitCode = met ? 0 : 1;

function row(kind: string, total: Replay) {
  const { basic, smart, checkIns } = total;
  const rate = (alarms: number) => Number(((alarms * 10_000) / checkIns).toFixed(2));
  const before = percentile(basic.delays, 0.5);
  const after = percentile(smart.delays, 0.5);
  const figures = {
    'check-ins': checkIns,
    missed: basic.delays.length + basic.unnoticed,
    'basic p50': duration(before),
    'basic p95': duration(percentile(basic.delays, 0.95)),
    'smart p50': duration(after),
    'smart p95': duration(percentile(smart.delays, 0.95)),
    'less p50 %': Number((100 * (1 - after / before)).toFixed(1)),
    'basic false': rate(basic.falseAlarms),
    'smart false': rate(smart.falseAlarms),
    'more false': rate(smart.falseAlarms - basic.falseAlarms),
  };
  return [kind, figures] as const;
}

function duration(milliseconds: number): string {
  const minutes = milliseconds / 60_000;
  if (minutes < 120) return `${minutes.toFixed(1)} min`;
  return minutes < 2_880 ? `${(minutes / 60).toFixed(1)} h` : `${(minutes / 1_440).toFixed(1)} d`;
}
