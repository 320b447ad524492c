/**
 * Silences (`extensions: Acknowledge, silence, depend`): planned times in which the snitches they cover raise no alarm,
 * because their jobs are not expected to run. All times are in milliseconds since the epoch, all lengths in
 * milliseconds.
 */
import type { BlindWindow } from '../blind-window.ts';
import { scheduleOf } from '../job-schedule.ts';
import type { ScheduleRule } from '../schedule/schedule.ts';

/** What a silence covers: all snitches of its case, those with one of the tags, or the named ones. */
export type SilenceScope =
  | { kind: 'all' }
  | { kind: 'tags'; tags: readonly string[] }
  | { kind: 'tokens'; tokens: readonly string[] };

/** When a silence holds: once, or for `duration` after each instant of a schedule. */
export type SilenceTime =
  | { kind: 'once'; from: number; to: number }
  /** `timezone` is null for the case's. */
  | { kind: 'recurring'; schedule: ScheduleRule; duration: number; timezone: string | null };

/** A stretch of time in which a silence holds, from `start` (inclusive) to `end` (exclusive). */
export type SilenceWindow = BlindWindow;

export interface NewSilence {
  scope: SilenceScope;
  time: SilenceTime;
  note: string;
}

export interface Silence extends NewSilence {
  id: string;
  caseId: string;
  /** The name of the key that made it. */
  by: string;
  createdAt: number;
  /** When somebody ended it early; null if nobody did. */
  endedAt: number | null;
}

/** What of a snitch matters to silences. */
export interface Silenceable {
  token: string;
  tags: readonly string[];
}

/** The tags that the snitch has now count, whatever it had when the silence was made. */
export function covers({ scope }: Pick<Silence, 'scope'>, { token, tags }: Silenceable): boolean {
  switch (scope.kind) {
    case 'all':
      return true;
    case 'tags':
      return scope.tags.some((tag) => tags.includes(tag));
    case 'tokens':
      return tokensOf(scope).has(token);
  }
}

type TokensScope = Extract<SilenceScope, { kind: 'tokens' }>;

/** A scope can have hundreds of tokens, and a list asks each scope about thousands of snitches. */
const TOKENS = new WeakMap<TokensScope, ReadonlySet<string>>();

function tokensOf(scope: TokensScope): ReadonlySet<string> {
  const known = TOKENS.get(scope) ?? new Set(scope.tokens);
  TOKENS.set(scope, known);
  return known;
}

type Timed = Pick<Silence, 'time' | 'createdAt' | 'endedAt'>;

/**
 * The windows of the silence that overlap the stretch, in the order in which they begin. A silence never held before
 * it was made.
 *
 * @param timezone that of the case
 */
export function windowsOf(silence: Timed, stretch: SilenceWindow, timezone: string): SilenceWindow[] {
  const { time, createdAt, endedAt } = silence;
  const last = endedAt ?? Number.POSITIVE_INFINITY;
  const all =
    time.kind === 'once'
      ? [{ start: time.from, end: time.to }]
      : recurrences(time, silence, stretch, timezone);
  return all
    .map(({ start, end }) => ({ start: Math.max(start, createdAt), end: Math.min(end, last) }))
    .filter(({ start, end }) => start < end && start < stretch.end && end > stretch.start);
}

/** Those that begin before the stretch ends and may end after it began. */
function recurrences(
  time: Extract<SilenceTime, { kind: 'recurring' }>,
  { createdAt }: Pick<Timed, 'createdAt'>,
  stretch: SilenceWindow,
  timezone: string,
): SilenceWindow[] {
  const schedule = scheduleOf(time, timezone);
  const windows: SilenceWindow[] = [];
  let start = schedule?.nextAfter(Math.max(stretch.start, createdAt) - time.duration) ?? null;
  while (start !== null && start < stretch.end) {
    windows.push({ start, end: start + time.duration });
    start = schedule?.nextAfter(start) ?? null;
  }
  return windows;
}

/** The window that the silence is in at `now`; if two overlap at a clock change, the one that ends last. */
export function currentWindow(silence: Timed, now: number, timezone: string): SilenceWindow | null {
  return lastToEnd(windowsOf(silence, { start: now, end: now + 1 }, timezone), (window) => window);
}

/** The window that the silence is in at `now`, or was in last; null if it never held. */
export function lastWindow(silence: Timed, now: number, timezone: string): SilenceWindow | null {
  const { time, createdAt, endedAt } = silence;
  const end = endedAt ?? Number.POSITIVE_INFINITY;
  if (time.kind === 'once') {
    const window = { start: Math.max(time.from, createdAt), end: Math.min(time.to, end) };
    return window.start <= now && window.start < window.end ? window : null;
  }
  const start = scheduleOf(time, timezone)?.lastUntil(Math.min(now, end - 1)) ?? null;
  if (start === null || start + time.duration <= createdAt) return null;
  return { start: Math.max(start, createdAt), end: Math.min(start + time.duration, end) };
}

/** The first window that begins after `now`; null if there is none. */
export function nextWindow(silence: Timed, now: number, timezone: string): SilenceWindow | null {
  const { time, endedAt } = silence;
  if (endedAt !== null) return null;
  if (time.kind === 'once') return time.from > now ? { start: time.from, end: time.to } : null;
  const start = scheduleOf(time, timezone)?.nextAfter(now) ?? null;
  return start === null ? null : { start, end: start + time.duration };
}

/** A window of a silence that has not begun. */
export interface PlannedWindow extends SilenceWindow {
  silence: Silence;
}

/**
 * The windows of the silences that begin after `now` and before `until`, in the order in which they begin; null if there
 * are more than `most`.
 */
export function plannedWindows(
  silences: readonly Silence[],
  { now, until, timezone, most }: { now: number; until: number; timezone: string; most: number },
): PlannedWindow[] | null {
  const windows: PlannedWindow[] = [];
  for (const silence of silences) {
    let next = nextWindow(silence, now, timezone);
    while (next !== null && next.start < until) {
      if (windows.length === most) return null;
      windows.push({ ...next, silence });
      next = nextWindow(silence, next.start, timezone);
    }
  }
  return windows.sort((one, other) => one.start - other.start);
}

/** When it is over for good; null while a schedule may begin it again. */
export function overAt({ time, endedAt }: Pick<Silence, 'time' | 'endedAt'>): number | null {
  if (time.kind === 'recurring') return endedAt;
  return endedAt === null ? time.to : Math.min(endedAt, time.to);
}

/** In order, with those that overlap or touch as one. */
export function merged(windows: readonly SilenceWindow[]): SilenceWindow[] {
  const result: SilenceWindow[] = [];
  for (const window of windows.toSorted((one, other) => one.start - other.start)) {
    const last = result.at(-1);
    if (last && window.start <= last.end) last.end = Math.max(last.end, window.end);
    else result.push({ ...window });
  }
  return result;
}

/** A silence that holds now. */
export interface ActiveSilence {
  silence: Silence;
  window: SilenceWindow;
}

/** The silences that hold at `now`. */
export function activeAt(silences: readonly Silence[], now: number, timezone: string): ActiveSilence[] {
  return silences.flatMap((silence) => {
    const window = currentWindow(silence, now, timezone);
    return window ? [{ silence, window }] : [];
  });
}

/** The silence that covers the snitch and ends last, or null if none covers it. */
export function longestOver(active: readonly ActiveSilence[], snitch: Silenceable): ActiveSilence | null {
  return lastToEnd(
    active.filter(({ silence }) => covers(silence, snitch)),
    ({ window }) => window,
  );
}

function lastToEnd<T>(all: readonly T[], windowIn: (one: T) => SilenceWindow): T | null {
  return all.reduce<T | null>(
    (last, one) => (last === null || windowIn(one).end > windowIn(last).end ? one : last),
    null,
  );
}

/** The most silences that are followed from one into the next. */
const LONGEST_CHAIN = 100;

/**
 * Until when the snitch is silent without a break: each silence that begins before the previous one ends
 * prolongs it.
 *
 * @param silences the silences that cover the snitch
 */
export function silentUntil(silences: readonly Silence[], now: number, timezone: string): number | null {
  let until: number | null = null;
  for (let step = 0; step < LONGEST_CHAIN; step += 1) {
    const ends: number[] = silences.flatMap(
      (silence) => currentWindow(silence, until ?? now, timezone)?.end ?? [],
    );
    if (ends.length === 0) return until;
    until = Math.max(...ends);
  }
  return until;
}
