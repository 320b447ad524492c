/** The strips of random snitches on a status page, and what is known of their past, written down. */
import { join } from 'node:path';
import { suite } from 'uvu';
import type { PayloadStatus } from '../../../src/core/alert.ts';
import type { BlindWindow } from '../../../src/core/blind-window.ts';
import { Calendar, INTERVALS } from '../../../src/core/interval.ts';
import { merged } from '../../../src/core/silences/silence.ts';
import type { Status } from '../../../src/core/snitch.ts';
import { type KeptChange, type Past, presentSince, spansOf } from '../../../src/core/status-page/spans.ts';
import { marksOf, periodEdges, periodsInWords, type Rhythm } from '../../../src/core/status-page/strip.ts';
import { assertKept, inOneLine } from '../../kept-text.ts';
import { Dice } from '../../random.ts';

const STRIPS = 150;
const KEPT = join(import.meta.dirname, 'random-strips.txt');

const ZONES = ['UTC', 'Europe/Berlin', 'Australia/Lord_Howe'];
const TIMES = ['2026-10-25T09:00Z', '2026-07-15T13:20Z', '2027-01-01T00:00Z'].map((time) => Date.parse(time));

const STATUSES: Status[] = ['pending', 'healthy', 'failed', 'errored', 'paused'];
const TOLD: PayloadStatus[] = ['healthy', 'missing', 'errored', 'paused'];

const strips = suite('random strips');

function rhythmOf(dice: Dice): Rhythm {
  const schedule = dice.oneOf([
    null,
    null,
    { cron: '30 2 * * *' },
    { cron: '0 9 * * 1-5' },
    { calendar: '2026-07-10 12:00' },
    { every: 5_400 },
  ]);
  return { interval: dice.oneOf(INTERVALS), schedule, timezone: dice.oneOf([null, 'America/New_York']) };
}

/** Ascending instants between the two. */
function instants(dice: Dice, from: number, to: number, count: number): number[] {
  const found = Array.from({ length: count }, () => dice.whole(0, 1_000) / 1_000);
  return found.sort((one, other) => one - other).map((share) => Math.floor(from + share * (to - from)));
}

function changesOf(dice: Dice, from: number, to: number): KeptChange[] {
  let was = dice.oneOf(STATUSES);
  return instants(dice, from, to, dice.whole(0, 8)).map((at) => {
    const change = { at, was, status: dice.oneOf(STATUSES) };
    was = change.status;
    return change;
  });
}

function pastOf(dice: Dice, from: number, now: number): Past {
  const [createdAt = from, since = from] = instants(dice, from, now, 2);
  const changes = changesOf(dice, Math.max(createdAt, since), now);
  const before = dice.isHit(0.6) ? instants(dice, createdAt, since, dice.whole(0, 5)) : [];
  const alerts = before.map((at) => ({ at, status: dice.oneOf(TOLD), previousStatus: dice.oneOf(TOLD) }));
  const status = changes.at(-1)?.status ?? dice.oneOf(STATUSES);
  return { createdAt, status, since, changes, alerts, isCut: dice.isHit(0.3) };
}

function windowsOf(dice: Dice, from: number, now: number): BlindWindow[] {
  return instants(dice, from, now, dice.whole(0, 4)).map((start) => {
    return { start, end: start + Math.floor(((now - from) * dice.whole(1, 100)) / 1_000) };
  });
}

function describe(seed: number): string[] {
  const dice = new Dice(seed);
  const rhythm = rhythmOf(dice);
  const now = dice.oneOf(TIMES);
  const edges = periodEdges(rhythm, dice.oneOf(ZONES), new Calendar(), now);
  const from = edges[0] ?? now;
  const past = pastOf(dice, from - dice.oneOf([0, 0.2]) * (now - from), now);
  const spans = spansOf(past);
  const away = merged(windowsOf(dice, from, now));
  const quiet = merged([...away, ...windowsOf(dice, from, now)]);
  const marks = marksOf(edges, spans, { away, quiet }, now);
  return [
    `${seed}: ${inOneLine(rhythm)} at ${inOneLine(now)}: ${edges.length - 1} ${periodsInWords(rhythm)}`,
    `  edges ${inOneLine([...edges.slice(0, 3), ...edges.slice(-2)])}`,
    `  spans ${inOneLine(spans)}, as now since ${inOneLine(presentSince(spans))}`,
    `  ${marks.map((mark) => mark.slice(0, 1)).join('')} ${[...new Set(marks)].join(' ')}`,
  ];
}

strips('are as they were', () => {
  const lines: string[] = [];
  for (let seed = 1; seed <= STRIPS; seed += 1) lines.push(...describe(seed));
  assertKept(KEPT, lines);
});

strips.run();
