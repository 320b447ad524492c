import type { WireHold } from '../../api/wire-kept-back.ts';
import type { Hold, ListedSnitch } from '../../core/snitch.ts';
import { isoTime } from '../../text/iso-time.ts';

/** A held alert, as the API shows it. */
export function wireHold(hold: Hold | null): WireHold | null {
  if (hold === null) return null;
  const { by, since, until } = hold;
  return { by, since: isoTime(since), until: until === null ? null : isoTime(until) };
}

export function wireNeeds({ needs, hold }: Pick<ListedSnitch, 'needs' | 'hold'>) {
  return { needs, held: wireHold(hold) };
}
