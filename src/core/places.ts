/** Where in its period a check-in came, by the local clock: what smart deadlines learn from. */
import { DAY } from '../text/durations.ts';
import { type Interval, nominalLength } from './interval.ts';

/** 1 January 1970 was a Thursday: three days after the Monday that its week starts with. */
const EPOCH_AFTER_MONDAY = 3 * DAY;

/** One known check-in by the local clock, whose readings are instants as if the clock showed UTC. */
export interface Known {
  /** What the clock reads at the start of the period. */
  period: number;
  /** How long after that the check-in came. */
  place: number;
  /** How far the clock is ahead of UTC. */
  ahead: number;
}

/** A stretch of time without a clock change in the zone. */
interface Stretch {
  from: number;
  until: number;
  ahead: number;
}

/** How many recently used zones are remembered, and stretches of each: a look-up costs as much as all the rest. */
const REMEMBERED_ZONES = 600;
const REMEMBERED_STRETCHES = 50;

/**
 * Answers how far a zone's clock is ahead of UTC, and looks it up once per stretch between two clock changes. It only
 * remembers answers; it has no other state.
 */
export class LocalClock {
  static readonly #remembered = new Map<string, LocalClock>();

  readonly #timezone: string;
  #stretches: Stretch[] = [];

  private constructor(timezone: string) {
    this.#timezone = timezone;
  }

  static of(timezone: string): LocalClock {
    const known = LocalClock.#remembered.get(timezone);
    if (known) return known;
    if (LocalClock.#remembered.size >= REMEMBERED_ZONES) LocalClock.#remembered.clear();
    const clock = new LocalClock(timezone);
    LocalClock.#remembered.set(timezone, clock);
    return clock;
  }

  aheadOfUtc(at: number): number {
    return this.#known(at)?.ahead ?? this.#lookUp(at);
  }

  /** The same for all instants from `first` to `last`; null if the clock changes in between. */
  aheadThroughout(first: number, last: number): number | null {
    const ahead = this.aheadOfUtc(first);
    const known = this.#known(first);
    return known && last < known.until ? ahead : null;
  }

  #known(at: number): Stretch | undefined {
    // Not with `find`: this runs several times for each of a million snitches.
    for (const stretch of this.#stretches) if (stretch.from <= at && at < stretch.until) return stretch;
    return undefined;
  }

  #lookUp(at: number): number {
    const zoned = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(this.#timezone);
    const change = zoned.getTimeZoneTransition('next');
    const until = change?.epochMilliseconds ?? Number.POSITIVE_INFINITY;
    const ahead = zoned.offsetNanoseconds / 1e6;
    const same = this.#stretches.find((stretch) => stretch.until === until);
    if (same) same.from = at;
    // The latest answer comes first: the next question is nearly always about the same time.
    else
      this.#stretches = [{ from: at, until, ahead }, ...this.#stretches.slice(0, REMEMBERED_STRETCHES - 1)];
    return ahead;
  }
}

export function locate(interval: Interval, clock: LocalClock, checkIns: readonly number[]): Known[] {
  return checkIns.map((at) => {
    const ahead = clock.aheadOfUtc(at);
    const period = startOf(interval, at + ahead);
    return { period, place: at + ahead - period, ahead };
  });
}

/** The reading of the local clock at which the period around the reading `local` starts. */
export function startOf(interval: Interval, local: number): number {
  if (interval === 'monthly') {
    const date = new Date(local);
    return Date.UTC(date.getUTCFullYear(), date.getUTCMonth());
  }
  const phase = interval === 'weekly' ? EPOCH_AFTER_MONDAY : 0;
  const length = nominalLength(interval);
  return Math.floor((local + phase) / length) * length - phase;
}

/** A place that a clock change pushed out of its period is found in the next one. Months have no such rhythm. */
export function within(interval: Interval, place: number): number {
  if (interval === 'monthly') return place;
  const length = nominalLength(interval);
  return ((place % length) + length) % length;
}
