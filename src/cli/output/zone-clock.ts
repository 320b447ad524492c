/** Times on the clock of one time zone, for a text that names the zone once. */
import { wallTime } from '../../text/times.ts';

export interface ZoneClock {
  zone: string;
  /** `2026-03-10 13:00:00` */
  at(iso: string): string;
  /**
   * A sentence of the server with its times converted to this clock.
   *
   * @param zone the zone that the server names after each time
   * @param known instants that the sentence may mention; they settle which is meant if clocks show a time twice
   */
  inSentence(sentence: string, zone: string, known: readonly string[]): string;
}

/** A zone that this program does not know shows its times in UTC, and says so. */
export function clockOf(wanted: string): ZoneClock {
  const zone = isZone(wanted) ? wanted : 'UTC';
  const at = (iso: string) => wallTime(Date.parse(iso), zone);
  return {
    zone,
    at,
    inSentence: (sentence, named, known) => {
      const suffix = ` (${named})`;
      return sentence.replace(/(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) \([^()]*\)/g, (whole, wall: string) => {
        if (!whole.endsWith(suffix) || !isZone(named)) return whole;
        if (named === zone) return wall;
        const instant = known.find((iso) => wallTime(Date.parse(iso), named) === wall);
        return instant === undefined ? wallTime(instantOf(wall, named), zone) : at(instant);
      });
    },
  };
}

function isZone(name: string): boolean {
  try {
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name);
    return true;
  } catch {
    return false;
  }
}

function instantOf(wall: string, zone: string): number {
  return Temporal.PlainDateTime.from(wall.replace(' ', 'T')).toZonedDateTime(zone).epochMilliseconds;
}
