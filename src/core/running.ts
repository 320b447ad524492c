/** What is running now, in a few words, for people looking at a snitch: `since 03:00, usually 12 min`. */
import { durationInWords, SECOND } from '../text/durations.ts';

/** As the API gives it: times in ISO 8601. */
export interface Running {
  open: readonly { started_at: string; overruns_at: string | null }[];
  usual_ms: number | null;
}

/** How many runs are listed; the others are counted. */
const TOLD = 5;

/**
 * One line for each open run; none if nothing is running, or the server is too old to say.
 *
 * @param show an instant in words
 */
export function runningLines(
  runs: Running | undefined,
  show: (iso: string) => string,
  now: number,
): string[] {
  if (!runs) return [];
  const { open, usual_ms: usual } = runs;
  const lines = open.slice(0, TOLD).map(({ started_at: start, overruns_at: over }) => {
    const isOver = over !== null && Date.parse(over) <= now;
    const limit =
      over === null ? [] : [isOver ? `should have ended by ${show(over)}` : `overruns at ${show(over)}`];
    return [
      `since ${show(start)}`,
      ...(usual === null ? [] : [`usually ${lengthInWords(usual)}`]),
      ...limit,
    ].join(', ');
  });
  return open.length > TOLD ? [...lines, `and ${open.length - TOLD} more`] : lines;
}

function lengthInWords(ms: number): string {
  return ms < SECOND ? 'less than a second' : durationInWords(ms);
}
