/**
 * When a job is due (`extensions: When a job is due`): by a cron expression, by an OnCalendar expression of systemd, or
 * a number of seconds after its last check-in. Each kind implements the same interface.
 *
 * - `cron.ts` and `on-calendar.ts` parse an expression into a pattern of days and times of day; `pattern.ts` finds its
 *   next and last wall time.
 * - `zone-clock.ts` knows when the clock of a time zone shows a wall time, across clock changes too.
 * - `timing.ts` says what a schedule means for a check-in: which run it answers for, and by when the next is expected.
 */
import { DAY, MINUTE, SECOND } from '../../text/durations.ts';
import { parseCron } from './cron.ts';
import { parseOnCalendar } from './on-calendar.ts';
import { lastWallTime, longestGapAfter, nextWallTime, type Pattern } from './pattern.ts';
import { ScheduleRefused } from './refused.ts';
import { ZoneClock } from './zone-clock.ts';

/** A schedule as a client gives it and as it is stored. */
export type ScheduleRule = { cron: string } | { calendar: string } | { every: number };

export interface Schedule {
  /** The zone that its times are in: the expression's own, if it names one. */
  readonly timezone: string;
  /** The first instant after `at` at which the job is due; null if it never is again. */
  nextAfter(at: number): number | null;
  /** The last instant up to `at` at which the job was due; null if there was none, and for `every`. */
  lastUntil(at: number): number | null;
  /** The gaps between the next runs after `at`, at most 100 runs, in milliseconds on a clock that never changes. */
  gapsAfter(at: number): readonly number[];
  /**
   * The longest time between two runs, in milliseconds on a clock that never changes, whatever the current time; null
   * if there are fewer than two.
   */
  readonly longestGap: number | null;
  /** The grace, in milliseconds, if none is set. */
  defaultGrace(at: number): number;
}

/** Seconds of `every`: from a minute to 366 days. */
export const SHORTEST_EVERY = 60;
export const LONGEST_EVERY = (366 * DAY) / SECOND;

const SMALLEST_DEFAULT_GRACE = MINUTE;
const LARGEST_DEFAULT_GRACE = 15 * MINUTE;

/** How many runs are examined to find how far apart they are, or as many as fit in `LONGEST_STRETCH`, at least two. */
const RUNS = 100;
const LONGEST_STRETCH = 40 * 366 * DAY;

/**
 * @param timezone IANA name: used if the expression names no zone of its own
 * @throws ScheduleRefused for an expression that cannot be read
 */
export function readSchedule(rule: ScheduleRule, timezone: string): Schedule {
  if ('every' in rule) return new Every(rule.every, timezone);
  if ('cron' in rule) return new Timetable(parseCron(rule.cron), new ZoneClock(timezone));
  const { pattern, timezone: own } = parseOnCalendar(rule.calendar);
  return new Timetable(pattern, new ZoneClock(own ?? timezone));
}

/** The next instants after `at` at which the job is due, at most `count`. With `every` they count from `at`. */
export function instantsAfter(schedule: Schedule, at: number, count: number): number[] {
  const instants: number[] = [];
  let next = schedule.nextAfter(at);
  while (next !== null && instants.length < count) {
    instants.push(next);
    next = schedule.nextAfter(next);
  }
  return instants;
}

class Every implements Schedule {
  readonly timezone: string;
  readonly #length: number;

  constructor(seconds: number, timezone: string) {
    if (!Number.isInteger(seconds) || seconds < SHORTEST_EVERY || seconds > LONGEST_EVERY) {
      throw new ScheduleRefused(
        `every must be a whole number of seconds from ${SHORTEST_EVERY} to ${LONGEST_EVERY} (366 days)`,
      );
    }
    this.timezone = timezone;
    this.#length = seconds * SECOND;
  }

  nextAfter(at: number): number {
    return at + this.#length;
  }

  lastUntil(): null {
    return null;
  }

  gapsAfter(): readonly number[] {
    return [this.#length];
  }

  get longestGap(): number {
    return this.#length;
  }

  defaultGrace(): number {
    return graceFor(this.gapsAfter());
  }
}

/** A Monday before any job was watched. */
const ANCHOR = Date.UTC(2024, 0, 1);

/** How many instants are found at once: check-ins need them one after the other. */
const FOUND_AT_ONCE = 8;

class Timetable implements Schedule {
  readonly #pattern: Pattern;
  readonly #clock: ZoneClock;
  /** All instants after `#knownFrom`, in order, up to the last of these. */
  #known: readonly number[] = [];
  #knownFrom = Number.POSITIVE_INFINITY;
  /** The last instant up to `#knownFrom`; undefined until it is needed. */
  #lastBefore: number | null | undefined;
  #grace: number | undefined;
  #longestGap: number | null | undefined;

  constructor(pattern: Pattern, clock: ZoneClock) {
    this.#pattern = pattern;
    this.#clock = clock;
  }

  get timezone(): string {
    return this.#clock.timezone;
  }

  nextAfter(at: number): number | null {
    if (at >= this.#knownFrom) {
      // A loop, since every check-in comes here: it nearly always ends with the first one.
      for (const instant of this.#known) if (instant > at) return instant;
    }
    return this.#find(at);
  }

  lastUntil(at: number): number | null {
    const [first = Number.POSITIVE_INFINITY] = this.#known;
    if (first <= at && at < (this.#known.at(-1) ?? first)) {
      return this.#known.findLast((instant) => instant <= at) ?? null;
    }
    // No instant lies between `#knownFrom` and the first known one.
    if (this.#knownFrom <= at && at < first) {
      if (this.#lastBefore === undefined) this.#lastBefore = this.#findLast(this.#knownFrom);
      return this.#lastBefore;
    }
    return this.#findLast(at);
  }

  /** Clock changes are ignored: a daily job is daily, and not one with gaps of up to 25 hours. */
  gapsAfter(at: number): readonly number[] {
    const gaps: number[] = [];
    const first = nextWallTime(this.#pattern, this.#clock.shownUntil(at));
    let last = first;
    while (first !== null && last !== null && gaps.length < RUNS - 1 && last - first < LONGEST_STRETCH) {
      const next = nextWallTime(this.#pattern, last);
      if (next !== null) gaps.push(next - last);
      last = next;
    }
    return gaps;
  }

  get longestGap(): number | null {
    this.#longestGap ??= longestGapAfter(this.#pattern, ANCHOR);
    return this.#longestGap;
  }

  /** Worked out once, since no year differs: the shortest gap lies within a day, or between two consecutive days. */
  defaultGrace(at: number): number {
    this.#grace ??= graceFor(this.gapsAfter(at));
    return this.#grace;
  }

  #find(at: number): number | null {
    const found: number[] = [];
    let wall = nextWallTime(this.#pattern, this.#clock.shownUntil(at));
    while (wall !== null && found.length < FOUND_AT_ONCE) {
      const instant = this.#clock.firstShowing(wall);
      found.push(instant);
      wall = nextWallTime(this.#pattern, this.#clock.shownUntil(instant));
    }
    this.#known = found;
    this.#knownFrom = at;
    this.#lastBefore = undefined;
    return found[0] ?? null;
  }

  #findLast(at: number): number | null {
    const wall = lastWallTime(this.#pattern, this.#clock.shownUntil(at));
    return wall === null ? null : this.#clock.firstShowing(wall);
  }
}

/** A tenth of the shortest gap, in whole seconds, within these bounds (`extensions: When a job is due`). */
function graceFor(gaps: readonly number[]): number {
  const tenth = Math.floor(Math.min(...gaps) / 10 / SECOND) * SECOND;
  return Math.min(LARGEST_DEFAULT_GRACE, Math.max(SMALLEST_DEFAULT_GRACE, tenth));
}

/** How many recently used schedules are remembered: parsing an expression costs more than using it. */
const REMEMBERED_SCHEDULES = 4_000;

/** Parses schedules, and remembers those it has parsed. It has no other state. */
export class Schedules {
  readonly #read = new Map<string, Schedule>();

  /** @throws ScheduleRefused as `readSchedule` */
  read(rule: ScheduleRule, timezone: string): Schedule {
    const key = `${timezone} ${JSON.stringify(rule)}`;
    const known = this.#read.get(key);
    if (known) return known;
    const schedule = readSchedule(rule, timezone);
    if (this.#read.size >= REMEMBERED_SCHEDULES) this.#read.clear();
    this.#read.set(key, schedule);
    return schedule;
  }
}

/** Null if the expression is refused. */
export function readOrNull(rule: ScheduleRule, timezone: string): Schedule | null {
  try {
    return readSchedule(rule, timezone);
  } catch (error) {
    if (error instanceof ScheduleRefused) return null;
    throw error;
  }
}
