/** The windows of random silences, and what follows from several together, written down. */
import { join } from 'node:path';
import { suite } from 'uvu';
import {
  activeAt,
  currentWindow,
  lastWindow,
  longestOver,
  merged,
  nextWindow,
  overAt,
  plannedWindows,
  type Silence,
  type SilenceScope,
  type SilenceTime,
  silentUntil,
  windowsOf,
} from '../../../src/core/silences/silence.ts';
import { assertKept, inOneLine } from '../../kept-text.ts';
import { Dice } from '../../random.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const CASES = 120;
const KEPT = join(import.meta.dirname, 'random-silences.txt');

/** Hours before the clocks of Berlin are set back, and on a day like others. */
const TIMES = ['2026-10-24T20:00Z', '2026-03-28T23:30Z', '2026-07-15T13:20Z'].map((time) => Date.parse(time));

const SNITCHES = [
  { token: 'one', tags: ['web'] },
  { token: 'two', tags: ['db', 'web'] },
  { token: 'three', tags: [] },
];

const silences = suite('random silences');

function timeOf(dice: Dice, now: number): SilenceTime {
  if (dice.isHit(0.4)) {
    const from = now + dice.whole(-30, 30) * HOUR;
    return { kind: 'once', from, to: from + dice.oneOf([MINUTE, HOUR, 5 * HOUR, 3 * DAY]) };
  }
  const schedule = dice.oneOf([
    { cron: '0 3 * * *' },
    { cron: '30 2 * * 0' },
    { cron: '0 * * * *' },
    { cron: '0 0 1 * *' },
    { calendar: 'Sat,Sun 01:30' },
    { calendar: '2026-10-25 02:30' },
  ]);
  const timezone = dice.oneOf([null, 'Europe/Berlin', 'America/New_York']);
  return { kind: 'recurring', schedule, duration: dice.oneOf([10 * MINUTE, HOUR, 4 * HOUR]), timezone };
}

function scopeOf(dice: Dice): SilenceScope {
  return dice.oneOf<SilenceScope>([
    { kind: 'all' },
    { kind: 'tags', tags: dice.someOf(['web', 'db', 'none']) },
    { kind: 'tokens', tokens: dice.someOf(['one', 'two', 'three']) },
  ]);
}

function silenceOf(dice: Dice, now: number, id: string): Silence {
  const createdAt = now - dice.oneOf([40 * DAY, 2 * DAY, HOUR, 90_000]);
  const endedAt = dice.isHit(0.2) ? now - dice.oneOf([0, 1, HOUR]) : null;
  const kept = { id, caseId: 'case', note: '', by: 'test', createdAt, endedAt };
  return { ...kept, scope: scopeOf(dice), time: timeOf(dice, now) };
}

function describeOne(silence: Silence, now: number, timezone: string): string[] {
  const stretch = { start: now - 2 * DAY, end: now + DAY };
  const { id, scope, time, createdAt, endedAt } = silence;
  return [
    `  ${id} ${inOneLine({ scope, time, createdAt, endedAt })}`,
    `    windows ${inOneLine(windowsOf(silence, stretch, timezone).slice(0, 5))}, over ${inOneLine(overAt(silence))}`,
    `    last ${inOneLine(lastWindow(silence, now, timezone))}, now ${inOneLine(currentWindow(silence, now, timezone))}, next ${inOneLine(nextWindow(silence, now, timezone))}`,
  ];
}

function describe(seed: number): string[] {
  const dice = new Dice(seed);
  const timezone = dice.oneOf(['UTC', 'Europe/Berlin', 'Asia/Kolkata']);
  const now = dice.oneOf(TIMES) + dice.whole(0, 48) * 10 * MINUTE;
  const all = ['a', 'b', 'c'].slice(0, dice.whole(1, 3)).map((id) => silenceOf(dice, now, id));
  const most = dice.oneOf([1, 3, 100]);
  const planned = plannedWindows(all, { now, until: now + 2 * DAY, timezone, most });
  const active = activeAt(all, now, timezone);
  const over = SNITCHES.map((snitch) => longestOver(active, snitch)?.silence.id ?? '-');
  const windows = all.flatMap((silence) =>
    windowsOf(silence, { start: now - DAY, end: now + DAY }, timezone),
  );
  return [
    `${seed}: ${timezone} ${inOneLine(now)}`,
    ...all.flatMap((silence) => describeOne(silence, now, timezone)),
    `  planned ${
      planned
        ?.slice(0, 6)
        .map(({ silence: { id }, start }) => `${id} ${inOneLine(start)}`)
        .join(', ') ?? `more than ${most}`
    }`,
    `  over the snitches ${over.join(' ')}, silent until ${inOneLine(silentUntil(all, now, timezone))}`,
    `  merged ${inOneLine(merged(windows).slice(0, 6))}`,
  ];
}

silences('are as they were', () => {
  const lines: string[] = [];
  for (let seed = 1; seed <= CASES; seed += 1) lines.push(...describe(seed));
  assertKept(KEPT, lines);
});

silences.run();
