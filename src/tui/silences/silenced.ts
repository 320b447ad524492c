/** What the dashboard shows of silences. They are read separately: no snitch changes when one begins or ends. */
import type { WireSilence, WireSilenced } from '../../api/wire-kept-back.ts';
import { wallMinute } from '../../text/times.ts';

/** The part of a snitch that decides which silences cover it. */
interface Covered {
  token: string;
  tags: readonly string[];
}

/** When the silence ends, if it is in force now; null otherwise. One that was read earlier may have begun since. */
function endOf({ current, next }: WireSilence, now: number): number | null {
  for (const stretch of [current, next]) {
    if (stretch && Date.parse(stretch.from) <= now && now < Date.parse(stretch.to))
      return Date.parse(stretch.to);
  }
  return null;
}

/** Those that are in force now. */
export function activeSilences(silences: readonly WireSilence[], now: number): WireSilence[] {
  return silences.filter((one) => endOf(one, now) !== null);
}

function covers({ all, tags, tokens }: WireSilence, snitch: Covered): boolean {
  return all || tags?.some((tag) => snitch.tags.includes(tag)) || tokens?.includes(snitch.token) || false;
}

/** The silence over the snitch that ends last; null if none is in force. */
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
 * What `Z` ends: one-off silences that were made for the chosen snitches by name. Those for tags or for everything also
 * silence other snitches, and recurring ones come back.
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
