/** What the dashboard shows of silences. It reads them beside the list, because they stand in no snitch. */
import type { WireSilence, WireSilenced } from '../../api/wire-kept-back.ts';
import { wallMinute } from '../../text/times.ts';

/** What a snitch tells of itself, as far as silences look at it. */
interface Covered {
  token: string;
  tags: readonly string[];
}

/** When the silence ends that holds now; null where none does. What was read a while ago may hold since. */
function endOf({ current, next }: WireSilence, now: number): number | null {
  for (const stretch of [current, next]) {
    if (stretch && Date.parse(stretch.from) <= now && now < Date.parse(stretch.to))
      return Date.parse(stretch.to);
  }
  return null;
}

/** Those that hold now. */
export function activeSilences(silences: readonly WireSilence[], now: number): WireSilence[] {
  return silences.filter((one) => endOf(one, now) !== null);
}

function covers({ all, tags, tokens }: WireSilence, snitch: Covered): boolean {
  return all || tags?.some((tag) => snitch.tags.includes(tag)) || tokens?.includes(snitch.token) || false;
}

/** The silence over the snitch that ends last; null where none holds. */
export function silenceOver(
  silences: readonly WireSilence[],
  snitch: Covered,
  now: number,
): WireSilenced | null {
  let longest: { one: WireSilence; end: number } | null = null;
  for (const one of silences) {
    const end = endOf(one, now);
    if (end !== null && end > (longest?.end ?? now) && covers(one, snitch)) longest = { one, end };
  }
  if (longest === null) return null;
  const { id, by, note } = longest.one;
  return { id, until: new Date(longest.end).toISOString(), by, note };
}

/**
 * What `Z` ends: silences that were made for the chosen snitches by name and hold once. Those of tags, of all and
 * recurring ones silence others as well, or again.
 */
export function ownSilences(silences: readonly WireSilence[], tokens: readonly string[]): string[] {
  return silences
    .filter((one) => one.schedule === null && one.tokens?.some((token) => tokens.includes(token)))
    .map(({ id }) => id);
}

/** `until 2026-03-10 04:00 by ops: kernel` */
export function silenceWords({ until, by, note }: WireSilenced, timezone: string): string {
  return `until ${wallMinute(Date.parse(until), timezone)} by ${by}${note === '' ? '' : `: ${note}`}`;
}
