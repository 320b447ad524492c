/**
 * The instant at which the clock of a time zone shows a time, with the rule for times that a clock change skips or
 * repeats (`extensions: When a job is due`): a time is due at the first instant at which the clock shows it or, if it
 * is skipped, a later one. So a skipped time is due when the gap ends, and a repeated one only the first time.
 */
import { HOUR } from '../../text/durations.ts';

/** A stretch in which the zone keeps one offset from UTC: from `start` (inclusive) to `end` (exclusive). */
interface Segment {
  start: number;
  end: number;
  /** Milliseconds that the clock is ahead of UTC. */
  offset: number;
  /** What the clock would have shown at `start`, had it not changed. */
  shownBefore: number;
}

/** More than any zone's offset from UTC ever was. No two changes of a zone since 1970 are less than six days apart. */
const LARGEST_OFFSET = 16 * HOUR;

const REMEMBERED_SEGMENTS = 16;

/** The local clock of a time zone. It only remembers answers; it has no other state. */
export class ZoneClock {
  readonly timezone: string;
  readonly #known: Segment[] = [];
  #last: Segment | undefined;

  /** @param timezone an IANA name */
  constructor(timezone: string) {
    this.timezone = timezone;
  }

  /** The latest wall time, in whole milliseconds, that the clock has shown up to the instant `at`. */
  shownUntil(at: number): number {
    const { offset, shownBefore } = this.#segmentAt(at);
    return Math.max(at + offset, shownBefore - 1);
  }

  /** The first instant at which the clock shows `wall` or a later time. */
  firstShowing(wall: number): number {
    let segment = this.#segmentAt(wall - LARGEST_OFFSET);
    while (wall - segment.offset >= segment.end) segment = this.#segmentAt(segment.end);
    return Math.max(wall - segment.offset, segment.start);
  }

  #segmentAt(at: number): Segment {
    const contains = (one: Segment) => one.start <= at && at < one.end;
    if (this.#last && contains(this.#last)) return this.#last;
    let segment = this.#known.find(contains);
    if (!segment) {
      segment = segmentOf(this.timezone, at);
      if (this.#known.length >= REMEMBERED_SEGMENTS) this.#known.length = 0;
      this.#known.push(segment);
    }
    this.#last = segment;
    return segment;
  }
}

function segmentOf(timezone: string, at: number): Segment {
  const zoned = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timezone);
  const offset = zoned.offsetNanoseconds / 1e6;
  const end = zoned.getTimeZoneTransition('next')?.epochMilliseconds ?? Number.POSITIVE_INFINITY;
  // A change at exactly this instant begins this stretch: `previous` alone would give the one before.
  const began = zoned.add({ milliseconds: 1 }).getTimeZoneTransition('previous');
  if (!began) return { start: Number.NEGATIVE_INFINITY, end, offset, shownBefore: Number.NEGATIVE_INFINITY };
  const start = began.epochMilliseconds;
  const before = began.subtract({ milliseconds: 1 }).offsetNanoseconds / 1e6;
  return { start, end, offset, shownBefore: start + before };
}
