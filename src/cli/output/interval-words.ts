/** Finds the API's interval for what people write. */
import { INTERVALS } from '../../api/intervals.ts';
import { DAY, durationOf, HOUR, MINUTE } from '../../text/durations.ts';
import { didYouMean } from '../../text/similar.ts';
import { UsageError } from '../failure/failure.ts';

const WORDS: ReadonlyMap<string, string> = new Map([
  ['minutely', '1_minute'],
  ['minute', '1_minute'],
  ['hour', 'hourly'],
  ['day', 'daily'],
  ['nightly', 'daily'],
  ['week', 'weekly'],
  ['month', 'monthly'],
]);

/** Understands `2h`, `every 15 minutes`, `1 day` and the API's own names. @throws UsageError listing all intervals */
export function intervalOf(text: string): string {
  const given = text
    .trim()
    .toLowerCase()
    .replace(/^every\s+/, '');
  const name = given.replace(/[\s-]+/g, '_');
  const known = (INTERVALS as readonly string[]).includes(name)
    ? name
    : (WORDS.get(given) ?? ofLength(durationOf(given)));
  if (known !== null && (INTERVALS as readonly string[]).includes(known)) return known;
  throw new UsageError(
    `--interval: "${text}" is not an interval.${didYouMean(given, INTERVALS)}\nthere are: ${INTERVALS.join(', ')}`,
  );
}

function ofLength(ms: number | null): string | null {
  if (ms === null) return null;
  if (ms === HOUR) return 'hourly';
  if (ms === DAY) return 'daily';
  if (ms === 7 * DAY) return 'weekly';
  return ms < HOUR ? `${ms / MINUTE}_minute` : `${ms / HOUR}_hour`;
}
